//! Loops that know nobody: one discards, one answers with a fixed length, one signs query answers.

use std::net::{SocketAddr, UdpSocket};

use decitick_protocol::{PROTOCOL_VERSION, QueryBody, QueryRequest, ServerIdentity, ShownText};

use super::{Behaviour, batch::Sender};

/// Receives and discards.
pub(crate) struct Discard;

impl Behaviour for Discard {
    fn take(&mut self, _: &UdpSocket, _: &mut Sender, _: &[(SocketAddr, &[u8])]) {}
}

/// Answers every datagram with `length` bytes.
pub(crate) struct Echo {
    length: usize,
}

impl Echo {
    pub(crate) fn new(length: usize) -> Self {
        Self { length }
    }
}

impl Behaviour for Echo {
    fn take(&mut self, socket: &UdpSocket, sender: &mut Sender, batch: &[(SocketAddr, &[u8])]) {
        let length = self.length;
        sender.singles(
            socket,
            batch
                .iter()
                .map(|&(from, bytes)| (from, &bytes[..length.min(bytes.len())])),
        );
    }
}

/// Answers every query request with a signed answer as a fresh server gives it.
pub(crate) struct SignedAnswers {
    identity: ServerIdentity,
    body: QueryBody,
}

impl SignedAnswers {
    pub(crate) fn new() -> Self {
        let body = QueryBody {
            protocol_version: PROTOCOL_VERSION,
            server_version: ShownText::parse("0.1.0").unwrap(),
            minimum_client_version: ShownText::default(),
            name: ShownText::parse("Decitick server").unwrap(),
            mode: ShownText::default(),
            players: 0,
            max_players: 1000,
            flags: 0,
        };
        Self {
            identity: ServerIdentity::from_seed(&[0x42; 32]),
            body,
        }
    }
}

impl Behaviour for SignedAnswers {
    fn take(&mut self, socket: &UdpSocket, sender: &mut Sender, batch: &[(SocketAddr, &[u8])]) {
        let mut answers = Vec::new();
        for &(from, bytes) in batch {
            if let Ok(request) = QueryRequest::decode(bytes) {
                let mut answer = Vec::new();
                self.identity
                    .sign_query_answer(&request.nonce, &self.body, &mut answer);
                answers.push((from, answer));
            }
        }
        sender.singles(
            socket,
            answers.iter().map(|(to, answer)| (*to, answer.as_slice())),
        );
    }
}
