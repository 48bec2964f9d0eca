//! A thousand players who do nothing.

use std::time::Duration;

use crate::support::{server::Server, swarm::Swarm, table::Table};

const PLAYERS: u64 = 1_000;

/// What they cost in time and memory.
pub(crate) fn thousand(table: &mut Table) {
    let server = Server::start(&[]);
    std::thread::sleep(Duration::from_secs(1));
    let empty = server.private_kib();
    let mut swarm = Swarm::new(server.address, PLAYERS as usize);
    swarm.join_all();
    swarm.run_for(Duration::from_secs(10));
    let full = server.private_kib();
    let before = server.times();
    swarm.run_for(Duration::from_secs(35));
    let used = server.times().since(&before);
    let later = server.private_kib();
    let resident = server.resident_kib();
    let tick = server.status()["tick"].clone();
    let each = later.saturating_sub(empty) as f64 / PLAYERS as f64;
    let text = format!("{each:.1} KiB ({empty} KiB empty, {full} KiB with 1,000, {later} KiB 35 s later)");
    table.row(
        "A connection at rest (private memory, 1,000)",
        "at most 6 KiB",
        text,
        Some(each <= 6.0),
    );
    table.row(
        "the process with 1,000 players (resident memory)",
        "at most 25 MiB (a renet server)",
        format!("{:.1} MiB", resident as f64 / 1024.0),
        Some(resident <= 25 * 1024),
    );
    let a_second = used.total().as_secs_f64() * 1e3 / 35.0;
    println!("{}", used.shares());
    table.row(
        "CPU of 1,000 idle players",
        "",
        format!("{a_second:.1} ms a second"),
        None,
    );
    let ticks = format!(
        "{} ms / {} ms / {} ms",
        tick["p50_ms"], tick["p99_ms"], tick["max_ms"]
    );
    table.row("tick p50 / p99 / longest, the join included", "", ticks, None);
}
