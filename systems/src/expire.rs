//! Every end of a session takes this one path, whatever ended it (docs/protocol.md 1.5).

use std::collections::BTreeMap;

use bevy_app::{App, Plugin};
use bevy_ecs::{
    message::Messages,
    schedule::IntoScheduleConfigs,
    system::{Res, ResMut},
    world::World,
};
use decitick_components::{
    clock::Clock,
    connection::Peer,
    departures::Departures,
    mailbox::{DoorNotice, DoorNotices, Outbox},
    messages::{EndSessionRequest, SessionEnded},
    phase::Phase,
    profile::DisplayName,
    reasons::CloseReason,
    server::Lifecycle,
    session::{PlayerId, PlayerToken, SlotTable},
};
use decitick_protocol::{KickNotify, KickReason};

use crate::{
    acknowledge::take_pongs,
    sight::Vanishing,
    tick::{Tick, TickSystems},
};

/// Adds the systems of [`TickSystems::Expire`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ExpirePlugin;

impl Plugin for ExpirePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Tick,
            end_departed.in_set(TickSystems::Acknowledge).after(take_pongs),
        )
        .add_systems(
            Tick,
            (begin_stop, end_sessions).chain().in_set(TickSystems::Expire),
        );
    }
}

/// Who said goodbye, or floods, frees its slot and its name before the hellos of this tick are judged.
pub(crate) fn end_departed(world: &mut World) {
    end_sessions(world);
}

/// When the time of a stop has come, everybody's session ends.
pub(crate) fn begin_stop(
    clock: Res<'_, Clock>,
    mut lifecycle: ResMut<'_, Lifecycle>,
    slots: Res<'_, SlotTable>,
    mut requests: ResMut<'_, Messages<EndSessionRequest>>,
) {
    let due = lifecycle.stop_at.is_some_and(|at| at <= clock.since_start);
    if !due || lifecycle.stopping {
        return;
    }
    lifecycle.stopping = true;
    for (_, entity) in slots.iter() {
        requests.write(EndSessionRequest {
            entity,
            reason: CloseReason::Shutdown,
            notice: lifecycle.notice.clone(),
        });
    }
}

/// Ends the sessions that are to end: the ends of a tick are collected first, so that those who leave are not
/// told of each other.
pub fn end_sessions(world: &mut World) {
    let mut wanted: BTreeMap<PlayerId, EndSessionRequest> = BTreeMap::new();
    let requests: Vec<_> = world
        .resource_mut::<Messages<EndSessionRequest>>()
        .drain()
        .collect();
    for request in requests {
        if let Some(&player) = world.get::<PlayerId>(request.entity) {
            // The first reason of a tick is the one that counts.
            wanted.entry(player).or_insert(request);
        }
    }
    if wanted.is_empty() {
        return;
    }
    let mut ended = Vec::with_capacity(wanted.len());
    for (player, request) in wanted {
        if let Some(end) = release(world, player, &request) {
            ended.push(end);
        }
    }
    // Whoever had them in view is told on the lane too.
    let mut gone = Vanishing::default();
    for end in &ended {
        gone.add(end.player, end.generation, None);
    }
    gone.vanish(world);
    for end in ended {
        world.write_message(end);
    }
}

/// Frees everything a session holds. The KickNotify goes out after the slot is free.
fn release(world: &mut World, player: PlayerId, request: &EndSessionRequest) -> Option<SessionEnded> {
    let connection = world.get_entity(request.entity).ok()?;
    let &Peer(route) = connection.get::<Peer>()?;
    let &generation = connection.get::<PlayerToken>()?;
    let name = connection.get::<DisplayName>()?.to_string();
    let phase = *connection.get::<Phase>()?;
    tracing::info!(
        player = player.0,
        name = decitick_protocol::escape_for_display(&name, 64),
        peer = %route.peer,
        reason = %request.reason,
        told = request
            .notice
            .as_ref()
            .map(|notice| decitick_protocol::escape_for_display(notice.as_str(), 64))
            .map(tracing::field::display),
        "{}",
        if phase.joined() { "player left" } else { "login ended" }
    );
    world.despawn(request.entity);
    world.resource_mut::<SlotTable>().release(player, request.entity);
    world
        .resource_mut::<DoorNotices>()
        .0
        .push(DoorNotice::Closed { peer: route.peer });
    if let Some(reason) = request
        .notice
        .as_ref()
        .and_then(|text| KickReason::parse(text.as_str()).ok())
    {
        let packet = KickNotify { reason };
        world
            .resource_mut::<Outbox>()
            .push_with(route, None, None, |out| packet.encode(out));
    }
    if phase.joined() {
        world.resource_mut::<Departures>().add(player, generation);
    }
    Some(SessionEnded {
        player,
        generation,
        name,
        reason: request.reason,
    })
}
