//! The only systems that touch the hub: one takes scrapes up, one hands snapshots out.

use bevy_app::{App, Last, Plugin};
use bevy_ecs::{resource::Resource, schedule::IntoScheduleConfigs, system::ResMut};
use decitick_components::metrics::MetricsDesk;
use decitick_systems::tick::{Tick, TickSystems};

use super::MetricsHub;

/// The tick's end of metrics.
#[derive(Resource, Debug)]
pub struct MetricsEdge(pub MetricsHub);

/// Adds the systems; the [`MetricsEdge`] resource must be there.
#[derive(Clone, Copy, Debug, Default)]
pub struct MetricsEdgePlugin;

impl Plugin for MetricsEdgePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Tick, take_scrapes.in_set(TickSystems::Receive))
            // After the tick, whose last step gathers: the snapshot leaves with it and not with the next.
            .add_systems(Last, give_snapshot);
    }
}

fn take_scrapes(mut edge: ResMut<'_, MetricsEdge>, mut desk: ResMut<'_, MetricsDesk>) {
    if !edge.0.is_idle() {
        edge.0.take_up(&mut desk);
    }
}

fn give_snapshot(mut edge: ResMut<'_, MetricsEdge>, mut desk: ResMut<'_, MetricsDesk>) {
    if desk.snapshot.is_some() {
        edge.0.deliver(&mut desk);
    }
}
