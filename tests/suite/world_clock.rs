//! The time of day runs in the world and in every client alike (docs/protocol.md 2.3).

use std::time::Duration;

use decitick_components::{requests::WorldRequest, settings::ClockSetting, world::WorldState};
use decitick_protocol::{RunClock, ServerLaneEvent, SetTime};

use crate::sim::Sim;

const DAY: u64 = 24 * 60;

/// A server whose clock starts at this time and runs so.
fn clock_of(hours: u8, minutes: u8, clock: ClockSetting) -> Sim {
    Sim::with_settings(|settings| {
        settings.world.time = (hours, minutes);
        settings.world.clock = clock;
    })
}

fn world_time(sim: &Sim) -> (u8, u8) {
    let world = sim.app.world().resource::<WorldState>();
    (world.hours, world.minutes)
}

fn minute_of_day((hours, minutes): (u8, u8)) -> u64 {
    u64::from(hours) * 60 + u64::from(minutes)
}

/// Minutes between two times of day, the shorter way round.
fn apart(one: (u8, u8), other: (u8, u8)) -> u64 {
    let between = minute_of_day(one).abs_diff(minute_of_day(other));
    between.min(DAY - between)
}

#[test]
fn a_day_passes_to_the_minute_on_the_server_and_at_its_clients() {
    let mut sim = clock_of(22, 30, ClockSetting::Running(250));
    let player = sim.join_now("Watcher");
    let mut midnights = 0;
    let mut before = world_time(&sim);
    for _ in 0..6 * 60 * 10 + 100 {
        sim.tick();
        let expected = (22 * 60 + 30 + u64::try_from(sim.now.as_millis()).unwrap() / 250) % DAY;
        let now = world_time(&sim);
        assert_eq!(minute_of_day(now), expected, "at {:?}", sim.now);
        midnights += u32::from(minute_of_day(now) < minute_of_day(before));
        before = now;
        let client = sim.players[player].client.world_time(sim.now).unwrap();
        assert!(apart(client, now) <= 1, "{client:?} and {now:?}");
    }
    assert_eq!(midnights, 1, "six minutes are a day");
    assert!(apart(world_time(&sim), (22, 30)) < 60);
}

#[test]
fn nobody_is_told_of_every_minute() {
    let mut sim = clock_of(12, 0, ClockSetting::Running(100));
    let player = sim.join_now("Watcher");
    sim.ticks(5);
    for _ in 0..50 {
        sim.tick();
        assert!(
            sim.sent_events(player).is_empty(),
            "clients let it run themselves"
        );
    }
}

#[test]
fn who_comes_later_is_told_the_present_time_and_goes_on_with_the_others() {
    let mut sim = clock_of(6, 0, ClockSetting::Running(200));
    let early = sim.join_now("Early");
    sim.ticks(613);
    let late = sim.join("Late");
    sim.ticks(3);
    let now = world_time(&sim);
    assert!(apart(now, (6, 0)) > 300);
    let welcome = sim.players[late].welcome();
    assert!(apart((welcome.hours, welcome.minutes), now) <= 1);
    let told = sim.players[late].all(|event| match event {
        ServerLaneEvent::SetTime(SetTime { hours, minutes }) => Some((*hours, *minutes)),
        _ => None,
    });
    assert_eq!(told.len(), 1);
    assert!(apart(told[0], now) <= 2, "{told:?} and {now:?}");
    let running = sim.players[late].all(|event| match event {
        ServerLaneEvent::RunClock(run) => Some(*run),
        _ => None,
    });
    assert_eq!(
        running,
        [RunClock {
            running: true,
            ms_per_minute: 200
        }]
    );
    for _ in 0..300 {
        sim.tick();
        let (one, other) = (
            sim.players[early].client.world_time(sim.now).unwrap(),
            sim.players[late].client.world_time(sim.now).unwrap(),
        );
        assert!(apart(one, other) <= 1 && apart(one, world_time(&sim)) <= 1);
    }
}

#[test]
fn a_frozen_clock_stays_and_says_so_and_runs_on_from_there() {
    let mut sim = clock_of(9, 0, ClockSetting::Running(100));
    let player = sim.join_now("Watcher");
    sim.ticks(20);
    sim.wish_world(WorldRequest::FreezeClock);
    sim.ticks(2);
    let frozen = world_time(&sim);
    sim.ticks(100);
    assert_eq!(world_time(&sim), frozen);
    let late = sim.join_now("Late");
    for index in [player, late] {
        let client = sim.players[index].client.world_time(sim.now).unwrap();
        assert!(apart(client, frozen) <= 1, "{client:?} and {frozen:?}");
        let stopped = sim.players[index].all(|event| match event {
            ServerLaneEvent::RunClock(run) => Some(run.running),
            _ => None,
        });
        assert_eq!(stopped.last(), Some(&false));
    }
    sim.wish_world(WorldRequest::RunClock(100));
    sim.ticks(31);
    let later = world_time(&sim);
    assert!(
        (29..=31).contains(&apart(later, frozen)),
        "{frozen:?} to {later:?}"
    );
}

#[test]
fn a_time_that_is_set_is_where_the_clock_goes_on() {
    let mut sim = clock_of(9, 0, ClockSetting::Running(1000));
    let player = sim.join_now("Watcher");
    sim.ticks(25);
    sim.wish_world(WorldRequest::Time {
        hours: 23,
        minutes: 59,
    });
    sim.tick();
    assert_eq!(world_time(&sim), (23, 59));
    sim.ticks(9);
    assert_eq!(world_time(&sim), (23, 59), "a whole minute begins");
    sim.ticks(2);
    assert_eq!(world_time(&sim), (0, 0));
    assert_eq!(sim.players[player].client.world_time(sim.now), Some((0, 0)));
}

#[test]
fn a_stop_of_the_process_loses_no_time_of_the_day() {
    for seconds in [1, 12, 20, 100] {
        let mut sim = clock_of(12, 0, ClockSetting::Running(1000));
        let player = sim.join_now("Watcher");
        sim.ticks(37);
        let client_before = sim.players[player].client.world_time(sim.now).unwrap();
        assert!(apart(client_before, world_time(&sim)) <= 1);
        sim.stall(Duration::from_secs(seconds));
        let expected = 12 * 60 + sim.now.as_secs();
        assert_eq!(minute_of_day(world_time(&sim)), expected, "a stop of {seconds} s");
        sim.ticks(30);
        assert_eq!(minute_of_day(world_time(&sim)), 12 * 60 + sim.now.as_secs());
        if seconds < 15 {
            let client = sim.players[player].client.world_time(sim.now).unwrap();
            assert!(apart(client, world_time(&sim)) <= 1, "{client:?}");
        }
        let late = sim.join_now("Late");
        let client = sim.players[late].client.world_time(sim.now).unwrap();
        assert!(apart(client, world_time(&sim)) <= 1, "{client:?}");
    }
}
