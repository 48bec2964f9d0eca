//! The test tool keeps its promises: links lose what they are told to, and time passes as on a wire.

use std::time::Duration;

use crate::sim::{LossyLink, Random, Sim};

#[test]
fn a_clean_link_carries_everything_at_once() {
    let mut random = Random::new(1);
    let carried = LossyLink::default().carry(&mut random, b"abc");
    assert_eq!(carried, [(Duration::ZERO, b"abc".to_vec())]);
}

#[test]
fn a_lossy_link_loses_doubles_and_corrupts_about_as_much_as_it_is_told() {
    let link = LossyLink {
        loss: 20,
        duplicates: 10,
        corruption: 5,
        ..LossyLink::default()
    };
    let mut random = Random::new(7);
    let (mut copies, mut changed) = (0, 0);
    for _ in 0..10_000 {
        for (_, bytes) in link.carry(&mut random, b"abcdef") {
            copies += 1;
            changed += u32::from(bytes != b"abcdef");
        }
    }
    assert!(
        (8_600..9_000).contains(&copies),
        "1.1 copies of which a fifth is lost: {copies}"
    );
    assert!((370..510).contains(&changed), "a twentieth is changed: {changed}");
}

#[test]
fn a_round_trip_over_a_slow_link_takes_as_long_as_the_link() {
    let mut sim = Sim::new();
    sim.up = LossyLink::slow(Duration::from_millis(30));
    sim.down = LossyLink::slow(Duration::from_millis(40));
    let index = sim.join_now("Slow One");
    sim.expect_within(40, "a measured ping", |sim| {
        sim.players[index].client.rtt_ms().is_some()
    });
    assert_eq!(sim.players[index].client.rtt_ms(), Some(70));
}

#[test]
fn an_unplugged_client_says_and_hears_nothing() {
    let mut sim = Sim::new();
    let index = sim.join_now("Quiet One");
    sim.players[index].unplugged = true;
    let before = sim.players[index].client.counters().clone();
    sim.ticks(20);
    assert_eq!(sim.players[index].client.counters(), &before);
}
