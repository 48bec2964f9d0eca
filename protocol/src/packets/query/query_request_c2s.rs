//! 0xFF query request, C>S: asks what this server is (docs/protocol.md 1.3); at least 512 bytes.
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 1 | magic | "DQRY" |
//! | 5 | query_version | u8 |
//! | 6 | nonce | [32] |
//! | 38 | padding | zeros |

use crate::constants::{MAX_PACKET, QUERY_REQUEST_MIN};
use crate::error::DecodeError;
use crate::packet_id::PacketId;
use crate::packets::query::QUERY_MAGIC;
use crate::reader::Reader;
use crate::writer::Writer;

/// Asks for a QueryAnswer. The padding makes the request longer than any answer, so that nobody gains by forging the
/// sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryRequest {
    /// Revision of the query; it is not judged.
    pub query_version: u8,
    /// Random bytes; the answer is signed over them.
    pub nonce: [u8; 32],
}

impl QueryRequest {
    /// Appends the datagram: 512 bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let end = out.len() + QUERY_REQUEST_MIN;
        let mut writer = Writer::new(out);
        writer.u8(PacketId::Query.byte());
        writer.bytes(QUERY_MAGIC);
        writer.u8(self.query_version);
        writer.bytes(&self.nonce);
        out.resize(end, 0);
    }

    /// Reads the datagram: 512 to 1,200 bytes that start with the id and the magic. Neither the version nor the
    /// padding is judged.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        let length = datagram.len();
        if length > MAX_PACKET {
            return Err(DecodeError::TooLong {
                length,
                maximum: MAX_PACKET,
            });
        }
        let mut reader = after_magic(datagram)?;
        if length < QUERY_REQUEST_MIN {
            return Err(DecodeError::TooShort { field: "padding" });
        }
        Ok(Self {
            query_version: reader.u8("query_version")?,
            nonce: reader.array("nonce")?,
        })
    }
}

/// The nonce of a query request that is to be answered, without a copy of the rest; none for any other datagram.
#[must_use]
pub fn query_nonce_of(datagram: &[u8]) -> Option<[u8; 32]> {
    QueryRequest::decode(datagram).ok().map(|request| request.nonce)
}

/// A reader after the id and the magic of a query.
pub(super) fn after_magic(datagram: &[u8]) -> Result<Reader<'_>, DecodeError> {
    let (&id, rest) = datagram.split_first().ok_or(DecodeError::Empty)?;
    if id != PacketId::Query.byte() {
        return Err(DecodeError::UnknownId { id });
    }
    let rest = rest.strip_prefix(QUERY_MAGIC).ok_or(DecodeError::BadMagic)?;
    Ok(Reader::new(rest))
}
