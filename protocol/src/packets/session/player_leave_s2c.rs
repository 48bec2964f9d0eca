//! 0x06 PlayerLeave, S>C: a player is gone (docs/protocol.md 1.3 and 2.3); 9 bytes.
//!
//! After the id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 1 | player_id | u32 |
//! | 5 | player_token | u32 |

use crate::constants::MAX_PLAYER_ID;
use crate::error::DecodeError;
use crate::packet::{Body, decode_alone, encode_alone};
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// A player left the server. It is sent on three ticks in a row, since it has no event id, and is idempotent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayerLeave {
    /// Whose it is, `0..MAX_PLAYERS`.
    pub player_id: u32,
    /// Generation of that player, so that a stale packet is known for one.
    pub player_token: u32,
}

impl PlayerLeave {
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
}

impl Body for PlayerLeave {
    const ID: PacketId = PacketId::PlayerLeave;

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
