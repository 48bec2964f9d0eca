//! 0x8B ConnectChallenge, S>C: come back with this cookie (docs/protocol.md 1.3 and 1.4); 9 bytes.
//!
//! After the id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 1 | cookie | u64 |

use crate::error::DecodeError;
use crate::packet::{Body, decode_alone, encode_alone};
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Answers a ClientHello without a valid cookie. It is smaller than the hello and nothing is remembered for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectChallenge {
    /// Proof that the sender receives at its address; never 0.
    pub cookie: u64,
}

impl ConnectChallenge {
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

impl Body for ConnectChallenge {
    const ID: PacketId = PacketId::ConnectChallenge;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            cookie: reader.u64_within("cookie", 1, u64::MAX)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u64(self.cookie);
    }
}
