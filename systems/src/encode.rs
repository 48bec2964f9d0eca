//! Packets outside the lane: acknowledgements, departures, and what a query shows (docs/protocol.md 2.1, 2.3).

use bevy_app::{App, Plugin};
use bevy_ecs::{
    resource::Resource,
    schedule::IntoScheduleConfigs,
    system::{Query, Res, ResMut},
};
use decitick_components::{
    admission::ServerPassword,
    connection::Peer,
    departures::Departures,
    lane::InboundLane,
    mailbox::{DoorNotice, DoorNotices, Outbox},
    phase::Phase,
    server::PublicFace,
    session::SlotTable,
    settings::Settings,
};
use decitick_protocol::{PROTOCOL_VERSION, PlayerLeave, QueryBody, ServerAck, ShownText};

use crate::tick::{Tick, TickSystems};

/// Adds the systems of [`TickSystems::Encode`] that belong to no other plugin.
#[derive(Clone, Copy, Debug, Default)]
pub struct EncodePlugin;

impl Plugin for EncodePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<LastQuery>().add_systems(
            Tick,
            (send_acknowledgements, tell_departures, tell_door)
                .chain()
                .in_set(TickSystems::Encode),
        );
    }
}

/// One ServerAck to every connection that sent a lane packet in this tick.
pub(crate) fn send_acknowledgements(
    slots: Res<'_, SlotTable>,
    mut outbox: ResMut<'_, Outbox>,
    mut connections: Query<'_, '_, (&Peer, &mut InboundLane)>,
) {
    for (_, entity) in slots.iter() {
        let Ok((peer, mut lane)) = connections.get_mut(entity) else {
            continue;
        };
        if let Some(ack) = lane.take_acknowledgement() {
            outbox.push_with(peer.0, None, None, |out| ServerAck { ack }.encode(out));
        }
    }
}

pub(crate) fn tell_departures(
    slots: Res<'_, SlotTable>,
    mut departures: ResMut<'_, Departures>,
    mut outbox: ResMut<'_, Outbox>,
    connections: Query<'_, '_, (&Peer, &Phase)>,
) {
    if departures.is_empty() {
        return;
    }
    let mut packets = Vec::new();
    for &(player, generation, _) in departures.step() {
        let mut packet = Vec::with_capacity(9);
        PlayerLeave {
            player_id: u32::from(player.0),
            player_token: generation.0,
        }
        .encode(&mut packet);
        packets.push(packet);
    }
    for (_, entity) in slots.iter() {
        let Ok((peer, phase)) = connections.get(entity) else {
            continue;
        };
        if phase.joined() {
            for packet in &packets {
                outbox.push(peer.0, packet);
            }
        }
    }
}

/// What the door was last told that queries show.
#[derive(Resource, Debug, Default)]
pub(crate) struct LastQuery(Option<QueryBody>);

pub(crate) fn tell_door(
    settings: Res<'_, Settings>,
    face: Res<'_, PublicFace>,
    slots: Res<'_, SlotTable>,
    password: Res<'_, ServerPassword>,
    mut last: ResMut<'_, LastQuery>,
    mut notices: ResMut<'_, DoorNotices>,
) {
    let body = query_body(&settings, &face, slots.taken(), password.required());
    if last.0.as_ref() != Some(&body) {
        notices.0.push(DoorNotice::Query(Box::new(body.clone())));
        last.0 = Some(body);
    }
}

/// What a query shows (docs/protocol.md 1.3).
#[must_use]
pub fn query_body(
    settings: &Settings,
    face: &PublicFace,
    players: u16,
    password_required: bool,
) -> QueryBody {
    QueryBody {
        protocol_version: PROTOCOL_VERSION,
        // Each was held to its bound when it was set; what does not fit is left out rather than cut.
        server_version: ShownText::parse(&face.version).unwrap_or_default(),
        minimum_client_version: ShownText::parse(&settings.minimum_client_version).unwrap_or_default(),
        name: ShownText::parse(&settings.name).unwrap_or_default(),
        mode: ShownText::parse(&face.mode).unwrap_or_default(),
        players,
        max_players: settings.max_players,
        flags: u8::from(password_required),
    }
}
