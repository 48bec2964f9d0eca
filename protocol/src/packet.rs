//! The frame every packet stands in: id, session token, event id.
//!
//! What the fields of one packet are is the business of its file under `packets/`.

use crate::constants::MAX_PACKET;
use crate::error::DecodeError;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Bytes of the id and the session token, with which every C>S packet after the handshake starts.
pub(crate) const SESSION_HEADER: usize = 9;
/// Bytes of the id, the session token and the event id of a C>S lane packet.
pub(crate) const CLIENT_LANE_HEADER: usize = 13;
/// Bytes of the id and the event id of an S>C lane packet.
pub(crate) const SERVER_LANE_HEADER: usize = 5;

/// The fields of one packet, without the id, the session token and the event id around them.
pub trait Body: Sized {
    /// The packet's id.
    const ID: PacketId;

    /// Reads the fields. What is left in `reader` afterwards is judged by the caller.
    ///
    /// # Errors
    /// [`DecodeError`] names the first field at fault.
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError>;

    /// Writes the fields.
    fn write(&self, writer: &mut Writer<'_>);
}

/// The session token of a C>S packet: bytes 1 to 9, whatever the id. None when the datagram is shorter.
#[must_use]
pub fn session_token_of(datagram: &[u8]) -> Option<u64> {
    let bytes = datagram.get(1..SESSION_HEADER)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*bytes))
}

/// The event id of a C>S lane packet: bytes 9 to 13, whatever the id. None when the datagram is shorter.
#[must_use]
pub fn client_event_id_of(datagram: &[u8]) -> Option<u32> {
    let bytes = datagram
        .get(SESSION_HEADER..CLIENT_LANE_HEADER)?
        .first_chunk::<4>()?;
    Some(u32::from_le_bytes(*bytes))
}

/// Puts another event id into an encoded S>C lane packet (bytes 1 to 5). Nothing happens to a shorter datagram.
pub fn write_event_id(datagram: &mut [u8], event_id: u32) {
    if let Some(bytes) = datagram.get_mut(1..SERVER_LANE_HEADER) {
        bytes.copy_from_slice(&event_id.to_le_bytes());
    }
}

/// Appends `[id] body`.
pub(crate) fn encode_alone<B: Body>(body: &B, out: &mut Vec<u8>) {
    let mut writer = Writer::new(out);
    writer.u8(B::ID.byte());
    body.write(&mut writer);
}

/// Appends `[id][session token] body`.
pub(crate) fn encode_in_session<B: Body>(body: &B, session_token: u64, out: &mut Vec<u8>) {
    let mut writer = Writer::new(out);
    writer.u8(B::ID.byte());
    writer.u64(session_token);
    body.write(&mut writer);
}

/// Appends `[id][session token][event id] body`.
pub(crate) fn encode_on_client_lane<B: Body>(body: &B, session_token: u64, event_id: u32, out: &mut Vec<u8>) {
    let mut writer = Writer::new(out);
    writer.u8(B::ID.byte());
    writer.u64(session_token);
    writer.u32(event_id);
    body.write(&mut writer);
}

/// Appends `[id][event id] body`.
pub(crate) fn encode_on_server_lane<B: Body>(body: &B, event_id: u32, out: &mut Vec<u8>) {
    let mut writer = Writer::new(out);
    writer.u8(B::ID.byte());
    writer.u32(event_id);
    body.write(&mut writer);
}

/// Reads a whole `[id] body`.
pub(crate) fn decode_alone<B: Body>(datagram: &[u8]) -> Result<B, DecodeError> {
    let mut reader = opened(datagram, B::ID)?;
    whole(&mut reader)
}

/// Reads a whole `[id][session token] body` and leaves the token to [`session_token_of`].
pub(crate) fn decode_in_session<B: Body>(datagram: &[u8]) -> Result<B, DecodeError> {
    let mut reader = opened(datagram, B::ID)?;
    reader.u64("session_token")?;
    whole(&mut reader)
}

/// Reads a body and refuses what follows it.
pub(crate) fn whole<B: Body>(reader: &mut Reader<'_>) -> Result<B, DecodeError> {
    let body = B::read(reader)?;
    reader.clone().finish()?;
    Ok(body)
}

/// Reads the event id of a lane packet; ids start at 1 (docs/protocol.md 2.1).
pub(crate) fn read_event_id(reader: &mut Reader<'_>) -> Result<u32, DecodeError> {
    reader.u32_within("event_id", 1, u32::MAX)
}

/// The id of a datagram of allowed length, and a reader after it.
pub(crate) fn open(datagram: &[u8]) -> Result<(PacketId, Reader<'_>), DecodeError> {
    if datagram.len() > MAX_PACKET {
        return Err(DecodeError::TooLong {
            length: datagram.len(),
            maximum: MAX_PACKET,
        });
    }
    let (&id, rest) = datagram.split_first().ok_or(DecodeError::Empty)?;
    let id = PacketId::from_byte(id).ok_or(DecodeError::UnknownId { id })?;
    Ok((id, Reader::new(rest)))
}

fn opened(datagram: &[u8], expected: PacketId) -> Result<Reader<'_>, DecodeError> {
    let (id, reader) = open(datagram)?;
    if id == expected {
        Ok(reader)
    } else {
        Err(DecodeError::UnknownId { id: id.byte() })
    }
}
