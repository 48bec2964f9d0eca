//! 0x5B WeaponProperties, S>C lane: what the weapons do (docs/protocol.md 2.3); 6 + 9 x count bytes, 429 at most.
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | count | u8, 1 to 47 |
//! | 6 | weapons | count records of 9 bytes |
//!
//! A record:
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 0 | weapon | u8 |
//! | 1 | damage | u16 |
//! | 3 | range | f32 |
//! | 7 | interval_ms | u16 |

use crate::constants::MAX_WEAPON_PROPERTIES;
use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// The weapon table of the server.
#[derive(Debug, Clone, PartialEq)]
pub struct WeaponProperties {
    /// The rows, 1 to 47. Only the first 47 are encoded, and a packet without any is refused by its receiver.
    pub weapons: Vec<WeaponProperty>,
}

/// What one weapon does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeaponProperty {
    /// Number of the weapon.
    pub weapon: u8,
    /// Damage of a hit, before the factor of the body part.
    pub damage: u16,
    /// How far it reaches, in metres.
    pub range: f32,
    /// Milliseconds between shots.
    pub interval_ms: u16,
}

impl Body for WeaponProperties {
    const ID: PacketId = PacketId::WeaponProperties;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let weapons = reader.records("weapons", 1, MAX_WEAPON_PROPERTIES, |reader| {
            Ok(WeaponProperty {
                weapon: reader.u8("weapon")?,
                damage: reader.u16("damage")?,
                range: reader.f32("range")?,
                interval_ms: reader.u16("interval_ms")?,
            })
        })?;
        Ok(Self { weapons })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.records(&self.weapons, MAX_WEAPON_PROPERTIES, |row, writer| {
            writer.u8(row.weapon);
            writer.u16(row.damage);
            writer.f32(row.range);
            writer.u16(row.interval_ms);
        });
    }
}
