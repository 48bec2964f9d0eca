//! 0x0F ServerAck, S>C: which events have arrived (docs/protocol.md 1.3 and 2.1); 5 bytes.
//!
//! After the id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 1 | ack | u32 |

use crate::error::DecodeError;
use crate::packet::{Body, decode_alone, encode_alone};
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Acknowledges the client's lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerAck {
    /// Highest event id of the client's lane up to which everything has arrived; 0 before the first.
    pub ack: u32,
}

impl ServerAck {
    /// Appends the datagram.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode_alone(self, out);
    }

    /// Reads the datagram.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        decode_alone(datagram)
    }
}

impl Body for ServerAck {
    const ID: PacketId = PacketId::ServerAck;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            ack: reader.u32("ack")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.ack);
    }
}
