//! What people call an entity, and which entity they mean by a word.

use std::fmt;

use bevy_ecs::{
    entity::{Entity, EntityGeneration, EntityIndex},
    observer::Observer,
    resource::IsResource,
    world::{EntityRef, World},
};
use decitick_components::{
    connection::Peer,
    console::EntityWord,
    phase::Phase,
    profile::DisplayName,
    session::{PlayerId, SlotTable},
    thing::{ThingBook, ThingId, ThingKind},
    zone::{ZoneBook, ZoneId},
};
use decitick_protocol::escape_for_display;

use super::names::known_as;

/// Why a word names no entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityFault(pub EntityWord);

impl fmt::Display for EntityFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            EntityWord::Entity { .. } => {
                write!(
                    f,
                    "there is no entity {}, or no longer; `entities` lists them",
                    self.0
                )
            }
            EntityWord::Player(id) => {
                write!(f, "nobody has the id {id}; `players` lists who is connected")
            }
            EntityWord::Thing(id) => write!(f, "there is no thing {id}; `entities ThingId` lists them"),
            EntityWord::Zone(id) => write!(f, "there is no zone {id}; `entities ZoneId` lists them"),
        }
    }
}

/// The entity that a word names.
///
/// # Errors
/// There is none.
pub fn entity_named(world: &World, word: EntityWord) -> Result<Entity, EntityFault> {
    let found = match word {
        EntityWord::Entity { index, generation } => EntityIndex::from_raw_u32(index)
            .map(|index| Entity::from_index_and_generation(index, EntityGeneration::from_bits(generation))),
        EntityWord::Player(id) => world.resource::<SlotTable>().holder(PlayerId(id)),
        EntityWord::Thing(id) => world.resource::<ThingBook>().find(ThingId(id)),
        EntityWord::Zone(id) => world.resource::<ZoneBook>().find(ZoneId(id)),
    };
    found
        .filter(|&entity| world.get_entity(entity).is_ok())
        .ok_or(EntityFault(word))
}

/// Whether it is an entity to people: no resource and no observer.
#[must_use]
pub fn is_shown_as_entity(entity: EntityRef<'_>) -> bool {
    !entity.contains::<IsResource>() && !entity.contains::<Observer>()
}

/// What people call an entity: `player 5 "Bob"`, `connection 192.0.2.7:5000` for one that has not joined,
/// `thing 7 vehicle 411`, `zone 3`, `resource Clock`; empty for any other. Names are escaped.
#[must_use]
pub fn label(world: &World, entity: EntityRef<'_>) -> String {
    if let Some(thing) = entity.get::<ThingId>() {
        let kind = entity.get::<ThingKind>();
        let kind = kind.map(|kind| format!(" {} {}", kind.name(), kind.model));
        return format!("thing {}{}", thing.0, kind.unwrap_or_default());
    }
    if let Some(zone) = entity.get::<ZoneId>() {
        return format!("zone {}", zone.0);
    }
    let joined = entity.get::<Phase>().is_some_and(|phase| phase.joined());
    if joined && let (Some(player), Some(name)) = (entity.get::<PlayerId>(), entity.get::<DisplayName>()) {
        return format!(
            "player {} \"{}\"",
            player.0,
            escape_for_display(name.0.as_str(), 64)
        );
    }
    if let Some(peer) = entity.get::<Peer>() {
        return format!("connection {}", peer.address());
    }
    let resource = entity.get::<IsResource>().map(IsResource::resource_component_id);
    resource
        .and_then(|id| known_as(world, id))
        .map_or_else(String::new, |named| format!("resource {}", named.short))
}

/// By kind and number: how lists of entities are sorted.
pub(crate) fn rank(entity: EntityRef<'_>) -> (u8, u32, u32) {
    let index = entity.id().index_u32();
    let numbered = entity
        .get::<PlayerId>()
        .map(|id| (0, u32::from(id.0)))
        .or_else(|| entity.get::<ThingId>().map(|id| (2, id.0)))
        .or_else(|| entity.get::<ZoneId>().map(|id| (3, id.0)));
    let (kind, number) = numbered.unwrap_or((if entity.contains::<Peer>() { 1 } else { 4 }, 0));
    (kind, number, index)
}
