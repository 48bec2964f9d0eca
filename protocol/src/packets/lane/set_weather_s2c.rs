//! 0x55 SetWeather, S>C lane: the weather (docs/protocol.md 2.3); 6 bytes.
//!
//! After the id and event id:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | weather | u8 |

use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// The weather of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetWeather {
    /// Number of the weather.
    pub weather: u8,
}

impl Body for SetWeather {
    const ID: PacketId = PacketId::SetWeather;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            weather: reader.u8("weather")?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u8(self.weather);
    }
}
