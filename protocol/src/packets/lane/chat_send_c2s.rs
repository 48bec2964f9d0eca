//! 0x30 ChatSend, C>S lane: a line of chat (docs/protocol.md 2.3); its length follows from its texts and values.
//!
//! After the id, session token and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 13 | text | str8 |

use crate::constants::MAX_CHAT_SEND;
use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::text::PlainText;
use crate::writer::Writer;

/// A line the player typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatSend {
    /// The line: 1 to 128 bytes of UTF-8 without control characters.
    pub text: PlainText<1, MAX_CHAT_SEND>,
}

impl Body for ChatSend {
    const ID: PacketId = PacketId::ChatSend;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            text: PlainText::read_str8(reader, "text")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.text.write_str8(writer);
    }
}
