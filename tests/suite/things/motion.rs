//! Things that move are shown to, those that stand are repeated, and those that never moved are not (docs/protocol.md
//! 2.4).

use std::f32::consts::TAU;

use decitick_components::{
    body::distance,
    requests::{PlayerWish, ThingRequest},
    thing::ThingMotion,
};
use decitick_protocol::{EntityFrame, Vec3};

use super::{has, moving, object, watch, watched};
use crate::sim::{Sim, ground};

#[test]
fn one_that_never_moved_is_never_repeated() {
    let (mut sim, watcher) = watched();
    let thing = sim.make_thing(object(20.0, 0.0));
    sim.ticks(8);
    assert!(has(&sim, watcher, thing));
    assert!(watch(&mut sim, watcher, 50).iter().all(Vec::is_empty));
}

#[test]
fn one_that_goes_straight_on_is_shown_every_tick() {
    let (mut sim, watcher) = watched();
    let velocity = Vec3::new(10.0, 0.0, -2.0);
    let thing = sim.make_thing(moving(20.0, 0.0, ThingMotion::Straight { velocity }));
    sim.ticks(8);
    let before = sim.placement(thing).unwrap().position;
    let frames: Vec<EntityFrame> = watch(&mut sim, watcher, 10).concat();
    assert_eq!(frames.len(), 10);
    for (n, frame) in (1..=10u8).zip(&frames) {
        let gone = f32::from(n) * 0.1;
        let expected = Vec3::new(
            10.0f32.mul_add(gone, before.x),
            0.0,
            (-2.0f32).mul_add(gone, before.z),
        );
        assert!(distance(frame.position, expected) < 0.01, "{frame:?}");
        assert!(distance(frame.velocity, velocity) < 0.01, "{frame:?}");
        assert_eq!(frame.entity_id, thing.0);
    }
    assert!(frames.windows(2).all(|pair| pair[1].tick == pair[0].tick + 1));
    assert_eq!(u64::from(frames[9].tick), sim.tick_number());
    sim.tick();
    let client = sim.players[watcher]
        .client
        .things()
        .unwrap()
        .thing(thing.0)
        .unwrap();
    assert_eq!(client.position, frames[9].position);
}

#[test]
fn one_that_arrived_says_that_it_stands_and_is_repeated_once_a_second() {
    let (mut sim, watcher) = watched();
    // 12 m at 10 m/s: the way takes twelve ticks.
    let thing = sim.make_thing(moving(20.0, 0.0, ThingMotion::to(ground(32.0, 0.0), 10.0)));
    sim.ticks(8);
    let frames = watch(&mut sim, watcher, 8).concat();
    let last = frames.last().unwrap();
    assert!(distance(last.position, ground(32.0, 0.0)) < 0.01, "{last:?}");
    assert_eq!(last.velocity, Vec3::ZERO);
    assert!(frames.windows(2).all(|pair| pair[0].tick < pair[1].tick));
    let later = watch(&mut sim, watcher, 50);
    assert_eq!(later.concat().len(), 5, "once a second");
    let at: Vec<usize> = (0..50).filter(|&n| !later[n].is_empty()).collect();
    assert!(at.windows(2).all(|pair| pair[1] - pair[0] == 10), "{at:?}");
    assert!(
        later
            .concat()
            .iter()
            .all(|frame| frame.entity_id == thing.0 && frame.velocity == Vec3::ZERO)
    );
}

#[test]
fn one_with_waypoints_passes_each_and_begins_anew_when_it_is_a_loop() {
    let (mut sim, watcher) = watched();
    let corners = [
        ground(30.0, 0.0),
        ground(30.0, 10.0),
        ground(20.0, 10.0),
        ground(20.0, 0.0),
    ];
    let thing = sim.make_thing(moving(
        20.0,
        0.0,
        ThingMotion::Waypoints {
            points: corners.to_vec(),
            speed: 10.0,
            looped: true,
            next: 0,
        },
    ));
    let before = sim.tick_number();
    sim.ticks(8);
    let frames = watch(&mut sim, watcher, 80).concat();
    assert_eq!(frames.len(), 80);
    for frame in &frames {
        // 40 m around, a metre a tick.
        let way = (u64::from(frame.tick) - before) % 40;
        let (side, along) = (way / 10, (way % 10) as f32);
        let expected = match side {
            0 => ground(20.0 + along, 0.0),
            1 => ground(30.0, along),
            2 => ground(30.0 - along, 10.0),
            _ => ground(20.0, 10.0 - along),
        };
        assert!(
            distance(frame.position, expected) < 0.05,
            "{frame:?} {expected:?}"
        );
    }
    assert_eq!(frames.last().unwrap().entity_id, thing.0);
}

#[test]
fn one_that_orbits_keeps_its_distance() {
    let (mut sim, watcher) = watched();
    let centre = ground(50.0, 0.0);
    sim.make_thing(moving(
        60.0,
        0.0,
        ThingMotion::Orbit {
            centre,
            radius: 10.0,
            speed: TAU / 4.0,
            angle: 0.0,
        },
    ));
    sim.ticks(8);
    let frames = watch(&mut sim, watcher, 40).concat();
    assert_eq!(frames.len(), 40);
    assert!(
        frames
            .iter()
            .all(|frame| (distance(frame.position, centre) - 10.0).abs() < 0.05)
    );
    assert!(
        distance(frames[0].position, frames[20].position) > 19.9,
        "the other side after half of four seconds"
    );
}

#[test]
fn one_that_follows_goes_after_its_player_and_stops_short_of_it() {
    let (mut sim, watcher) = watched();
    let player = sim.body(watcher);
    let dog = sim.make_thing(moving(
        30.0,
        0.0,
        ThingMotion::Follow {
            player,
            distance: 2.0,
            speed: 10.0,
        },
    ));
    sim.ticks(40);
    let place = |sim: &Sim| sim.placement(dog).unwrap().position;
    assert!(distance(place(&sim), ground(2.0, 0.0)) < 0.01);
    for step in 1..=20u8 {
        sim.players[watcher].stand_at(0.0, f32::from(step));
        sim.tick();
    }
    sim.ticks(10);
    let gap = distance(place(&sim), ground(0.0, 20.0));
    assert!((1.9..2.1).contains(&gap), "{gap}");
    let client = sim.players[watcher]
        .client
        .things()
        .unwrap()
        .thing(dog.0)
        .unwrap();
    assert!(distance(client.position, place(&sim)) < 0.01, "and it is seen to");
    // Neither into another space, nor after the dead, nor when the session is over.
    let stays = place(&sim);
    sim.wish(watcher, PlayerWish::Dimension(5));
    sim.put(watcher, 100.0, 0.0);
    sim.wish(watcher, PlayerWish::Health(0));
    sim.wish(watcher, PlayerWish::Dimension(0));
    sim.ticks(5);
    assert_eq!(place(&sim), stays);
    sim.players[watcher].client.bye();
    sim.ticks(5);
    assert_eq!(place(&sim), stays);
}

#[test]
fn another_motion_takes_the_place_of_the_old_one() {
    let (mut sim, watcher) = watched();
    let velocity = Vec3::new(0.0, 10.0, 0.0);
    let thing = sim.make_thing(moving(20.0, 0.0, ThingMotion::Straight { velocity }));
    sim.ticks(8);
    sim.wish_thing(ThingRequest::Move(thing, ThingMotion::Still));
    let frames = watch(&mut sim, watcher, 5).concat();
    assert_eq!(
        frames.first().unwrap().velocity,
        Vec3::ZERO,
        "it says at once that it stands"
    );
    let stands = sim.placement(thing).unwrap().position;
    sim.wish_thing(ThingRequest::Move(
        thing,
        ThingMotion::to(ground(20.0, 0.0), 50.0),
    ));
    sim.ticks(5);
    assert!(distance(stands, ground(20.0, 0.0)) > 5.0);
    assert!(distance(sim.placement(thing).unwrap().position, ground(20.0, 0.0)) < 0.01);
}
