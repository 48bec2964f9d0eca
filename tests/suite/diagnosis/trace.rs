//! One connection's packets, as an operator sees them.

use decitick_components::trace::{NOTED_PER_TICK, Traces};
use serde_json::Value;

use super::{knock_acks, parts};
use crate::sim::{Sim, frame_at};

/// The parts that came in so many ticks in which everybody walks.
fn watched(sim: &mut Sim, id: u64, ticks: usize) -> (Vec<String>, Option<String>) {
    let mut all = (Vec::new(), None);
    for _ in 0..ticks {
        for player in &mut sim.players {
            if player.client.is_spawned() {
                player.client.sync(frame_at(1.0, 2.0)).unwrap();
            }
        }
        sim.tick();
        let (more, last) = parts(sim, id);
        all.0.extend(more);
        all.1 = all.1.or(last);
    }
    all
}

#[test]
fn packets_are_shown_as_they_come_and_go_until_the_time_is_over() {
    let mut sim = Sim::new();
    let indices = sim.join_many(2);
    let id = sim.players[indices[0]].id();
    let trace = sim.console_later(&format!("trace {id} 3"));
    sim.tick();
    let _ = sim.players[indices[0]].client.send_chat("hello there");
    let _ = sim.players[indices[0]].client.send_chat("/login hunter2");
    let (shown, last) = watched(&mut sim, trace, 40);
    let shown = shown.join("\n");
    for part in [
        "in   PlayerSync          46 B  session_token <8 bytes>, seq ",
        "position (1.00, 2.00, 10.00)",
        "text \"hello there\"",
        "command \"/login\", arguments <7 bytes>",
        "out  ServerAck",
        "out  RemotePlayerSync",
        "out  ServerKeepalive",
        "in   ClientPong",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    assert!(!shown.contains("hunter2"));
    assert!(last.is_some(), "it ends by itself");
    assert!(
        sim.app.world().resource::<Traces>().is_idle(),
        "nothing is noted when nobody looks"
    );
}

#[test]
fn one_part_in_json_is_one_value_about_one_tick() {
    let mut sim = Sim::new();
    let index = sim.join_many(1)[0];
    let id = sim.players[index].id();
    let trace = sim.console_later(&format!("trace {id} 2 --json"));
    let (shown, last) = watched(&mut sim, trace, 30);
    assert!(shown.len() >= 15, "{}", shown.len());
    for part in &shown {
        let value: Value = serde_json::from_str(part).unwrap();
        assert_eq!(value["player"].as_u64(), Some(u64::from(id)));
        assert!(value["tick"].is_u64() && value["packets"][0]["size_bytes"].is_u64());
        assert!(["in", "out"].contains(&value["packets"][0]["direction"].as_str().unwrap()));
    }
    assert!(serde_json::from_str::<Value>(&last.unwrap()).unwrap()["message"].is_string());
}

#[test]
fn a_dropped_frame_shows_its_reason_and_a_flood_is_cut() {
    let mut sim = Sim::new();
    let index = sim.join_many(1)[0];
    let id = sim.players[index].id();
    let trace = sim.console_later(&format!("trace {id} 60"));
    sim.tick();
    sim.tick();
    // The client sends a frame that leaps, then the same datagram many times.
    sim.players[index].client.sync(frame_at(9_000.0, 0.0)).unwrap();
    sim.tick();
    let (shown, _) = parts(&mut sim, trace);
    let shown = shown.join("\n");
    assert!(
        shown.contains("DROPPED too_fast") || shown.contains("DROPPED settling"),
        "{shown}"
    );
    knock_acks(&mut sim, index, 150);
    sim.tick();
    let (shown, _) = parts(&mut sim, trace);
    let shown = shown.join("\n");
    assert!(shown.lines().count() <= NOTED_PER_TICK + 1, "{shown}");
    assert!(shown.lines().last().unwrap().contains(" more"), "{shown}");
}

#[test]
fn a_trace_ends_with_its_session_and_of_nobody_there_is_none() {
    let mut sim = Sim::new();
    let index = sim.join_many(1)[0];
    let id = sim.players[index].id();
    assert!(!sim.console("trace 999").ok);
    let trace = sim.console_later(&format!("trace {id} 60"));
    sim.tick();
    sim.players[index].client.bye();
    let (shown, last) = watched(&mut sim, trace, 10);
    assert!(shown.join("\n").contains("in   ClientBye"), "{shown:?}");
    assert_eq!(last.as_deref(), Some("the session is over"));
    assert!(sim.app.world().resource::<Traces>().is_idle());
}
