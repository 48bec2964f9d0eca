//! Players enter the world (docs/protocol.md 2.3).

use bevy_app::{App, Plugin};
use bevy_ecs::{
    message::MessageReader,
    resource::Resource,
    schedule::IntoScheduleConfigs,
    system::{Commands, Query, Res, ResMut},
};
use std::{collections::BTreeSet, time::Duration};

use decitick_components::{
    body::{Appearance, FrameGate, Motion, Vitals},
    clock::Clock,
    lane::OutboundLane,
    messages::SpawnRequest,
    phase::Phase,
    settings::Settings,
    world::{SpawnPoint, SpawnPoints},
};
use decitick_protocol::{ServerLaneEvent, SpawnPlayer};

use crate::{
    lane::broadcast::{encoded, push_critical},
    tick::{Tick, TickSystems},
};

/// Grants spawns.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpawnPlugin;

impl Plugin for SpawnPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<SpawnTurn>().add_systems(
            Tick,
            grant_spawns
                .in_set(TickSystems::Simulate)
                .before(crate::chat::relay_chat),
        );
    }
}

/// How many spawns were granted: the points are handed out in turn.
#[derive(Resource, Debug, Default)]
pub(crate) struct SpawnTurn(usize);

/// A player who joined and is not in the world is put at the next spawn point. A request that is repeated while
/// the answer is on its way changes nothing.
pub(crate) fn grant_spawns(
    mut requests: MessageReader<'_, '_, SpawnRequest>,
    clock: Res<'_, Clock>,
    settings: Res<'_, Settings>,
    points: Res<'_, SpawnPoints>,
    mut turn: ResMut<'_, SpawnTurn>,
    mut players: Query<
        '_,
        '_,
        (
            &Phase,
            &mut Motion,
            &mut FrameGate,
            &mut Appearance,
            &mut Vitals,
            &mut OutboundLane,
        ),
    >,
    mut commands: Commands<'_, '_>,
) {
    let asking: BTreeSet<_> = requests.read().map(|request| request.entity).collect();
    for entity in asking {
        let Ok((phase, mut motion, mut gate, mut look, mut vitals, mut lane)) = players.get_mut(entity)
        else {
            continue;
        };
        if *phase != Phase::PreSpawn {
            continue;
        }
        let point = points.nth(turn.0);
        turn.0 = turn.0.wrapping_add(1);
        *motion = motion_at(&point, &clock);
        *look = Appearance {
            skin: point.skin,
            variant: point.variant,
            ..*look
        };
        *vitals = Vitals::default();
        let settle = Duration::from_millis(u64::from(settings.world.settle_ms));
        gate.open_settle_window(point.position, clock.since_start, settle);
        push_critical(
            &mut lane,
            &encoded(&ServerLaneEvent::SpawnPlayer(spawn_packet(&point)), false),
        );
        commands.entity(entity).try_insert(Phase::Spawned);
    }
}

fn motion_at(point: &SpawnPoint, clock: &Clock) -> Motion {
    Motion {
        position: point.position,
        heading: point.heading,
        area: point.area,
        taken_at: clock.since_start,
        changed_tick: clock.tick,
        ..Motion::default()
    }
}

const fn spawn_packet(point: &SpawnPoint) -> SpawnPlayer {
    SpawnPlayer {
        position: point.position,
        heading: point.heading,
        area: point.area,
        skin: point.skin,
        variant: point.variant,
    }
}
