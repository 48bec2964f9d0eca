//! 0x02 ServerHello, S>C: a slot was given (docs/protocol.md 1.3); 153 bytes.
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 1 | protocol_version | u16 |
//! | 3 | player_id | u32 |
//! | 7 | session_token | u64 |
//! | 15 | player_token | u32 |
//! | 19 | hours | u8 |
//! | 20 | minutes | u8 |
//! | 21 | weather | u8 |
//! | 22 | driveby_interval | u16 x 12 |
//! | 46 | garage_doors | u64 |
//! | 54 | client_files_port | u16 |
//! | 56 | auth_pending | bool |
//! | 57 | server_key | [32] |
//! | 89 | signature | [64] |

use std::fmt;

use crate::constants::MAX_PLAYER_ID;
use crate::error::DecodeError;
use crate::packet::{Body, decode_alone, encode_alone};
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Gives a client its slot, its secret and the state of the world. `Debug` does not show the session token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ServerHello {
    /// Revision the server speaks. Any value is decoded; a client drops a hello of another revision than its own.
    pub protocol_version: u16,
    /// The slot, `0..MAX_PLAYERS`.
    pub player_id: u32,
    /// The secret of the session, which every later packet of the client carries; never 0.
    pub session_token: u64,
    /// Generation of the player, from 1.
    pub player_token: u32,
    /// Hour of the day in the world, 0 to 23.
    pub hours: u8,
    /// Minute, 0 to 59.
    pub minutes: u8,
    /// Number of the weather.
    pub weather: u8,
    /// Milliseconds between shots from a vehicle, one value for each kind of weapon.
    pub driveby_interval: [u16; 12],
    /// One bit for each garage door, 1 when it is open.
    pub garage_doors: u64,
    /// TCP port of the client files on the same host, 1 to 65535.
    pub client_files_port: u16,
    /// Whether the player must log in first (PreAuth).
    pub auth_pending: bool,
    /// Public key of the server.
    pub server_key: [u8; 32],
    /// Signature over the client's nonce and every byte before it; see
    /// [`ServerIdentity::seal_hello`](crate::ServerIdentity::seal_hello) and [`verify_hello`](crate::verify_hello).
    pub signature: [u8; 64],
}

impl ServerHello {
    /// Appends the datagram, with key and signature as they stand in the struct.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode_alone(self, out);
    }

    /// Reads the datagram. The signature is not verified here.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        decode_alone(datagram)
    }
}

impl fmt::Debug for ServerHello {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ServerHello")
            .field("protocol_version", &self.protocol_version)
            .field("player_id", &self.player_id)
            .field("player_token", &self.player_token)
            .field("auth_pending", &self.auth_pending)
            .finish_non_exhaustive()
    }
}

impl Body for ServerHello {
    const ID: PacketId = PacketId::ServerHello;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            protocol_version: reader.u16("protocol_version")?,
            player_id: reader.u32_within("player_id", 0, MAX_PLAYER_ID)?,
            session_token: reader.u64_within("session_token", 1, u64::MAX)?,
            player_token: reader.u32_within("player_token", 1, u32::MAX)?,
            hours: reader.u8_within("hours", 0, 23)?,
            minutes: reader.u8_within("minutes", 0, 59)?,
            weather: reader.u8("weather")?,
            driveby_interval: reader.u16_array("driveby_interval", u16::MAX)?,
            garage_doors: reader.u64("garage_doors")?,
            client_files_port: reader.u16_within("client_files_port", 1, u16::MAX)?,
            auth_pending: reader.bool("auth_pending")?,
            server_key: reader.array("server_key")?,
            signature: reader.array("signature")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.protocol_version);
        writer.u32(self.player_id);
        writer.u64(self.session_token);
        writer.u32(self.player_token);
        writer.u8(self.hours);
        writer.u8(self.minutes);
        writer.u8(self.weather);
        writer.u16_array(&self.driveby_interval);
        writer.u64(self.garage_doors);
        writer.u16(self.client_files_port);
        writer.bool(self.auth_pending);
        writer.bytes(&self.server_key);
        writer.bytes(&self.signature);
    }
}
