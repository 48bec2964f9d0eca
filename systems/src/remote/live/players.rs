//! Who is connected, as rows.

use std::{fmt::Write as _, net::SocketAddr};

use bevy_ecs::{entity::Entity, world::World};
use decitick_components::{
    clock::Clock,
    connection::Peer,
    lane::OutboundLane,
    liveness::{Keepalive, LastSeen, SmoothedRtt},
    phase::Phase,
    profile::DisplayName,
    session::{PlayerId, PlayerToken, SlotTable},
};

use super::{super::json, table::Facts};

/// Seconds: whoever does not move is heard of every few seconds only, and is not idle for that.
const IDLE_STEP: u64 = 5;

/// What a row of the players says: what `players` at the console does, in steps that do not change all the time.
#[derive(Debug, PartialEq)]
pub(super) struct PlayerFacts {
    id: u16,
    generation: u32,
    name: String,
    address: SocketAddr,
    phase: &'static str,
    rtt_ms: Option<u16>,
    loss_tenths: u32,
    lane: usize,
    idle_s: u64,
}

/// A row for each session, by id.
pub(super) fn rows(world: &World) -> impl Iterator<Item = (Entity, PlayerFacts)> {
    let slots = world.resource::<SlotTable>();
    slots
        .iter()
        .filter_map(|(id, entity)| Some((entity, facts(world, id, entity)?)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share in per cent"
)]
fn facts(world: &World, id: PlayerId, entity: Entity) -> Option<PlayerFacts> {
    let connection = world.get_entity(entity).ok()?;
    let now = world.resource::<Clock>().since_start;
    let idle = now.saturating_sub(connection.get::<LastSeen>()?.0).as_secs();
    let rtt = connection.get::<SmoothedRtt>()?;
    Some(PlayerFacts {
        id: id.0,
        generation: connection.get::<PlayerToken>()?.0,
        name: connection.get::<DisplayName>()?.to_string(),
        address: connection.get::<Peer>()?.address(),
        phase: connection.get::<Phase>()?.name(),
        rtt_ms: rtt.measured().map(|_| rtt.wire_millis()),
        loss_tenths: (connection.get::<Keepalive>()?.loss_percent() * 10.0).round() as u32,
        lane: connection.get::<OutboundLane>()?.depth(),
        idle_s: idle - idle % IDLE_STEP,
    })
}

impl Facts for PlayerFacts {
    fn write(&self, out: &mut String) {
        let Self {
            id,
            generation,
            name,
            address,
            phase,
            rtt_ms,
            loss_tenths,
            lane,
            idle_s,
        } = self;
        let _ = write!(
            out,
            ",{id},{generation},{},\"{address}\",\"{phase}\",",
            json::string(name)
        );
        let _ = match rtt_ms {
            Some(rtt) => write!(out, "{rtt}"),
            None => write!(out, "null"),
        };
        let _ = write!(out, ",{}.{},{lane},{idle_s}", loss_tenths / 10, loss_tenths % 10);
    }
}
