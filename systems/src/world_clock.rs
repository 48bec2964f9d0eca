//! The time of day goes on while the world's clock runs.
//!
//! Clients let it run by themselves after RunClock (docs/protocol.md 2.3); the server keeps it for those who come later.

use bevy_app::{App, Plugin};
use bevy_ecs::{
    schedule::IntoScheduleConfigs,
    system::{Res, ResMut},
};
use decitick_components::{clock::Clock, world::WorldState};

use crate::tick::{Tick, TickSystems};

/// Lets the world's clock run.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorldClockPlugin;

impl Plugin for WorldClockPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Tick, run_clock.in_set(TickSystems::Receive));
    }
}

/// Real time passes for the world too, a stop of the process included: the clients' clocks went on meanwhile.
pub(crate) fn run_clock(clock: Res<'_, Clock>, mut world: ResMut<'_, WorldState>) {
    if world.clock_ms_per_minute.is_some() {
        world.pass(clock.step.max(clock.stalled));
    }
}
