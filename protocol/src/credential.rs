//! A player's credential: a key pair of its own, and the proof that the player holds it (docs/protocol.md 1.2).
//!
//! The proof is bound to the server, the cookie and the nonce of one ClientHello. Who has used a proof already is
//! remembered elsewhere.

use ed25519_dalek::{Signer, SigningKey};
use sha2::{Digest, Sha256};

use crate::seal::verify_strict;

/// What a credential proof's message starts with.
pub const CREDENTIAL_CONTEXT: &[u8; 22] = b"DarqlineMP credential\0";

/// The message that is signed: context, server key, cookie, nonce.
#[must_use]
pub fn message(server_key: &[u8; 32], cookie: u64, nonce: &[u8; 32]) -> Vec<u8> {
    [
        CREDENTIAL_CONTEXT.as_slice(),
        server_key,
        &cookie.to_le_bytes(),
        nonce,
    ]
    .concat()
}

/// The public key of a credential's seed.
#[must_use]
pub fn public_key(seed: &[u8; 32]) -> [u8; 32] {
    SigningKey::from_bytes(seed).verifying_key().to_bytes()
}

/// The `credential_proof` of a ClientHello with this cookie and nonce.
#[must_use]
pub fn sign(seed: &[u8; 32], server_key: &[u8; 32], cookie: u64, nonce: &[u8; 32]) -> [u8; 64] {
    SigningKey::from_bytes(seed)
        .sign(&message(server_key, cookie, nonce))
        .to_bytes()
}

/// Whether the proof in a ClientHello is by the key in it, strictly. A key of zeros, which says "no credential" on the
/// wire, proves nothing.
#[must_use]
pub fn verify(
    key: &[u8; 32],
    proof: &[u8; 64],
    server_key: &[u8; 32],
    cookie: u64,
    nonce: &[u8; 32],
) -> bool {
    is_present(key) && verify_strict(key, &message(server_key, cookie, nonce), proof)
}

/// Whether a ClientHello with this `credential_key` offers a credential.
#[must_use]
pub fn is_present(key: &[u8; 32]) -> bool {
    key.iter().any(|&byte| byte != 0)
}

/// What scripts know a credential by: the SHA-256 of its key.
#[must_use]
pub fn credential_id(key: &[u8; 32]) -> [u8; 32] {
    Sha256::digest(key).into()
}
