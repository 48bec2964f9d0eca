//! Who is connected, as rows.

use std::{fmt::Write as _, net::SocketAddr};

use bevy_ecs::{entity::Entity, world::World};
use decitick_components::{console::PlayerRow, session::SlotTable};

use super::{super::json, table::Facts};
use crate::console::player;

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
    lane: u64,
    idle_s: u64,
}

impl From<PlayerRow> for PlayerFacts {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share in per cent"
    )]
    fn from(row: PlayerRow) -> Self {
        let idle_s = row.idle_ms / 1000;
        Self {
            id: row.id,
            generation: row.generation,
            name: row.name,
            address: row.address,
            phase: row.phase,
            rtt_ms: row.rtt_ms,
            loss_tenths: (row.loss_percent * 10.0).round() as u32,
            lane: row.queue_length,
            idle_s: idle_s - idle_s % IDLE_STEP,
        }
    }
}

/// A row for each session, by id.
pub(super) fn rows(world: &World) -> impl Iterator<Item = (Entity, PlayerFacts)> {
    let slots = world.resource::<SlotTable>();
    slots
        .iter()
        .filter_map(|(id, entity)| Some((entity, player(world, id, entity)?.into())))
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
