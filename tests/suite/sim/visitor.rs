//! A hello by hand: for what a client of good manners would never send, and for answers judged tick by tick.

use std::net::SocketAddr;

use decitick_protocol::{
    ClientHello, ClientPacket, NAME_LEN, PROTOCOL_VERSION, PasswordKey, PlayerName, RejectReason,
    ServerHello, ServerPacket, SessionPacket, credential, verify_hello, verify_reject,
};
use decitick_systems::door::DoorVerdict;

use super::Sim;

/// What one hello carries.
#[derive(Clone)]
pub(crate) struct Visitor {
    pub(crate) address: SocketAddr,
    pub(crate) name: [u8; NAME_LEN],
    pub(crate) nonce: [u8; 32],
    pub(crate) password: Option<PasswordKey>,
    pub(crate) credential_seed: Option<[u8; 32]>,
    /// Sends a credential whose proof is wrong.
    pub(crate) forges_credential: bool,
}

/// What a hello with a cookie was answered within its tick.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    Silence,
    Welcome(Box<ServerHello>),
    Refused(RejectReason, String, u32),
}

impl Reply {
    pub(crate) fn hello(&self) -> &ServerHello {
        match self {
            Self::Welcome(hello) => hello,
            other => panic!("a ServerHello was expected, not {other:?}"),
        }
    }

    /// A refusal without text and seconds.
    pub(crate) const fn plain(reason: RejectReason) -> Self {
        Self::Refused(reason, String::new(), 0)
    }
}

impl Visitor {
    /// Somebody with a name, from an address like `203.0.113.7:5000`.
    pub(crate) fn new(sim: &mut Sim, address: &str, name: &str) -> Self {
        Self {
            address: address.parse().unwrap(),
            name: PlayerName::parse(name).unwrap().to_field(),
            nonce: sim.random.nonce(),
            password: None,
            credential_seed: None,
            forges_credential: false,
        }
    }

    pub(crate) fn with_password(mut self, key: &PasswordKey) -> Self {
        self.password = Some(key.clone());
        self
    }

    pub(crate) fn with_credential(mut self, seed: [u8; 32]) -> Self {
        self.credential_seed = Some(seed);
        self
    }

    /// The datagram, with proofs for this cookie.
    pub(crate) fn hello(&self, server_key: &[u8; 32], cookie: u64) -> Vec<u8> {
        let mut hello = ClientHello {
            protocol_version: PROTOCOL_VERSION,
            name: self.name,
            cookie,
            nonce: self.nonce,
            password_proof: [0; 32],
            credential_key: [0; 32],
            credential_proof: [0; 64],
        };
        if let Some(key) = &self.password {
            hello.password_proof = key.proof(cookie, &self.nonce);
        }
        if let Some(seed) = &self.credential_seed {
            hello.credential_key = credential::public_key(seed);
            hello.credential_proof = credential::sign(seed, server_key, cookie, &self.nonce);
            hello.credential_proof[5] ^= u8::from(self.forges_credential);
        }
        let mut datagram = Vec::new();
        hello.encode(&mut datagram);
        datagram
    }
}

impl Sim {
    /// A cookie for an address, asked for and answered at the door.
    pub(crate) fn cookie_for(&mut self, visitor: &Visitor) -> u64 {
        let hello = visitor.hello(&self.server_key(), 0);
        let (verdict, reply) = self.knock(visitor.address, &hello);
        assert_eq!(verdict, DoorVerdict::Reply);
        match ServerPacket::decode(&reply) {
            Ok(ServerPacket::Challenge(challenge)) => challenge.cookie,
            other => panic!("a ConnectChallenge was expected, not {other:?}"),
        }
    }

    /// Puts a hello with a fresh cookie before the door, to be judged in the coming tick.
    pub(crate) fn queue_hello(&mut self, visitor: &Visitor) {
        let cookie = self.cookie_for(visitor);
        let hello = visitor.hello(&self.server_key(), cookie);
        self.knock(visitor.address, &hello);
    }

    /// Sends a hello with a fresh cookie, runs one tick and tells the answer.
    pub(crate) fn visit(&mut self, visitor: &Visitor) -> Reply {
        self.queue_hello(visitor);
        self.tick();
        self.reply_to(visitor)
    }

    /// What the last tick answered a visitor; the signature holds over its nonce.
    pub(crate) fn reply_to(&self, visitor: &Visitor) -> Reply {
        let key = self.server_key();
        let mut replies = Vec::new();
        for datagram in self.sent_to(visitor.address) {
            match ServerPacket::decode(datagram) {
                Ok(ServerPacket::Hello(hello)) => {
                    assert!(
                        verify_hello(datagram, &visitor.nonce, Some(&key)),
                        "signed over the nonce that was sent"
                    );
                    replies.push(Reply::Welcome(Box::new(hello)));
                }
                Ok(ServerPacket::Reject(reject)) => {
                    assert!(
                        verify_reject(datagram, &visitor.nonce, Some(&key)),
                        "signed over the nonce that was sent"
                    );
                    replies.push(Reply::Refused(
                        reject.reason,
                        reject.text.as_str().to_owned(),
                        reject.ban_seconds,
                    ));
                }
                _ => {}
            }
        }
        assert!(
            replies.len() <= 1,
            "one hello has one answer at most: {replies:?}"
        );
        replies.pop().unwrap_or(Reply::Silence)
    }

    /// A visitor who is let in.
    pub(crate) fn admit(&mut self, address: &str, name: &str) -> (Visitor, ServerHello) {
        let visitor = Visitor::new(self, address, name);
        let reply = self.visit(&visitor);
        let hello = *reply.hello();
        (visitor, hello)
    }

    /// Sends a packet of a session by hand.
    pub(crate) fn send_session(
        &mut self,
        from: SocketAddr,
        session_token: u64,
        packet: SessionPacket,
    ) -> DoorVerdict {
        let mut datagram = Vec::new();
        ClientPacket::Session {
            session_token,
            packet,
        }
        .encode(&mut datagram);
        self.knock(from, &datagram).0
    }
}
