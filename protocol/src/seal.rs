//! What a server signs, and how a client knows it (docs/protocol.md 1.2).
//!
//! A signature covers a context string, the nonce of the one it answers, and every byte of the packet but itself.
//! Verification is strict: keys and points of small order and encodings that are not canonical fail.

use std::fmt;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use subtle::ConstantTimeEq;

use crate::constants::{CONNECT_REJECT_LEN, QUERY_ANSWER_MAX, QUERY_ANSWER_MIN, SERVER_HELLO_LEN};
use crate::packet::PacketId;
use crate::packets::{QUERY_BODY_AT, QUERY_HEADER_LEN, QueryBody, write_query_header};

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
        self.seal(HELLO_CONTEXT, nonce, datagram)
    }

    /// Writes key and signature into the last 96 bytes of an encoded ConnectReject, for the client with this nonce.
    ///
    /// # Errors
    /// [`SealError`] when `datagram` is not an encoded ConnectReject; it is then untouched.
    pub fn seal_reject(&self, nonce: &[u8; 32], datagram: &mut [u8]) -> Result<(), SealError> {
        check_kind(datagram, PacketId::ConnectReject, CONNECT_REJECT_LEN)?;
        self.seal(REJECT_CONTEXT, nonce, datagram)
    }

    /// Appends the whole answer to the query request with this nonce: at most 273 bytes.
    pub fn sign_query_answer(&self, nonce: &[u8; 32], body: &QueryBody, out: &mut Vec<u8>) {
        let mut header = Vec::with_capacity(QUERY_HEADER_LEN);
        write_query_header(&self.public_key(), &mut header);
        let mut encoded = Vec::with_capacity(QUERY_ANSWER_MAX);
        body.encode(&mut encoded);
        let signature = self.key.sign(&joined(&[QUERY_CONTEXT, nonce, &header, &encoded]));
        out.extend_from_slice(&header);
        out.extend_from_slice(&signature.to_bytes());
        out.extend_from_slice(&encoded);
    }

    fn seal(&self, context: &[u8], nonce: &[u8; 32], datagram: &mut [u8]) -> Result<(), SealError> {
        let (rest, key) = datagram
            .split_last_chunk_mut::<SEAL>()
            .ok_or(SealError::WrongPacket)?;
        let (key, signature) = key.split_at_mut(SEAL - SIGNATURE);
        key.copy_from_slice(&self.public_key());
        signature.copy_from_slice(&self.key.sign(&joined(&[context, nonce, rest, key])).to_bytes());
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

/// Whether `datagram` is a ServerHello signed over `nonce` by the key in it, and by `expected_key` when there is one.
#[must_use]
pub fn verify_hello(datagram: &[u8], nonce: &[u8; 32], expected_key: Option<&[u8; 32]>) -> bool {
    check_kind(datagram, PacketId::ServerHello, SERVER_HELLO_LEN).is_ok()
        && verify_sealed(HELLO_CONTEXT, datagram, nonce, expected_key)
}

/// Whether `datagram` is a ConnectReject signed over `nonce` by the key in it, and by `expected_key` when there is one.
#[must_use]
pub fn verify_reject(datagram: &[u8], nonce: &[u8; 32], expected_key: Option<&[u8; 32]>) -> bool {
    check_kind(datagram, PacketId::ConnectReject, CONNECT_REJECT_LEN).is_ok()
        && verify_sealed(REJECT_CONTEXT, datagram, nonce, expected_key)
}

/// Whether `datagram` is a query answer signed over the nonce of the request by the key in it.
#[must_use]
pub fn verify_query_answer(datagram: &[u8], nonce: &[u8; 32]) -> bool {
    if !(QUERY_ANSWER_MIN..=QUERY_ANSWER_MAX).contains(&datagram.len()) {
        return false;
    }
    let Some((header, rest)) = datagram.split_at_checked(QUERY_HEADER_LEN) else {
        return false;
    };
    let Some((signature, body)) = rest.split_first_chunk::<SIGNATURE>() else {
        return false;
    };
    debug_assert_eq!(datagram.len() - body.len(), QUERY_BODY_AT);
    let Some(key) = header.last_chunk::<32>() else {
        return false;
    };
    let mut expected_header = Vec::with_capacity(QUERY_HEADER_LEN);
    write_query_header(key, &mut expected_header);
    header == expected_header && verify_strict(key, &joined(&[QUERY_CONTEXT, nonce, header, body]), signature)
}

/// Strict verification of a plain Ed25519 signature: the equation without cofactor, and false for a key or an R of
/// small order, for an S that is not below the group order, and for a key or an R that is not encoded canonically.
#[must_use]
pub fn verify_strict(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    let signature = Signature::from_bytes(signature);
    if !is_canonical(key) || !is_canonical(signature.r_bytes()) {
        return false;
    }
    // The library refuses small orders and an S that is too large.
    VerifyingKey::from_bytes(key).is_ok_and(|key| key.verify_strict(message, &signature).is_ok())
}

/// Whether the y of an encoded point is below the field's prime, 2^255 - 19. (A set sign bit on x = 0 is the other way
/// not to be canonical; those points are of small order, and refused as such.)
fn is_canonical(point: &[u8; 32]) -> bool {
    let [low, middle @ .., high] = point;
    !(*low >= 0xED && middle.iter().all(|&byte| byte == 0xFF) && high & 0x7F == 0x7F)
}

fn verify_sealed(context: &[u8], datagram: &[u8], nonce: &[u8; 32], expected_key: Option<&[u8; 32]>) -> bool {
    let Some((message, signature)) = datagram.split_last_chunk::<SIGNATURE>() else {
        return false;
    };
    let Some(key) = message.last_chunk::<32>() else {
        return false;
    };
    expected_key.is_none_or(|expected| bool::from(expected.ct_eq(key)))
        && verify_strict(key, &joined(&[context, nonce, message]), signature)
}

fn check_kind(datagram: &[u8], id: PacketId, length: usize) -> Result<(), SealError> {
    if datagram.len() == length && datagram.first() == Some(&id.byte()) {
        Ok(())
    } else {
        Err(SealError::WrongPacket)
    }
}

/// The message under a signature: its parts in a row.
fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}
