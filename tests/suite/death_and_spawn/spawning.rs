//! Where and how one comes into the world: spawn points, the gamemode's word, and its orders (docs/protocol.md 1.5, 2.3).

use bevy_ecs::entity::Entity;
use decitick_components::{
    body::Motion,
    combat::Weapons,
    gamemode::{Judge, SpawnVerdict},
    messages::{PlayerDied, PlayerSpawned},
    phase::Phase,
    requests::PlayerWish,
    world::SpawnPoint,
};
use decitick_protocol::{PlayerStreamIn, ServerLaneEvent, SpawnPlayer, WeaponAmmo};

use super::fallen_and_living;
use crate::sim::{Setup, Sim, spawn_point, spawns};

struct Answering(fn() -> SpawnVerdict);

impl Judge for Answering {
    fn player_requests_spawn(&mut self, _: Entity) -> SpawnVerdict {
        (self.0)()
    }
}

fn hilltop() -> SpawnPoint {
    SpawnPoint {
        heading: 1.0,
        area: 4,
        skin: 77,
        variant: 2,
        ..spawn_point(100.0, -50.0, &[(24, 7)])
    }
}

#[test]
fn a_gamemode_that_says_wait_spawns_the_player_itself_when_it_is_time() {
    let mut sim = Sim::new();
    sim.judged_by(Answering(|| SpawnVerdict::Wait));
    let index = sim.join("Patient");
    sim.ticks(20);
    assert_eq!(sim.phase(index), Phase::PreSpawn);
    assert!(!sim.players[index].client.is_spawned());
    sim.wish(index, PlayerWish::Spawn(Some(hilltop())));
    sim.ticks(2);
    assert!(sim.players[index].client.is_spawned());
    assert_eq!(sim.position(index), hilltop().position);
}

#[test]
fn a_gamemode_says_where_one_comes_into_the_world() {
    let mut sim = Sim::new();
    sim.judged_by(Answering(|| SpawnVerdict::At(hilltop())));
    let index = sim.join_now("Guest 0");
    sim.tick();
    let expected = SpawnPlayer {
        position: hilltop().position,
        heading: 1.0,
        area: 4,
        skin: 77,
        variant: 2,
    };
    assert_eq!(sim.players[index].all(spawned_at), [expected]);
    assert_eq!(sim.ammo(index, 24), 7);
    let motion = *sim.of::<Motion>(index);
    assert_eq!((motion.position, motion.area), (expected.position, 4));
}

#[test]
fn usual_spawns_come_in_turn_and_a_place_of_the_gamemode_takes_none() {
    let points = (0..3u8)
        .map(|n| spawn_point(f32::from(n) * 10.0, 0.0, &[]))
        .collect();
    let mut sim = Sim::with(Setup {
        spawns: spawns(points),
        ..Setup::default()
    });
    let first = sim.join_now("Guest 0");
    sim.wish(first, PlayerWish::Spawn(Some(hilltop())));
    sim.ticks(2);
    let second = sim.join_now("Guest 1");
    assert!((sim.position(second).x - 10.0).abs() < 1e-6);
    sim.wish(second, PlayerWish::Spawn(None));
    sim.ticks(2);
    assert!((sim.position(second).x - 20.0).abs() < 1e-6);
}

#[test]
fn a_spawn_point_gives_its_weapons_and_they_are_told() {
    let setup = Setup {
        spawns: spawns(vec![
            spawn_point(0.0, 0.0, &[(22, 34), (1, 1)]),
            spawn_point(5.0, 0.0, &[]),
        ]),
        ..Setup::default()
    };
    let mut sim = Sim::with(setup);
    let (armed, unarmed) = (sim.join_now("Armed"), sim.join_now("Unarmed"));
    let held = [
        WeaponAmmo { weapon: 22, ammo: 34 },
        WeaponAmmo { weapon: 1, ammo: 1 },
    ];
    sim.ticks(2);
    assert_eq!(sim.of::<Weapons>(armed).held(), held);
    assert_eq!(sim.players[armed].client.own().unwrap().weapons(), held);
    assert!(sim.of::<Weapons>(unarmed).held().is_empty());
    assert!(sim.players[unarmed].client.own().unwrap().weapons().is_empty());
}

#[test]
fn who_is_spawned_with_a_body_comes_into_view_anew_as_it_looks_now() {
    let mut sim = Sim::new();
    let (living, witness) = (sim.join_now("Living"), sim.join_now("Witness"));
    sim.ticks(8);
    sim.wish(living, PlayerWish::Health(40));
    sim.wish(living, PlayerWish::Armour(60));
    sim.wish(living, PlayerWish::GiveWeapon { weapon: 30, ammo: 9 });
    let point = SpawnPoint {
        skin: 9,
        variant: 3,
        ..spawn_point(50.0, 0.0, &[(22, 17)])
    };
    sim.wish(living, PlayerWish::Spawn(Some(point)));
    sim.ticks(8);
    assert!(sim.told::<PlayerDied>().is_empty());
    assert_eq!(
        (sim.phase(living), sim.vitals(living)),
        (Phase::Spawned, (100, 0))
    );
    assert_eq!(
        (sim.ammo(living, 22), sim.of::<Weapons>(living).holds(30)),
        (17, false)
    );
    let generation = sim.players[living].generation();
    assert_eq!(
        sim.players[witness].views(),
        [
            (true, 0, generation),
            (false, 0, generation),
            (true, 0, generation)
        ]
    );
    let shown = sim.players[witness].all(streamed_in).pop().unwrap();
    assert_eq!(
        (shown.skin, shown.variant, shown.health, shown.armour),
        (9, 3, 100, 0)
    );
    assert!((shown.position.x - 50.0).abs() < 1e-6);
    assert!(sim.sees(living, witness));
}

#[test]
fn several_orders_for_one_player_in_one_tick_are_one_spawn_at_the_last_place() {
    let (mut sim, fallen, _) = fallen_and_living();
    sim.players[fallen].client.request_spawn();
    sim.wish(fallen, PlayerWish::Spawn(Some(spawn_point(5.0, 0.0, &[]))));
    sim.wish(fallen, PlayerWish::Spawn(Some(spawn_point(9.0, 0.0, &[]))));
    sim.tick();
    assert_eq!(sim.told::<PlayerSpawned>().len(), 1);
    assert!((sim.position(fallen).x - 9.0).abs() < 1e-6);
}

#[test]
fn who_waits_for_its_login_is_not_spawned() {
    let mut sim = Sim::new();
    let index = sim.join("Waiting");
    sim.players[index].wants_body = false;
    sim.ticks(3);
    let entity = sim.body(index);
    sim.app.world_mut().entity_mut(entity).insert(Phase::PreAuth);
    sim.wish(index, PlayerWish::Spawn(None));
    sim.players[index].client.request_spawn();
    sim.ticks(3);
    assert_eq!(sim.phase(index), Phase::PreAuth);
}

#[test]
fn after_a_respawn_a_client_knows_its_own_health_and_weapons() {
    let setup = Setup {
        spawns: spawns(vec![spawn_point(0.0, 0.0, &[])]),
        ..Setup::default()
    };
    let mut sim = Sim::with(setup);
    let index = sim.join_now("Guest 0");
    sim.wish(index, PlayerWish::GiveWeapon { weapon: 22, ammo: 5 });
    sim.wish(index, PlayerWish::Health(30));
    sim.ticks(2);
    sim.wish(index, PlayerWish::Spawn(None));
    sim.ticks(2);
    let own = sim.players[index].client.own().unwrap().clone();
    assert!(sim.of::<Weapons>(index).held().is_empty());
    assert!(own.weapons().is_empty(), "{own:?}");
    assert!(own.vitals().is_none_or(|vitals| vitals.health == 100), "{own:?}");
    sim.wish(index, PlayerWish::Health(0));
    sim.ticks(2);
    sim.players[index].client.request_spawn();
    sim.ticks(3);
    assert_eq!(sim.vitals(index), (100, 0));
    let own = sim.players[index].client.own().unwrap();
    assert!(own.vitals().is_none_or(|vitals| vitals.health == 100), "{own:?}");
}

#[test]
fn a_dead_or_waiting_player_may_be_spawned_without_having_asked() {
    let (mut sim, fallen, living) = fallen_and_living();
    sim.wish(fallen, PlayerWish::Spawn(None));
    sim.ticks(8);
    assert!(sim.players[fallen].client.is_spawned() && sim.sees(living, fallen));
    let ghost = sim.join("Ghost");
    sim.players[ghost].wants_body = false;
    sim.ticks(3);
    sim.wish(ghost, PlayerWish::Spawn(None));
    sim.ticks(3);
    assert!(sim.players[ghost].client.is_spawned());
}

fn streamed_in(event: &ServerLaneEvent) -> Option<PlayerStreamIn> {
    match event {
        ServerLaneEvent::PlayerStreamIn(shown) => Some(*shown),
        _ => None,
    }
}

fn spawned_at(event: &ServerLaneEvent) -> Option<SpawnPlayer> {
    match event {
        ServerLaneEvent::SpawnPlayer(spawn) => Some(*spawn),
        _ => None,
    }
}
