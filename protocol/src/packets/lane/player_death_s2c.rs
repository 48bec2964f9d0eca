//! 0x45 PlayerDeath, S>C lane: a player died (docs/protocol.md 2.3 and 2.5); 22 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | player_id | u32 |
//! | 9 | player_token | u32 |
//! | 13 | killer_id | u32 |
//! | 17 | killer_token | u32 |
//! | 21 | weapon | u8 |

use crate::constants::MAX_PLAYER_ID;
use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// A player died; it may ask to spawn again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayerDeath {
    /// Who died, `0..MAX_PLAYERS`.
    pub player_id: u32,
    /// Generation of the one who died.
    pub player_token: u32,
    /// Who did it; [`NO_KILLER`](crate::NO_KILLER) when nobody did.
    pub killer_id: u32,
    /// Generation of the killer; 0 when there is none.
    pub killer_token: u32,
    /// What it was done with.
    pub weapon: u8,
}

impl Body for PlayerDeath {
    const ID: PacketId = PacketId::PlayerDeath;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            player_id: reader.u32_within("player_id", 0, MAX_PLAYER_ID)?,
            player_token: reader.u32("player_token")?,
            killer_id: reader.u32("killer_id")?,
            killer_token: reader.u32("killer_token")?,
            weapon: reader.u8("weapon")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.player_id);
        writer.u32(self.player_token);
        writer.u32(self.killer_id);
        writer.u32(self.killer_token);
        writer.u8(self.weapon);
    }
}
