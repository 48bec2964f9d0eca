//! 0x32 HitReport, C>S lane: a shot that hit (docs/protocol.md 2.3 and 2.5); 47 bytes.
//!
//! After the id, session token and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 13 | target_id | u32 |
//! | 17 | target_token | u32 |
//! | 21 | weapon | u8 |
//! | 22 | body_part | u8 |
//! | 23 | origin | vec3 |
//! | 35 | hit | vec3 |

use crate::constants::MAX_BODY_PART;
use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::vector::Vec3;
use crate::writer::Writer;

/// The client's claim that a shot of its player hit somebody.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HitReport {
    /// Who was hit; the server judges whether there is such a player.
    pub target_id: u32,
    /// Generation of the one hit.
    pub target_token: u32,
    /// Weapon of the shot.
    pub weapon: u8,
    /// Where it hit, 0 to 6.
    pub body_part: u8,
    /// Where the shot came from, in metres.
    pub origin: Vec3,
    /// Where it hit, in metres.
    pub hit: Vec3,
}

impl Body for HitReport {
    const ID: PacketId = PacketId::HitReport;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            target_id: reader.u32("target_id")?,
            target_token: reader.u32("target_token")?,
            weapon: reader.u8("weapon")?,
            body_part: reader.u8_within("body_part", 0, MAX_BODY_PART)?,
            origin: reader.vec3("origin")?,
            hit: reader.vec3("hit")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.target_id);
        writer.u32(self.target_token);
        writer.u8(self.weapon);
        writer.u8(self.body_part);
        writer.vec3(self.origin);
        writer.vec3(self.hit);
    }
}
