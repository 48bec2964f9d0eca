//! 0x71 ServerEvent, S>C lane: an event of a script; droppable when sent so (docs/protocol.md 2.3); its length follows from its texts and values.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | name | str8 |
//! | ... | data | bytes16 |

use crate::constants::MAX_EVENT_NAME;
use crate::error::DecodeError;
use crate::message_pack::EventData;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::text::Text;
use crate::writer::Writer;

/// An event that the server's side of a resource sends to the client's side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEvent {
    /// Name of the event, 1 to 64 bytes.
    pub name: Text<1, MAX_EVENT_NAME>,
    /// Its value, at most 1,024 bytes.
    pub data: EventData,
}

impl Body for ServerEvent {
    const ID: PacketId = PacketId::ServerEvent;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            name: Text::read_str8(reader, "name")?,
            data: EventData::read(reader)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.name.write_str8(writer);
        self.data.write(writer);
    }
}
