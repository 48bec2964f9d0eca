//! 0xA4 ViewData, S>C lane: a value for a page (docs/protocol.md 2.3); its length follows from its texts and values.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | view_id | u16 |
//! | 7 | data | bytes16 |

use crate::error::DecodeError;
use crate::message_pack::EventData;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// A value that a resource sends to its page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewData {
    /// The view, by the number of its ViewOpen.
    pub view_id: u16,
    /// The value, at most 1,024 bytes.
    pub data: EventData,
}

impl Body for ViewData {
    const ID: PacketId = PacketId::ViewData;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            view_id: reader.u16("view_id")?,
            data: EventData::read(reader)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.view_id);
        self.data.write(writer);
    }
}
