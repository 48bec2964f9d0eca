//! 0x03 PlayerSync, C>S: a frame of the player's own movement (docs/protocol.md 2.3); 46 bytes.
//!
//! After the id and session token:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 9 | seq | u32 |
//! | 13 | position | vec3 |
//! | 25 | velocity | vec3 |
//! | 37 | heading | f32 |
//! | 41 | area | u8 |
//! | 42 | keys | u16 |
//! | 44 | weapon | u8 |
//! | 45 | stance | u8 |

use crate::constants::POSITION_LIMIT;
use crate::error::DecodeError;
use crate::packet::{Body, decode_in_session, encode_in_session};
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::vector::Vec3;
use crate::writer::Writer;

/// Where the player is and what it does, at least every 100 ms while spawned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlayerSync {
    /// Number of the frame, newer ones by serial-number arithmetic.
    pub seq: u32,
    /// Where, in metres, each component at most 20,000 in size.
    pub position: Vec3,
    /// Metres per second.
    pub velocity: Vec3,
    /// Facing in radians. Any finite value comes in; see [`normalise_heading`](crate::normalise_heading).
    pub heading: f32,
    /// Interior the player is in; 0 is outside.
    pub area: u8,
    /// Bit field of the keys held down.
    pub keys: u16,
    /// Weapon in the hand; 0 is none.
    pub weapon: u8,
    /// How the body is held; a number of the client.
    pub stance: u8,
}

impl PlayerSync {
    /// Appends the datagram.
    pub fn encode(&self, session_token: u64, out: &mut Vec<u8>) {
        encode_in_session(self, session_token, out);
    }

    /// Reads the datagram; its token is what [`session_token_of`](crate::session_token_of) says.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        decode_in_session(datagram)
    }
}

impl Body for PlayerSync {
    const ID: PacketId = PacketId::PlayerSync;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            seq: reader.u32("seq")?,
            position: reader.vec3_within("position", POSITION_LIMIT)?,
            velocity: reader.vec3("velocity")?,
            heading: reader.f32("heading")?,
            area: reader.u8("area")?,
            keys: reader.u16("keys")?,
            weapon: reader.u8("weapon")?,
            stance: reader.u8("stance")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.seq);
        writer.vec3(self.position);
        writer.vec3(self.velocity);
        writer.f32(self.heading);
        writer.u8(self.area);
        writer.u16(self.keys);
        writer.u8(self.weapon);
        writer.u8(self.stance);
    }
}
