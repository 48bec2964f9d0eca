//! 0x42 PlayerStreamIn, S>C lane: a player comes into view (docs/protocol.md 2.3 and 2.4); 39 bytes.
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
//! | 19 | position | vec3 |
//! | 31 | heading | f32 |
//! | 35 | area | u8 |
//! | 36 | health | u8 |
//! | 37 | armour | u8 |
//! | 38 | weapon | u8 |

use crate::constants::MAX_PLAYER_ID;
use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::vector::Vec3;
use crate::writer::Writer;

/// From now on frames of this player come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlayerStreamIn {
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
    /// Where, in metres.
    pub position: Vec3,
    /// Facing, radians in [-pi, pi).
    pub heading: f32,
    /// Interior the player is in; 0 is outside.
    pub area: u8,
    /// Health, 0 to 200.
    pub health: u8,
    /// Armour, 0 to 200.
    pub armour: u8,
    /// Weapon in the hand; 0 is none.
    pub weapon: u8,
}

impl Body for PlayerStreamIn {
    const ID: PacketId = PacketId::PlayerStreamIn;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            player_id: reader.u32_within("player_id", 0, MAX_PLAYER_ID)?,
            player_token: reader.u32("player_token")?,
            skin: reader.u32("skin")?,
            variant: reader.u8("variant")?,
            walking_style: reader.u8("walking_style")?,
            position: reader.vec3("position")?,
            heading: reader.f32("heading")?,
            area: reader.u8("area")?,
            health: reader.u8("health")?,
            armour: reader.u8("armour")?,
            weapon: reader.u8("weapon")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.player_id);
        writer.u32(self.player_token);
        writer.u32(self.skin);
        writer.u8(self.variant);
        writer.u8(self.walking_style);
        writer.vec3(self.position);
        writer.f32(self.heading);
        writer.u8(self.area);
        writer.u8(self.health);
        writer.u8(self.armour);
        writer.u8(self.weapon);
    }
}
