//! The only systems that touch the hub: one takes lines in, one gives answers out.

use bevy_app::{App, Plugin};
use bevy_ecs::{resource::Resource, schedule::IntoScheduleConfigs, system::ResMut};
use decitick_components::console::{ConsoleInbox, ConsoleLeft, ConsoleOutbox};
use decitick_systems::tick::{Tick, TickSystems};

use super::ConsoleHub;

/// The tick's end of the console.
#[derive(Resource, Debug)]
pub struct Console(pub ConsoleHub);

/// Adds the two systems; the [`Console`] resource must be there.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConsoleEdgePlugin;

impl Plugin for ConsoleEdgePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Tick, take_lines.in_set(TickSystems::Receive))
            .add_systems(Tick, give_answers.in_set(TickSystems::Transmit));
    }
}

/// Also tells whose askers are gone since the last tick.
fn take_lines(
    mut console: ResMut<'_, Console>,
    mut inbox: ResMut<'_, ConsoleInbox>,
    mut left: ResMut<'_, ConsoleLeft>,
) {
    console.0.drain_into(&mut inbox, &mut left);
}

fn give_answers(mut console: ResMut<'_, Console>, mut outbox: ResMut<'_, ConsoleOutbox>) {
    console.0.deliver(&mut outbox);
}
