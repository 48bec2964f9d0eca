//! 0xA5 ViewStatus, C>S lane: what became of a view (docs/protocol.md 2.3); 16 bytes.
//!
//! After the id, session token and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 13 | view_id | u16 |
//! | 15 | status | u8 |

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Tells the server that a page was loaded, failed to load or was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewStatus {
    /// The view, by the number of its ViewOpen.
    pub view_id: u16,
    /// What became of it.
    pub status: ViewState,
}

impl Body for ViewStatus {
    const ID: PacketId = PacketId::ViewStatus;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            view_id: reader.u16("view_id")?,
            status: ViewState::read(reader)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.view_id);
        writer.u8(self.status.byte());
    }
}

/// State of a view on the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ViewState {
    /// The page is shown.
    Loaded = 0,
    /// The page could not be shown.
    Failed = 1,
    /// The player closed it.
    Closed = 2,
}

impl ViewState {
    /// The value on the wire.
    #[must_use]
    pub const fn byte(self) -> u8 {
        self as u8
    }

    /// The value of a byte, or none when it has no meaning.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Loaded),
            1 => Some(Self::Failed),
            2 => Some(Self::Closed),
            _ => None,
        }
    }

    /// The word that gamemodes and logs use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::Failed => "failed",
            Self::Closed => "closed",
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::from_byte(reader.u8("status")?).ok_or(DecodeError::OutOfRange { field: "status" })
    }
}
