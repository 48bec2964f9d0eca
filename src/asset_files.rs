//! `assets/weapons.ron` and `assets/spawns.ron`: read, checked to the last bound, or the built-in ones
//! when the file is missing.
//!
//! Knows the files and their bounds; what weapons and spawn points do is the systems' matter.

use std::{collections::BTreeSet, f32::consts::PI, path::Path};

use decitick_components::world::{SpawnPoint, SpawnPoints, WeaponTable};
use decitick_protocol::{Vec3, WeaponProperty, text::is_control_or_format};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    fault::{ConfigurationError, Fault, Position},
    ron_file,
    ron_outline::Node,
};

/// The text that `decitick init` writes to `assets/weapons.ron`, used when the file is missing.
pub const DEFAULT_WEAPONS: &str = include_str!("../assets/weapons.ron");
/// The text that `decitick init` writes to `assets/spawns.ron`, used when the file is missing.
pub const DEFAULT_SPAWNS: &str = include_str!("../assets/spawns.ron");

/// The highest weapon id: WeaponProperties carries at most 47 (docs/protocol.md 2.3).
const WEAPON_ID_MAX: u8 = 46;
/// The most rounds in a magazine.
const CLIP_MAX: u16 = 10_000;
/// No range is longer: the world is not wider (docs/protocol.md 2.3, positions).
const RANGE_MAX: f32 = 40_000.0;

/// Reads the weapon table of a server directory.
///
/// # Errors
///
/// Every fault with its place: unreadable or malformed file, an id above 46 or given twice, a number
/// out of its bounds, no weapon at all. Exit code 2.
pub fn load_weapons(directory: &Path) -> Result<WeaponTable, ConfigurationError> {
    let file = AssetFile::<WeaponEntry>::read(directory, "assets/weapons.ron", DEFAULT_WEAPONS)?;
    let mut seen = BTreeSet::new();
    file.check(|entry| entry.problems(&mut seen))?;
    Ok(WeaponTable(
        file.entries.iter().map(WeaponEntry::property).collect(),
    ))
}

/// Reads the spawn points of a server directory. A player who starts outside `world_bounds` (metres,
/// `world.bounds` of the settings) could not move, so no point may lie there.
///
/// # Errors
///
/// Every fault with its place: unreadable or malformed file, a number that is not finite or out of
/// its bounds, no point at all. Exit code 2.
pub fn load_spawns(directory: &Path, world_bounds: f32) -> Result<SpawnPoints, ConfigurationError> {
    let file = AssetFile::<SpawnEntry>::read(directory, "assets/spawns.ron", DEFAULT_SPAWNS)?;
    file.check(|entry| entry.problems(world_bounds))?;
    let mut points = file.entries.iter().map(SpawnEntry::point);
    match points.next() {
        Some(first) => Ok(SpawnPoints::new(first, points.collect())),
        None => Err(file.empty().into()),
    }
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
}

impl WeaponEntry {
    fn problems(&self, seen: &mut BTreeSet<u8>) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        if self.id > WEAPON_ID_MAX {
            problems.push((
                "id",
                format!("{} is out of range; ids are 0 to {WEAPON_ID_MAX}", self.id),
            ));
        }
        if !seen.insert(self.id) {
            problems.push((
                "id",
                format!("{} is given twice; each weapon stands once", self.id),
            ));
        }
        if !(1..=32).contains(&self.name.len()) || self.name.chars().any(is_control_or_format) {
            problems.push((
                "name",
                "a name has 1 to 32 bytes without control or format characters".to_owned(),
            ));
        }
        if !(0.0..=RANGE_MAX).contains(&self.range) {
            problems.push((
                "range",
                format!(
                    "{} is out of range; 0 to {RANGE_MAX} metres are taken",
                    self.range
                ),
            ));
        }
        if self.clip > CLIP_MAX {
            problems.push((
                "clip",
                format!("{} is out of range; 0 to {CLIP_MAX} rounds are taken", self.clip),
            ));
        }
        if self.interval_ms == 0 {
            problems.push((
                "interval_ms",
                "the time between two shots is at least 1 ms".to_owned(),
            ));
        }
        problems
    }

    /// What clients are told. Name and clip are for gamemodes and people.
    fn property(&self) -> WeaponProperty {
        WeaponProperty {
            weapon: self.id,
            damage: self.damage,
            range: self.range,
            interval_ms: self.interval_ms,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpawnEntry {
    position: (f32, f32, f32),
    #[serde(default)]
    heading: f32,
    #[serde(default)]
    area: u8,
    #[serde(default)]
    skin: u32,
    #[serde(default)]
    variant: u8,
}

impl SpawnEntry {
    fn problems(&self, world_bounds: f32) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        let (x, y, z) = self.position;
        if ![x, y, z].iter().all(|component| component.abs() <= world_bounds) {
            problems.push((
                "position",
                format!("({x}, {y}, {z}) is outside world.bounds, which is {world_bounds}"),
            ));
        }
        if !(-PI..PI).contains(&self.heading) {
            problems.push((
                "heading",
                format!(
                    "{} is no heading; radians from -pi up to pi are taken",
                    self.heading
                ),
            ));
        }
        problems
    }

    const fn point(&self) -> SpawnPoint {
        let (x, y, z) = self.position;
        SpawnPoint {
            position: Vec3 { x, y, z },
            heading: self.heading,
            area: self.area,
            skin: self.skin,
            variant: self.variant,
        }
    }
}

/// A file that is one list, and where its entries stand.
struct AssetFile<T> {
    path: std::path::PathBuf,
    text: String,
    entries: Vec<T>,
}

impl<T: DeserializeOwned> AssetFile<T> {
    fn read(directory: &Path, name: &str, built_in: &str) -> Result<Self, Fault> {
        let path = directory.join(name);
        let text = ron_file::read_optional(&path)?.unwrap_or_else(|| built_in.to_owned());
        let entries = ron_file::parse(&text).map_err(|fault| fault.in_file(&path))?;
        Ok(Self { path, text, entries })
    }

    fn check(
        &self,
        mut problems_of: impl FnMut(&T) -> Vec<(&'static str, String)>,
    ) -> Result<(), ConfigurationError> {
        if self.entries.is_empty() {
            return Err(self.empty().into());
        }
        let outline = Node::of_text(&self.text);
        let mut faults = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            for (key, problem) in problems_of(entry) {
                let problem = format!("{key}: {problem}");
                faults.push(match &outline {
                    Some(outline) => {
                        let offset = outline.reach(&format!("{index}.{key}")).start;
                        Fault::at(&self.path, Position::of_offset(&self.text, offset), problem)
                    }
                    None => Fault::of_file(&self.path, problem),
                });
            }
        }
        ConfigurationError::unless_empty(faults)
    }

    fn empty(&self) -> Fault {
        Fault::of_file(
            &self.path,
            "the list is empty; write at least one entry, or delete the file to use the built-in list",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory_with(name: &str, text: &str) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("assets")).unwrap();
        std::fs::write(directory.path().join("assets").join(name), text).unwrap();
        directory
    }

    fn weapon_fault(entry: &str) -> String {
        let directory = directory_with("weapons.ron", &format!("[\n{entry}\n]"));
        load_weapons(directory.path()).unwrap_err().to_string()
    }

    fn spawn_fault(entry: &str) -> String {
        let directory = directory_with("spawns.ron", &format!("[\n{entry}\n]"));
        load_spawns(directory.path(), 1_000.0).unwrap_err().to_string()
    }

    #[test]
    fn without_files_the_built_in_lists_are_used_and_they_are_sound() {
        let directory = tempfile::tempdir().unwrap();
        let weapons = load_weapons(directory.path()).unwrap();
        let ids: Vec<u8> = weapons.0.iter().map(|weapon| weapon.weapon).collect();
        assert_eq!(ids, (0..=46).collect::<Vec<u8>>(), "the 47 classic slots");
        load_spawns(directory.path(), 20_000.0).unwrap();
    }

    #[test]
    fn a_list_of_ones_own_replaces_the_built_in_one() {
        let directory = directory_with(
            "weapons.ron",
            "[(id: 3, name: \"Stick\", damage: 7, range: 1.5, interval_ms: 300, clip: 0)]",
        );
        let weapons = load_weapons(directory.path()).unwrap();
        assert_eq!(
            weapons.0,
            [WeaponProperty {
                weapon: 3,
                damage: 7,
                range: 1.5,
                interval_ms: 300
            }]
        );
        let directory = directory_with(
            "spawns.ron",
            "[(position: (1, 2, 3)), (position: (0, 0, 0), heading: -3.1, area: 1, skin: 2, variant: 3)]",
        );
        let points = load_spawns(directory.path(), 1_000.0).unwrap();
        assert_eq!(
            points.nth(0).position,
            Vec3 {
                x: 1.0,
                y: 2.0,
                z: 3.0
            }
        );
        assert_eq!(
            (points.nth(1).area, points.nth(1).skin, points.nth(1).variant),
            (1, 2, 3)
        );
    }

    #[test]
    fn each_bound_of_a_weapon_is_told_with_its_place() {
        let sound = "(id: 1, name: \"A\", damage: 1, range: 1.0, interval_ms: 1, clip: 1),";
        for (entry, wanted) in [
            (
                "(id: 47, name: \"A\", damage: 1, range: 1.0, interval_ms: 1, clip: 1)",
                ":2:2: id: ",
            ),
            (&format!("{sound}\n{sound}"), ":3:2: id: "),
            (
                "(id: 1, name: \"\", damage: 1, range: 1.0, interval_ms: 1, clip: 1)",
                ":2:9: name: ",
            ),
            (
                "(id: 1, name: \"A\", damage: 1, range: -1.0, interval_ms: 1, clip: 1)",
                ": range: ",
            ),
            (
                "(id: 1, name: \"A\", damage: 1, range: NaN, interval_ms: 1, clip: 1)",
                ": range: ",
            ),
            (
                "(id: 1, name: \"A\", damage: 1, range: inf, interval_ms: 1, clip: 1)",
                ": range: ",
            ),
            (
                "(id: 1, name: \"A\", damage: 1, range: 1.0, interval_ms: 0, clip: 1)",
                ": interval_ms: ",
            ),
            (
                "(id: 1, name: \"A\", damage: 70000, range: 1.0, interval_ms: 1, clip: 1)",
                "damage: the number is too large",
            ),
            (
                "(id: 1, name: \"A\", damage: 1, range: 1.0, interval_ms: 1)",
                "\"clip\" is missing",
            ),
            ("(id: 1, nmae: \"A\")", "\"name\""),
            ("", "empty"),
        ] {
            let fault = weapon_fault(entry);
            assert!(
                fault.contains("weapons.ron") && fault.contains(wanted),
                "{entry} -> {fault}"
            );
        }
    }

    #[test]
    fn each_bound_of_a_spawn_point_is_told_with_its_place() {
        for (entry, wanted) in [
            ("(position: (1000.5, 0, 0))", ":2:2: position: "),
            ("(position: (0, NaN, 0))", ": position: "),
            ("(position: (0, 0, 0), heading: 3.2)", ":2:23: heading: "),
            ("(position: (0, 0, 0), heading: NaN)", ": heading: "),
            (
                "(position: (0, 0, 0), area: 256)",
                "area: the number is too large",
            ),
            ("(heading: 1.0)", "\"position\" is missing"),
            ("", "empty"),
        ] {
            let fault = spawn_fault(entry);
            assert!(
                fault.contains("spawns.ron") && fault.contains(wanted),
                "{entry} -> {fault}"
            );
        }
    }
}
