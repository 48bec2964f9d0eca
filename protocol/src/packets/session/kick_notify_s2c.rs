//! 0x14 KickNotify, S>C: the server ended the session (docs/protocol.md 1.3 and 1.5); 65 bytes.
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 1 | reason | text[64] |

use crate::error::DecodeError;
use crate::packet::{Body, decode_alone, encode_alone};
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::text::KickReason;
use crate::writer::Writer;

/// Tells a client, once and unreliably, that its session is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KickNotify {
    /// Why. A receiver shows it with replacement characters for what is broken in it.
    pub reason: KickReason,
}

impl KickNotify {
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

impl Body for KickNotify {
    const ID: PacketId = PacketId::KickNotify;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            reason: KickReason::from_field(reader.array("reason")?)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.bytes(self.reason.as_field());
    }
}
