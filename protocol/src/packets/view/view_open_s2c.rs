//! 0xA3 ViewOpen, S>C lane: show a page (docs/protocol.md 2.3); its length follows from its texts and values.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | view_id | u16 |
//! | 7 | resource | str8 |
//! | ... | page | str8 |

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::text::Text;
use crate::writer::Writer;

/// Opens a page of a resource on the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewOpen {
    /// Number of the view.
    pub view_id: u16,
    /// Resource the page belongs to, 1 to 255 bytes.
    pub resource: Text<1, 255>,
    /// Path of the page inside the resource, 1 to 255 bytes.
    pub page: Text<1, 255>,
}

impl Body for ViewOpen {
    const ID: PacketId = PacketId::ViewOpen;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            view_id: reader.u16("view_id")?,
            resource: Text::read_str8(reader, "resource")?,
            page: Text::read_str8(reader, "page")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.view_id);
        self.resource.write_str8(writer);
        self.page.write_str8(writer);
    }
}
