//! 0x50 SetVitals, S>C lane: own health and armour (docs/protocol.md 2.3); 7 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | health | u8 |
//! | 6 | armour | u8 |

use crate::constants::MAX_VITAL;
use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// The player's own health and armour, which the server owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetVitals {
    /// Health, 0 to 200.
    pub health: u8,
    /// Armour, 0 to 200.
    pub armour: u8,
}

impl Body for SetVitals {
    const ID: PacketId = PacketId::SetVitals;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            health: reader.u8_within("health", 0, MAX_VITAL)?,
            armour: reader.u8_within("armour", 0, MAX_VITAL)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u8(self.health);
        writer.u8(self.armour);
    }
}
