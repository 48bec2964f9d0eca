//! 0x54 SetTime, S>C lane: the time of day (docs/protocol.md 2.3); 7 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | hours | u8 |
//! | 6 | minutes | u8 |

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// The time of day in the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetTime {
    /// Hour, 0 to 23.
    pub hours: u8,
    /// Minute, 0 to 59.
    pub minutes: u8,
}

impl Body for SetTime {
    const ID: PacketId = PacketId::SetTime;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            hours: reader.u8_within("hours", 0, 23)?,
            minutes: reader.u8_within("minutes", 0, 59)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u8(self.hours);
        writer.u8(self.minutes);
    }
}
