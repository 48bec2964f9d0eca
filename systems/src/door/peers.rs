//! What the door knows of addresses that hold a slot: their token and their packet budget.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use decitick_components::{
    limits::{BucketRule, FLOOD_WINDOWS, TokenBucket},
    secret::Secret,
    settings::LimitSettings,
};

/// Whether a datagram is within the connection's budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    Allowed,
    OverBudget,
}

/// A token bound to an address; it compares in constant time.
#[derive(Debug)]
pub(super) struct BoundToken(Secret<u64>);

impl BoundToken {
    pub(super) fn matches(&self, token: u64) -> bool {
        self.0.matches(token)
    }
}

#[derive(Debug)]
struct KnownPeer {
    token: BoundToken,
    bucket: TokenBucket,
    opened: Duration,
    last_window: u64,
    windows_in_a_row: u32,
}

#[derive(Debug)]
pub(super) struct KnownPeers {
    rule: BucketRule,
    peers: BTreeMap<SocketAddr, KnownPeer>,
    flooding: Vec<SocketAddr>,
}

impl KnownPeers {
    pub(super) fn new(limits: &LimitSettings) -> Self {
        let rule = BucketRule::new(
            f64::from(limits.packet_burst),
            f64::from(limits.packets_per_second),
        );
        Self {
            rule,
            peers: BTreeMap::new(),
            flooding: Vec::new(),
        }
    }

    pub(super) fn open(&mut self, peer: SocketAddr, session_token: u64, now: Duration) {
        let known = KnownPeer {
            token: BoundToken(Secret::new(session_token)),
            bucket: TokenBucket::full(&self.rule, now),
            opened: now,
            last_window: u64::MAX,
            windows_in_a_row: 0,
        };
        self.peers.insert(peer, known);
    }

    pub(super) fn close(&mut self, peer: &SocketAddr) {
        self.peers.remove(peer);
    }

    pub(super) fn knows(&self, peer: &SocketAddr) -> bool {
        self.peers.contains_key(peer)
    }

    pub(super) fn session_token(&self, peer: &SocketAddr) -> Option<&BoundToken> {
        self.peers.get(peer).map(|known| &known.token)
    }

    /// Takes one from the budget of a known address. A drop marks its one-second window; the tenth marked window
    /// in a row reports the address as flooding.
    pub(super) fn charge(&mut self, peer: &SocketAddr, now: Duration) -> Passage {
        let Some(known) = self.peers.get_mut(peer) else {
            return Passage::OverBudget;
        };
        if known.bucket.take(&self.rule, now) {
            return Passage::Allowed;
        }
        let window = now.saturating_sub(known.opened).as_secs();
        if known.last_window != window {
            let follows = known.last_window.checked_add(1) == Some(window);
            known.windows_in_a_row = if follows { known.windows_in_a_row + 1 } else { 1 };
            known.last_window = window;
            if known.windows_in_a_row == FLOOD_WINDOWS {
                self.flooding.push(*peer);
            }
        }
        Passage::OverBudget
    }

    pub(super) fn take_flooding(&mut self, into: &mut Vec<SocketAddr>) {
        into.append(&mut self.flooding);
    }
}
