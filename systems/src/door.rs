//! The door: what every datagram meets before the tick sees it (docs/protocol.md 1.4, 2.2).
//!
//! A plain struct that stands on the reader thread: no socket, no clock, no ECS. It answers queries and hellos
//! without a cookie at once, drops what cannot be right, and passes the rest. It keeps no state for a peer that
//! has not proven its address, but for the bounded limit tables.

mod peers;

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use decitick_components::{
    limits::{
        ADMISSION, Allowance, CREDENTIAL_TOTAL, HELLO_PER_IP, HELLO_TOTAL, LimitTable, QUERY_PER_IP,
        QUERY_TOTAL, TABLE_ENTRIES, TokenBucket, limit_key,
    },
    mailbox::{CredentialVerdict, DoorNotice, HelloTicket},
    reasons::DropReason,
    settings::LimitSettings,
    tally::{DoorTable, DoorTally},
};
use decitick_protocol::{
    ClientHello, ConnectChallenge, CookieKey, MAX_PACKET, PROTOCOL_VERSION, PacketId, QUERY_REQUEST_MIN,
    QueryBody, QueryRequest, ServerIdentity, credential, session_token_of,
};

use peers::{KnownPeers, Passage};

/// What the door decided about a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorVerdict {
    /// Discarded.
    Drop(DropReason),
    /// Answered: the reply was appended to the buffer.
    Reply,
    /// A datagram of a session, for the tick.
    PassSession,
    /// A hello with a valid cookie, for the tick.
    PassHello(HelloTicket),
}

/// The state of the door, shared by all readers.
#[derive(Debug)]
pub struct Door {
    identity: ServerIdentity,
    server_key: [u8; 32],
    cookie_key: CookieKey,
    limits: LimitSettings,
    peers: KnownPeers,
    query: QueryBody,
    queries_per_ip: LimitTable,
    queries_in_all: TokenBucket,
    credentials_per_ip: LimitTable,
    credentials_in_all: TokenBucket,
    hellos_per_ip: LimitTable,
    hellos_in_all: TokenBucket,
}

impl Door {
    /// A door for the server with this identity. `cookie_key` is random for each process; `query` is what
    /// queries show until the first notice.
    #[must_use]
    pub fn new(
        identity: ServerIdentity,
        cookie_key: CookieKey,
        limits: LimitSettings,
        query: QueryBody,
    ) -> Self {
        Self {
            server_key: identity.public_key(),
            identity,
            cookie_key,
            peers: KnownPeers::new(&limits),
            limits,
            query,
            queries_per_ip: LimitTable::new(QUERY_PER_IP, TABLE_ENTRIES),
            queries_in_all: TokenBucket::full(&QUERY_TOTAL, Duration::ZERO),
            credentials_per_ip: LimitTable::new(ADMISSION, TABLE_ENTRIES),
            credentials_in_all: TokenBucket::full(&CREDENTIAL_TOTAL, Duration::ZERO),
            hellos_per_ip: LimitTable::new(HELLO_PER_IP, TABLE_ENTRIES),
            hellos_in_all: TokenBucket::full(&HELLO_TOTAL, Duration::ZERO),
        }
    }

    /// Takes a notice of the tick.
    pub fn learn(&mut self, notice: DoorNotice, now: Duration) {
        match notice {
            DoorNotice::Opened { peer, session_token } => self.peers.open(peer, session_token, now),
            DoorNotice::Closed { peer } => self.peers.close(&peer),
            DoorNotice::Query(body) => self.query = *body,
        }
    }

    /// Judges one datagram that arrived at `now` from the canonical address `from`. A reply is appended to `reply`.
    pub fn answer(
        &mut self,
        now: Duration,
        from: SocketAddr,
        datagram: &[u8],
        reply: &mut Vec<u8>,
    ) -> DoorVerdict {
        let Some(&first) = datagram.first() else {
            return DoorVerdict::Drop(DropReason::Empty);
        };
        if datagram.len() > MAX_PACKET {
            return DoorVerdict::Drop(DropReason::Oversized);
        }
        match PacketId::from_byte(first) {
            Some(PacketId::Query) => self.answer_query(now, from, datagram, reply),
            Some(PacketId::ClientHello) => self.answer_hello(now, from, datagram, reply),
            Some(id) if id.is_from_client() => self.pass_session(now, from, id, datagram),
            _ => DoorVerdict::Drop(DropReason::UnknownPacket),
        }
    }

    fn answer_query(
        &mut self,
        now: Duration,
        from: SocketAddr,
        datagram: &[u8],
        reply: &mut Vec<u8>,
    ) -> DoorVerdict {
        if datagram.len() < QUERY_REQUEST_MIN {
            return DoorVerdict::Drop(DropReason::WrongLength);
        }
        let Ok(request) = QueryRequest::decode(datagram) else {
            return DoorVerdict::Drop(DropReason::NotAQuery);
        };
        // The address first: an address over its own limit must not use up what all share.
        let allowed = self.exempt(from.ip())
            || self.queries_per_ip.take(self.key(from.ip()), now) == Allowance::Allowed;
        if !allowed || !self.queries_in_all.take(&QUERY_TOTAL, now) {
            return DoorVerdict::Drop(DropReason::QueryLimited);
        }
        self.identity
            .sign_query_answer(&request.nonce, &self.query, reply);
        DoorVerdict::Reply
    }

    fn answer_hello(
        &mut self,
        now: Duration,
        from: SocketAddr,
        datagram: &[u8],
        reply: &mut Vec<u8>,
    ) -> DoorVerdict {
        let Ok(hello) = ClientHello::decode(datagram) else {
            return DoorVerdict::Drop(DropReason::WrongLength);
        };
        if hello.protocol_version != PROTOCOL_VERSION {
            return DoorVerdict::Drop(DropReason::WrongVersion);
        }
        let Some(cookie_dies) = self.cookie_key.judge(now, from, hello.cookie) else {
            ConnectChallenge {
                cookie: self.cookie_key.issue(now, from),
            }
            .encode(reply);
            return DoorVerdict::Reply;
        };
        if !self.may_ask_to_join(now, from.ip()) {
            return DoorVerdict::Drop(DropReason::HelloLimited);
        }
        let known = self.peers.knows(&from);
        if known && self.peers.charge(&from, now) == Passage::OverBudget {
            return DoorVerdict::Drop(DropReason::PacketBudget);
        }
        // The credential of a repeated hello is not read.
        let credential = if known || hello.credential_key == [0; 32] {
            CredentialVerdict::NotChecked
        } else {
            self.verify_credential(now, from.ip(), &hello)
        };
        DoorVerdict::PassHello(HelloTicket {
            cookie_dies,
            credential,
        })
    }

    /// A proven address may still ask more often than judging and signing is worth.
    fn may_ask_to_join(&mut self, now: Duration, ip: IpAddr) -> bool {
        let allowed = self.exempt(ip) || self.hellos_per_ip.take(self.key(ip), now) == Allowance::Allowed;
        allowed && self.hellos_in_all.take(&HELLO_TOTAL, now)
    }

    fn verify_credential(&mut self, now: Duration, ip: IpAddr, hello: &ClientHello) -> CredentialVerdict {
        if !self.may_verify(now, ip) {
            return CredentialVerdict::OverBudget;
        }
        let valid = credential::verify(
            &hello.credential_key,
            &hello.credential_proof,
            &self.server_key,
            hello.cookie,
            &hello.nonce,
        );
        if valid {
            CredentialVerdict::Valid
        } else {
            CredentialVerdict::Invalid
        }
    }

    fn may_verify(&mut self, now: Duration, ip: IpAddr) -> bool {
        let allowed =
            self.exempt(ip) || self.credentials_per_ip.take(self.key(ip), now) == Allowance::Allowed;
        allowed && self.credentials_in_all.take(&CREDENTIAL_TOTAL, now)
    }

    fn pass_session(
        &mut self,
        now: Duration,
        from: SocketAddr,
        id: PacketId,
        datagram: &[u8],
    ) -> DoorVerdict {
        let (shortest, longest) = id.length_bounds();
        if !(shortest..=longest).contains(&datagram.len()) {
            return DoorVerdict::Drop(DropReason::WrongLength);
        }
        let Some(bound_token) = self.peers.session_token(&from) else {
            return DoorVerdict::Drop(DropReason::UnknownAddress);
        };
        if !session_token_of(datagram).is_some_and(|token| bound_token.matches(token)) {
            return DoorVerdict::Drop(DropReason::WrongToken);
        }
        match self.peers.charge(&from, now) {
            Passage::Allowed => DoorVerdict::PassSession,
            Passage::OverBudget => DoorVerdict::Drop(DropReason::PacketBudget),
        }
    }

    /// Addresses that flooded for ten seconds in a row since the last call (docs/protocol.md 2.2).
    pub fn take_flooding(&mut self, into: &mut Vec<SocketAddr>) {
        self.peers.take_flooding(into);
    }

    /// How full its limit tables are.
    #[must_use]
    pub fn tables(&self) -> [DoorTable; 3] {
        let row = |name, table: &LimitTable| DoorTable {
            name,
            entries: table.len(),
            capacity: table.capacity(),
            refused: table.refused(),
        };
        [
            row("query", &self.queries_per_ip),
            row("credential", &self.credentials_per_ip),
            row("hello", &self.hellos_per_ip),
        ]
    }

    /// Gives up table entries that limit nobody any more, a few at a time.
    pub fn tidy(&mut self, now: Duration) {
        self.queries_per_ip.reclaim(now, 64);
        self.credentials_per_ip.reclaim(now, 64);
        self.hellos_per_ip.reclaim(now, 64);
    }

    fn exempt(&self, ip: IpAddr) -> bool {
        self.limits.loopback_exempt && ip.is_loopback()
    }

    fn key(&self, ip: IpAddr) -> IpAddr {
        limit_key(ip, self.limits.ipv6_prefix)
    }
}

/// Counts a verdict in the door's tally.
pub fn count(tally: &mut DoorTally, verdict: DoorVerdict, length: usize) {
    tally.received += 1;
    tally.received_bytes += length as u64;
    match verdict {
        DoorVerdict::Drop(reason) => tally.dropped.add(reason),
        DoorVerdict::Reply => tally.handled += 1,
        DoorVerdict::PassSession | DoorVerdict::PassHello(_) => tally.passed += 1,
    }
}

#[cfg(test)]
mod tests;
