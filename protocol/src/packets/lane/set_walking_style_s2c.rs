//! 0x59 SetWalkingStyle, S>C lane: how the player walks (docs/protocol.md 2.3); 6 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | style | u8 |

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// The player's own walking style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetWalkingStyle {
    /// Number of the style.
    pub style: u8,
}

impl Body for SetWalkingStyle {
    const ID: PacketId = PacketId::SetWalkingStyle;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            style: reader.u8("style")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u8(self.style);
    }
}
