//! 0x5A PlayerSkills, S>C lane: own skills (docs/protocol.md 2.3); 27 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | skills | u16 x 11 |

use crate::constants::MAX_SKILL;
use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// The player's own skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayerSkills {
    /// One value for each skill, 0 to 1000.
    pub skills: [u16; 11],
}

impl Body for PlayerSkills {
    const ID: PacketId = PacketId::PlayerSkills;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            skills: reader.u16_array("skills", MAX_SKILL)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16_array(&self.skills);
    }
}
