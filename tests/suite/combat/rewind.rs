//! A shot is judged by where its target was when the shooter saw it (docs/protocol.md 2.5).

use std::time::Duration;

use decitick_components::{combat::HitRefusal, requests::PlayerWish};
use decitick_protocol::{HitReport, PacketId, PlayerSync, Vec3};

use crate::sim::{
    LossyLink,
    duel::{Duel, SNIPER},
    frame_at, ground,
};

/// A target that goes north by so many metres a tick, over a link of 150 ms each way, until its shooter's round trip is
/// known.
fn moving_target(step: f32) -> Duel {
    let mut duel = Duel::over(LossyLink::slow(Duration::from_millis(150)));
    duel.sim.players[duel.shooter].keeps_frames = true;
    walk(&mut duel, step, 25);
    let rtt = duel.sim.players[duel.shooter].client.rtt_ms();
    assert!(rtt.is_some_and(|rtt| (295..330).contains(&rtt)), "{rtt:?}");
    duel
}

/// Lets the target go on north, a step a tick.
fn walk(duel: &mut Duel, step: f32, ticks: usize) {
    for _ in 0..ticks {
        let y = last_sent(duel).y + step;
        let frame = PlayerSync {
            velocity: Vec3::new(0.0, step * 10.0, 0.0),
            ..frame_at(20.0, y)
        };
        duel.sim.players[duel.target].client.sync(frame).unwrap();
        duel.sim.tick();
    }
}

/// Where the target last said it is.
fn last_sent(duel: &Duel) -> Vec3 {
    let target = &duel.sim.players[duel.target].client;
    target.last_frame().unwrap().position
}

/// A shot that ends there, reported now; the target goes on until the report has arrived and was judged.
fn fire_while_it_walks(duel: &mut Duel, hit: Vec3, step: f32) {
    let shot = HitReport {
        hit,
        weapon: SNIPER,
        ..duel.shot()
    };
    duel.report(shot);
    walk(duel, step, 3);
}

#[test]
fn a_shot_at_where_the_shooter_saw_its_target_counts_at_any_speed() {
    // 20 m/s and 90 m/s: what was shown of the second is metres behind where it was by then.
    for step in [2.0, 9.0] {
        let mut duel = moving_target(step);
        let seen = duel.sim.players[duel.shooter].frames.last().unwrap().position;
        fire_while_it_walks(&mut duel, seen, step);
        assert_eq!(duel.counted(), 1, "{step} m a tick: {:?}", duel.sim.hits());
        let now = duel.sim.position(duel.target);
        assert!(
            now.y - seen.y > 3.0 * step,
            "it has gone on since: {seen:?} {now:?}"
        );
    }
}

#[test]
fn a_shot_at_where_a_walker_is_by_now_misses() {
    let mut duel = moving_target(2.0);
    // The report arrives in 160 ms; what the target sends now arrives at the same time.
    let now = last_sent(&duel);
    fire_while_it_walks(&mut duel, now, 2.0);
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
    walk(&mut duel, 2.0, 30);
    assert_eq!(duel.sim.players[gunner].client.rtt_ms(), None);
    let now = last_sent(&duel);
    fire_while_it_walks(&mut duel, now, 2.0);
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
