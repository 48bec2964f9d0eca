//! 0x56 RunClock, S>C lane: how the clock of the day runs (docs/protocol.md 2.3); 8 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | running | bool |
//! | 6 | ms_per_minute | u16 |

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Starts or stops the clock of the day on the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunClock {
    /// Whether the clock runs.
    pub running: bool,
    /// Real milliseconds for a minute of the world, at least 1.
    pub ms_per_minute: u16,
}

impl Body for RunClock {
    const ID: PacketId = PacketId::RunClock;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            running: reader.bool("running")?,
            ms_per_minute: reader.u16_within("ms_per_minute", 1, u16::MAX)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.bool(self.running);
        writer.u16(self.ms_per_minute);
    }
}
