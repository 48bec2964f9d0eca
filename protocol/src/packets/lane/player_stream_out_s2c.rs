//! 0x43 PlayerStreamOut, S>C lane: a player leaves the view (docs/protocol.md 2.3 and 2.4); 13 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | player_id | u32 |
//! | 9 | player_token | u32 |

use crate::constants::MAX_PLAYER_ID;
use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// No more frames of this player come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayerStreamOut {
    /// Whose it is, `0..MAX_PLAYERS`.
    pub player_id: u32,
    /// Generation of that player, so that a stale packet is known for one.
    pub player_token: u32,
}

impl Body for PlayerStreamOut {
    const ID: PacketId = PacketId::PlayerStreamOut;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            player_id: reader.u32_within("player_id", 0, MAX_PLAYER_ID)?,
            player_token: reader.u32("player_token")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.player_id);
        writer.u32(self.player_token);
    }
}
