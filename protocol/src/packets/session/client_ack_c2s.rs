//! 0x0E ClientAck, C>S: which events have arrived (docs/protocol.md 1.3 and 2.1); 13 bytes.
//!
//! After the id and session token:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 9 | ack | u32 |

use crate::error::DecodeError;
use crate::packet::{Body, decode_in_session, encode_in_session};
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Acknowledges the server's lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAck {
    /// Highest event id of the server's lane up to which everything has arrived; 0 before the first.
    pub ack: u32,
}

impl ClientAck {
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

impl Body for ClientAck {
    const ID: PacketId = PacketId::ClientAck;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            ack: reader.u32("ack")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.ack);
    }
}
