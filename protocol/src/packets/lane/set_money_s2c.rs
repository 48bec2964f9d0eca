//! 0x51 SetMoney, S>C lane: own money (docs/protocol.md 2.3); 13 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | money | i64 |

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// The player's own money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetMoney {
    /// Amount, may be negative.
    pub money: i64,
}

impl Body for SetMoney {
    const ID: PacketId = PacketId::SetMoney;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            money: reader.i64("money")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.i64(self.money);
    }
}
