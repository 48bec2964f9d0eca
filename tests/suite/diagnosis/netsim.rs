//! A bad network on what comes in, in virtual time. After every tick a Sim checks that received = handled + dropped +
//! queued.

use std::time::Duration;

use decitick_components::{liveness::SmoothedRtt, reasons::DropReason};

use super::{json, text};
use crate::sim::{Sim, frame_at};

fn walk(sim: &mut Sim, ticks: u16) {
    for n in 0..ticks {
        for player in &mut sim.players {
            if player.client.is_spawned() {
                player.client.sync(frame_at(f32::from(n % 5), 0.0)).unwrap();
            }
        }
        sim.tick();
    }
}

#[test]
fn nothing_is_simulated_until_somebody_asks_and_status_says_what_is() {
    let mut sim = Sim::new();
    assert_eq!(json(&mut sim, "netsim")["active"], false);
    assert_eq!(json(&mut sim, "status")["netsim"], serde_json::Value::Null);
    assert!(!text(&mut sim, "status").contains("netsim"));
    let answer = json(&mut sim, "netsim loss 5 delay 80");
    assert_eq!(
        (answer["active"].as_bool(), answer["loss_percent"].as_u64()),
        (Some(true), Some(5))
    );
    assert_eq!(json(&mut sim, "status")["netsim"]["delay_ms"], 80);
    assert!(text(&mut sim, "status").contains("SIMULATED"));
    assert_eq!(json(&mut sim, "netsim off")["active"], false);
    assert_eq!(
        json(&mut sim, "netsim loss 0")["active"],
        false,
        "nothing is nothing"
    );
}

#[test]
fn what_is_lost_is_a_drop_with_a_reason_of_its_own() {
    let mut sim = Sim::new();
    sim.join_many(3);
    text(&mut sim, "netsim loss 100");
    let quiet = sim.tally().handled;
    walk(&mut sim, 20);
    assert!(sim.dropped(DropReason::Simulated) >= 50);
    assert_eq!(sim.tally().handled, quiet);
    let drops = json(&mut sim, "drops");
    assert_eq!(drops["balanced"], true);
    assert!(drops["by_reason"]["simulated"].as_u64().unwrap() >= 50);
    assert!(drops["last_minute_by_reason"]["simulated"].as_u64().unwrap() > 0);
    text(&mut sim, "netsim off");
    walk(&mut sim, 20);
    assert!(sim.tally().handled > quiet + 30, "players are heard again");
}

#[test]
fn what_is_held_back_is_queued_and_shows_in_round_trips() {
    let mut sim = Sim::new();
    let index = sim.join_many(1)[0];
    walk(&mut sim, 30);
    let rtt = |sim: &Sim| sim.of::<SmoothedRtt>(index).measured().expect("it is measured");
    let before = rtt(&sim);
    assert!(before < Duration::from_millis(20), "{before:?}");
    text(&mut sim, "netsim delay 250");
    walk(&mut sim, 5);
    assert!(sim.tally().held_back > 0 && sim.tally().queued() == sim.tally().held_back);
    assert!(json(&mut sim, "drops")["held_back"].as_u64().unwrap() > 0);
    sim.expect_within(600, "round trips are as long as the delay", |sim| {
        walk(sim, 1);
        rtt(sim) >= Duration::from_millis(235)
    });
    walk(&mut sim, 50);
    let delayed = rtt(&sim);
    assert!(delayed <= Duration::from_millis(275), "{delayed:?}");
    text(&mut sim, "netsim off");
    walk(&mut sim, 1);
    assert_eq!(sim.tally().held_back, 0, "what was held back went at once");
    assert_eq!(sim.tally().queued(), 0);
    sim.expect_no_faults();
}

#[test]
fn a_copy_counts_as_one_more_that_was_received() {
    let mut sim = Sim::new();
    sim.join_many(2);
    text(&mut sim, "netsim dup 100 jitter 40");
    walk(&mut sim, 30);
    let tally = sim.tally();
    assert!(tally.duplicated >= 50, "{tally:?}");
    assert!(
        sim.dropped(DropReason::StaleFrame) >= 30,
        "the copy of a frame is old news"
    );
    let drops = json(&mut sim, "drops");
    assert_eq!(drops["balanced"], true);
    assert!(drops["simulated_copies"].as_u64().unwrap() >= 50);
    let sum = ["handled", "queued", "dropped"].map(|key| drops[key].as_u64().unwrap());
    assert_eq!(drops["received"].as_u64().unwrap(), sum.iter().sum::<u64>());
}

#[test]
fn players_join_and_play_over_a_bad_network() {
    let mut sim = Sim::new();
    text(&mut sim, "netsim loss 15 delay 60 jitter 80 dup 10");
    for number in 0..10 {
        sim.join(&format!("Far {number}"));
    }
    sim.expect_within(300, "everybody has a body", |sim| {
        sim.players.iter().all(|player| player.client.is_spawned())
    });
    walk(&mut sim, 50);
    sim.expect_no_faults();
}
