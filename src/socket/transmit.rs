//! The transmit thread: signs what must be signed, sends what the tick put into its outbox, and reports when.

use std::{
    collections::BTreeSet,
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    thread::{self, JoinHandle},
};

use crossbeam_channel::{Receiver, Sender, bounded};
use decitick_components::{
    mailbox::{Outbox, Route, Seal, SentReport},
    tally::SentTally,
};
use decitick_protocol::ServerIdentity;

use super::{Epoch, Listener, Sending, platform};

/// Outboxes that may wait for the transmit thread: a second's worth. More means that it cannot keep up.
const WAITING_OUTBOXES: usize = 10;

/// An outbox that was sent, for reuse, and what became of it.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) outbox: Outbox,
    pub(super) reports: Vec<SentReport>,
    pub(super) tally: SentTally,
}

/// The running transmit thread.
#[derive(Debug)]
pub struct TransmitThread {
    pub(super) to_send: Sender<Outbox>,
    pub(super) sent: Receiver<Sent>,
    thread: JoinHandle<()>,
}

impl TransmitThread {
    /// The ends the tick holds.
    pub(super) fn ends(&self) -> (Sender<Outbox>, Receiver<Sent>) {
        (self.to_send.clone(), self.sent.clone())
    }

    /// Lets it send what waits and waits for its end. The tick must have given up its ends before.
    pub fn finish(self) {
        drop(self.to_send);
        if self.thread.join().is_err() {
            tracing::error!("the transmit thread had panicked");
        }
    }
}

/// Starts the thread that sends for all listeners.
///
/// # Errors
/// When the thread cannot be started.
pub fn start_transmit(
    listeners: &[Arc<Listener>],
    identity: ServerIdentity,
    epoch: Epoch,
) -> io::Result<TransmitThread> {
    let (to_send, outboxes) = bounded::<Outbox>(WAITING_OUTBOXES);
    let (returns, sent) = bounded(WAITING_OUTBOXES + 2);
    let listeners = listeners.to_vec();
    let thread = thread::Builder::new()
        .name("transmit".to_owned())
        .spawn(move || {
            let mut sender = platform::BatchSender::new();
            for mut outbox in outboxes {
                // Clients that wait for no signature first: whoever plays never waits for those who ask to. What
                // goes to a newcomer stays behind its ServerHello, since it drops what comes before.
                let mut sent = Sent::default();
                let newcomers = newcomers(&outbox);
                let waits = |route: &Route| newcomers.contains(&route.peer);
                send_part(
                    &listeners,
                    &mut sender,
                    &outbox,
                    epoch,
                    |route| !waits(route),
                    &mut sent,
                );
                if !newcomers.is_empty() {
                    seal_all(&identity, &mut outbox);
                    send_part(&listeners, &mut sender, &outbox, epoch, waits, &mut sent);
                }
                outbox.clear();
                sent.outbox = outbox;
                // A tick that is gone takes nothing back, and one that is behind gets the next.
                let _ = returns.try_send(sent);
            }
        })?;
    Ok(TransmitThread {
        to_send,
        sent,
        thread,
    })
}

/// Addresses that something of this outbox is signed for.
fn newcomers(outbox: &Outbox) -> BTreeSet<SocketAddr> {
    outbox
        .packets()
        .iter()
        .filter(|packet| packet.seal.is_some())
        .map(|packet| packet.route.peer)
        .collect()
}

fn seal_all(identity: &ServerIdentity, outbox: &mut Outbox) {
    let sealed: Vec<_> = outbox
        .packets()
        .iter()
        .filter(|packet| packet.seal.is_some())
        .copied()
        .collect();
    for packet in sealed {
        let datagram = outbox.bytes_mut(&packet);
        let result = match packet.seal {
            Some(Seal::Hello(nonce)) => identity.seal_hello(&nonce, datagram),
            Some(Seal::Reject(nonce)) => identity.seal_reject(&nonce, datagram),
            None => Ok(()),
        };
        if let Err(error) = result {
            tracing::error!(%error, reason = "seal", "a packet could not be signed");
        }
    }
}

/// Sends a part of an outbox, packets to one client next to each other so that they can share a system call. The
/// order of the packets of one client stays.
fn send_part(
    listeners: &[Arc<Listener>],
    sender: &mut platform::BatchSender,
    outbox: &Outbox,
    epoch: Epoch,
    belongs: impl Fn(&Route) -> bool,
    sent: &mut Sent,
) {
    // A stable sort; plain numbers compare several times faster than addresses do.
    let mut order: Vec<_> = outbox
        .packets()
        .iter()
        .filter(|packet| belongs(&packet.route))
        .map(|packet| (group(&packet.route), packet))
        .collect();
    order.sort_by_key(|&(group, _)| group);
    let packets: Vec<_> = order.into_iter().map(|(_, packet)| packet).collect();
    let Sent { reports, tally, .. } = sent;
    for run in packets.chunk_by(|a, b| a.route.listener == b.route.listener) {
        let Some(listener) = run
            .first()
            .and_then(|first| listeners.get(usize::from(first.route.listener)))
        else {
            continue;
        };
        let sending: Vec<Sending<'_>> = run
            .iter()
            .map(|packet| Sending {
                to: packet.route.peer,
                local: packet.route.local.filter(|_| listener.wildcard),
                bytes: outbox.bytes(packet),
            })
            .collect();
        let counts = sender.send(&listener.socket, &sending, |handed| {
            let at = epoch.elapsed();
            let stamps = run
                .get(handed)
                .unwrap_or_default()
                .iter()
                .filter_map(|packet| packet.stamp);
            reports.extend(stamps.map(|stamp| SentReport { stamp, at }));
        });
        tally.datagrams += counts.datagrams;
        tally.bytes += counts.bytes;
        tally.unreachable += counts.unreachable;
        tally.buffer_full += counts.buffer_full;
        tally.other_errors += counts.other_errors;
    }
}

/// The listener and the client a packet belongs to, as numbers. Only which are equal matters, and that a listener's
/// are next to each other.
fn group(route: &Route) -> (u32, u128) {
    let ip = match route.peer.ip() {
        IpAddr::V4(ip) => u128::from(ip.to_bits()),
        // A listener is of one family, so the numbers of the two never meet.
        IpAddr::V6(ip) => ip.to_bits(),
    };
    (u32::from(route.listener) << 16 | u32::from(route.peer.port()), ip)
}
