//! In a steady state a tick allocates nothing for the datagrams that come in and the records that go out.

use crate::sim::{Sim, frame_at};

/// The allocations of each of some ticks in which everybody walks on the spot and everybody sees it.
fn steady(count: u16) -> Vec<u64> {
    let mut sim = Sim::new();
    sim.join_many(usize::from(count));
    let mut ticks = Vec::new();
    for tick in 0..120u16 {
        for index in 0..usize::from(count) {
            let frame = frame_at(f32::from(tick % 7), f32::from(index as u16 % 20));
            sim.players[index].client.sync(frame).unwrap();
        }
        sim.tick();
        // The first seconds are for storage to grow to its size.
        if tick >= 60 {
            ticks.push(sim.allocations);
        }
    }
    ticks
}

#[test]
fn a_steady_tick_allocates_nothing_per_player_or_record() {
    for count in [20, 60] {
        let ticks = steady(count);
        // A few for the tick itself, however many players there are.
        assert!(
            ticks.iter().all(|&allocations| allocations <= 4),
            "{count} players: {ticks:?}"
        );
    }
}
