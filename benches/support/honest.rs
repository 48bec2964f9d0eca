//! One ordinary client, to see what a flood does to it.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use decitick_client::{
    client::{ClientConfig, ClientNotice},
    driver::UdpDriver,
};
use decitick_protocol::PlayerName;

/// What an ordinary client saw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// From the first hello to the ServerHello.
    pub(crate) joined_after: Duration,
    /// Round trip as the server measured it last, in milliseconds.
    pub(crate) rtt_ms: u16,
}

/// Joins, stays for `stay`, and leaves.
pub(crate) fn visit(server: SocketAddr, stay: Duration) -> Seen {
    let name = PlayerName::parse("Honest Ann").unwrap();
    let started = Instant::now();
    let mut driver = UdpDriver::connect(server, ClientConfig::new(&name)).unwrap();
    let joined_after = loop {
        match driver.next_notice(Duration::from_secs(5)).unwrap() {
            Some(ClientNotice::Joined(_)) => break started.elapsed(),
            Some(ClientNotice::Ended(reason)) => panic!("the honest client was not let in: {reason:?}"),
            Some(_) => {}
            None => panic!("the honest client got no answer in 5 s"),
        }
    };
    driver.run_for(stay).unwrap();
    let rtt_ms = driver.client().rtt_ms().unwrap_or(u16::MAX);
    driver.client().bye();
    let _ = driver.run_for(Duration::from_millis(150));
    Seen { joined_after, rtt_ms }
}
