//! What a server signs, and how a client knows it (docs/protocol.md 1.2).
//!
//! A signature covers a context string, the nonce of the one it answers, and every byte of the packet but itself.
//! Verification is strict: keys and points of small order and encodings that are not canonical fail.

use std::fmt;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use subtle::ConstantTimeEq;

use crate::constants::{CONNECT_REJECT_LEN, QUERY_ANSWER_MAX, QUERY_VERSION, SERVER_HELLO_LEN};
use crate::packet_id::PacketId;
use crate::packets::{QUERY_HEADER_LEN, QueryAnswer, QueryBody, write_query_header};

/// What a ServerHello's signature starts with.
pub const HELLO_CONTEXT: &[u8; 17] = b"DarqlineMP hello\0";
/// What a ConnectReject's signature starts with.
pub const REJECT_CONTEXT: &[u8; 18] = b"DarqlineMP reject\0";
/// What a query answer's signature starts with.
pub const QUERY_CONTEXT: &[u8; 17] = b"DarqlineMP query\0";

/// Bytes of a signature.
const SIGNATURE: usize = 64;
/// Bytes of a key and a signature, with which a signed packet ends.
const SEAL: usize = 96;

/// The key pair of a server. Its seed is the content of `server_identity.key`; `Debug` shows only the public half.
#[derive(Clone)]
pub struct ServerIdentity {
    key: SigningKey,
}

impl ServerIdentity {
    /// The identity of a seed of 32 random bytes.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self {
            key: SigningKey::from_bytes(seed),
        }
    }

    /// The public key, which clients know the server by.
    #[must_use]
    pub fn public_key(&self) -> [u8; 32] {
        self.key.verifying_key().to_bytes()
    }

    /// Writes key and signature into the last 96 bytes of an encoded ServerHello, for the client with this nonce.
    ///
    /// # Errors
    /// [`SealError`] when `datagram` is not an encoded ServerHello; it is then untouched.
    pub fn seal_hello(&self, nonce: &[u8; 32], datagram: &mut [u8]) -> Result<(), SealError> {
        check_kind(datagram, PacketId::ServerHello, SERVER_HELLO_LEN)?;
        self.seal(nonce, datagram)
    }

    /// Writes key and signature into the last 96 bytes of an encoded ConnectReject, for the client with this nonce.
    ///
    /// # Errors
    /// [`SealError`] when `datagram` is not an encoded ConnectReject; it is then untouched.
    pub fn seal_reject(&self, nonce: &[u8; 32], datagram: &mut [u8]) -> Result<(), SealError> {
        check_kind(datagram, PacketId::ConnectReject, CONNECT_REJECT_LEN)?;
        self.seal(nonce, datagram)
    }

    /// Appends the whole answer to the query request with this nonce: at most 273 bytes.
    pub fn sign_query_answer(&self, nonce: &[u8; 32], body: &QueryBody, out: &mut Vec<u8>) {
        let mut header = Vec::with_capacity(QUERY_HEADER_LEN);
        write_query_header(QUERY_VERSION, &self.public_key(), &mut header);
        let mut encoded = Vec::with_capacity(QUERY_ANSWER_MAX);
        body.encode(&mut encoded);
        let message = [QUERY_CONTEXT, nonce.as_slice(), &header, &encoded].concat();
        out.extend_from_slice(&header);
        out.extend_from_slice(&self.key.sign(&message).to_bytes());
        out.extend_from_slice(&encoded);
    }

    fn seal(&self, nonce: &[u8; 32], datagram: &mut [u8]) -> Result<(), SealError> {
        let seal = datagram.last_chunk_mut::<SEAL>().ok_or(SealError::WrongPacket)?;
        let (key, _) = seal.split_at_mut(SEAL - SIGNATURE);
        key.copy_from_slice(&self.public_key());
        let message = signed_message(datagram, nonce).ok_or(SealError::WrongPacket)?;
        let signature = datagram
            .last_chunk_mut::<SIGNATURE>()
            .ok_or(SealError::WrongPacket)?;
        *signature = self.key.sign(&message).to_bytes();
        Ok(())
    }
}

impl fmt::Debug for ServerIdentity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ServerIdentity(")?;
        for byte in self.public_key() {
            write!(out, "{byte:02x}")?;
        }
        out.write_str(")")
    }
}

/// Why a packet cannot be sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealError {
    /// The bytes are not an encoded packet of the kind that was to be sealed.
    WrongPacket,
}

impl fmt::Display for SealError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(
            "these bytes are not the packet to be sealed: encode exactly one packet of that kind first",
        )
    }
}

impl std::error::Error for SealError {}

/// The message under the signature of an encoded ServerHello, ConnectReject or query answer: context, nonce, and every
/// byte of the packet but the signature. None for any other bytes.
#[must_use]
pub fn signed_message(datagram: &[u8], nonce: &[u8; 32]) -> Option<Vec<u8>> {
    let (context, length) = match PacketId::from_byte(*datagram.first()?)? {
        PacketId::ServerHello => (HELLO_CONTEXT.as_slice(), SERVER_HELLO_LEN),
        PacketId::ConnectReject => (REJECT_CONTEXT.as_slice(), CONNECT_REJECT_LEN),
        PacketId::Query => {
            let (header, rest) = datagram.split_at_checked(QUERY_HEADER_LEN)?;
            let (_, body) = rest.split_at_checked(SIGNATURE)?;
            return Some([QUERY_CONTEXT, nonce.as_slice(), header, body].concat());
        }
        _ => return None,
    };
    let (message, _) = datagram.split_last_chunk::<SIGNATURE>()?;
    (datagram.len() == length).then(|| [context, nonce, message].concat())
}

/// Whether `datagram` is a ServerHello signed over `nonce` by the key in it, and by `expected_key` when there is one.
#[must_use]
pub fn verify_hello(datagram: &[u8], nonce: &[u8; 32], expected_key: Option<&[u8; 32]>) -> bool {
    check_kind(datagram, PacketId::ServerHello, SERVER_HELLO_LEN).is_ok()
        && verify_sealed(datagram, nonce, expected_key)
}

/// Whether `datagram` is a ConnectReject signed over `nonce` by the key in it, and by `expected_key` when there is one.
#[must_use]
pub fn verify_reject(datagram: &[u8], nonce: &[u8; 32], expected_key: Option<&[u8; 32]>) -> bool {
    check_kind(datagram, PacketId::ConnectReject, CONNECT_REJECT_LEN).is_ok()
        && verify_sealed(datagram, nonce, expected_key)
}

/// Whether `datagram` is a well-formed query answer signed over the nonce of the request by the key in it.
#[must_use]
pub fn verify_query_answer(datagram: &[u8], nonce: &[u8; 32]) -> bool {
    let Ok(answer) = QueryAnswer::decode(datagram) else {
        return false;
    };
    signed_message(datagram, nonce)
        .is_some_and(|message| verify_strict(&answer.server_key, &message, &answer.signature))
}

/// Strict verification of a plain Ed25519 signature: the equation without cofactor, and false for a key or an R of
/// small order, for an S that is not below the group order, and for a key or an R that is not encoded canonically.
#[must_use]
pub fn verify_strict(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    let signature = Signature::from_bytes(signature);
    if !is_canonical(signature.r_bytes()) {
        return false;
    }
    // The library refuses an R of small order and an S that is too large.
    usable_key(key).is_some_and(|key| key.verify_strict(message, &signature).is_ok())
}

/// Whether [`verify_strict`] can be true for some signature of this key: a point of the curve, encoded canonically, and
/// not of small order.
#[must_use]
pub fn is_usable_key(key: &[u8; 32]) -> bool {
    usable_key(key).is_some()
}

fn usable_key(key: &[u8; 32]) -> Option<VerifyingKey> {
    let point = VerifyingKey::from_bytes(key).ok()?;
    (is_canonical(key) && !point.is_weak()).then_some(point)
}

/// Whether the y of an encoded point is below the field's prime, 2^255 - 19. (A set sign bit on x = 0 is the other way
/// not to be canonical; those points are of small order, and refused as such.)
fn is_canonical(point: &[u8; 32]) -> bool {
    let [low, middle @ .., high] = point;
    !(*low >= 0xED && middle.iter().all(|&byte| byte == 0xFF) && high & 0x7F == 0x7F)
}

fn verify_sealed(datagram: &[u8], nonce: &[u8; 32], expected_key: Option<&[u8; 32]>) -> bool {
    let Some(message) = signed_message(datagram, nonce) else {
        return false;
    };
    let Some(key) = message.last_chunk::<32>() else {
        return false;
    };
    let Some(signature) = datagram.last_chunk::<SIGNATURE>() else {
        return false;
    };
    expected_key.is_none_or(|expected| bool::from(expected.ct_eq(key)))
        && verify_strict(key, &message, signature)
}

fn check_kind(datagram: &[u8], id: PacketId, length: usize) -> Result<(), SealError> {
    if datagram.len() == length && datagram.first() == Some(&id.byte()) {
        Ok(())
    } else {
        Err(SealError::WrongPacket)
    }
}
