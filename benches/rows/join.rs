//! A thousand clients that say hello in one moment.

use std::time::Duration;

use crate::{
    bare::{Bare, room::Room},
    support::{server::Server, swarm::Swarm, table::Table},
};

const PLAYERS: usize = 1_000;
/// Until every lane is acknowledged.
const SETTLE: Duration = Duration::from_secs(2);

/// Against a loop that lets in, signs and sends the same.
pub(crate) fn storm(table: &mut Table) {
    let server = Server::start(&[]);
    std::thread::sleep(Duration::from_secs(8));
    let quiet = server.status();
    let before = server.times();
    let mut swarm = Swarm::new(server.address, PLAYERS);
    swarm.recording = true;
    let joined = swarm.join_all();
    swarm.run_for(SETTLE);
    swarm.recording = false;
    let storm = server.times().since(&before);
    let counts = swarm.counts;
    let after = server.status();
    let rest_before = server.times();
    swarm.run_for(SETTLE);
    // What a thousand idle players cost in the same time is not the storm's.
    let idle = server.times().since(&rest_before).total();
    let drops = server.drops();
    let lengths = swarm.lengths();
    drop((server, swarm));

    // The greeting without what is sent once a second to everybody.
    let greetings: Vec<Vec<usize>> = lengths
        .into_iter()
        .map(|list| list.into_iter().filter(|&length| length > 9).collect())
        .collect();
    let each = greetings.iter().map(Vec::len).sum::<usize>() as f64 / PLAYERS as f64;
    let bare = Bare::start(Room::new(greetings, 0));
    let bare_before = bare.time();
    let mut swarm = Swarm::new(bare.address, PLAYERS);
    swarm.join_all();
    swarm.run_for(SETTLE);
    let bare_time = bare.time() - bare_before;

    let milliseconds = joined.as_secs_f64() * 1e3;
    let what = "Join storm of 1,000: all joined after the first hello";
    table.row(
        what,
        "500 ms",
        format!("{milliseconds:.0} ms"),
        Some(milliseconds <= 500.0),
    );
    let per_join = |time: Duration| time.as_secs_f64() * 1e6 / PLAYERS as f64;
    table.ratio(
        "CPU per join",
        1.3,
        per_join(storm.total().saturating_sub(idle)),
        per_join(bare_time),
        "us",
    );
    println!(
        "{each:.1} lane packets a newcomer, {} datagrams out, {} in; {}; idle {:.1} ms",
        counts.received,
        counts.sent,
        storm.shares(),
        idle.as_secs_f64() * 1e3
    );
    let p99 = |status: &serde_json::Value| status["tick"]["p99_ms"].as_f64().unwrap();
    let both = format!(
        "{:.2} ms / {:.2} ms, longest {} ms",
        p99(&after),
        p99(&quiet),
        after["tick"]["max_ms"]
    );
    table.row(
        "tick p99 after the storm / quiet",
        "at most 1.2 x",
        both,
        Some(p99(&after) <= 1.2 * p99(&quiet)),
    );
    println!(
        "overruns {}, lost in the kernel {}",
        after["tick"]["overruns"], drops["kernel_lost"]
    );
}
