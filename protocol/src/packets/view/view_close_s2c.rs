//! 0xA7 ViewClose, S>C lane: close a page (docs/protocol.md 2.3); 7 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | view_id | u16 |

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Closes a page on the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewClose {
    /// The view, by the number of its ViewOpen.
    pub view_id: u16,
}

impl Body for ViewClose {
    const ID: PacketId = PacketId::ViewClose;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            view_id: reader.u16("view_id")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.view_id);
    }
}
