//! Lane events through one connection and through a thousand.

use std::time::{Duration, Instant};

use crate::{
    bare::{Bare, room::Room},
    support::{server::Server, swarm::Swarm, table::Table},
};

/// Bytes of a relayed line of the swarm: its length is measured once and this is checked against it.
const RELAYED: usize = 68;
const WINDOW: Duration = Duration::from_secs(5);

/// Chat that is relayed to everybody.
pub(crate) fn chat(table: &mut Table) {
    one(table);
    thousand(table);
}

fn one(table: &mut Table) {
    let server = Server::start(&["limits.packets_per_second=100000", "limits.packet_burst=100000"]);
    let (ours, rate) = busy_lane(server.address, || server.times().total());
    let bare = Bare::start(Room::new(Vec::new(), RELAYED));
    let (theirs, bare_rate) = busy_lane(bare.address, || bare.time());
    let rates = format!("{rate:.0}/s (the window of 64 a tick allows 650/s); bare {bare_rate:.0}/s");
    table.row(
        "Lane events through one connection and back",
        "the window's worth",
        rates,
        Some(rate > 550.0),
    );
    table.row(
        "CPU per event there (idle ticks included)",
        "",
        format!("{ours:.1} / {theirs:.1} us"),
        None,
    );
}

/// One client keeps its window of 64 full; CPU microseconds per event, and events a second.
fn busy_lane(server: std::net::SocketAddr, time: impl Fn() -> Duration) -> (f64, f64) {
    let mut swarm = Swarm::new(server, 1);
    swarm.join_all();
    swarm.run_for(Duration::from_millis(500));
    let (time_before, events_before, started) = (time(), swarm.counts.events, Instant::now());
    let mut next = started;
    while started.elapsed() < WINDOW {
        // Paced to what the window lets through, so that both loops have the same to do.
        while next <= Instant::now() && swarm.unacknowledged(0) < 64 {
            swarm.say(0);
            next += Duration::from_micros(1_540);
        }
        next = next.max(
            Instant::now()
                .checked_sub(Duration::from_millis(100))
                .unwrap_or(next),
        );
        swarm.sweep();
    }
    let events = (swarm.counts.events - events_before) as f64;
    (
        (time() - time_before).as_secs_f64() * 1e6 / events,
        events / started.elapsed().as_secs_f64(),
    )
}

fn thousand(table: &mut Table) {
    const PLAYERS: usize = 1_000;
    let server = Server::start(&[]);
    let mut swarm = Swarm::new(server.address, PLAYERS);
    swarm.join_all();
    swarm.run_for(Duration::from_secs(3));
    let idle_before = server.times();
    swarm.run_for(WINDOW);
    let idle = server.times().since(&idle_before);
    let before = server.times();
    let events = talk(&mut swarm);
    let used = server.times().since(&before);
    println!("{} events; {}; idle: {}", events, used.shares(), idle.shares());
    let ours = used.total().saturating_sub(idle.total()).as_secs_f64() * 1e6 / events as f64;
    let tick = server.status()["tick"].clone();
    drop((server, swarm));

    let bare = Bare::start(Room::new(Vec::new(), RELAYED));
    let mut swarm = Swarm::new(bare.address, PLAYERS);
    swarm.join_all();
    swarm.run_for(Duration::from_secs(1));
    let before = bare.time();
    let bare_events = talk(&mut swarm);
    let theirs = (bare.time() - before).as_secs_f64() * 1e6 / bare_events as f64;
    let rate = events as f64 / WINDOW.as_secs_f64();
    let what = format!("{rate:.0} lane events/s to 1,000 connections: CPU per event");
    table.row(
        &what,
        "",
        format!("{ours:.2} / {theirs:.2} us = {:.2}", ours / theirs),
        None,
    );
    table.row(
        "tick p99 there",
        "",
        format!("{} ms, longest {} ms", tick["p99_ms"], tick["max_ms"]),
        None,
    );
}

/// Twenty lines a second, each from the next player; how many events came.
fn talk(swarm: &mut Swarm) -> u64 {
    let before = swarm.counts.events;
    let started = Instant::now();
    let mut said = 0;
    while started.elapsed() < WINDOW {
        if started.elapsed() >= Duration::from_millis(50) * said as u32 {
            swarm.say(said);
            said += 1;
        }
        swarm.sweep();
    }
    swarm.run_for(Duration::from_millis(300));
    swarm.counts.events - before
}
