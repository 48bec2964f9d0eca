//! 0x41 PlayerRename, S>C lane: a player has another name (docs/protocol.md 2.3); its length follows from its texts and values.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | player_id | u32 |
//! | 9 | player_token | u32 |
//! | 13 | name | str8 |

use crate::constants::MAX_PLAYER_ID;
use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::player_name::NameText;
use crate::reader::Reader;
use crate::writer::Writer;

/// A player changed its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayerRename {
    /// Whose it is, `0..MAX_PLAYERS`.
    pub player_id: u32,
    /// Generation of that player, so that a stale packet is known for one.
    pub player_token: u32,
    /// The new name.
    pub name: NameText,
}

impl Body for PlayerRename {
    const ID: PacketId = PacketId::PlayerRename;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            player_id: reader.u32_within("player_id", 0, MAX_PLAYER_ID)?,
            player_token: reader.u32("player_token")?,
            name: NameText::read_str8(reader, "name")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.player_id);
        writer.u32(self.player_token);
        self.name.write_str8(writer);
    }
}
