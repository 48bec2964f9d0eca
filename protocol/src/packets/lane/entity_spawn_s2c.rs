//! 0x60 EntitySpawn, S>C lane: an entity comes into view (docs/protocol.md 2.3); its length follows from its texts and values.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | entity_id | u32 |
//! | 9 | kind | u8 |
//! | 10 | model | u32 |
//! | 14 | position | vec3 |
//! | 26 | heading | f32 |
//! | 30 | area | u8 |
//! | 31 | data | bytes16 |

use crate::error::DecodeError;
use crate::message_pack::EntityPayload;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::vector::Vec3;
use crate::writer::Writer;

/// From now on frames of this entity come.
#[derive(Debug, Clone, PartialEq)]
pub struct EntitySpawn {
    /// Number of the entity.
    pub entity_id: u32,
    /// What it is.
    pub kind: EntityKind,
    /// Model of the entity.
    pub model: u32,
    /// Where, in metres.
    pub position: Vec3,
    /// Facing, radians in [-pi, pi).
    pub heading: f32,
    /// Interior the entity is in; 0 is outside.
    pub area: u8,
    /// What the scripts say about it, at most 512 bytes.
    pub data: EntityPayload,
}

impl Body for EntitySpawn {
    const ID: PacketId = PacketId::EntitySpawn;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            entity_id: reader.u32("entity_id")?,
            kind: EntityKind::read(reader)?,
            model: reader.u32("model")?,
            position: reader.vec3("position")?,
            heading: reader.f32("heading")?,
            area: reader.u8("area")?,
            data: EntityPayload::read(reader)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.entity_id);
        writer.u8(self.kind.byte());
        writer.u32(self.model);
        writer.vec3(self.position);
        writer.f32(self.heading);
        writer.u8(self.area);
        self.data.write(writer);
    }
}

/// What a scripted entity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EntityKind {
    /// A thing that stands there.
    Object = 1,
    /// Something to be picked up.
    Pickup = 2,
    /// A person no player plays.
    Npc = 3,
    /// A vehicle.
    Vehicle = 4,
    /// A place to be reached.
    Checkpoint = 5,
}

impl EntityKind {
    /// The value on the wire.
    #[must_use]
    pub const fn byte(self) -> u8 {
        self as u8
    }

    /// The value of a byte, or none when it has no meaning.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Object),
            2 => Some(Self::Pickup),
            3 => Some(Self::Npc),
            4 => Some(Self::Vehicle),
            5 => Some(Self::Checkpoint),
            _ => None,
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::from_byte(reader.u8("kind")?).ok_or(DecodeError::OutOfRange { field: "kind" })
    }
}
