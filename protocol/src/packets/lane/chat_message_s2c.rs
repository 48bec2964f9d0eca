//! 0x70 ChatMessage, S>C lane: a line of chat; droppable (docs/protocol.md 2.3).
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | colour | u32 |
//! | 9 | text | bytes16, 1 to 512 bytes of UTF-8 |

use crate::constants::MAX_CHAT_MESSAGE;
use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::text::Text;
use crate::writer::Writer;

/// A line for the chat of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// Colour as 0xRRGGBBAA.
    pub colour: u32,
    /// The line, 1 to 512 bytes. Who shows it must escape what a terminal would obey; see
    /// [`escape_for_display`](crate::escape_for_display).
    pub text: Text<1, MAX_CHAT_MESSAGE>,
}

impl Body for ChatMessage {
    const ID: PacketId = PacketId::ChatMessage;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            colour: reader.u32("colour")?,
            text: Text::read_bytes16(reader, "text")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.colour);
        writer.bytes16(self.text.as_str().as_bytes());
    }
}
