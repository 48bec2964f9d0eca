//! 0x04 RemotePlayerSync, S>C: frames of other players (docs/protocol.md 2.3); 2 + 46 x count bytes, 1,198 at most.
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 1 | count | u8, 1 to 26 |
//! | 2 | players | count records of 46 bytes |
//!
//! A record:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 0 | player_id | u32 |
//! | 4 | player_token | u32 |
//! | 8 | seq | u32 |
//! | 12 | position | vec3 |
//! | 24 | velocity | vec3 |
//! | 36 | heading | f32 |
//! | 40 | area | u8 |
//! | 41 | keys | u16 |
//! | 43 | weapon | u8 |
//! | 44 | stance | u8 |
//! | 45 | health | u8 |
//!
//! A server builds each record once a tick with [`RemoteFrame::encode_record`], and each datagram from
//! [`RemotePlayerSync::encode_header`] and copies of records.

use crate::constants::{MAX_PLAYER_ID, MAX_REMOTE_FRAMES, POSITION_LIMIT, REMOTE_FRAME_LEN};
use crate::error::DecodeError;
use crate::packet::{Body, decode_alone, encode_alone};
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::vector::Vec3;
use crate::writer::Writer;

/// The newest frames of players in view, 1 to 26 of them.
#[derive(Debug, Clone, PartialEq)]
pub struct RemotePlayerSync {
    /// The frames. Only the first 26 are encoded, and a packet without any is refused by its receiver.
    pub players: Vec<RemoteFrame>,
}

/// A frame of another player.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RemoteFrame {
    /// Whose it is, `0..MAX_PLAYERS`.
    pub player_id: u32,
    /// Generation of that player, so that a stale packet is known for one.
    pub player_token: u32,
    /// Number of the frame as its player sent it.
    pub seq: u32,
    /// Where, in metres, each component at most 20,000 in size.
    pub position: Vec3,
    /// Metres per second.
    pub velocity: Vec3,
    /// Facing, radians in [-pi, pi).
    pub heading: f32,
    /// Interior the player is in; 0 is outside.
    pub area: u8,
    /// Bit field of the keys held down.
    pub keys: u16,
    /// Weapon in the hand; 0 is none.
    pub weapon: u8,
    /// How the body is held; a number of the client.
    pub stance: u8,
    /// Health, 0 to 200.
    pub health: u8,
}

impl RemotePlayerSync {
    /// Appends the datagram.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode_alone(self, out);
    }

    /// Reads the datagram.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        decode_alone(datagram)
    }

    /// Appends the two bytes before `count` (1 to 26) records.
    pub fn encode_header(count: u8, out: &mut Vec<u8>) {
        out.extend_from_slice(&[PacketId::RemotePlayerSync.byte(), count]);
    }
}

impl RemoteFrame {
    /// Appends the record: 46 bytes.
    pub fn encode_record(&self, out: &mut Vec<u8>) {
        out.reserve(REMOTE_FRAME_LEN);
        self.write(&mut Writer::new(out));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            player_id: reader.u32_within("player_id", 0, MAX_PLAYER_ID)?,
            player_token: reader.u32("player_token")?,
            seq: reader.u32("seq")?,
            position: reader.vec3_within("position", POSITION_LIMIT)?,
            velocity: reader.vec3("velocity")?,
            heading: reader.f32("heading")?,
            area: reader.u8("area")?,
            keys: reader.u16("keys")?,
            weapon: reader.u8("weapon")?,
            stance: reader.u8("stance")?,
            health: reader.u8("health")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.player_id);
        writer.u32(self.player_token);
        writer.u32(self.seq);
        writer.vec3(self.position);
        writer.vec3(self.velocity);
        writer.f32(self.heading);
        writer.u8(self.area);
        writer.u16(self.keys);
        writer.u8(self.weapon);
        writer.u8(self.stance);
        writer.u8(self.health);
    }
}

impl Body for RemotePlayerSync {
    const ID: PacketId = PacketId::RemotePlayerSync;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            players: reader.records("players", 1, MAX_REMOTE_FRAMES, RemoteFrame::read)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.records(&self.players, MAX_REMOTE_FRAMES, RemoteFrame::write);
    }
}
