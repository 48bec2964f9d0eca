//! What gamemodes, the console and plugins ask for takes effect, and whoever must know is told (docs/protocol.md 2.3).

mod players;
mod things;
mod world;

use bevy_app::{App, Plugin};
use bevy_ecs::schedule::IntoScheduleConfigs;

use crate::tick::{Tick, TickSystems};

/// Applies wishes.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestsPlugin;

impl Plugin for RequestsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Tick,
            (
                world::apply_world_requests,
                players::apply_player_requests,
                things::apply_thing_requests,
                things::apply_zone_requests,
            )
                .chain()
                .in_set(TickSystems::Apply)
                .after(crate::ban_changes::start_writing),
        );
    }
}
