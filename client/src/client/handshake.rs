//! One connection attempt: when a ClientHello goes out, and which answer counts (docs/protocol.md 1.4).
//!
//! It ends with an accepted ServerHello, a refusal, a foreign identity or no answer. What comes after is `session.rs`'s
//! business.

use std::time::Duration;

use decitick_protocol::{
    ClientHello, ConnectReject, PROTOCOL_VERSION, PacketId, ServerHello, ServerPacket, credential,
    verify_hello, verify_reject,
};

use super::config::{ClientConfig, PinnedServer};
use super::counters::DropReason;

/// How often the current ClientHello is sent again.
pub(super) const HELLO_INTERVAL: Duration = Duration::from_millis(500);
/// How long an attempt waits for ServerHello.
pub(super) const GIVE_UP: Duration = Duration::from_secs(3);

/// What a datagram means to an attempt.
#[derive(Debug)]
pub(super) enum Step {
    /// A new cookie: the next hello goes out at once.
    Challenged,
    /// The server accepted the client.
    Accepted(Box<ServerHello>),
    /// The server refused the client.
    Refused(Box<ConnectReject>),
    /// Another identity than the expected one answered.
    IdentityChanged([u8; 32]),
    /// Nothing.
    Dropped(DropReason),
}

/// An attempt that is under way.
#[derive(Debug)]
pub(super) struct Handshake {
    config: ClientConfig,
    nonce: [u8; 32],
    started: Duration,
    next_hello: Duration,
    cookie: u64,
}

impl Handshake {
    /// An attempt that starts at `now`. The nonce belongs to this attempt alone.
    pub(super) const fn new(config: ClientConfig, nonce: [u8; 32], now: Duration) -> Self {
        Self {
            config,
            nonce,
            started: now,
            next_hello: now,
            cookie: 0,
        }
    }

    /// Whether the server had its time.
    pub(super) fn is_over(&self, now: Duration) -> bool {
        now >= self.gives_up_at()
    }

    /// When something is to be done next.
    pub(super) fn due(&self) -> Duration {
        self.next_hello.min(self.gives_up_at())
    }

    /// Writes the ClientHello that is due at `now`.
    pub(super) fn poll_transmit(&mut self, now: Duration, out: &mut Vec<u8>) -> bool {
        if now < self.next_hello {
            return false;
        }
        self.next_hello = now + HELLO_INTERVAL;
        self.hello().encode(out);
        true
    }

    /// Judges a datagram. Packets of a session are dropped unread, whatever their length: lane events may overtake
    /// ServerHello and will come again.
    pub(super) fn handle(&mut self, now: Duration, datagram: &[u8]) -> Step {
        match datagram.first().and_then(|id| PacketId::from_byte(*id)) {
            Some(PacketId::ConnectChallenge | PacketId::ServerHello | PacketId::ConnectReject) => {}
            _ => return Step::Dropped(DropReason::BeforeHello),
        }
        match ServerPacket::decode(datagram) {
            Ok(ServerPacket::Challenge(challenge)) => self.take_challenge(now, challenge.cookie),
            Ok(ServerPacket::Hello(hello)) => self.judge_hello(datagram, hello),
            Ok(ServerPacket::Reject(reject)) => self.judge_reject(datagram, reject),
            Ok(_) => Step::Dropped(DropReason::BeforeHello),
            Err(_) => Step::Dropped(DropReason::Malformed),
        }
    }

    fn take_challenge(&mut self, now: Duration, cookie: u64) -> Step {
        if cookie == 0 {
            return Step::Dropped(DropReason::ZeroCookie);
        }
        // Every hello without a cookie earns a challenge of its own, so the same cookie may come several times. Only a
        // new one is worth an extra hello.
        if cookie == self.cookie {
            return Step::Dropped(DropReason::RepeatedChallenge);
        }
        self.cookie = cookie;
        self.next_hello = now;
        Step::Challenged
    }

    fn judge_hello(&self, datagram: &[u8], hello: ServerHello) -> Step {
        if hello.protocol_version != PROTOCOL_VERSION {
            return Step::Dropped(DropReason::WrongVersion);
        }
        if !verify_hello(datagram, &self.nonce, None) {
            return Step::Dropped(DropReason::ForeignSignature);
        }
        if self
            .expected_key()
            .is_some_and(|expected| *expected != hello.server_key)
        {
            return Step::IdentityChanged(hello.server_key);
        }
        Step::Accepted(Box::new(hello))
    }

    fn judge_reject(&self, datagram: &[u8], reject: ConnectReject) -> Step {
        if self
            .expected_key()
            .is_some_and(|expected| *expected != reject.server_key)
        {
            return Step::Dropped(DropReason::ForeignKey);
        }
        if !verify_reject(datagram, &self.nonce, None) {
            return Step::Dropped(DropReason::ForeignSignature);
        }
        Step::Refused(Box::new(reject))
    }

    fn hello(&self) -> ClientHello {
        let mut hello = ClientHello {
            protocol_version: PROTOCOL_VERSION,
            name: self.config.name,
            cookie: self.cookie,
            nonce: self.nonce,
            password_proof: [0; 32],
            credential_key: [0; 32],
            credential_proof: [0; 64],
        };
        // Both proofs are bound to the cookie, so there is nothing to prove without one.
        if let (1.., Some(server)) = (self.cookie, &self.config.server) {
            self.prove(server, &mut hello);
        }
        hello
    }

    fn prove(&self, server: &PinnedServer, hello: &mut ClientHello) {
        if let Some(key) = &server.password {
            hello.password_proof = key.proof(self.cookie, &self.nonce);
        }
        if let Some(seed) = &server.credential_seed {
            hello.credential_key = credential::public_key(seed);
            hello.credential_proof = credential::sign(seed, &server.server_key, self.cookie, &self.nonce);
        }
    }

    fn expected_key(&self) -> Option<&[u8; 32]> {
        self.config.server.as_ref().map(|server| &server.server_key)
    }

    fn gives_up_at(&self) -> Duration {
        self.started + GIVE_UP
    }
}
