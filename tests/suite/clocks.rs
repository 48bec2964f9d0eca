//! Setting the clock, or stopping the process, neither freezes nor empties the server (docs/protocol.md 1.5; a
//! tick runs on a monotonic clock, only bans on wall time).

use std::time::Duration;

use decitick_components::{clock::Clock, reasons::CloseReason};

use crate::sim::{Reply, Sim, UNIX_START, Visitor};

#[test]
fn the_wall_clock_may_jump_an_hour_either_way_and_nobody_notices() {
    let mut sim = Sim::new();
    let players = sim.join_many(10);
    sim.ticks(20);
    for jump in [-3600_i64, 7200, -3600] {
        let unix = i64::try_from(sim.unix.as_secs()).unwrap() + jump;
        sim.unix = Duration::from_secs(u64::try_from(unix).unwrap());
        let (tick, cookies) = (sim.tick_number(), sim.slots_taken());
        sim.ticks(30);
        assert_eq!((sim.tick_number() - tick, sim.slots_taken()), (30, cookies));
    }
    assert!(sim.ended.is_empty());
    for index in players {
        assert!(sim.players[index].pings.len() >= 9, "keepalives went on");
        assert!(sim.players[index].client.rtt_ms().is_some_and(|rtt| rtt < 200));
    }
    let visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "Late Guest");
    assert!(
        matches!(sim.visit(&visitor), Reply::Welcome(_)),
        "cookies and buckets run on"
    );
}

#[test]
fn a_cookie_and_a_bucket_do_not_live_by_the_wall_clock() {
    let mut sim = Sim::new();
    let visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "Guest 0");
    let cookie = sim.cookie_for(&visitor);
    sim.unix = UNIX_START + Duration::from_secs(3600);
    let hello = visitor.hello(&sim.server_key(), cookie);
    sim.ticks(90);
    sim.knock(visitor.address, &hello);
    sim.tick();
    assert!(
        matches!(sim.reply_to(&visitor), Reply::Welcome(_)),
        "it lives at least 10 s"
    );
}

#[test]
fn after_a_stop_of_twelve_seconds_only_the_silent_go_and_no_tick_is_made_up_for() {
    let mut sim = Sim::new();
    let players = sim.join_many(20);
    sim.ticks(10);
    for &index in &players[..5] {
        sim.players[index].unplugged = true;
    }
    sim.ticks(50);
    let before = sim.tick_number();
    sim.stall(Duration::from_secs(12));
    assert_eq!(sim.tick_number() - before, 120, "the number jumps");
    let clock = *sim.app.world().resource::<Clock>();
    assert_eq!(
        (clock.step, clock.stalled),
        (Clock::LONGEST_STEP, Duration::from_secs(12))
    );
    assert!(
        sim.ended.is_empty(),
        "whoever was silent gets a moment to be heard"
    );
    sim.ticks(20);
    assert_eq!(sim.ended.len(), 5, "{:?}", sim.ended);
    assert!(sim.ended.iter().all(|(.., why)| *why == CloseReason::Timeout));
    assert_eq!(sim.slots_taken(), 15);
    assert!(
        players[5..]
            .iter()
            .all(|&index| sim.players[index].end().is_none())
    );
}

#[test]
fn after_a_stop_of_twenty_seconds_everybody_is_removed_once_and_the_server_goes_on() {
    let mut sim = Sim::new();
    sim.join_many(20);
    sim.ticks(20);
    let keepalives_before = sim.players[0].pings.len();
    sim.stall(Duration::from_secs(20));
    assert!(
        sim.players[0].pings.len() <= keepalives_before + 1,
        "no burst of two hundred ticks"
    );
    sim.ticks(20);
    let mut gone: Vec<u16> = sim.ended.iter().map(|(id, ..)| *id).collect();
    gone.sort_unstable();
    assert_eq!(gone, (0..20).collect::<Vec<_>>(), "each once: {:?}", sim.ended);
    let index = sim.join_now("Next One");
    assert_eq!(sim.players[index].id(), 0);
}
