//! Scripted entities: what stands and moves in the world without being a player (docs/protocol.md 2.3, EntitySpawn).
//!
//! A thing is an entity of its own; [`ThingBook`] knows each by its number on the wire, which is never used twice.
//! How it moves is in [`ThingMotion`]; zones, which nobody sees, are in [`crate::zone`].

mod path;

use crate::inspection::{Place, Settable, summary};
use bevy_ecs::reflect::ReflectComponent;
use bevy_reflect::Reflect;
use std::time::Duration;

use bevy_ecs::{component::Component, entity::Entity, resource::Resource};
use decitick_protocol::{EntityKind, EntityPayload, Vec3};

pub use path::{Advance, ThingMotion, heading_of};

use crate::{
    body::{Dimension, Space},
    book::{Book, Numbered, enter, strike},
};

/// A thing's number on the wire, 1 and up; none is used twice in the life of the process. Immutable, and its hooks keep
/// the [`ThingBook`].
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[reflect(Component)]
#[component(immutable, on_insert = enter::<ThingId>, on_discard = strike::<ThingId>)]
#[require(Placement, Dimension, ThingMotion, Inside)]
pub struct ThingId(pub u32);

/// What a thing is and looks like. Immutable: a client is told once.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(immutable)]
pub struct ThingKind {
    /// Object, pickup, npc, vehicle or checkpoint.
    pub kind: EntityKind,
    /// Model number.
    pub model: u32,
}

impl ThingKind {
    /// The name of its kind, as people read it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        kind_name(self.kind)
    }
}

/// Where a thing is and how it moves now.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Component)]
pub struct Placement {
    /// Position in metres, each component within -20,000..=20,000.
    #[reflect(remote = Place)]
    pub position: Vec3,
    /// Velocity in metres per second.
    #[reflect(remote = Place)]
    pub velocity: Vec3,
    /// Heading in radians, in [-pi, pi).
    pub heading: f32,
    /// Area number.
    pub area: u8,
    /// The tick in which it last moved; 0: it never did.
    pub moved_tick: u64,
}

impl Placement {
    /// The space it is in.
    #[must_use]
    pub const fn space(&self, dimension: Dimension) -> Space {
        Space {
            dimension: dimension.0,
            area: self.area,
        }
    }
}

/// What the gamemode says about a thing: one MessagePack value, sent along with it.
#[derive(Component, Clone, Debug, PartialEq, Eq)]
pub struct ThingData(pub EntityPayload);

/// How near a player must come to trigger a thing, in metres, above 0.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component)]
pub struct TriggerRadius(#[reflect(@Settable::Between { least: 0.1, most: 1_000.0 })] pub f32);

/// When a thing goes by itself, since the start of the server.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Reflect)]
#[reflect(Component)]
pub struct EndsAt(#[reflect(@Settable::Between { least: 0.0, most: 3.0e9 })] pub Duration);

/// The connections whose bodies are inside a zone or a trigger, by rising entity.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component)]
pub struct Inside(Vec<Entity>);

impl Inside {
    /// Replaces who is inside by `now`, which is left sorted, and tells who came (`true`) and who went (`false`).
    pub fn replace(&mut self, now: &mut Vec<Entity>, mut changed: impl FnMut(Entity, bool)) {
        now.sort_unstable();
        now.dedup();
        if self.0 == *now {
            return;
        }
        for &entity in &self.0 {
            if now.binary_search(&entity).is_err() {
                changed(entity, false);
            }
        }
        for &entity in now.iter() {
            if self.0.binary_search(&entity).is_err() {
                changed(entity, true);
            }
        }
        self.0.clone_from(now);
    }

    /// Who is inside.
    #[must_use]
    pub fn entities(&self) -> &[Entity] {
        &self.0
    }
}

/// Everything that a new thing is.
#[derive(Clone, Debug, PartialEq)]
pub struct ThingSpec {
    /// Object, pickup, npc, vehicle or checkpoint.
    pub kind: EntityKind,
    /// Model number.
    pub model: u32,
    /// Position in metres.
    pub position: Vec3,
    /// Heading in radians, in [-pi, pi).
    pub heading: f32,
    /// Area number.
    pub area: u8,
    /// Dimension.
    pub dimension: u32,
    /// How it moves.
    pub motion: ThingMotion,
    /// How near a player triggers it, in metres.
    pub trigger_radius: Option<f32>,
    /// How long it stays.
    pub lifetime: Option<Duration>,
    /// What is told along with it.
    pub data: EntityPayload,
}

impl ThingSpec {
    /// A thing that stands at a place in area 0, says nothing and stays.
    #[must_use]
    pub fn new(kind: EntityKind, model: u32, position: Vec3) -> Self {
        Self {
            kind,
            model,
            position,
            heading: 0.0,
            area: 0,
            dimension: 0,
            motion: ThingMotion::Still,
            trigger_radius: None,
            lifetime: None,
            data: EntityPayload::nil(),
        }
    }
}

/// The things that are in the world when the server starts (assets/things.ron).
#[derive(Resource, Clone, Debug, Default, PartialEq)]
pub struct PlacedThings(pub Vec<ThingSpec>);

impl Numbered for ThingId {
    const MOST: usize = 10_000;

    fn numbered(number: u32) -> Self {
        Self(number)
    }

    fn number(self) -> u32 {
        self.0
    }
}

/// Every thing by its number.
pub type ThingBook = Book<ThingId>;

summary!(|kind: ThingKind| {
    kind: String = kind.name().to_owned(),
    model: u32 = kind.model,
});
summary!(|data: ThingData| { bytes: usize = data.0.as_bytes().len() });

#[derive(Reflect)]
struct Placed {
    kind: String,
    model: u32,
    position: Place,
    area: u8,
    dimension: u32,
}

summary!(|placed: PlacedThings| {
    things: Vec<Placed> = placed
        .0
        .iter()
        .map(|spec| Placed {
            kind: kind_name(spec.kind).to_owned(),
            model: spec.model,
            position: Place(spec.position),
            area: spec.area,
            dimension: spec.dimension,
        })
        .collect(),
});

/// The name of a kind, as people and scripts call it.
#[must_use]
pub const fn kind_name(kind: EntityKind) -> &'static str {
    match kind {
        EntityKind::Object => "object",
        EntityKind::Pickup => "pickup",
        EntityKind::Npc => "npc",
        EntityKind::Vehicle => "vehicle",
        EntityKind::Checkpoint => "checkpoint",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_and_who_goes_is_told_once() {
        let entity = |n| Entity::from_raw_u32(n).unwrap();
        let mut inside = Inside::default();
        let mut told = Vec::new();
        for now in [vec![2, 1, 2], vec![1, 2], vec![3, 1]] {
            let mut now: Vec<Entity> = now.into_iter().map(entity).collect();
            inside.replace(&mut now, |who, came| told.push((who, came)));
        }
        told.sort_unstable();
        let mut expected = [
            (entity(1), true),
            (entity(2), true),
            (entity(2), false),
            (entity(3), true),
        ];
        expected.sort_unstable();
        assert_eq!(told, expected);
    }
}
