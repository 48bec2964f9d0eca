//! `assets/things.ron`: what stands and moves in the world from the start.

mod motion;

use std::path::Path;

use decitick_components::{
    book::Numbered as _,
    thing::{PlacedThings, ThingId, ThingSpec},
};
use decitick_protocol::{EntityKind, EntityPayload};
use serde::Deserialize;

use self::motion::MotionEntry;
use super::{
    DEFAULT_THINGS,
    checks::{self, Triple},
    list::{ListFile, Problems},
};
use crate::fault::ConfigurationError;

/// The farthest a thing may be triggered from, in metres; what is wider is a zone.
const TRIGGER_RADIUS_MAX: f32 = 100.0;
/// Bytes of the longest text that fits an EntitySpawn as one MessagePack value: 512 less a marker and a length.
const DATA_MAX: usize = 509;

/// Reads the placed things of a server directory. `world_bounds` is `world.bounds` of the settings, in metres; no thing
/// may start, turn or circle outside of it. One that goes straight does leave it: it stops at the end of the world, where
/// a component of its position is 20,000 m in size (docs/protocol.md 2.3). A list without entries places nothing.
///
/// # Errors
///
/// Every fault with its place: unreadable or malformed file, a number that is not finite or out of
/// its bounds, more than 10,000 things. `serve` ends with exit code 2 then, `check` with 1.
pub fn load_things(directory: &Path, world_bounds: f32) -> Result<PlacedThings, ConfigurationError> {
    let file = ListFile::<ThingEntry>::read(directory, "assets/things.ron", DEFAULT_THINGS)?;
    if file.entries.len() > ThingId::MOST {
        let problem = format!(
            "{} things are too many; at most {} are taken",
            file.entries.len(),
            ThingId::MOST
        );
        return Err(file.fault(problem).into());
    }
    file.check(|entry, problems| entry.judge(world_bounds, problems))?;
    Ok(PlacedThings(
        file.entries.into_iter().map(ThingEntry::into_spec).collect(),
    ))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThingEntry {
    kind: KindEntry,
    model: u32,
    position: Triple,
    #[serde(default)]
    heading: f32,
    #[serde(default)]
    area: u8,
    #[serde(default)]
    dimension: u32,
    #[serde(default)]
    motion: MotionEntry,
    #[serde(default)]
    trigger_radius: Option<f32>,
    #[serde(default)]
    data: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
enum KindEntry {
    Object,
    Pickup,
    Npc,
    Vehicle,
    Checkpoint,
}

impl ThingEntry {
    fn judge(&self, world_bounds: f32, problems: &mut Problems) {
        checks::position(problems, "position", self.position, world_bounds);
        checks::heading(problems, self.heading);
        self.motion.judge(world_bounds, problems);
        if let Some(radius) = self.trigger_radius
            && !(radius > 0.0 && radius <= TRIGGER_RADIUS_MAX)
        {
            problems.add(
                "trigger_radius",
                format_args!(
                    "{radius} is out of range; above 0 and at most {TRIGGER_RADIUS_MAX} metres are taken"
                ),
            );
        }
        if let Some(text) = &self.data
            && text.len() > DATA_MAX
        {
            problems.add(
                "data",
                format_args!("{} bytes are too many; a text has at most {DATA_MAX}", text.len()),
            );
        }
    }

    fn into_spec(self) -> ThingSpec {
        let (position, motion) = self.motion.start(checks::vector(self.position));
        ThingSpec {
            kind: self.kind.into(),
            model: self.model,
            position,
            heading: self.heading,
            area: self.area,
            dimension: self.dimension,
            motion,
            trigger_radius: self.trigger_radius,
            lifetime: None,
            data: self.data.as_deref().map_or_else(EntityPayload::nil, payload),
        }
    }
}

impl From<KindEntry> for EntityKind {
    fn from(kind: KindEntry) -> Self {
        match kind {
            KindEntry::Object => Self::Object,
            KindEntry::Pickup => Self::Pickup,
            KindEntry::Npc => Self::Npc,
            KindEntry::Vehicle => Self::Vehicle,
            KindEntry::Checkpoint => Self::Checkpoint,
        }
    }
}

/// A text of at most [`DATA_MAX`] bytes as one MessagePack value of type str, in its shortest form.
fn payload(text: &str) -> EntityPayload {
    let mut bytes = match (u8::try_from(text.len()), u16::try_from(text.len())) {
        (Ok(length @ 0..=31), _) => vec![0xA0 | length],
        (Ok(length), _) => vec![0xD9, length],
        (Err(_), length) => {
            let [high, low] = length.unwrap_or(u16::MAX).to_be_bytes();
            vec![0xDA, high, low]
        }
    };
    bytes.extend_from_slice(text.as_bytes());
    // Only a text that is too long does not fit, and the check has refused it.
    EntityPayload::parse(bytes).unwrap_or_else(|_| EntityPayload::nil())
}

#[cfg(test)]
mod tests {
    use decitick_components::thing::ThingMotion;
    use decitick_protocol::Vec3;

    use super::{super::testing::directory_with, *};

    fn load(entries: &str) -> Result<PlacedThings, ConfigurationError> {
        let directory = directory_with("things.ron", &format!("[\n{entries}\n]"));
        load_things(directory.path(), 1_000.0)
    }

    /// The built-in list with its examples in force.
    fn examples() -> String {
        let lines: Vec<&str> = DEFAULT_THINGS
            .lines()
            .map(|line| {
                let trimmed = line.trim_start();
                trimmed
                    .strip_prefix("// ")
                    .filter(|_| line.starts_with("    "))
                    .unwrap_or(line)
            })
            .collect();
        lines.join("\n")
    }

    #[test]
    fn the_built_in_list_places_nothing_and_its_examples_would_load() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(
            load_things(directory.path(), 20_000.0),
            Ok(PlacedThings::default())
        );
        let directory = directory_with("things.ron", &examples());
        let PlacedThings(things) = load_things(directory.path(), 20_000.0).unwrap();
        let kinds: std::collections::BTreeSet<u8> = things.iter().map(|thing| thing.kind.byte()).collect();
        assert_eq!(kinds.len(), 5, "an example of every kind");
        assert!(things.iter().any(|thing| thing.motion.is_still()));
        let moves = |wanted: fn(&ThingMotion) -> bool| things.iter().any(|thing| wanted(&thing.motion));
        assert!(moves(|motion| matches!(motion, ThingMotion::Straight { .. })));
        assert!(moves(|motion| matches!(motion, ThingMotion::Waypoints { .. })));
        assert!(moves(|motion| matches!(motion, ThingMotion::Orbit { .. })));
    }

    #[test]
    fn a_list_without_entries_places_nothing() {
        assert_eq!(load(""), Ok(PlacedThings::default()));
    }

    #[test]
    fn everything_that_stands_in_a_thing_arrives_and_what_is_left_out_is_nothing() {
        let PlacedThings(things) = load(
            "(kind: Object, model: 7, position: (1, 2, 3)),
             (kind: Checkpoint, model: 9, position: (4, 5, 6), heading: 1.5, area: 2, dimension: 70000,
              motion: Straight(velocity: (1, 0, 0)), trigger_radius: Some(2.5), data: Some(\"goal\"))",
        )
        .unwrap();
        let bare = ThingSpec::new(EntityKind::Object, 7, Vec3::new(1.0, 2.0, 3.0));
        let full = ThingSpec {
            heading: 1.5,
            area: 2,
            dimension: 70_000,
            motion: ThingMotion::Straight {
                velocity: Vec3::new(1.0, 0.0, 0.0),
            },
            trigger_radius: Some(2.5),
            data: EntityPayload::parse(b"\xA4goal".to_vec()).unwrap(),
            ..ThingSpec::new(EntityKind::Checkpoint, 9, Vec3::new(4.0, 5.0, 6.0))
        };
        assert_eq!(things, [bare, full]);
    }

    #[test]
    fn a_text_becomes_a_string_of_message_pack_whatever_its_length() {
        for (length, head) in [
            (0, vec![0xA0]),
            (31, vec![0xBF]),
            (32, vec![0xD9, 32]),
            (255, vec![0xD9, 255]),
            (256, vec![0xDA, 1, 0]),
            (DATA_MAX, vec![0xDA, 1, 0xFD]),
        ] {
            let bytes = payload(&"x".repeat(length)).into_bytes();
            assert!(
                bytes.starts_with(&head) && bytes.len() == head.len() + length,
                "{length}"
            );
        }
    }

    #[test]
    fn each_bound_of_a_thing_is_told_with_its_place() {
        let with = |more: &str| format!("(kind: Pickup, model: 1,\n position: (0, 0, 0), area: 0,\n {more})");
        let long = format!("data: Some(\"{}\")", "x".repeat(DATA_MAX + 1));
        for (entry, wanted) in [
            (with("dimension: -1"), "dimension: "),
            (with("heading: inf"), ":4:2: heading: "),
            (with("trigger_radius: Some(0)"), ":4:2: trigger_radius: "),
            (with("trigger_radius: Some(-1)"), ":4:2: trigger_radius: "),
            (with("trigger_radius: Some(100.5)"), ":4:2: trigger_radius: "),
            (with("trigger_radius: Some(NaN)"), ":4:2: trigger_radius: "),
            (with("trigger_radius: 5"), "Some(...)"),
            (with(&long), ":4:2: data: 510 bytes"),
            (with("radius: 5"), "unknown key \"radius\""),
            (
                "(kind: Pickup, model: 1, position: (0, -1000.5, 0))".to_owned(),
                ":2:26: position: ",
            ),
            (
                "(kind: Pikup, model: 1, position: (0, 0, 0))".to_owned(),
                "\"Pickup\"",
            ),
            (
                "(model: 1, position: (0, 0, 0))".to_owned(),
                "\"kind\" is missing",
            ),
            (
                "(kind: Npc, position: (0, 0, 0))".to_owned(),
                "\"model\" is missing",
            ),
        ] {
            let fault = load(&entry).unwrap_err().to_string();
            assert!(
                fault.contains("things.ron") && fault.contains(wanted),
                "{entry} -> {fault}"
            );
        }
    }

    #[test]
    fn ten_thousand_things_are_taken_and_no_more() {
        let entry = "(kind:Object,model:1,position:(0,0,0)),\n";
        assert!(load(&entry.repeat(10_000)).is_ok_and(|things| things.0.len() == 10_000));
        let fault = load(&entry.repeat(10_001)).unwrap_err().to_string();
        assert!(fault.contains("10001 things are too many"), "{fault}");
    }

    #[test]
    fn a_trigger_reaches_a_hundred_metres() {
        let things =
            load("(kind: Pickup, model: 1, position: (0, 0, 0), trigger_radius: Some(100))").unwrap();
        assert_eq!(things.0[0].trigger_radius, Some(100.0));
    }

    #[test]
    fn a_megabyte_of_bad_points_is_told_in_a_few_lines() {
        let points = "(2e3,0,0),".repeat(1_000);
        let entry =
            format!("(kind:Npc,model:1,position:(0,0,0),motion:Waypoints(points:[{points}],speed:1)),\n");
        let fault = load(&entry.repeat(100)).unwrap_err().to_string();
        assert_eq!(fault.lines().count(), 51);
        assert!(fault.ends_with(": and 99950 more faults"));
    }
}
