//! Things notice who comes near, zones who comes and goes: once each, however one gets there (docs/protocol.md 2.3).

use bevy_ecs::message::Message;
use decitick_components::{
    body::Space,
    messages::{ThingTriggered, ZoneEntered, ZoneLeft},
    requests::{PlayerWish, ZoneRequest},
    thing::{ThingId, ThingMotion, ThingSpec},
    zone::{Zone, ZoneBook, ZoneId, ZoneShape},
};
use decitick_protocol::{EntityKind, PlayerSync, Vec3};

use crate::sim::{Sim, frame_at, ground};

const OUTSIDE: Space = Space {
    dimension: 0,
    area: 0,
};

/// No change at all.
const NOTHING: [bool; 0] = [];

/// What was told in so many ticks.
fn told_in<M: Message + Clone>(sim: &mut Sim, ticks: usize) -> Vec<M> {
    let mut told = Vec::new();
    for _ in 0..ticks {
        sim.tick();
        told.extend(sim.told::<M>());
    }
    told
}

/// Walks a player along x, a metre a tick, and gives what was told, each with where the player was.
fn walk<M: Message + Clone>(sim: &mut Sim, index: usize, from: i16, to: i16) -> Vec<(i16, M)> {
    let step = (to - from).signum();
    let mut told = Vec::new();
    let mut x = from;
    while x != to {
        x += step;
        sim.players[index].stand_at(f32::from(x), 0.0);
        sim.tick();
        told.extend(sim.told::<M>().into_iter().map(|message| (x, message)));
    }
    told
}

/// Walks, and gives where zones were entered (true) and left (false).
fn cross(sim: &mut Sim, index: usize, from: i16, to: i16) -> Vec<(i16, bool)> {
    let step = (to - from).signum();
    let mut crossed = Vec::new();
    let mut x = from;
    while x != to {
        x += step;
        sim.players[index].stand_at(f32::from(x), 0.0);
        crossed.extend(changes(sim).into_iter().map(|came| (x, came)));
    }
    crossed
}

/// What the next tick tells of zones: who came is true, who went false.
fn changes(sim: &mut Sim) -> Vec<bool> {
    sim.tick();
    let came = sim.told::<ZoneEntered>().len();
    let went = sim.told::<ZoneLeft>().len();
    [vec![true; came], vec![false; went]].concat()
}

fn one_walker() -> (Sim, usize) {
    let mut sim = Sim::new();
    let walker = sim.join_now("Walker");
    sim.players[walker].stand_at(0.0, 0.0);
    sim.ticks(3);
    (sim, walker)
}

fn checkpoint(sim: &mut Sim, x: f32, radius: f32) -> ThingId {
    sim.make_thing(ThingSpec {
        trigger_radius: Some(radius),
        ..ThingSpec::new(EntityKind::Checkpoint, 1, ground(x, 0.0))
    })
}

const fn sphere(x: f32, radius: f32) -> Zone {
    Zone {
        space: OUTSIDE,
        shape: ZoneShape::Sphere {
            centre: ground(x, 0.0),
            radius,
        },
    }
}

fn teleport(x: f32, area: Option<u8>) -> PlayerWish {
    PlayerWish::Teleport {
        position: ground(x, 0.0),
        heading: None,
        area,
    }
}

#[test]
fn a_trigger_fires_once_for_each_coming_near() {
    let (mut sim, walker) = one_walker();
    let thing = checkpoint(&mut sim, 15.0, 5.0);
    let player = sim.body(walker);
    let expected = ThingTriggered { thing, player };
    assert_eq!(walk(&mut sim, walker, 0, 30), [(10, expected)]);
    assert_eq!(walk(&mut sim, walker, 30, 0), [(20, expected)]);
    assert_eq!(walk::<ThingTriggered>(&mut sim, walker, 0, 9), []);
}

#[test]
fn a_thing_without_a_radius_notices_nobody() {
    let (mut sim, walker) = one_walker();
    sim.make_thing(ThingSpec::new(EntityKind::Object, 1, ground(5.0, 0.0)));
    assert_eq!(walk::<ThingTriggered>(&mut sim, walker, 0, 10), []);
}

#[test]
fn a_thing_that_comes_near_notices_who_stands_there() {
    let (mut sim, walker) = one_walker();
    let npc = sim.make_thing(ThingSpec {
        trigger_radius: Some(3.0),
        motion: ThingMotion::to(ground(-20.0, 0.0), 10.0),
        ..ThingSpec::new(EntityKind::Npc, 1, ground(20.0, 0.0))
    });
    let player = sim.body(walker);
    let expected = ThingTriggered { thing: npc, player };
    assert_eq!(told_in::<ThingTriggered>(&mut sim, 50), [expected]);
}

#[test]
fn everybody_triggers_for_itself_and_only_in_its_own_space() {
    let (mut sim, walker) = one_walker();
    let other = sim.join_now("Other");
    sim.players[other].stand_at(0.0, 0.0);
    sim.ticks(3);
    sim.wish(other, PlayerWish::Dimension(2));
    sim.tick();
    let thing = checkpoint(&mut sim, 0.0, 5.0);
    let of = |sim: &Sim, index| ThingTriggered {
        thing,
        player: sim.body(index),
    };
    assert_eq!(told_in::<ThingTriggered>(&mut sim, 5), [of(&sim, walker)]);
    sim.wish(other, PlayerWish::Dimension(0));
    assert_eq!(told_in::<ThingTriggered>(&mut sim, 5), [of(&sim, other)]);
    sim.wish(walker, teleport(0.0, Some(6)));
    assert_eq!(told_in::<ThingTriggered>(&mut sim, 5), []);
    sim.wish(walker, teleport(0.0, Some(0)));
    assert_eq!(told_in::<ThingTriggered>(&mut sim, 5), [of(&sim, walker)]);
}

#[test]
fn the_dead_trigger_nothing_until_they_come_back() {
    let (mut sim, walker) = one_walker();
    sim.wish(walker, PlayerWish::Health(0));
    sim.ticks(2);
    checkpoint(&mut sim, 0.0, 5.0);
    assert_eq!(told_in::<ThingTriggered>(&mut sim, 5), []);
    sim.players[walker].client.request_spawn();
    assert_eq!(told_in::<ThingTriggered>(&mut sim, 5).len(), 1);
}

#[test]
fn a_sphere_tells_who_walks_in_and_who_walks_out_with_its_border_inside() {
    let (mut sim, walker) = one_walker();
    let zone = sim.make_zone(sphere(20.0, 5.0));
    assert_eq!(cross(&mut sim, walker, 0, 40), [(15, true), (26, false)]);
    assert_eq!(cross(&mut sim, walker, 40, 0), [(25, true), (14, false)]);
    sim.wish(walker, teleport(20.0, None));
    sim.tick();
    let player = sim.body(walker);
    assert_eq!(sim.told::<ZoneEntered>(), [ZoneEntered { zone, player }]);
    sim.wish(walker, teleport(500.0, None));
    sim.tick();
    assert_eq!(sim.told::<ZoneLeft>(), [ZoneLeft { zone, player }]);
}

#[test]
fn a_box_tells_who_walks_in_and_who_walks_out_and_has_a_height() {
    let (mut sim, walker) = one_walker();
    let corners = (Vec3::new(10.0, 5.0, 20.0), Vec3::new(20.0, -5.0, 10.0));
    sim.make_zone(Zone {
        space: OUTSIDE,
        shape: ZoneShape::between(corners.0, corners.1),
    });
    sim.make_zone(Zone {
        space: OUTSIDE,
        shape: ZoneShape::between(Vec3::new(10.0, 5.0, 20.0), Vec3::new(20.0, -5.0, 10.5)),
    });
    assert_eq!(
        cross(&mut sim, walker, 0, 40),
        [(10, true), (21, false)],
        "the second box is over their heads"
    );
}

#[test]
fn a_zone_larger_than_any_view_works_too() {
    let (mut sim, walker) = one_walker();
    sim.make_zone(sphere(1000.0, 995.0));
    sim.make_zone(Zone {
        space: OUTSIDE,
        shape: ZoneShape::between(
            Vec3::new(8.0, -20_000.0, -20_000.0),
            Vec3::new(20_000.0, 20_000.0, 20_000.0),
        ),
    });
    assert_eq!(cross(&mut sim, walker, 0, 12), [(5, true), (8, true)]);
}

#[test]
fn death_leaves_a_zone_and_a_respawn_in_it_enters_it() {
    let (mut sim, walker) = one_walker();
    sim.make_zone(sphere(0.0, 5.0));
    assert_eq!(
        changes(&mut sim),
        [true],
        "one that is made around somebody is entered"
    );
    sim.wish(walker, PlayerWish::Health(0));
    assert_eq!(changes(&mut sim), [false]);
    assert_eq!(changes(&mut sim), NOTHING);
    sim.players[walker].client.request_spawn();
    assert_eq!(changes(&mut sim), [true]);
}

#[test]
fn another_dimension_or_area_is_another_place() {
    let (mut sim, walker) = one_walker();
    sim.make_zone(sphere(0.0, 5.0));
    sim.make_zone(Zone {
        space: Space {
            dimension: 3,
            area: 0,
        },
        ..sphere(0.0, 5.0)
    });
    assert_eq!(changes(&mut sim), [true]);
    sim.wish(walker, PlayerWish::Dimension(3));
    assert_eq!(changes(&mut sim), [true, false], "out of one and into the other");
    sim.players[walker]
        .client
        .sync(PlayerSync {
            area: 8,
            ..frame_at(0.0, 0.0)
        })
        .unwrap();
    assert_eq!(changes(&mut sim), [false], "by a frame of its own");
    // A client may change its area once a second.
    sim.ticks(10);
    sim.players[walker].stand_at(0.0, 0.0);
    sim.wish(walker, PlayerWish::Dimension(0));
    assert_eq!(changes(&mut sim), [true]);
}

#[test]
fn nobody_is_told_to_have_left_whose_session_ended() {
    let (mut sim, walker) = one_walker();
    let other = sim.join_now("Other");
    sim.players[other].stand_at(0.0, 0.0);
    sim.make_zone(sphere(0.0, 5.0));
    assert_eq!(told_in::<ZoneEntered>(&mut sim, 3).len(), 2);
    sim.players[walker].client.bye();
    assert_eq!(told_in::<ZoneLeft>(&mut sim, 5), []);
    sim.console("kick 1");
    assert_eq!(told_in::<ZoneLeft>(&mut sim, 5), []);
    assert_eq!(sim.slots_taken(), 0);
    let heir = sim.join_now("Heir");
    let player = sim.body(heir);
    sim.players[heir].stand_at(0.0, 0.0);
    sim.wish(heir, teleport(900.0, None));
    let left = told_in::<ZoneLeft>(&mut sim, 3);
    assert_eq!(left.len(), 1, "the next holder of the id is somebody else");
    assert_eq!(left[0].player, player);
}

#[test]
fn a_zone_that_is_removed_tells_nobody() {
    let (mut sim, walker) = one_walker();
    let zone = sim.make_zone(sphere(0.0, 5.0));
    assert_eq!(changes(&mut sim), [true]);
    sim.app.world_mut().write_message(ZoneRequest::Destroy(zone));
    assert_eq!(changes(&mut sim), NOTHING);
    assert!(sim.app.world().resource::<ZoneBook>().is_empty());
    sim.wish(walker, teleport(900.0, None));
    assert_eq!(changes(&mut sim), NOTHING);
    let brief = sim.make_zone(sphere(900.0, 5.0));
    sim.app.world_mut().write_message(ZoneRequest::Destroy(brief));
    assert_eq!(changes(&mut sim), NOTHING, "made and removed in one tick");
    assert!(sim.app.world().resource::<ZoneBook>().is_empty());
}

#[test]
fn there_are_ten_thousand_zones_at_most() {
    let (mut sim, walker) = one_walker();
    for n in 0..10_000u16 {
        sim.make_zone(sphere(f32::from(n % 100), 0.25));
    }
    let reserve = |sim: &mut Sim| sim.app.world_mut().resource_mut::<ZoneBook>().reserve();
    assert_eq!(reserve(&mut sim), None);
    sim.tick();
    assert_eq!(
        sim.told::<ZoneEntered>().len(),
        100,
        "every one around the walker"
    );
    assert_eq!(sim.app.world().resource::<ZoneBook>().len(), 10_000);
    assert_eq!(reserve(&mut sim), None);
    sim.app.world_mut().write_message(ZoneRequest::Destroy(ZoneId(5)));
    sim.tick();
    assert_eq!(reserve(&mut sim), Some(ZoneId(10_001)));
    assert_eq!(sim.phase(walker), decitick_components::phase::Phase::Spawned);
}
