//! 0x40 PlayerJoin, S>C lane: players are on the server (docs/protocol.md 2.3); at most 1,200 bytes.
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | count | u8, at least 1 |
//! | 6 | players | count records |
//!
//! A record:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 0 | player_id | u32 |
//! | 4 | player_token | u32 |
//! | 8 | name | str8 |

use crate::constants::{MAX_PACKET, MAX_PLAYER_ID};
use crate::error::DecodeError;
use crate::packet::{Body, SERVER_LANE_HEADER};
use crate::packet_id::PacketId;
use crate::player_name::NameText;
use crate::reader::Reader;
use crate::writer::Writer;

/// Bytes that records of one packet may take together.
const RECORDS_MAX: usize = MAX_PACKET - SERVER_LANE_HEADER - 1;

/// Players who joined, or the roster for one who just did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayerJoin {
    /// At least one, and no more than fit a packet: see [`PlayerJoin::batches`]. What does not fit is not encoded.
    pub players: Vec<JoinedPlayer>,
}

/// A player on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedPlayer {
    /// Slot of the player, `0..MAX_PLAYERS`.
    pub player_id: u32,
    /// Generation of the player.
    pub player_token: u32,
    /// Name of the player.
    pub name: NameText,
}

impl PlayerJoin {
    /// As few packets as hold all of `players`, in their order; none for nobody.
    #[must_use]
    pub fn batches(players: impl IntoIterator<Item = JoinedPlayer>) -> Vec<Self> {
        let mut batches: Vec<Self> = Vec::new();
        let mut used = 0;
        for player in players {
            let length = player.length();
            match batches.last_mut() {
                Some(batch) if used + length <= RECORDS_MAX && batch.players.len() < usize::from(u8::MAX) => {
                    batch.players.push(player);
                    used += length;
                }
                _ => {
                    batches.push(Self {
                        players: vec![player],
                    });
                    used = length;
                }
            }
        }
        batches
    }

    /// How many of the players fit a packet.
    fn fitting(&self) -> usize {
        let mut used = 0;
        self.players
            .iter()
            .take(usize::from(u8::MAX))
            .take_while(|player| {
                used += player.length();
                used <= RECORDS_MAX
            })
            .count()
    }
}

impl JoinedPlayer {
    fn length(&self) -> usize {
        9 + self.name.as_str().len()
    }

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

impl Body for PlayerJoin {
    const ID: PacketId = PacketId::PlayerJoin;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            players: reader.records("players", 1, usize::from(u8::MAX), JoinedPlayer::read)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.records(&self.players, self.fitting(), JoinedPlayer::write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn player(player_id: u32, name_length: usize) -> JoinedPlayer {
        let name = NameText::parse(&"n".repeat(name_length)).expect("a name of allowed length");
        JoinedPlayer {
            player_id,
            player_token: player_id + 1,
            name,
        }
    }

    #[test]
    fn batches_hold_everybody_once_and_each_fits_a_packet() {
        let everybody: Vec<_> = (0..1000)
            .map(|id| player(id, 3 + (id as usize * 7) % 62))
            .collect();
        let batches = PlayerJoin::batches(everybody.clone());
        for batch in &batches {
            let mut out = Vec::new();
            crate::ServerLaneEvent::from(batch.clone()).encode(1, &mut out);
            assert!(out.len() <= MAX_PACKET, "{} bytes", out.len());
            let decoded = crate::ServerPacket::decode(&out).expect("a batch decodes");
            let event = crate::ServerLaneEvent::PlayerJoin(batch.clone());
            assert_eq!(decoded, crate::ServerPacket::Lane { event_id: 1, event });
        }
        let back: Vec<_> = batches.into_iter().flat_map(|batch| batch.players).collect();
        assert_eq!(back, everybody);
        assert!(PlayerJoin::batches([]).is_empty());
    }

    #[test]
    fn what_does_not_fit_is_not_encoded() {
        let crowd = PlayerJoin {
            players: (0..400).map(|id| player(id, 64)).collect(),
        };
        let mut out = Vec::new();
        crate::ServerLaneEvent::from(crowd).encode(1, &mut out);
        assert_eq!(out.len(), 6 + 16 * 73);
        assert!(crate::ServerPacket::decode(&out).is_ok());
    }
}
