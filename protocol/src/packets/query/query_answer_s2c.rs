//! 0xFF query answer, S>C: what this server is (docs/protocol.md 1.3); at most 273 bytes.
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 1 | magic | "DQRY" |
//! | 5 | query_version | u8, at least 1 |
//! | 6 | server_key | [32] |
//! | 38 | signature | [64] |
//! | 102 | protocol_version | u16 |
//! | 104 | server_version | str8, at most 32 bytes |
//! | ... | minimum_client_version | str8, at most 32 bytes |
//! | ... | name | str8, at most 64 bytes |
//! | ... | mode | str8, at most 32 bytes |
//! | ... | players | u16 |
//! | ... | max_players | u16 |
//! | ... | flags | u8 |
//!
//! An answer may end before the flags, and a later revision may append fields; a reader skips them.

use crate::constants::{FLAG_PASSWORD_REQUIRED, QUERY_ANSWER_MAX};
use crate::error::DecodeError;
use crate::packet_id::PacketId;
use crate::packets::query::QUERY_MAGIC;
use crate::reader::Reader;
use crate::text::ShownText;
use crate::writer::Writer;

/// Bytes of an answer before the signature: they are signed with the body.
pub(crate) const QUERY_HEADER_LEN: usize = 38;

/// What a server says about itself to anybody who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryBody {
    /// Revision of the protocol the server speaks.
    pub protocol_version: u16,
    /// Version of the server program.
    pub server_version: ShownText<0, 32>,
    /// Oldest client the server wants, or empty.
    pub minimum_client_version: ShownText<0, 32>,
    /// Name of the server.
    pub name: ShownText<0, 64>,
    /// Name of the gamemode.
    pub mode: ShownText<0, 32>,
    /// Players with a slot, those who log in included.
    pub players: u16,
    /// Slots there are.
    pub max_players: u16,
    /// Bit 0: a password is required ([`FLAG_PASSWORD_REQUIRED`]). 0 when the answer ends before it.
    pub flags: u8,
}

impl QueryBody {
    /// Whether the server asks for a password.
    #[must_use]
    pub const fn password_required(&self) -> bool {
        self.flags & FLAG_PASSWORD_REQUIRED != 0
    }

    /// Appends the body alone.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut writer = Writer::new(out);
        writer.u16(self.protocol_version);
        self.server_version.write_str8(&mut writer);
        self.minimum_client_version.write_str8(&mut writer);
        self.name.write_str8(&mut writer);
        self.mode.write_str8(&mut writer);
        writer.u16(self.players);
        writer.u16(self.max_players);
        writer.u8(self.flags);
    }

    /// Reads a body; what follows the flags is left in `reader`.
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            protocol_version: reader.u16("protocol_version")?,
            server_version: ShownText::read_str8(reader, "server_version")?,
            minimum_client_version: ShownText::read_str8(reader, "minimum_client_version")?,
            name: ShownText::read_str8(reader, "name")?,
            mode: ShownText::read_str8(reader, "mode")?,
            players: reader.u16("players")?,
            max_players: reader.u16("max_players")?,
            flags: if reader.remaining() == 0 {
                0
            } else {
                reader.u8("flags")?
            },
        })
    }
}

/// Answers a QueryRequest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryAnswer {
    /// Revision of the answer's format, now 1. A later one is read as far as it is known, since fields are only appended.
    pub query_version: u8,
    /// Public key of the server.
    pub server_key: [u8; 32],
    /// Signature over the nonce of the request, the bytes before the signature and the body; see
    /// [`verify_query_answer`](crate::verify_query_answer).
    pub signature: [u8; 64],
    /// What the server says.
    pub body: QueryBody,
}

impl QueryAnswer {
    /// Appends the datagram, with key and signature as they stand in the struct. A server rather uses
    /// [`ServerIdentity::sign_query_answer`](crate::ServerIdentity::sign_query_answer).
    pub fn encode(&self, out: &mut Vec<u8>) {
        write_query_header(self.query_version, &self.server_key, out);
        out.extend_from_slice(&self.signature);
        self.body.encode(out);
    }

    /// Reads the datagram. The signature is not verified here.
    ///
    /// # Errors
    /// [`DecodeError`], also for a control or format character in a text.
    pub fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        if datagram.len() > QUERY_ANSWER_MAX {
            return Err(DecodeError::TooLong {
                length: datagram.len(),
                maximum: QUERY_ANSWER_MAX,
            });
        }
        let mut reader = super::after_magic(datagram)?;
        Ok(Self {
            query_version: reader.u8_within("query_version", 1, u8::MAX)?,
            server_key: reader.array("server_key")?,
            signature: reader.array("signature")?,
            body: QueryBody::read(&mut reader)?,
        })
    }
}

/// Appends the first 38 bytes of an answer.
pub(crate) fn write_query_header(query_version: u8, server_key: &[u8; 32], out: &mut Vec<u8>) {
    let mut writer = Writer::new(out);
    writer.u8(PacketId::Query.byte());
    writer.bytes(QUERY_MAGIC);
    writer.u8(query_version);
    writer.bytes(server_key);
}
