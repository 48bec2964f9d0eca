//! Ten minutes of a busy world over a bad network, every rule checked after every tick (docs/protocol.md 2.3 to 2.6).

mod crowd;
mod oracle;

use std::{net::SocketAddr, time::Duration};

use decitick_components::combat::HitTally;

use crate::sim::{LossyLink, Setup, Sim, duel::weapon_table, spawn_point, spawns};

use crowd::Crowd;
use oracle::Oracle;

/// Virtual time of the soak.
const MINUTES: usize = 10;
/// Players who are there at any time, more or less.
const PLAYERS: usize = 100;

fn bad_link() -> LossyLink {
    LossyLink {
        loss: 15,
        duplicates: 2,
        reorder: 5,
        delay: Duration::from_millis(25),
        jitter: Duration::from_millis(25),
        ..LossyLink::default()
    }
}

fn busy_world(shuffle_seed: Option<u64>) -> Sim {
    let arms = [(22, 200), (30, 300), (34, 50)];
    let points = (0..25u8)
        .map(|n| {
            let (row, column) = (f32::from(n / 5), f32::from(n % 5));
            spawn_point((column - 2.0) * 150.0, (row - 2.0) * 150.0, &arms)
        })
        .collect();
    let mut setup = Setup {
        seed: 77,
        spawns: spawns(points),
        weapons: weapon_table(),
        shuffle_seed,
        ..Setup::default()
    };
    // So that people come and go in each other's views all the time, and views are full now and then.
    setup.settings.streaming.radius = 130.0;
    setup.settings.streaming.limit = 6;
    setup.settings.streaming.entity_limit = 3;
    Sim::with(setup)
}

#[test]
fn ten_minutes_of_a_busy_world_over_a_bad_network_break_no_rule() {
    let mut sim = busy_world(None);
    // Clients are looked after every 25 ms: the soak is about the server, and has many ticks to make.
    sim.step = Duration::from_millis(25);
    let mut crowd = Crowd::new(PLAYERS);
    let mut oracle = Oracle::default();
    crowd.furnish(&mut sim);
    sim.up = bad_link();
    sim.down = bad_link();
    for _ in 0..MINUTES * 600 {
        crowd.act(&mut sim);
        sim.tick();
        oracle.check(&sim);
    }
    // A quiet minute over a clean link: what every client knows is what is.
    sim.up = LossyLink::default();
    sim.down = LossyLink::default();
    for _ in 0..400 {
        crowd.rest(&mut sim);
        sim.tick();
        oracle.check(&sim);
    }
    oracle.check_clients(&sim);
    sim.expect_no_faults();
    let seen = oracle.seen();
    let tally: &HitTally = sim.hits();
    assert!(
        seen.frames > 100_000 && seen.thing_frames > 50_000 && seen.deaths > 100 && seen.zone_changes > 100,
        "the world was busy: {seen:?} {tally:?}"
    );
    assert!(tally.counted > 1000 && sim.ended.len() > 100, "{tally:?}");
}

/// Everything that a busy half minute sends, as (tick, to, bytes).
fn half_a_minute(shuffle_seed: Option<u64>) -> Vec<(u64, SocketAddr, Vec<u8>)> {
    let mut sim = busy_world(shuffle_seed);
    let mut crowd = Crowd::new(40);
    crowd.furnish(&mut sim);
    sim.up = bad_link();
    sim.down = bad_link();
    sim.recording = true;
    for _ in 0..300 {
        crowd.act(&mut sim);
        sim.tick();
    }
    assert!(sim.hits().counted > 20, "{:?}", sim.hits());
    sim.log
}

#[test]
fn a_busy_world_sends_the_same_bytes_in_every_order_that_the_constraints_allow() {
    let usual = half_a_minute(None);
    for seed in [1, 2, 3] {
        let other = half_a_minute(Some(seed));
        let differs = usual.iter().zip(&other).position(|(one, other)| one != other);
        assert_eq!(differs, None, "seed {seed}");
        assert_eq!(usual.len(), other.len(), "seed {seed}");
    }
}
