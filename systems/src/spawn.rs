//! Players come into the world (docs/protocol.md 2.3).

use bevy_ecs::reflect::ReflectResource;
use bevy_reflect::Reflect;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use bevy_app::{App, Plugin};
use bevy_ecs::{
    entity::Entity,
    message::{MessageCursor, Messages},
    query::{QueryData, QueryState},
    resource::Resource,
    schedule::IntoScheduleConfigs,
    system::Local,
    world::World,
};
use decitick_components::{
    body::{Appearance, FrameGate, Motion, PositionHistory, Vitals, is_place},
    clock::Clock,
    combat::Weapons,
    gamemode::{Gamemode, SpawnVerdict},
    lane::OutboundLane,
    messages::{PlayerSpawned, SpawnOrdered, SpawnRequest},
    phase::Phase,
    settings::Settings,
    view::View,
    world::{SpawnPoint, SpawnPoints},
};
use decitick_protocol::{ServerLaneEvent, SetWeapons, SpawnPlayer, normalise_heading};

use crate::{
    lane::broadcast::tell,
    lookup::identity,
    sight::Vanishing,
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

/// How many spawn points were handed out: they come in turn.
#[derive(Resource, Debug, Default, Reflect)]
#[reflect(Resource)]
pub(crate) struct SpawnTurn(usize);

/// Who asks for a body and has none gets one where the gamemode says, or at the next spawn point; who is ordered into
/// the world goes there whether it has one or not. A request that is repeated while the answer is on its way changes
/// nothing.
pub(crate) fn grant_spawns(
    world: &mut World,
    bodies: &mut QueryState<Embodied>,
    mut requested: Local<'_, MessageCursor<SpawnRequest>>,
    mut ordered: Local<'_, MessageCursor<SpawnOrdered>>,
) {
    let mut wanted: BTreeMap<Entity, SpawnPoint> = BTreeMap::new();
    let asking: BTreeSet<Entity> = requested
        .read(world.resource::<Messages<SpawnRequest>>())
        .map(|request| request.entity)
        .filter(|&entity| world.get::<Phase>(entity) == Some(&Phase::PreSpawn))
        .collect();
    for player in asking {
        let verdict = world.resource_mut::<Gamemode>().0.player_requests_spawn(player);
        match verdict {
            SpawnVerdict::Wait => {}
            SpawnVerdict::At(point) => {
                wanted.insert(player, usable(world, Some(point)));
            }
            SpawnVerdict::Usual => {
                wanted.insert(player, next_point(world));
            }
        }
    }
    let orders: Vec<SpawnOrdered> = ordered
        .read(world.resource::<Messages<SpawnOrdered>>())
        .cloned()
        .collect();
    for SpawnOrdered { entity, point } in orders {
        if world.get::<Phase>(entity).is_some_and(|phase| phase.joined()) {
            let point = usable(world, point);
            wanted.insert(entity, point);
        }
    }
    // Whoever had a body comes into view anew, with its new looks.
    let mut anew = Vanishing::default();
    for &entity in wanted.keys() {
        if let (Some(Phase::Spawned), Some((player, generation))) =
            (world.get::<Phase>(entity), identity(world, entity))
        {
            anew.add(player, generation, None);
        }
    }
    anew.vanish(world);
    for (entity, point) in wanted {
        embody(world, bodies, entity, &point);
    }
}

/// A point that was asked for, or the next one when none was or when there is no such place.
fn usable(world: &mut World, point: Option<SpawnPoint>) -> SpawnPoint {
    match point {
        Some(point) if is_place(point.position, point.heading) => SpawnPoint {
            heading: normalise_heading(point.heading),
            ..point
        },
        Some(point) => {
            tracing::warn!(
                position = ?point.position,
                heading = point.heading,
                reason = "no_place",
                "a spawn point was ignored: there is no such place; the next one of assets/spawns.ron is used"
            );
            next_point(world)
        }
        None => next_point(world),
    }
}

fn next_point(world: &mut World) -> SpawnPoint {
    let turn = world.resource::<SpawnTurn>().0;
    world.resource_mut::<SpawnTurn>().0 = turn.wrapping_add(1);
    world.resource::<SpawnPoints>().nth(turn).clone()
}

/// Puts a player into the world. SpawnPlayer stands for full health, no armour and no weapons; what differs follows.
fn embody(world: &mut World, bodies: &mut QueryState<Embodied>, entity: Entity, point: &SpawnPoint) {
    let clock = *world.resource::<Clock>();
    let settle = Duration::from_millis(u64::from(world.resource::<Settings>().world.settle_ms));
    let had_body = world.get::<Phase>(entity) == Some(&Phase::Spawned);
    let Ok(mut body) = bodies.get_mut(world, entity) else {
        return;
    };
    let left_area = if had_body { body.motion.area } else { point.area };
    *body.motion = motion_at(point, body.motion.sequence);
    body.look.skin = point.skin;
    body.look.variant = point.variant;
    *body.vitals = Vitals::default();
    body.view.open = true;
    body.gate
        .open_settle_window(point.position, (left_area, point.area), clock.since_start, settle);
    body.history.restart();
    body.history.record(clock.since_start, point.position);
    tell(&mut body.lane, &ServerLaneEvent::SpawnPlayer(spawn_packet(point)));
    body.weapons.clear();
    for held in &point.weapons {
        // A point has no more weapons than there are slots; it was held to that when it was made.
        let _ = body.weapons.give(held.weapon, held.ammo);
    }
    if !body.weapons.held().is_empty() {
        let weapons = body.weapons.held().to_vec();
        tell(
            &mut body.lane,
            &ServerLaneEvent::SetWeapons(SetWeapons { weapons }),
        );
    }
    world.entity_mut(entity).insert(Phase::Spawned);
    world.write_message(PlayerSpawned { entity });
}

#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Embodied {
    motion: &'static mut Motion,
    gate: &'static mut FrameGate,
    history: &'static mut PositionHistory,
    look: &'static mut Appearance,
    vitals: &'static mut Vitals,
    weapons: &'static mut Weapons,
    view: &'static mut View,
    lane: &'static mut OutboundLane,
}

fn motion_at(point: &SpawnPoint, sequence: u32) -> Motion {
    Motion {
        position: point.position,
        heading: point.heading,
        area: point.area,
        sequence,
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

/// Makes what this module keeps known to the inspector.
pub(crate) fn show(app: &mut App) {
    app.register_type::<SpawnTurn>();
}
