//! The same seed gives the same bytes: nothing in a tick depends on the order of a hash, a thread or an address in
//! memory.

use std::{net::SocketAddr, time::Duration};

use crate::sim::{LossyLink, Setup, Sim};

/// Joins, walks, chat, loss, a kick, a ban, goodbyes and returns; the outbound log of it all.
pub(crate) fn eventful_minute(seed: u64, shuffle_seed: Option<u64>) -> Vec<(u64, SocketAddr, Vec<u8>)> {
    let mut sim = Sim::with(Setup {
        seed,
        shuffle_seed,
        ..Setup::default()
    });
    sim.recording = true;
    let noise = LossyLink {
        loss: 10,
        duplicates: 5,
        reorder: 10,
        corruption: 2,
        delay: Duration::from_millis(25),
        jitter: Duration::from_millis(10),
    };
    let players = sim.join_many(30);
    (sim.up, sim.down) = (noise.clone(), noise);
    for round in 0..120_u16 {
        let index = players[usize::from(round) % 30];
        let walker = &mut sim.players[index].client;
        if walker.is_spawned() {
            let frame = crate::sim::frame_at(f32::from(round), f32::from(round % 7));
            walker.sync(frame).unwrap();
            let _ = walker.send_chat(&format!("round {round}"));
        }
        match round {
            20 => sim.console_later("kick 3 enough"),
            40 => sim.console_later("say half time"),
            50 => sim.console_later("ban 203.0.113.0/24 60 elsewhere"),
            60 => sim.console_later("password set sesame"),
            _ => 0,
        };
        if round % 25 == 10 {
            sim.players[players[usize::from(round) % 29]].client.bye();
            sim.join(&format!("Latecomer {round}"));
        }
        sim.tick();
    }
    sim.log
}

#[test]
fn the_same_seed_twice_gives_the_same_bytes() {
    let first = eventful_minute(7, None);
    let second = eventful_minute(7, None);
    assert!(first.len() > 5_000, "a lot was sent: {}", first.len());
    assert!(first == second);
}

#[test]
fn another_seed_gives_other_bytes() {
    assert!(eventful_minute(7, None) != eventful_minute(8, None));
}
