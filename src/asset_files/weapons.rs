//! `assets/weapons.ron`: the weapon table.

use std::{collections::BTreeSet, path::Path};

use decitick_components::combat::{Weapon, WeaponTable};
use decitick_protocol::text::is_control_or_format;
use serde::Deserialize;

use super::{
    DEFAULT_WEAPONS,
    list::{ListFile, Problems},
};
use crate::fault::ConfigurationError;

/// The most rounds in a magazine.
const CLIP_MAX: u16 = 10_000;
/// The most projectiles of one shot.
const PELLETS_MAX: u8 = 32;

/// Reads the weapon table of a server directory.
///
/// # Errors
///
/// Every fault with its place: unreadable or malformed file, an id above 46 or given twice, a number
/// out of its bounds, no weapon at all. `serve` ends with exit code 2 then, `check` with 1.
pub fn load_weapons(directory: &Path) -> Result<WeaponTable, ConfigurationError> {
    let file = ListFile::<WeaponEntry>::read(directory, "assets/weapons.ron", DEFAULT_WEAPONS)?;
    if file.entries.is_empty() {
        return Err(file.empty().into());
    }
    let mut seen = BTreeSet::new();
    file.check(|entry, problems| entry.judge(&mut seen, problems))?;
    Ok(WeaponTable::new(
        file.entries.into_iter().map(WeaponEntry::into_weapon).collect(),
    ))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WeaponEntry {
    id: u8,
    name: String,
    damage: u16,
    range: f32,
    interval_ms: u16,
    clip: u16,
    #[serde(default = "one")]
    pellets: u8,
}

const fn one() -> u8 {
    1
}

impl WeaponEntry {
    fn judge(&self, seen: &mut BTreeSet<u8>, problems: &mut Problems) {
        if self.id > Weapon::MOST_ID {
            problems.add(
                "id",
                format_args!("{} is out of range; ids are 0 to {}", self.id, Weapon::MOST_ID),
            );
        }
        if !seen.insert(self.id) {
            problems.add(
                "id",
                format_args!("{} is given twice; each weapon stands once", self.id),
            );
        }
        if !(1..=32).contains(&self.name.len()) || self.name.chars().any(is_control_or_format) {
            problems.add(
                "name",
                "a name has 1 to 32 bytes without control or format characters",
            );
        }
        if !(0.0..=Weapon::MOST_RANGE).contains(&self.range) {
            problems.add(
                "range",
                format_args!(
                    "{} is out of range; 0 to {} metres are taken",
                    self.range,
                    Weapon::MOST_RANGE
                ),
            );
        }
        if self.interval_ms == 0 {
            problems.add("interval_ms", "the time between two shots is at least 1 ms");
        }
        if self.clip > CLIP_MAX {
            problems.add(
                "clip",
                format_args!("{} is out of range; 0 to {CLIP_MAX} rounds are taken", self.clip),
            );
        }
        if !(1..=PELLETS_MAX).contains(&self.pellets) {
            problems.add(
                "pellets",
                format_args!(
                    "{} is out of range; a shot has 1 to {PELLETS_MAX} pellets",
                    self.pellets
                ),
            );
        }
    }

    fn into_weapon(self) -> Weapon {
        Weapon {
            id: self.id,
            name: self.name,
            damage: self.damage,
            range: self.range,
            interval_ms: self.interval_ms,
            clip: self.clip,
            pellets: self.pellets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testing::directory_with, *};

    fn load(entries: &str) -> Result<WeaponTable, ConfigurationError> {
        let directory = directory_with("weapons.ron", &format!("[\n{entries}\n]"));
        load_weapons(directory.path())
    }

    #[test]
    fn the_built_in_table_has_the_47_slots_and_three_weapons_with_pellets() {
        let directory = tempfile::tempdir().unwrap();
        let weapons = load_weapons(directory.path()).unwrap();
        let ids: Vec<u8> = weapons.iter().map(|weapon| weapon.id).collect();
        assert_eq!(ids, (0..=46).collect::<Vec<u8>>());
        let shotguns: Vec<u8> = weapons
            .iter()
            .filter(|weapon| weapon.pellets > 1)
            .map(|weapon| weapon.id)
            .collect();
        assert_eq!(shotguns, [25, 26, 27]);
        for id in shotguns {
            let weapon = weapons.find(id).unwrap();
            let shot = weapon.damage * u16::from(weapon.pellets);
            assert!((40..=50).contains(&shot), "{}: {shot}", weapon.name);
        }
        for id in 22..=38 {
            assert!(
                weapons.find(id).unwrap().clip > 0,
                "firearm {id} needs ammunition"
            );
        }
    }

    #[test]
    fn everything_that_stands_in_a_row_arrives_in_the_table() {
        let weapons = load(
            "(id: 3, name: \"Stick\", damage: 7, range: 1.5, interval_ms: 300, clip: 0),
             (id: 25, name: \"Spreader\", damage: 2, range: 9.0, interval_ms: 900, clip: 6, pellets: 32)",
        )
        .unwrap();
        let stick = Weapon {
            id: 3,
            name: "Stick".to_owned(),
            damage: 7,
            range: 1.5,
            interval_ms: 300,
            clip: 0,
            pellets: 1,
        };
        let spreader = Weapon {
            id: 25,
            name: "Spreader".to_owned(),
            damage: 2,
            range: 9.0,
            interval_ms: 900,
            clip: 6,
            pellets: 32,
        };
        assert_eq!(weapons, WeaponTable::new(vec![stick, spreader]));
    }

    #[test]
    fn each_bound_of_a_weapon_is_told_with_its_place() {
        let sound = "(id: 1, name: \"A\", damage: 1, range: 1.0, interval_ms: 1, clip: 1)";
        let with = |part: &str, other: &str| sound.replace(part, other);
        for (entry, wanted) in [
            (with("id: 1", "id: 47"), ":2:2: id: "),
            (format!("{sound},\n{sound}"), ":3:2: id: "),
            (with("\"A\"", "\"\""), ":2:9: name: "),
            (with("1.0", "-1.0"), ": range: "),
            (with("1.0", "NaN"), ": range: "),
            (with("1.0", "inf"), ": range: "),
            (with("interval_ms: 1", "interval_ms: 0"), ": interval_ms: "),
            (with("clip: 1", "clip: 10001"), ": clip: "),
            (with("clip: 1", "clip: 1, pellets: 0"), ": pellets: "),
            (with("clip: 1", "clip: 1, pellets: 33"), ": pellets: "),
            (
                with("damage: 1", "damage: 70000"),
                "damage: the number is too large",
            ),
            (with(", clip: 1", ""), "\"clip\" is missing"),
            ("(id: 1, nmae: \"A\")".to_owned(), "\"name\""),
            (String::new(), "empty"),
        ] {
            let fault = load(&entry).unwrap_err().to_string();
            assert!(
                fault.contains("weapons.ron") && fault.contains(wanted),
                "{entry} -> {fault}"
            );
        }
    }
}
