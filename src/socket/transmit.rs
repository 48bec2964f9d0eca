//! The transmit thread: signs what must be signed, sends what the tick put into its outbox, and reports when. What a
//! simulated bad network does on the way is in `impair`.

use std::{
    collections::BTreeSet,
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use decitick_components::{
    mailbox::{Outbox, Route, Seal, SentReport},
    netsim::Netsim,
    tally::SentTally,
};
use decitick_protocol::ServerIdentity;

use super::{Epoch, Listener, Sending, impair::OutboundNetwork, platform};

/// Outboxes that may wait for the transmit thread: a second's worth. More means that it cannot keep up.
const WAITING_OUTBOXES: usize = 10;

/// An outbox that was sent, for reuse, and what became of it.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) outbox: Outbox,
    pub(super) reports: Vec<SentReport>,
    pub(super) tally: SentTally,
}

/// What the tick hands over: what to send, and the bad network to simulate on its way, if one is.
#[derive(Debug, Default)]
pub(super) struct ToSend {
    pub(super) outbox: Outbox,
    pub(super) netsim: Netsim,
}

/// The running transmit thread.
#[derive(Debug)]
pub struct TransmitThread {
    pub(super) to_send: Sender<ToSend>,
    pub(super) sent: Receiver<Sent>,
    thread: JoinHandle<()>,
}

impl TransmitThread {
    /// The ends the tick holds.
    pub(super) fn ends(&self) -> (Sender<ToSend>, Receiver<Sent>) {
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
    let (to_send, outboxes) = bounded(WAITING_OUTBOXES);
    let (returns, sent) = bounded(WAITING_OUTBOXES + 2);
    let listeners = listeners.to_vec();
    let thread = thread::Builder::new()
        .name("transmit".to_owned())
        .spawn(move || {
            let transmitter = Transmitter {
                listeners,
                identity,
                epoch,
                sender: platform::BatchSender::new(),
                // Chance is enough for what is only simulated, and so is none.
                network: OutboundNetwork::new(getrandom::u64().unwrap_or_default()),
                late: SentTally::default(),
            };
            transmitter.run(&outboxes, &returns);
        })?;
    Ok(TransmitThread {
        to_send,
        sent,
        thread,
    })
}

/// What the thread works with.
struct Transmitter {
    listeners: Vec<Arc<Listener>>,
    identity: ServerIdentity,
    epoch: Epoch,
    sender: platform::BatchSender,
    network: OutboundNetwork,
    /// What was sent later than its outbox, and is not told yet.
    late: SentTally,
}

impl Transmitter {
    fn run(mut self, outboxes: &Receiver<ToSend>, returns: &Sender<Sent>) {
        loop {
            let next = match self.network.next_due() {
                None => outboxes.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => outboxes.recv_deadline(self.epoch.at(due)),
            };
            match next {
                Ok(to_send) => {
                    let sent = self.take(to_send);
                    // A tick that is gone takes nothing back, and one that is behind gets the next.
                    let _ = returns.try_send(sent);
                }
                Err(RecvTimeoutError::Timeout) => {}
                // The last words of the server are not held back.
                Err(RecvTimeoutError::Disconnected) => return self.send_held(Duration::MAX),
            }
            if !self.network.is_empty() {
                self.send_held(self.epoch.elapsed());
            }
        }
    }

    fn take(&mut self, to_send: ToSend) -> Sent {
        let ToSend { mut outbox, netsim } = to_send;
        let mut sent = Sent {
            tally: std::mem::take(&mut self.late),
            ..Sent::default()
        };
        if let Some(impairment) = netsim.0 {
            seal_all(&self.identity, &mut outbox);
            let now = self.epoch.elapsed();
            self.network.take(&outbox, impairment, now, &mut sent);
        } else {
            // What a bad network holds back when it ends goes first: it is older.
            self.send_held(Duration::MAX);
            self.send(&mut outbox, &mut sent);
        }
        outbox.clear();
        sent.outbox = outbox;
        sent
    }

    /// Clients that wait for no signature first: whoever plays never waits for those who ask to. What goes to a newcomer
    /// stays behind its ServerHello, since it drops what comes before.
    fn send(&mut self, outbox: &mut Outbox, sent: &mut Sent) {
        let newcomers = newcomers(outbox);
        let waits = |route: &Route| newcomers.contains(&route.peer);
        let (listeners, sender, epoch) = (&self.listeners, &mut self.sender, self.epoch);
        send_part(listeners, sender, outbox, epoch, |route| !waits(route), sent);
        if !newcomers.is_empty() {
            seal_all(&self.identity, outbox);
            send_part(listeners, sender, outbox, epoch, waits, sent);
        }
    }

    /// Sends what the bad network lets out by `until`.
    fn send_held(&mut self, until: Duration) {
        if self.network.is_empty() {
            return;
        }
        let mut sent = Sent::default();
        let due = self.network.due(until);
        send_part(
            &self.listeners,
            &mut self.sender,
            due,
            self.epoch,
            |_| true,
            &mut sent,
        );
        self.late.add(&sent.tally);
    }
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
        tally.add(&counts);
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
