//! 0x57 DriveByIntervals, S>C lane: intervals of drive-by shots (docs/protocol.md 2.3); 29 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | intervals | u16 x 12 |

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Intervals of drive-by shots, as in the ServerHello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriveByIntervals {
    /// Milliseconds between shots from a vehicle, one value for each kind of weapon.
    pub intervals: [u16; 12],
}

impl Body for DriveByIntervals {
    const ID: PacketId = PacketId::DriveByIntervals;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            intervals: reader.u16_array("intervals", u16::MAX)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16_array(&self.intervals);
    }
}
