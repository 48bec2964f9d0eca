//! A thousand signed query answers a second.

use std::{thread, time::Duration};

use crate::{
    bare::{Bare, echo::SignedAnswers},
    support::{
        flood::{Flood, Flooding},
        server::Server,
        table::{Table, median},
    },
};

const PER_SECOND: u64 = 1_000;
const WINDOW: Duration = Duration::from_secs(3);

/// Against a loop that receives, signs and sends.
pub(crate) fn answers(table: &mut Table) {
    let bare = Bare::start(SignedAnswers::new());
    let server = Server::start(&[]);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        theirs.push(window(bare.address, || bare.time()));
        ours.push(window(server.address, || server.times().of("reader")));
    }
    table.ratio(
        "Signed query answers at 1,000/s: CPU per answer",
        1.25,
        median(ours),
        median(theirs),
        "us",
    );
    let limited = server.drops()["by_reason"]["query_limited"].clone();
    println!("queries over the limit: {limited}");
}

/// CPU microseconds for each answer.
fn window(to: std::net::SocketAddr, time: impl Fn() -> Duration) -> f64 {
    let flood = Flood::start(Flooding::Queries, PER_SECOND, to);
    thread::sleep(Duration::from_millis(200));
    let (time_before, sent_before) = (time(), flood.sent());
    thread::sleep(WINDOW);
    (time() - time_before).as_secs_f64() * 1e6 / (flood.sent() - sent_before) as f64
}
