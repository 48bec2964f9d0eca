//! `assets/spawns.ron`: where players start, and with what.

use std::{collections::BTreeSet, fmt, path::Path};

use decitick_components::{
    combat::{FIST, Weapon, WeaponTable, Weapons},
    world::{SpawnPoint, SpawnPoints},
};
use decitick_protocol::WeaponAmmo;
use serde::Deserialize;

use super::{
    DEFAULT_SPAWNS,
    checks::{self, Triple},
    list::{ListFile, Problems},
};
use crate::fault::ConfigurationError;

/// Reads the spawn points of a server directory. A player who starts outside `world_bounds` (metres,
/// `world.bounds` of the settings) could not move, so no point may lie there. What is not in `weapons`, the table of the
/// same directory, nobody can shoot with, so no point may give it; without a sound table that is not judged.
///
/// # Errors
///
/// Every fault with its place: unreadable or malformed file, a number that is not finite or out of
/// its bounds, more than 13 weapons at one point, or one that is given twice, is bare hands or is not in the table, no
/// point at all. `serve` ends with exit code 2 then, `check` with 1.
pub fn load_spawns(
    directory: &Path,
    world_bounds: f32,
    weapons: Option<&WeaponTable>,
) -> Result<SpawnPoints, ConfigurationError> {
    let file = ListFile::<SpawnEntry>::read(directory, "assets/spawns.ron", DEFAULT_SPAWNS)?;
    file.check(|entry, problems| entry.judge(world_bounds, weapons, problems))?;
    let mut points = file.entries.iter().map(SpawnEntry::point);
    match points.next() {
        Some(first) => Ok(SpawnPoints::new(first, points.collect())),
        None => Err(file.empty().into()),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpawnEntry {
    position: Triple,
    #[serde(default)]
    heading: f32,
    #[serde(default)]
    area: u8,
    #[serde(default)]
    skin: u32,
    #[serde(default)]
    variant: u8,
    /// Weapon ids with their rounds; bare hands are not listed (docs/protocol.md 2.3).
    #[serde(default)]
    weapons: Vec<(u8, u16)>,
}

impl SpawnEntry {
    fn judge(&self, world_bounds: f32, table: Option<&WeaponTable>, problems: &mut Problems) {
        checks::position(problems, "position", self.position, world_bounds);
        checks::heading(problems, self.heading);
        if self.weapons.len() > Weapons::MOST {
            problems.add(
                "weapons",
                format_args!(
                    "{} weapons are too many; a player holds at most {}",
                    self.weapons.len(),
                    Weapons::MOST
                ),
            );
        }
        let mut seen = BTreeSet::new();
        for (index, &(weapon, _)) in self.weapons.iter().enumerate() {
            let mut add =
                |problem: fmt::Arguments<'_>| problems.add(format_args!("weapons.{index}"), problem);
            if weapon == FIST {
                add(format_args!(
                    "weapon {FIST} is bare hands, which everybody has; take it out"
                ));
            } else if weapon > Weapon::MOST_ID {
                add(format_args!(
                    "{weapon} is out of range; ids are 1 to {}",
                    Weapon::MOST_ID
                ));
            } else if table.is_some_and(|table| table.find(weapon).is_none()) {
                add(format_args!(
                    "weapon {weapon} is not in the weapon table; add it to assets/weapons.ron or take it out here"
                ));
            }
            if !seen.insert(weapon) {
                add(format_args!("weapon {weapon} is given twice; add its rounds up"));
            }
        }
    }

    fn point(&self) -> SpawnPoint {
        SpawnPoint {
            position: checks::vector(self.position),
            heading: self.heading,
            area: self.area,
            skin: self.skin,
            variant: self.variant,
            weapons: self
                .weapons
                .iter()
                .map(|&(weapon, ammo)| WeaponAmmo { weapon, ammo })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use decitick_protocol::Vec3;

    use super::{
        super::{load_weapons, testing::directory_with},
        *,
    };

    fn load(entries: &str) -> Result<SpawnPoints, ConfigurationError> {
        let directory = directory_with("spawns.ron", &format!("[\n{entries}\n]"));
        load_spawns(directory.path(), 1_000.0, Some(&built_in_table()))
    }

    fn built_in_table() -> WeaponTable {
        load_weapons(tempfile::tempdir().unwrap().path()).unwrap()
    }

    /// A table of these weapons.
    fn table(ids: &[u8]) -> WeaponTable {
        let all = built_in_table();
        WeaponTable::new(ids.iter().map(|&id| all.find(id).unwrap().clone()).collect())
    }

    #[test]
    fn the_built_in_points_are_sound_and_each_gives_a_pistol() {
        let directory = tempfile::tempdir().unwrap();
        let points = load_spawns(directory.path(), 20_000.0, Some(&built_in_table())).unwrap();
        let pistol = [WeaponAmmo { weapon: 22, ammo: 68 }];
        for n in 0..8 {
            assert_eq!(points.nth(n).weapons, pistol, "point {n}");
        }
    }

    #[test]
    fn everything_that_stands_in_a_point_arrives_and_what_is_left_out_is_nothing() {
        let points = load(
            "(position: (1, 2, 3)),
             (position: (0, 0, 0), heading: -3.1, area: 1, skin: 2, variant: 3, weapons: [(24, 7), (1, 0)])",
        )
        .unwrap();
        let bare = SpawnPoint {
            position: Vec3::new(1.0, 2.0, 3.0),
            heading: 0.0,
            area: 0,
            skin: 0,
            variant: 0,
            weapons: Vec::new(),
        };
        let full = SpawnPoint {
            position: Vec3::ZERO,
            heading: -3.1,
            area: 1,
            skin: 2,
            variant: 3,
            weapons: vec![
                WeaponAmmo { weapon: 24, ammo: 7 },
                WeaponAmmo { weapon: 1, ammo: 0 },
            ],
        };
        assert_eq!(points, SpawnPoints::new(bare, vec![full]));
    }

    #[test]
    fn each_bound_of_a_spawn_point_is_told_with_its_place() {
        let ids = |ids: std::ops::Range<u8>| -> String { ids.map(|id| format!("({id}, 1),")).collect() };
        let armed = |weapons: &str| format!("(position: (0, 0, 0), weapons: [{weapons}])");
        assert!(load(&armed(&ids(34..47))).is_ok(), "thirteen weapons");
        for (entry, wanted) in [
            ("(position: (1000.5, 0, 0))".to_owned(), ":2:2: position: "),
            ("(position: (0, NaN, 0))".to_owned(), ": position: "),
            (
                "(position: (0, 0, 0), heading: 3.2)".to_owned(),
                ":2:23: heading: ",
            ),
            ("(position: (0, 0, 0), heading: NaN)".to_owned(), ": heading: "),
            (
                "(position: (0, 0, 0), area: 256)".to_owned(),
                "area: the number is too large",
            ),
            (armed(&ids(33..47)), ":2:23: weapons: 14 "),
            (
                armed("(22, 5), (0, 1)"),
                ":2:42: weapons.1: weapon 0 is bare hands",
            ),
            (
                armed("(22, 5), (47, 1)"),
                ":2:42: weapons.1: 47 is out of range; ids are 1 to 46",
            ),
            (armed("(22, 5), (22, 1)"), ":2:42: weapons.1: "),
            (armed("(22, 65536)"), "the number is too large"),
            ("(heading: 1.0)".to_owned(), "\"position\" is missing"),
            (String::new(), "empty"),
        ] {
            let fault = load(&entry).unwrap_err().to_string();
            assert!(
                fault.contains("spawns.ron") && fault.contains(wanted),
                "{entry} -> {fault}"
            );
        }
    }

    #[test]
    fn a_weapon_that_the_table_lacks_is_told_with_its_place_unless_there_is_no_sound_table() {
        let directory = directory_with(
            "spawns.ron",
            "[(position: (0, 0, 0),\n  weapons: [(24, 7), (25, 7)])]",
        );
        let load = |table: Option<&WeaponTable>| load_spawns(directory.path(), 1_000.0, table);
        assert!(load(Some(&table(&[24, 25]))).is_ok());
        assert!(load(None).is_ok());
        let fault = load(Some(&table(&[22, 24]))).unwrap_err().to_string();
        assert!(
            fault.ends_with(
                "spawns.ron:2:22: weapons.1: weapon 25 is not in the weapon table; \
                 add it to assets/weapons.ron or take it out here"
            ),
            "{fault}"
        );
    }

    #[test]
    fn built_in_points_that_a_weapon_table_of_ones_own_does_not_fit_are_told_of_without_a_place() {
        let directory = tempfile::tempdir().unwrap();
        let fault = load_spawns(directory.path(), 20_000.0, Some(&table(&[24])))
            .unwrap_err()
            .to_string();
        assert!(
            fault.contains("spawns.ron: the file is missing") && fault.contains("weapon 22"),
            "{fault}"
        );
        assert_eq!(fault.lines().count(), 2, "{fault}");
    }

    #[test]
    fn a_megabyte_of_bad_weapons_at_one_point_is_told_in_a_few_lines() {
        let weapons = "(0,0),".repeat(170_000);
        let fault = load(&format!("(position: (0, 0, 0), weapons: [{weapons}])"))
            .unwrap_err()
            .to_string();
        assert_eq!(fault.lines().count(), 51);
        // Too many, each bare hands, and all but the first given twice.
        assert!(fault.ends_with(&format!(": and {} more faults", 340_000 - 50)));
    }
}
