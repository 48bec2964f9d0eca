//! 0x31 ClientEvent, C>S lane: an event for a script (docs/protocol.md 2.3); its length follows from its texts and values.
//!
//! After the id, session token and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 13 | name | str8 |
//! | ... | data | bytes16 |

use crate::constants::MAX_EVENT_NAME;
use crate::error::DecodeError;
use crate::message_pack::EventData;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::text::Text;
use crate::writer::Writer;

/// An event that the client's side of a resource sends to the server's side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientEvent {
    /// Name of the event, 1 to 64 bytes.
    pub name: Text<1, MAX_EVENT_NAME>,
    /// Its value, at most 1,024 bytes.
    pub data: EventData,
}

impl Body for ClientEvent {
    const ID: PacketId = PacketId::ClientEvent;

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
