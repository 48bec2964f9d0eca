//! 0xA6 ViewAction, C>S lane: what the player did in a view (docs/protocol.md 2.3); its length follows from its texts and values.
//!
//! After the id, session token and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 13 | view_id | u16 |
//! | 15 | data | bytes16 |

use crate::error::DecodeError;
use crate::message_pack::EventData;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// A value that a page sends to its resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewAction {
    /// The view, by the number of its ViewOpen.
    pub view_id: u16,
    /// What was done, at most 1,024 bytes.
    pub data: EventData,
}

impl Body for ViewAction {
    const ID: PacketId = PacketId::ViewAction;

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
