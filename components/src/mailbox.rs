//! What goes in and out of a tick: datagrams that the door passed, datagrams to send, and notices to the door.
//!
//! Plain bounded storage. It knows no socket and no thread; the shell fills and drains it, and so does a test.

use crate::inspection::summary;
use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use bevy_ecs::resource::Resource;

use crate::session::{PlayerId, PlayerToken};

/// How a peer is reached: its address, the listener it came by, and the address it asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The peer's canonical address (an IPv4-mapped IPv6 address is its IPv4 address).
    pub peer: SocketAddr,
    /// Index of the listener in `settings.listen`.
    pub listener: u8,
    /// The local address the peer sent to, where the platform tells; answers leave from it.
    pub local: Option<IpAddr>,
}

/// What the door found out about a ClientHello with a valid cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelloTicket {
    /// When the cookie dies, since the start.
    pub cookie_dies: Duration,
    /// Whether the credential proof verified.
    pub credential: CredentialVerdict,
}

/// The door's verdict on the credential of a hello; it is used at step 9 of docs/protocol.md 1.4 only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialVerdict {
    /// The key is all zeros, or the address holds a slot already: the proof was not read.
    NotChecked,
    /// The proof verifies.
    Valid,
    /// The proof does not verify.
    Invalid,
    /// There was no budget left to verify the proof.
    OverBudget,
}

/// One datagram inside a [`Batch`].
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    /// Where it came from.
    pub route: Route,
    /// When the kernel received it, since the start.
    pub arrived: Duration,
    /// For a ClientHello, what the door found out.
    pub ticket: Option<HelloTicket>,
    start: u32,
    length: u16,
}

/// Datagrams packed into one slab, bounded in number and bytes.
#[derive(Debug)]
pub struct Batch {
    bytes: Vec<u8>,
    datagrams: Vec<Datagram>,
    most_datagrams: usize,
    most_bytes: usize,
}

impl Batch {
    /// An empty batch that takes at most `datagrams` and `bytes`. Storage is made at once for a sixteenth of
    /// it and grows on use, never past the bound.
    #[must_use]
    pub fn bounded(datagrams: usize, bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes / 16),
            datagrams: Vec::with_capacity(datagrams / 16),
            most_datagrams: datagrams,
            most_bytes: bytes,
        }
    }

    /// Adds a datagram; `false`, and nothing changes, when it does not fit.
    #[must_use]
    pub fn push(
        &mut self,
        route: Route,
        arrived: Duration,
        bytes: &[u8],
        ticket: Option<HelloTicket>,
    ) -> bool {
        let fits =
            self.datagrams.len() < self.most_datagrams && self.bytes.len() + bytes.len() <= self.most_bytes;
        let (Ok(start), Ok(length)) = (u32::try_from(self.bytes.len()), u16::try_from(bytes.len())) else {
            return false;
        };
        if fits {
            self.bytes.extend_from_slice(bytes);
            self.datagrams.push(Datagram {
                route,
                arrived,
                ticket,
                start,
                length,
            });
        }
        fits
    }

    /// The datagrams in order of arrival, with their bytes.
    pub fn iter(&self) -> impl Iterator<Item = (&Datagram, &[u8])> {
        self.datagrams.iter().map(|datagram| {
            let start = datagram.start as usize;
            let end = start + usize::from(datagram.length);
            (datagram, self.bytes.get(start..end).unwrap_or_default())
        })
    }

    /// Datagrams held.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.datagrams.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.datagrams.is_empty()
    }

    /// Forgets the datagrams and keeps the storage, unless a burst made it far larger than is usual.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.datagrams.clear();
        self.bytes.shrink_to(self.most_bytes / 16);
        self.datagrams.shrink_to(self.most_datagrams / 16);
    }
}

/// What came in since the tick before.
#[derive(Resource, Debug)]
pub struct Inbox {
    /// Datagrams of sessions.
    pub sessions: Batch,
    /// Hellos with a valid cookie.
    pub hellos: Batch,
    /// Addresses whose packet budget was exceeded in ten seconds in a row (docs/protocol.md 2.2).
    pub flooding: Vec<SocketAddr>,
    /// When stamped datagrams were handed to the kernel.
    pub sent: Vec<SentReport>,
}

impl Inbox {
    /// Session datagrams that may wait for a tick: what 1,000 clients at 30 packets a second send in a second.
    pub const SESSION_DATAGRAMS: usize = 32_768;
    /// Bytes of session datagrams that may wait.
    pub const SESSION_BYTES: usize = 8 * 1024 * 1024;
    /// Reports of sent datagrams that storage is kept for.
    pub const SENT_REPORTS: usize = 4_096;
    /// Hellos that may wait.
    pub const HELLOS: usize = 8_192;
    /// Bytes of hellos that may wait.
    pub const HELLO_BYTES: usize = Self::HELLOS * 235;
}

impl Default for Inbox {
    fn default() -> Self {
        Self {
            sessions: Batch::bounded(Self::SESSION_DATAGRAMS, Self::SESSION_BYTES),
            hellos: Batch::bounded(Self::HELLOS, Self::HELLO_BYTES),
            flooding: Vec::new(),
            sent: Vec::new(),
        }
    }
}

/// What the transmitting side must sign before it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seal {
    /// A ServerHello, over this nonce.
    Hello([u8; 32]),
    /// A ConnectReject, over this nonce.
    Reject([u8; 32]),
}

/// Asks to be told when a datagram was handed to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The connection it goes to.
    pub player: PlayerId,
    /// Its generation, so that a late report of an earlier holder of the id is ignored.
    pub generation: PlayerToken,
    /// What was sent.
    pub what: Stamped,
}

/// What a [`Stamp`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamped {
    /// A ServerKeepalive with this nonce.
    Keepalive(u32),
    /// The first send of the lane event with this id.
    Event(u32),
}

/// When a stamped datagram was handed to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentReport {
    /// What was asked for.
    pub stamp: Stamp,
    /// When, since the start.
    pub at: Duration,
}

/// One datagram to send.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    /// Where to.
    pub route: Route,
    /// What to sign first.
    pub seal: Option<Seal>,
    /// Whether to report the time of sending.
    pub stamp: Option<Stamp>,
    start: u32,
    length: u16,
}

/// What a tick sends, in order.
#[derive(Resource, Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    packets: Vec<Outgoing>,
    usual_bytes: usize,
    usual_packets: usize,
}

impl Outbox {
    /// Adds a datagram whose bytes `write` appends.
    pub fn push_with(
        &mut self,
        route: Route,
        seal: Option<Seal>,
        stamp: Option<Stamp>,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let before = self.bytes.len();
        write(&mut self.bytes);
        let (Ok(start), Ok(length)) = (u32::try_from(before), u16::try_from(self.bytes.len() - before))
        else {
            self.bytes.truncate(before);
            return;
        };
        self.packets.push(Outgoing {
            route,
            seal,
            stamp,
            start,
            length,
        });
    }

    /// Adds a datagram.
    pub fn push(&mut self, route: Route, bytes: &[u8]) {
        self.push_with(route, None, None, |out| out.extend_from_slice(bytes));
    }

    /// The datagrams in the order they were added.
    #[must_use]
    pub fn packets(&self) -> &[Outgoing] {
        &self.packets
    }

    /// The bytes of one of its datagrams.
    #[must_use]
    pub fn bytes(&self, packet: &Outgoing) -> &[u8] {
        let start = packet.start as usize;
        self.bytes
            .get(start..start + usize::from(packet.length))
            .unwrap_or_default()
    }

    /// The bytes of one of its datagrams, to be sealed.
    pub fn bytes_mut(&mut self, packet: &Outgoing) -> &mut [u8] {
        let start = packet.start as usize;
        self.bytes
            .get_mut(start..start + usize::from(packet.length))
            .unwrap_or_default()
    }

    /// Whether there is nothing to send.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Total bytes.
    #[must_use]
    pub const fn byte_count(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets the datagrams. Storage that recent ticks used is kept; what only a burst needed is given back.
    pub fn clear(&mut self) {
        self.usual_bytes = usual(self.usual_bytes, self.bytes.len());
        self.usual_packets = usual(self.usual_packets, self.packets.len());
        self.bytes.clear();
        self.packets.clear();
        give_back(&mut self.bytes, self.usual_bytes);
        give_back(&mut self.packets, self.usual_packets);
    }
}

/// What is usual after one more tick used `used`: a moving average over a few ticks.
const fn usual(before: usize, used: usize) -> usize {
    before - before / 4 + used / 4
}

/// Shrinks storage that is far larger than is usual. In between it stays as it is: one tick is not like the other,
/// and storage is not to be made anew for that.
fn give_back<T>(storage: &mut Vec<T>, usual: usize) {
    if storage.capacity() > usual.saturating_mul(8) {
        storage.shrink_to(usual.saturating_mul(4));
    }
}

/// What the tick tells the door. A notice is on its way before any packet that follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DoorNotice {
    /// An address holds a slot now.
    Opened {
        /// The canonical address.
        peer: SocketAddr,
        /// Its session token.
        session_token: u64,
    },
    /// An address holds no slot any more.
    Closed {
        /// The canonical address.
        peer: SocketAddr,
    },
    /// What a query answer says from now on.
    Query(Box<decitick_protocol::QueryBody>),
}

/// Notices of this tick, in order.
#[derive(Resource, Debug, Default)]
pub struct DoorNotices(pub Vec<DoorNotice>);

summary!(|inbox: Inbox| {
    session_datagrams: usize = inbox.sessions.len(),
    hellos: usize = inbox.hellos.len(),
    flooding: usize = inbox.flooding.len(),
    sent_reports: usize = inbox.sent.len(),
});
summary!(|outbox: Outbox| {
    packets: usize = outbox.packets.len(),
    bytes: usize = outbox.bytes.len(),
});
summary!(|notices: DoorNotices| { waiting: usize = notices.0.len() });

#[cfg(test)]
mod tests {
    use super::*;

    fn route() -> Route {
        Route {
            peer: SocketAddr::from(([127, 0, 0, 1], 9)),
            listener: 0,
            local: None,
        }
    }

    #[test]
    fn a_batch_refuses_what_passes_its_bounds_and_keeps_what_it_has() {
        let mut batch = Batch::bounded(3, 10);
        assert!(batch.push(route(), Duration::ZERO, b"abcd", None));
        assert!(batch.push(route(), Duration::ZERO, b"efgh", None));
        assert!(!batch.push(route(), Duration::ZERO, b"ijk", None));
        assert!(batch.push(route(), Duration::ZERO, b"", None));
        assert!(!batch.push(route(), Duration::ZERO, b"", None));
        let seen: Vec<&[u8]> = batch.iter().map(|(_, bytes)| bytes).collect();
        assert_eq!(seen, [b"abcd".as_slice(), b"efgh", b""]);
    }

    #[test]
    fn an_outbox_keeps_order_and_bytes() {
        let mut outbox = Outbox::default();
        outbox.push(route(), b"one");
        outbox.push_with(route(), Some(Seal::Hello([1; 32])), None, |out| {
            out.extend_from_slice(b"two");
        });
        let packets = outbox.packets().to_vec();
        assert_eq!(outbox.bytes(&packets[0]), b"one");
        outbox.bytes_mut(&packets[1])[0] = b'T';
        assert_eq!(outbox.bytes(&packets[1]), b"Two");
        assert_eq!(outbox.byte_count(), 6);
    }

    #[test]
    fn an_outbox_gives_back_what_a_burst_needed_and_keeps_what_is_usual() {
        let mut outbox = Outbox::default();
        let fill =
            |outbox: &mut Outbox, count: usize| (0..count).for_each(|_| outbox.push(route(), &[7; 1200]));
        fill(&mut outbox, 10_000);
        outbox.clear();
        for _ in 0..100 {
            fill(&mut outbox, 50);
            outbox.clear();
        }
        assert!(
            outbox.bytes.capacity() <= 8 * 50 * 1200,
            "{}",
            outbox.bytes.capacity()
        );
        let kept = outbox.bytes.capacity();
        for count in [50, 60, 50, 60] {
            fill(&mut outbox, count);
            outbox.clear();
            assert_eq!(
                outbox.bytes.capacity(),
                kept,
                "a usual tick makes no storage anew"
            );
        }
    }
}
