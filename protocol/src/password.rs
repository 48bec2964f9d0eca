//! The password of a server: its key, and the proof that a client knows it (docs/protocol.md 1.2).
//!
//! Deriving the key is slow by design (about a tenth of a second) and belongs on a worker; a proof costs one HMAC.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::constants::{MAX_PASSWORD, PBKDF2_ITERATIONS};
use crate::text::{PlainText, TextFault};

/// What the salt and the message of a proof start with.
pub const PASSWORD_CONTEXT: &[u8; 20] = b"DarqlineMP password\0";

/// A password: 1 to 64 bytes of UTF-8 without control characters. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(PlainText<1, MAX_PASSWORD>);

impl Password {
    /// Takes a password that keeps the rules. The empty text means "no password" and is refused here.
    ///
    /// # Errors
    /// [`PasswordFault`], which does not hold the password.
    pub fn parse(text: &str) -> Result<Self, PasswordFault> {
        PlainText::parse(text).map(Self).map_err(|fault| match fault {
            TextFault::TooShort { .. } => PasswordFault::Empty,
            TextFault::TooLong { length, .. } => PasswordFault::TooLong { length },
            TextFault::Forbidden { .. } => PasswordFault::ControlCharacter,
        })
    }

    /// The password, to be shown to nobody.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Password(..)")
    }
}

/// Why a text cannot be a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordFault {
    /// No byte.
    Empty,
    /// More than 64 bytes.
    TooLong {
        /// Bytes of the text.
        length: usize,
    },
    /// A control character.
    ControlCharacter,
}

impl fmt::Display for PasswordFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty => out.write_str("the password is empty: leave it out to have none"),
            Self::TooLong { length } => {
                write!(
                    out,
                    "the password has {length} bytes of UTF-8: at most {MAX_PASSWORD} are allowed"
                )
            }
            Self::ControlCharacter => out.write_str("the password holds a control character: remove it"),
        }
    }
}

impl std::error::Error for PasswordFault {}

/// The key K that a password has on one server. `Debug` does not show it.
#[derive(Clone)]
pub struct PasswordKey {
    key: [u8; 32],
    server_key: [u8; 32],
}

impl PasswordKey {
    /// Derives the key for the server with this public key: 600,000 rounds of PBKDF2-HMAC-SHA256.
    #[must_use]
    pub fn derive(password: &Password, server_key: &[u8; 32]) -> Self {
        Self::derive_with_rounds(password, server_key, PBKDF2_ITERATIONS)
    }

    /// A key that was derived earlier for the server with this public key.
    #[must_use]
    pub const fn from_bytes(key: [u8; 32], server_key: [u8; 32]) -> Self {
        Self { key, server_key }
    }

    /// The key's bytes, to be shown to nobody.
    #[must_use]
    pub const fn reveal(&self) -> &[u8; 32] {
        &self.key
    }

    /// The `password_proof` of a ClientHello with this cookie and nonce.
    #[must_use]
    pub fn proof(&self, cookie: u64, nonce: &[u8; 32]) -> [u8; 32] {
        let mut hmac = Hmac::<Sha256>::new(&self.block().into());
        hmac.update(&message(&self.server_key, cookie, nonce));
        hmac.finalize().into_bytes().into()
    }

    /// Whether `proof` is the right one for this cookie and nonce; takes the same time wherever it differs.
    #[must_use]
    pub fn verify(&self, cookie: u64, nonce: &[u8; 32], proof: &[u8; 32]) -> bool {
        self.proof(cookie, nonce).ct_eq(proof).into()
    }

    fn derive_with_rounds(password: &Password, server_key: &[u8; 32], rounds: u32) -> Self {
        let mut key = [0; 32];
        pbkdf2::pbkdf2_hmac::<Sha256>(password.reveal().as_bytes(), &salt(server_key), rounds, &mut key);
        Self {
            key,
            server_key: *server_key,
        }
    }

    /// The key as a whole block of the hash. HMAC pads shorter keys with zeros itself; a block needs no fallible call.
    fn block(&self) -> [u8; 64] {
        let mut block = [0; 64];
        for (to, from) in block.iter_mut().zip(self.key) {
            *to = from;
        }
        block
    }
}

/// The message under the HMAC of a proof: context, server key, cookie, nonce.
#[must_use]
pub fn message(server_key: &[u8; 32], cookie: u64, nonce: &[u8; 32]) -> Vec<u8> {
    [
        PASSWORD_CONTEXT.as_slice(),
        server_key,
        &cookie.to_le_bytes(),
        nonce,
    ]
    .concat()
}

/// The salt of the key derivation for a server: context and public key.
#[must_use]
pub fn salt(server_key: &[u8; 32]) -> Vec<u8> {
    [PASSWORD_CONTEXT.as_slice(), server_key].concat()
}

impl fmt::Debug for PasswordKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("PasswordKey(..)")
    }
}
