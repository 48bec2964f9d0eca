//! What a player knows of itself and of weapons: all of it the server's word (docs/protocol.md 2.5).

use std::collections::BTreeMap;

use decitick_protocol::{SetVitals, SetWeapons, WeaponAmmo, WeaponProperties, WeaponProperty};

/// Number of the fists, which everybody holds.
pub const FISTS: u8 = 0;

/// The player's own state as the server last told it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OwnState {
    pub(super) vitals: Option<SetVitals>,
    pub(super) money: Option<i64>,
    weapons: Vec<WeaponAmmo>,
}

impl OwnState {
    /// Health and armour, each 0..=200; `None` while the server has not told.
    #[must_use]
    pub const fn vitals(&self) -> Option<SetVitals> {
        self.vitals
    }

    /// The money; `None` while the server has not told.
    #[must_use]
    pub const fn money(&self) -> Option<i64> {
        self.money
    }

    /// The weapons of the last SetWeapons, at most 13, with the rounds they had then. The fists need not be among them.
    #[must_use]
    pub fn weapons(&self) -> &[WeaponAmmo] {
        &self.weapons
    }

    /// Whether the player holds this weapon. Everybody holds [`FISTS`].
    #[must_use]
    pub fn holds(&self, weapon: u8) -> bool {
        weapon == FISTS || self.weapons.iter().any(|held| held.weapon == weapon)
    }

    /// A SpawnPlayer arrived: it stands for full health, no armour and no weapons (docs/protocol.md 2.3).
    pub(crate) fn start_anew(&mut self) {
        self.vitals = Some(SetVitals {
            health: 100,
            armour: 0,
        });
        self.weapons.clear();
    }

    /// Takes a SetWeapons, which replaces all of them.
    pub(crate) fn take_weapons(&mut self, event: &SetWeapons) {
        self.weapons.clone_from(&event.weapons);
    }
}

/// What weapons do, as WeaponProperties said; the newest row of each weapon.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WeaponTable(BTreeMap<u8, WeaponProperty>);

impl WeaponTable {
    /// The row of a weapon: damage in health points, range in metres, interval in milliseconds. `None`: the server has not
    /// told of it.
    #[must_use]
    pub fn weapon(&self, weapon: u8) -> Option<&WeaponProperty> {
        self.0.get(&weapon)
    }

    /// Every row, by rising number of the weapon.
    pub fn iter(&self) -> impl Iterator<Item = &WeaponProperty> {
        self.0.values()
    }

    /// Takes a WeaponProperties: each row replaces what was known of its weapon, the others stay.
    pub(crate) fn take(&mut self, table: &WeaponProperties) {
        self.0.extend(table.weapons.iter().map(|row| (row.weapon, *row)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_holds_fists_and_otherwise_what_the_server_gave() {
        let mut own = OwnState::default();
        assert!(own.holds(FISTS) && !own.holds(24));
        own.weapons = vec![WeaponAmmo { weapon: 24, ammo: 7 }];
        assert!(own.holds(FISTS) && own.holds(24) && !own.holds(25));
    }

    #[test]
    fn a_row_replaces_what_was_known_of_its_weapon_and_the_others_stay() {
        let row = |weapon, range| WeaponProperty {
            weapon,
            damage: 5,
            range,
            interval_ms: 250,
        };
        let mut table = WeaponTable::default();
        table.take(&WeaponProperties {
            weapons: vec![row(24, 35.0), row(0, 1.6)],
        });
        let numbers: Vec<u8> = table.iter().map(|row| row.weapon).collect();
        assert_eq!(numbers, [0, 24]);
        table.take(&WeaponProperties {
            weapons: vec![row(0, 2.0)],
        });
        assert_eq!(
            (
                table.weapon(0).map(|row| row.range),
                table.weapon(24).map(|row| row.range)
            ),
            (Some(2.0), Some(35.0))
        );
    }
}
