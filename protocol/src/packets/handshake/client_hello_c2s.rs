//! 0x01 ClientHello, C>S: asks for a slot (docs/protocol.md 1.3 and 1.4); 235 bytes.
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 1 | protocol_version | u16 |
//! | 3 | name | text[64] |
//! | 67 | cookie | u64 |
//! | 75 | nonce | [32] |
//! | 107 | password_proof | [32] |
//! | 139 | credential_key | [32] |
//! | 171 | credential_proof | [64] |

use crate::constants::NAME_LEN;
use crate::error::DecodeError;
use crate::packet::{Body, decode_alone, encode_alone};
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Asks for a slot, or for a challenge when the cookie is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientHello {
    /// Revision the client speaks. Any value is decoded: another one than the server's gets no answer.
    pub protocol_version: u16,
    /// The name field as it came. Its faults are answered with `invalid_name`, so they are no decoding errors; see
    /// [`PlayerName::from_field`](crate::PlayerName::from_field).
    pub name: [u8; NAME_LEN],
    /// The cookie of a ConnectChallenge, or 0 in a first hello.
    pub cookie: u64,
    /// Fresh random bytes; the answer is signed over them.
    pub nonce: [u8; 32],
    /// Proof of the password, or zeros; see [`PasswordKey::proof`](crate::PasswordKey::proof).
    pub password_proof: [u8; 32],
    /// Public key of the player's credential, or zeros for none.
    pub credential_key: [u8; 32],
    /// Signature by that key, or zeros; see [`credential`](crate::credential).
    pub credential_proof: [u8; 64],
}

impl ClientHello {
    /// Appends the datagram.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode_alone(self, out);
    }

    /// Reads the datagram.
    ///
    /// # Errors
    /// [`DecodeError`] for any length but 235.
    pub fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        decode_alone(datagram)
    }
}

impl Body for ClientHello {
    const ID: PacketId = PacketId::ClientHello;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            protocol_version: reader.u16("protocol_version")?,
            name: reader.array("name")?,
            cookie: reader.u64("cookie")?,
            nonce: reader.array("nonce")?,
            password_proof: reader.array("password_proof")?,
            credential_key: reader.array("credential_key")?,
            credential_proof: reader.array("credential_proof")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.protocol_version);
        writer.bytes(&self.name);
        writer.u64(self.cookie);
        writer.bytes(&self.nonce);
        writer.bytes(&self.password_proof);
        writer.bytes(&self.credential_key);
        writer.bytes(&self.credential_proof);
    }
}
