//! 0x53 SetWeapons, S>C lane: own weapons (docs/protocol.md 2.3); 6 + 3 x count bytes, 45 at most.
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 5 | count | u8, 0 to 13 |
//! | 6 | weapons | count records of 3 bytes |
//!
//! A record is a weapon (u8) and its ammo (u16).

use crate::constants::MAX_WEAPON_SLOTS;
use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// Replaces all weapons of the player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetWeapons {
    /// The weapons, at most 13; none takes all away. Only the first 13 are encoded.
    pub weapons: Vec<WeaponAmmo>,
}

/// A weapon and what it can still fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeaponAmmo {
    /// Number of the weapon.
    pub weapon: u8,
    /// Rounds left.
    pub ammo: u16,
}

impl Body for SetWeapons {
    const ID: PacketId = PacketId::SetWeapons;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let weapons = reader.records("weapons", 0, MAX_WEAPON_SLOTS, |reader| {
            Ok(WeaponAmmo {
                weapon: reader.u8("weapon")?,
                ammo: reader.u16("ammo")?,
            })
        })?;
        Ok(Self { weapons })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.records(&self.weapons, MAX_WEAPON_SLOTS, |row, writer| {
            writer.u8(row.weapon);
            writer.u16(row.ammo);
        });
    }
}
