//! 0x61 EntityDespawn, S>C lane: an entity leaves the view (docs/protocol.md 2.3); 9 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | entity_id | u32 |

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// No more frames of this entity come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityDespawn {
    /// Number of the entity.
    pub entity_id: u32,
}

impl Body for EntityDespawn {
    const ID: PacketId = PacketId::EntityDespawn;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            entity_id: reader.u32("entity_id")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.entity_id);
    }
}
