//! 0x52 SetPosition, S>C lane: the player is moved (docs/protocol.md 2.3); 22 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | position | vec3 |
//! | 17 | heading | f32 |
//! | 21 | area | u8 |

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::vector::Vec3;
use crate::writer::Writer;

/// Puts the player somewhere else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetPosition {
    /// Where, in metres.
    pub position: Vec3,
    /// Facing, radians in [-pi, pi).
    pub heading: f32,
    /// Interior the player is in; 0 is outside.
    pub area: u8,
}

impl Body for SetPosition {
    const ID: PacketId = PacketId::SetPosition;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            position: reader.vec3("position")?,
            heading: reader.f32("heading")?,
            area: reader.u8("area")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.vec3(self.position);
        writer.f32(self.heading);
        writer.u8(self.area);
    }
}
