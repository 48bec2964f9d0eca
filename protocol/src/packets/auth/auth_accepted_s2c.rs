//! 0xA1 AuthAccepted, S>C lane: the login succeeded (docs/protocol.md 1.3); 5 bytes.
//!
//! Nothing follows the id and event id.

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// The player's login was accepted; the normal join follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthAccepted;

impl Body for AuthAccepted {
    const ID: PacketId = PacketId::AuthAccepted;

    fn read(_reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self)
    }

    fn write(&self, _writer: &mut Writer<'_>) {}
}
