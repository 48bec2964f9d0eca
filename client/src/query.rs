//! The server query, sans-IO: what a server says about itself to anybody, signed (docs/protocol.md 1.3).
//!
//! One [`ServerQuery`] is one request with a nonce of its own; an answer counts only when its signature holds over that
//! nonce.

use std::fmt;

use decitick_protocol::{DecodeError, QUERY_VERSION, QueryAnswer, QueryRequest, verify_query_answer};

/// One request and what answers it.
#[derive(Debug, Clone)]
pub struct ServerQuery {
    nonce: [u8; 32],
}

/// A verified answer. Its texts hold no control and no format characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerInfo {
    /// The server's Ed25519 public key, which signed this answer.
    pub server_key: [u8; 32],
    /// Revision of the protocol the server speaks.
    pub protocol_version: u16,
    /// Version of the server program.
    pub server_version: String,
    /// Oldest client the server wants; empty when it does not care.
    pub minimum_client_version: String,
    /// Name of the server.
    pub name: String,
    /// Name of the gamemode; empty until one sets it.
    pub mode: String,
    /// Connected players, spawned or not.
    pub players: u16,
    /// Slots there are.
    pub max_players: u16,
    /// Whether joining takes a password.
    pub password_required: bool,
}

/// Why a datagram is not the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryFault {
    /// It is no well-formed query answer.
    Malformed(DecodeError),
    /// Its signature does not hold over this request's nonce.
    Foreign,
}

impl ServerQuery {
    /// A request with 32 fresh bytes of a cryptographic generator.
    #[must_use]
    pub const fn new(nonce: [u8; 32]) -> Self {
        Self { nonce }
    }

    /// Appends the request's datagram.
    pub fn write_request(&self, out: &mut Vec<u8>) {
        QueryRequest {
            query_version: QUERY_VERSION,
            nonce: self.nonce,
        }
        .encode(out);
    }

    /// Judges a datagram that came from the server's address.
    ///
    /// # Errors
    /// [`QueryFault`]: it is not this request's answer and is to be dropped.
    pub fn judge(&self, datagram: &[u8]) -> Result<ServerInfo, QueryFault> {
        let answer = QueryAnswer::decode(datagram).map_err(QueryFault::Malformed)?;
        if !verify_query_answer(datagram, &self.nonce) {
            return Err(QueryFault::Foreign);
        }
        let body = answer.body;
        Ok(ServerInfo {
            server_key: answer.server_key,
            protocol_version: body.protocol_version,
            password_required: body.password_required(),
            server_version: body.server_version.into_string(),
            minimum_client_version: body.minimum_client_version.into_string(),
            name: body.name.into_string(),
            mode: body.mode.into_string(),
            players: body.players,
            max_players: body.max_players,
        })
    }
}

impl fmt::Display for QueryFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(fault) => write!(out, "not a query answer: {fault}"),
            Self::Foreign => write!(
                out,
                "the signature does not hold over this request: another's answer"
            ),
        }
    }
}

impl std::error::Error for QueryFault {}

#[cfg(test)]
mod tests {
    use decitick_protocol::{QueryBody, ServerIdentity, ShownText};

    use super::*;

    fn answer(nonce: &[u8; 32]) -> Vec<u8> {
        let body = QueryBody {
            protocol_version: 1,
            server_version: ShownText::parse("0.1.0").unwrap(),
            minimum_client_version: ShownText::default(),
            name: ShownText::parse("Decitick server").unwrap(),
            mode: ShownText::parse("Freeroam").unwrap(),
            players: 3,
            max_players: 1000,
            flags: 1,
        };
        let mut datagram = Vec::new();
        ServerIdentity::from_seed(&[0x42; 32]).sign_query_answer(nonce, &body, &mut datagram);
        datagram
    }

    #[test]
    fn a_request_has_512_bytes_and_its_nonce() {
        let mut request = Vec::new();
        ServerQuery::new([0x5A; 32]).write_request(&mut request);
        assert_eq!(request.len(), 512);
        assert_eq!(request[..6], *b"\xFFDQRY\x01");
        assert_eq!(request[6..38], [0x5A; 32]);
        assert!(request[38..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn an_answer_counts_only_over_its_own_nonce_and_unchanged() {
        let query = ServerQuery::new([0x5A; 32]);
        let good = answer(&[0x5A; 32]);
        let info = query.judge(&good).unwrap();
        assert_eq!(
            (info.name.as_str(), info.players, info.password_required),
            ("Decitick server", 3, true)
        );
        assert_eq!(
            info.server_key,
            ServerIdentity::from_seed(&[0x42; 32]).public_key()
        );
        assert_eq!(query.judge(&answer(&[0x5B; 32])), Err(QueryFault::Foreign));
        for at in 6..good.len() {
            let mut changed = good.clone();
            changed[at] ^= 1;
            assert!(query.judge(&changed).is_err(), "byte {at}");
        }
        assert!(matches!(query.judge(&good[..100]), Err(QueryFault::Malformed(_))));
    }
}
