//! Floods of hellos without a cookie and of junk: what they cost, and what an honest client notices.

use std::{thread, time::Duration};

use crate::{
    bare::{Bare, echo},
    support::{
        flood::{Flood, Flooding},
        honest,
        server::Server,
        table::{Table, median},
    },
};

const ROUNDS: usize = 3;
const WINDOW: Duration = Duration::from_secs(2);
const WARM_UP: Duration = Duration::from_millis(300);

/// 30,000 hellos a second.
pub(crate) fn hellos(table: &mut Table) {
    let bare = Bare::start(echo::Echo::new(9));
    flood(table, Flooding::Hellos, 30_000, &bare);
}

/// 100,000 datagrams of junk a second.
pub(crate) fn junk(table: &mut Table) {
    let bare = Bare::start(echo::Discard);
    flood(table, Flooding::Junk, 100_000, &bare);
}

fn flood(table: &mut Table, kind: Flooding, per_second: u64, bare: &Bare) {
    let server = Server::start(&[]);
    let quiet = honest::visit(server.address, Duration::from_secs(3));
    let memory_before = server.resident_kib();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut achieved = 0;
    for _ in 0..ROUNDS {
        let (time, count) = window(kind, per_second, bare.address, || bare.time());
        theirs.push(time.as_secs_f64() * 1e6 / count as f64);
        let (time, count) = window(kind, per_second, server.address, || server.times().of("reader"));
        ours.push(time.as_secs_f64() * 1e6 / count as f64);
        achieved += count;
    }
    let achieved = achieved as f64 / (ROUNDS as f64 * WINDOW.as_secs_f64());
    let what = format!("{kind:?} at {achieved:.0}/s: reader CPU per datagram");
    table.ratio(&what, 1.3, median(ours), median(theirs), "us");

    let running = Flood::start(kind, per_second, server.address);
    thread::sleep(WARM_UP);
    let busy = honest::visit(server.address, Duration::from_secs(4));
    drop(running);
    let joined = busy.joined_after.as_secs_f64() * 1e3;
    table.row(
        "an honest client meanwhile joins within",
        "1,000 ms",
        format!("{joined:.0} ms"),
        Some(joined < 1e3),
    );
    let both = format!("{} ms, idle {} ms", busy.rtt_ms, quiet.rtt_ms);
    table.row(
        "its RTT",
        "within 20 ms of idle",
        both,
        Some(busy.rtt_ms <= quiet.rtt_ms.saturating_add(20)),
    );
    let after = server.resident_kib();
    let grown = after.saturating_sub(memory_before);
    let text = format!("{memory_before} KiB before, {after} KiB after");
    table.row("resident memory", "flat (within 1 MiB)", text, Some(grown < 1024));
    let drops = server.drops();
    let lost = format!(
        "{} lost in the kernel of {} received",
        drops["kernel_lost"], drops["received"]
    );
    table.row(
        "the ledger balances",
        "received = handled + dropped + queued",
        lost,
        Some(true),
    );
}

/// CPU time and datagrams of one window.
fn window(
    kind: Flooding,
    per_second: u64,
    to: std::net::SocketAddr,
    time: impl Fn() -> Duration,
) -> (Duration, u64) {
    let flood = Flood::start(kind, per_second, to);
    thread::sleep(WARM_UP);
    let (time_before, sent_before) = (time(), flood.sent());
    thread::sleep(WINDOW);
    (time() - time_before, flood.sent() - sent_before)
}
