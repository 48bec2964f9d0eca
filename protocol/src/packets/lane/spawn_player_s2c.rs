//! 0x09 SpawnPlayer, S>C lane: the player enters the world (docs/protocol.md 2.3); 27 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | position | vec3 |
//! | 17 | heading | f32 |
//! | 21 | area | u8 |
//! | 22 | skin | u32 |
//! | 26 | variant | u8 |

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::vector::Vec3;
use crate::writer::Writer;

/// Puts the player into the world, alive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpawnPlayer {
    /// Where, in metres.
    pub position: Vec3,
    /// Facing, radians in [-pi, pi).
    pub heading: f32,
    /// Interior the player is in; 0 is outside.
    pub area: u8,
    /// Model of the player.
    pub skin: u32,
    /// Variant of the model.
    pub variant: u8,
}

impl Body for SpawnPlayer {
    const ID: PacketId = PacketId::SpawnPlayer;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            position: reader.vec3("position")?,
            heading: reader.f32("heading")?,
            area: reader.u8("area")?,
            skin: reader.u32("skin")?,
            variant: reader.u8("variant")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.vec3(self.position);
        writer.f32(self.heading);
        writer.u8(self.area);
        writer.u32(self.skin);
        writer.u8(self.variant);
    }
}
