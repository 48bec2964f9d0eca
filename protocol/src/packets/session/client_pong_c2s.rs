//! 0x9F ClientPong, C>S: the answer to a keepalive (docs/protocol.md 1.3 and 1.5); 13 bytes.
//!
//! After the id and session token:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 9 | nonce | u32 |

use crate::error::DecodeError;
use crate::packet::{Body, decode_in_session, encode_in_session};
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Answers a ServerKeepalive; the server measures the round trip by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientPong {
    /// The nonce of the keepalive.
    pub nonce: u32,
}

impl ClientPong {
    /// Appends the datagram.
    pub fn encode(&self, session_token: u64, out: &mut Vec<u8>) {
        encode_in_session(self, session_token, out);
    }

    /// Reads the datagram; its token is what [`session_token_of`](crate::session_token_of) says.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        decode_in_session(datagram)
    }
}

impl Body for ClientPong {
    const ID: PacketId = PacketId::ClientPong;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            nonce: reader.u32("nonce")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.nonce);
    }
}
