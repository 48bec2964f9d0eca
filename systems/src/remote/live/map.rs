//! Who and what is where: the bodies, things and zones of one space, as rows.

use std::{collections::BTreeMap, fmt::Write as _};

use bevy_ecs::{entity::Entity, world::World};
use decitick_components::{
    body::{Dimension, Motion, Space},
    phase::Phase,
    profile::DisplayName,
    session::SlotTable,
    thing::{Placement, ThingBook, ThingKind},
    view::View,
    zone::{Zone, ZoneBook, ZoneShape},
};
use decitick_protocol::Vec3;

use super::{
    super::json,
    table::{Facts, Table},
};

/// Spaces that are told of.
const SPACES: usize = 100;

/// What is in one space.
#[derive(Debug, Default)]
pub(super) struct SpaceMap {
    pub(super) marks: Table<Entity, MarkFacts>,
    pub(super) zones: Table<Entity, ZoneFacts>,
}

impl SpaceMap {
    /// Takes in what is there now.
    pub(super) fn take(&mut self, world: &World, space: Space) {
        self.marks.take(bodies(world, space).chain(things(world, space)));
        self.zones.take(zones(world, space));
    }
}

/// What is drawn at a place.
#[derive(Debug, PartialEq)]
pub(super) struct MarkFacts {
    kind: &'static str,
    label: Label,
    place: Place,
}

#[derive(Debug, PartialEq)]
enum Label {
    Name(String),
    Model(u32),
}

/// Where it is, in steps that can be seen: tenths of a metre, hundredths of a radian.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    metres: [i32; 3],
    heading: i32,
}

impl Place {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what is out of bounds stands at the bounds"
    )]
    fn new(position: Vec3, heading: f32) -> Self {
        Self {
            metres: [position.x, position.y, position.z].map(|metres| (metres * 10.0).round() as i32),
            heading: (heading * 100.0).round() as i32,
        }
    }

    fn write(self, out: &mut String) {
        for tenths in self.metres {
            write_fraction(out, tenths, 10, 1);
        }
        write_fraction(out, self.heading, 100, 2);
    }
}

/// A comma and a decimal number, as short as it goes.
fn write_fraction(out: &mut String, value: i32, one: u32, digits: usize) {
    let (whole, part) = (value.unsigned_abs() / one, value.unsigned_abs() % one);
    let sign = if value < 0 { "-" } else { "" };
    let _ = match part {
        0 => write!(out, ",{sign}{whole}"),
        _ => write!(out, ",{sign}{whole}.{part:0digits$}"),
    };
}

impl Facts for MarkFacts {
    fn write(&self, out: &mut String) {
        let _ = write!(out, ",\"{}\",", self.kind);
        let _ = match &self.label {
            Label::Name(name) => write!(out, "{}", json::string(name)),
            Label::Model(model) => write!(out, "\"{model}\""),
        };
        self.place.write(out);
    }

    fn only_moved(&self, before: &Self) -> bool {
        self.kind == before.kind && self.label == before.label
    }

    fn write_move(&self, out: &mut String) {
        self.place.write(out);
    }
}

fn bodies(world: &World, here: Space) -> impl Iterator<Item = (Entity, MarkFacts)> {
    world
        .resource::<SlotTable>()
        .iter()
        .filter_map(move |(_, entity)| {
            let body = world.get_entity(entity).ok()?;
            if !body.get::<View>()?.open {
                return None;
            }
            let motion = body.get::<Motion>()?;
            if Space::of(motion, *body.get::<Dimension>()?) != here {
                return None;
            }
            let alive = body.get::<Phase>() == Some(&Phase::Spawned);
            let facts = MarkFacts {
                kind: if alive { "player" } else { "fallen" },
                label: Label::Name(body.get::<DisplayName>()?.to_string()),
                place: Place::new(motion.position, motion.heading),
            };
            Some((entity, facts))
        })
}

fn things(world: &World, here: Space) -> impl Iterator<Item = (Entity, MarkFacts)> {
    world
        .resource::<ThingBook>()
        .iter()
        .filter_map(move |(_, entity)| {
            let thing = world.get_entity(entity).ok()?;
            let placement = thing.get::<Placement>()?;
            if placement.space(*thing.get::<Dimension>()?) != here {
                return None;
            }
            let kind = thing.get::<ThingKind>()?;
            let facts = MarkFacts {
                kind: kind.name(),
                label: Label::Model(kind.model),
                place: Place::new(placement.position, placement.heading),
            };
            Some((entity, facts))
        })
}

/// A zone, which never changes.
#[derive(Debug, PartialEq)]
pub(super) struct ZoneFacts(ZoneShape);

impl Facts for ZoneFacts {
    fn write(&self, out: &mut String) {
        match self.0 {
            ZoneShape::Sphere { centre, radius } => {
                out.push_str(",\"sphere\"");
                write_numbers(out, &[centre.x, centre.y, centre.z, radius]);
            }
            ZoneShape::Box { least, most } => {
                out.push_str(",\"box\"");
                write_numbers(out, &[least.x, least.y, least.z, most.x, most.y, most.z]);
            }
        }
    }
}

fn write_numbers(out: &mut String, numbers: &[f32]) {
    for number in numbers {
        // JSON has no infinity and no NaN.
        let number = if number.is_finite() { *number } else { 0.0 };
        let _ = write!(out, ",{number}");
    }
}

fn zones(world: &World, space: Space) -> impl Iterator<Item = (Entity, ZoneFacts)> {
    world
        .resource::<ZoneBook>()
        .iter()
        .filter_map(move |(_, entity)| {
            let zone = world.get::<Zone>(entity)?;
            (zone.space == space).then_some((entity, ZoneFacts(zone.shape)))
        })
}

/// The spaces in which somebody or something is, as JSON: area, dimension, players, things.
pub(super) fn spaces(world: &World) -> String {
    let mut counts: BTreeMap<(u32, u8), (u32, u32)> = BTreeMap::new();
    let mut count = |space: Space, what: fn(&mut (u32, u32)) -> &mut u32| {
        *what(counts.entry((space.dimension, space.area)).or_default()) += 1;
    };
    for (_, entity) in world.resource::<SlotTable>().iter() {
        let (Some(view), Some(motion), Some(dimension)) = (
            world.get::<View>(entity),
            world.get::<Motion>(entity),
            world.get::<Dimension>(entity),
        ) else {
            continue;
        };
        if view.open {
            let space = Space {
                dimension: dimension.0,
                area: motion.area,
            };
            count(space, |(players, _)| players);
        }
    }
    for (_, entity) in world.resource::<ThingBook>().iter() {
        if let (Some(placement), Some(dimension)) =
            (world.get::<Placement>(entity), world.get::<Dimension>(entity))
        {
            count(placement.space(*dimension), |(_, things)| things);
        }
    }
    let rows: Vec<String> = counts
        .into_iter()
        .take(SPACES)
        .map(|((dimension, area), (players, things))| format!("[{area},{dimension},{players},{things}]"))
        .collect();
    format!("[{}]", rows.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_to_a_tenth_of_a_metre_and_as_short_as_it_goes() {
        let mut out = String::new();
        Place::new(Vec3::new(-0.04, 1_234.56, -7.0), -1.5).write(&mut out);
        assert_eq!(out, ",0,1234.6,-7,-1.50");
        let mut out = String::new();
        Place::new(Vec3::new(f32::NAN, f32::INFINITY, -0.06), 0.0).write(&mut out);
        assert_eq!(out, ",0,214748364.7,-0.1,0");
        let mut out = String::new();
        write_numbers(&mut out, &[f32::NAN, 0.1, f32::NEG_INFINITY]);
        assert_eq!(out, ",0,0.1,0");
    }
}
