//! 0x63 EntityData, S>C lane: the value of an entity changed (docs/protocol.md 2.3); its length follows from its texts and values.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | entity_id | u32 |
//! | 9 | data | bytes16 |

use crate::error::DecodeError;
use crate::message_pack::EntityPayload;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Replaces the value that came with an EntitySpawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityData {
    /// Number of the entity.
    pub entity_id: u32,
    /// What the scripts now say about it, at most 512 bytes.
    pub data: EntityPayload,
}

impl Body for EntityData {
    const ID: PacketId = PacketId::EntityData;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            entity_id: reader.u32("entity_id")?,
            data: EntityPayload::read(reader)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.entity_id);
        self.data.write(writer);
    }
}
