//! 0x44 PlayerAppearance, S>C lane: a player looks different (docs/protocol.md 2.3); 19 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | player_id | u32 |
//! | 9 | player_token | u32 |
//! | 13 | skin | u32 |
//! | 17 | variant | u8 |
//! | 18 | walking_style | u8 |

use crate::constants::MAX_PLAYER_ID;
use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// A player in view changed its looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayerAppearance {
    /// Whose it is, `0..MAX_PLAYERS`.
    pub player_id: u32,
    /// Generation of that player, so that a stale packet is known for one.
    pub player_token: u32,
    /// Model of the player.
    pub skin: u32,
    /// Variant of the model.
    pub variant: u8,
    /// How the player walks.
    pub walking_style: u8,
}

impl Body for PlayerAppearance {
    const ID: PacketId = PacketId::PlayerAppearance;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            player_id: reader.u32_within("player_id", 0, MAX_PLAYER_ID)?,
            player_token: reader.u32("player_token")?,
            skin: reader.u32("skin")?,
            variant: reader.u8("variant")?,
            walking_style: reader.u8("walking_style")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.player_id);
        writer.u32(self.player_token);
        writer.u32(self.skin);
        writer.u8(self.variant);
        writer.u8(self.walking_style);
    }
}
