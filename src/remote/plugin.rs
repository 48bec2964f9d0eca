//! The only systems that touch the hub: one takes questions in, one gives answers out.

use bevy_app::{App, Last, Plugin};
use bevy_ecs::{resource::Resource, schedule::IntoScheduleConfigs, system::ResMut};
use decitick_components::remote::{RemoteInbox, RemoteLeft, RemoteOutbox, RemoteSlow};
use decitick_systems::tick::{Tick, TickSystems};

use super::RemoteHub;

/// The tick's end of the remote endpoint.
#[derive(Resource, Debug)]
pub struct RemoteEdge(pub RemoteHub);

/// Adds the two systems; the [`RemoteEdge`] resource must be there.
#[derive(Clone, Copy, Debug, Default)]
pub struct RemoteEdgePlugin;

impl Plugin for RemoteEdgePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Tick, take_questions.in_set(TickSystems::Receive))
            // After the tick, whose last step answers: the answer leaves with it and not with the next.
            .add_systems(Last, give_answers);
    }
}

fn take_questions(
    mut edge: ResMut<'_, RemoteEdge>,
    mut inbox: ResMut<'_, RemoteInbox>,
    mut left: ResMut<'_, RemoteLeft>,
    mut slow: ResMut<'_, RemoteSlow>,
) {
    if !edge.0.is_idle() {
        edge.0.drain_into(&mut inbox, &mut left);
        edge.0.tell_slow(&mut slow);
    }
}

fn give_answers(
    mut edge: ResMut<'_, RemoteEdge>,
    mut outbox: ResMut<'_, RemoteOutbox>,
    mut left: ResMut<'_, RemoteLeft>,
) {
    if !outbox.0.is_empty() {
        edge.0.deliver(&mut outbox, &mut left);
    }
}
