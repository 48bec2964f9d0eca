//! 0x58 GarageDoors, S>C lane: which garage doors are open (docs/protocol.md 2.3); 13 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | doors | u64 |

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// The garage doors, as in the ServerHello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GarageDoors {
    /// One bit for each door, 1 when it is open.
    pub doors: u64,
}

impl Body for GarageDoors {
    const ID: PacketId = PacketId::GarageDoors;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            doors: reader.u64("doors")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u64(self.doors);
    }
}
