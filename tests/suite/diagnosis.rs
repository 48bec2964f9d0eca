//! Commands that answer why: slow ticks, who sees whom, what a connection says, a bad network that is simulated.

mod netsim;
mod ticks;
mod trace;
mod why;

use decitick_components::{console::ConsoleOutbox, session::SessionToken};
use decitick_protocol::ClientAck;
use serde_json::Value;

use crate::sim::Sim;

/// The answer of a command as JSON.
fn json(sim: &mut Sim, line: &str) -> Value {
    let answer = sim.console(&format!("{line} --json"));
    assert!(answer.ok, "{line}: {}", answer.text);
    serde_json::from_str(&answer.text).unwrap()
}

/// The answer of a command as people read it.
fn text(sim: &mut Sim, line: &str) -> String {
    let answer = sim.console(line);
    assert!(answer.ok, "{line}: {}", answer.text);
    answer.text
}

/// Takes the parts of an answer that goes on, and its last word when it came.
fn parts(sim: &mut Sim, id: u64) -> (Vec<String>, Option<String>) {
    let answers = &mut sim.app.world_mut().resource_mut::<ConsoleOutbox>().0;
    let mut parts = Vec::new();
    let mut last = None;
    for answer in answers.extract_if(.., |answer| answer.id == id) {
        assert!(answer.ok && last.is_none(), "{answer:?}");
        if answer.more {
            parts.push(answer.text);
        } else {
            last = Some(answer.text);
        }
    }
    (parts, last)
}

/// So many acknowledgements of a player, at the door in one moment.
fn knock_acks(sim: &mut Sim, index: usize, count: usize) {
    let token = *sim.of::<SessionToken>(index).0.expose();
    let mut datagram = Vec::new();
    ClientAck { ack: 0 }.encode(token, &mut datagram);
    let address = sim.players[index].address;
    for _ in 0..count {
        sim.knock(address, &datagram);
    }
}
