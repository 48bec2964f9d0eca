//! 0x08 RequestSpawn, C>S: the player wants to enter the world (docs/protocol.md 2.3); 9 bytes.
//!
//! Nothing follows the id and session token.

use crate::error::DecodeError;
use crate::packet::{Body, decode_in_session, encode_in_session};
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Asks to be spawned; answered with a SpawnPlayer when it is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestSpawn;

impl RequestSpawn {
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

impl Body for RequestSpawn {
    const ID: PacketId = PacketId::RequestSpawn;

    fn read(_reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self)
    }

    fn write(&self, _writer: &mut Writer<'_>) {}
}
