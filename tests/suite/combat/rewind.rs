//! A shot is judged by where its target was when the shooter saw it (docs/protocol.md 2.5).

use std::time::Duration;

use decitick_components::{combat::HitRefusal, requests::PlayerWish};
use decitick_protocol::{HitReport, PacketId, PlayerSync, Vec3};

use crate::sim::{
    LossyLink,
    duel::{Duel, SNIPER},
    frame_at, ground,
};

/// A target that walks north at 20 m/s, over a link of 150 ms each way, until its shooter's round trip is known.
fn moving_target() -> Duel {
    let mut duel = Duel::over(LossyLink::slow(Duration::from_millis(150)));
    duel.sim.players[duel.shooter].keeps_frames = true;
    let mut y = 0.0;
    for _ in 0..30 {
        y += 2.0;
        walk_to(&mut duel, y);
    }
    let rtt = duel.sim.players[duel.shooter].client.rtt_ms();
    assert!(rtt.is_some_and(|rtt| (295..330).contains(&rtt)), "{rtt:?}");
    duel
}

fn walk_to(duel: &mut Duel, y: f32) {
    let frame = PlayerSync {
        velocity: Vec3::new(0.0, 20.0, 0.0),
        ..frame_at(20.0, y)
    };
    duel.sim.players[duel.target].client.sync(frame).unwrap();
    duel.sim.tick();
}

/// Sends the report and lets the target walk on until it has arrived and was judged.
fn fire_while_it_walks(duel: &mut Duel, shot: HitReport) {
    duel.report(shot);
    let y = duel.sim.players[duel.target]
        .client
        .last_frame()
        .unwrap()
        .position
        .y;
    for step in 1..=3u8 {
        walk_to(duel, 2.0f32.mul_add(f32::from(step), y));
    }
}

#[test]
fn a_shot_at_where_the_shooter_saw_a_walker_counts() {
    let mut duel = moving_target();
    let seen = duel.sim.players[duel.shooter].frames.last().unwrap().position;
    let shot = HitReport {
        hit: seen,
        weapon: SNIPER,
        ..duel.shot()
    };
    fire_while_it_walks(&mut duel, shot);
    assert_eq!(duel.counted(), 1, "{:?}", duel.sim.hits());
    let now = duel.sim.position(duel.target);
    assert!(now.y - seen.y > 6.0, "it has gone on since: {seen:?} {now:?}");
}

#[test]
fn a_shot_at_where_a_walker_is_by_now_misses() {
    let mut duel = moving_target();
    // The report arrives in 160 ms; what the target sends now arrives at the same time.
    let now = duel.sim.players[duel.target]
        .client
        .last_frame()
        .unwrap()
        .position;
    let shot = HitReport {
        hit: now,
        weapon: SNIPER,
        ..duel.shot()
    };
    fire_while_it_walks(&mut duel, shot);
    assert_eq!(duel.counted(), 0);
    assert_eq!(duel.sim.hits().refused(HitRefusal::MissedTarget), 1);
}

#[test]
fn without_a_measured_round_trip_a_walker_is_where_it_is() {
    let mut duel = Duel::over(LossyLink::slow(Duration::from_millis(150)));
    let gunner = duel.sim.join("Gunner");
    duel.sim.players[gunner].withholds = vec![PacketId::ClientPong, PacketId::ClientAck];
    duel.sim
        .expect_within(20, "a body", |sim| sim.players[gunner].client.is_spawned());
    duel.shooter = gunner;
    let mut y = 0.0;
    for _ in 0..30 {
        y += 2.0;
        walk_to(&mut duel, y);
    }
    assert_eq!(duel.sim.players[gunner].client.rtt_ms(), None);
    let now = duel.sim.players[duel.target]
        .client
        .last_frame()
        .unwrap()
        .position;
    let shot = HitReport {
        hit: now,
        weapon: SNIPER,
        ..duel.shot()
    };
    fire_while_it_walks(&mut duel, shot);
    assert_eq!(duel.counted(), 1, "{:?}", duel.sim.hits());
}

#[test]
fn no_shot_counts_at_where_somebody_was_before_a_teleport() {
    let mut duel = Duel::over(LossyLink::slow(Duration::from_millis(150)));
    duel.sim.ticks(20);
    let shot = HitReport {
        weapon: SNIPER,
        ..duel.shot()
    };
    duel.sim.wish(
        duel.target,
        PlayerWish::Teleport {
            position: ground(20.0, 60.0),
            heading: None,
            area: None,
        },
    );
    duel.sim.tick();
    duel.fire(shot);
    duel.sim.ticks(2);
    assert_eq!(duel.sim.hits().refused(HitRefusal::MissedTarget), 1);
}
