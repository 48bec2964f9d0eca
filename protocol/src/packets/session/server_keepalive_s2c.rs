//! 0x8C ServerKeepalive, S>C: a sign of life, once a second (docs/protocol.md 1.3 and 1.5); 7 bytes.
//!
//! After the id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 1 | nonce | u32 |
//! | 5 | rtt_ms | u16 |

use crate::error::DecodeError;
use crate::packet::{Body, decode_alone, encode_alone};
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Asks for a ClientPong and tells the client its round trip time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerKeepalive {
    /// To be sent back in a ClientPong.
    pub nonce: u32,
    /// Smoothed round trip time in milliseconds; [`RTT_NOT_MEASURED`](crate::RTT_NOT_MEASURED) when there is none.
    pub rtt_ms: u16,
}

impl ServerKeepalive {
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

impl Body for ServerKeepalive {
    const ID: PacketId = PacketId::ServerKeepalive;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            nonce: reader.u32("nonce")?,
            rtt_ms: reader.u16("rtt_ms")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.nonce);
        writer.u16(self.rtt_ms);
    }
}
