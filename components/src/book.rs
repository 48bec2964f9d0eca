//! Books: which entity has a number, for entities that are numbered for the life of the process.
//!
//! The number is an immutable component whose hooks keep its book, so that no book can go stale.

use crate::inspection::{Summarise, SummaryField};
use bevy_reflect::structs::DynamicStruct;
use std::{any::type_name, collections::BTreeMap, fmt};

use bevy_ecs::{
    component::Component, entity::Entity, lifecycle::HookContext, resource::Resource, world::DeferredWorld,
};

/// A number that an entity has as a component, 1 and up.
pub trait Numbered: Component + Copy + Ord + fmt::Debug {
    /// The most entities with such a number at once.
    const MOST: usize;

    /// The component of a number.
    fn numbered(number: u32) -> Self;

    /// The number.
    fn number(self) -> u32;
}

/// Every entity with a number of one kind, and the numbers to come.
#[derive(Resource)]
pub struct Book<Id: Numbered> {
    entries: BTreeMap<Id, Entity>,
    last: u32,
    reserved: usize,
}

impl<Id: Numbered> Book<Id> {
    /// A number for an entity that is going to be made; `None` when there are too many, or no number is left. Whoever
    /// reserves one makes the entity in the same tick, or gives it back with [`Book::forgo`].
    pub fn reserve(&mut self) -> Option<Id> {
        if self.entries.len() + self.reserved >= Id::MOST {
            return None;
        }
        self.last = self.last.checked_add(1)?;
        self.reserved += 1;
        Some(Id::numbered(self.last))
    }

    /// A reserved number is not going to be used. It does not come again, but its room does.
    pub const fn forgo(&mut self) {
        self.reserved = self.reserved.saturating_sub(1);
    }

    /// A number without room: who makes the entity asks for its room with [`Book::claim`] when it does. `None` when no
    /// number is left.
    pub fn next_number(&mut self) -> Option<Id> {
        self.last = self.last.checked_add(1)?;
        Some(Id::numbered(self.last))
    }

    /// Takes room for an entity whose number came from [`Book::next_number`]; false when there are too many. Whoever
    /// takes it makes the entity in the same tick, or gives it back with [`Book::forgo`].
    pub fn claim(&mut self) -> bool {
        let room = self.entries.len() + self.reserved < Id::MOST;
        self.reserved += usize::from(room);
        room
    }

    /// The entity with a number.
    #[must_use]
    pub fn find(&self, id: Id) -> Option<Entity> {
        self.entries.get(&id).copied()
    }

    /// Every entity, by rising number.
    pub fn iter(&self) -> impl Iterator<Item = (Id, Entity)> {
        self.entries.iter().map(|(&id, &entity)| (id, entity))
    }

    /// Entities there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<Id: Numbered> Default for Book<Id> {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
            last: 0,
            reserved: 0,
        }
    }
}

impl<Id: Numbered> fmt::Debug for Book<Id> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(type_name::<Self>())
            .field("entries", &self.entries.len())
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

/// Hook: an entity got its number.
pub(crate) fn enter<Id: Numbered>(mut world: DeferredWorld<'_>, context: HookContext) {
    let Some(&id) = world.get::<Id>(context.entity) else {
        return;
    };
    if let Some(mut book) = world.get_resource_mut::<Book<Id>>() {
        book.forgo();
        book.entries.insert(id, context.entity);
    }
}

/// Hook: an entity with a number goes.
pub(crate) fn strike<Id: Numbered>(mut world: DeferredWorld<'_>, context: HookContext) {
    let Some(&id) = world.get::<Id>(context.entity) else {
        return;
    };
    if let Some(mut book) = world.get_resource_mut::<Book<Id>>()
        && book.entries.get(&id) == Some(&context.entity)
    {
        book.entries.remove(&id);
    }
}

impl<Id: Numbered> Summarise for Book<Id> {
    fn fields() -> &'static [SummaryField] {
        const {
            &[
                SummaryField::of::<u32>("last"),
                SummaryField::of::<usize>("reserved"),
                SummaryField::of::<BTreeMap<u32, Entity>>("entities"),
            ]
        }
    }

    fn summary(&self) -> DynamicStruct {
        let entities: BTreeMap<u32, Entity> = self.iter().map(|(id, entity)| (id.number(), entity)).collect();
        let mut summary = DynamicStruct::default();
        summary.insert("last", self.last);
        summary.insert("reserved", self.reserved);
        summary.insert("entities", entities);
        summary
    }
}

#[cfg(test)]
mod tests {
    use bevy_ecs::world::World;

    use super::*;
    use crate::zone::{ZoneBook, ZoneId};

    #[test]
    fn a_book_follows_spawn_and_despawn_and_no_number_comes_twice() {
        let mut world = World::new();
        world.init_resource::<ZoneBook>();
        let id = world.resource_mut::<ZoneBook>().reserve().unwrap();
        let entity = world.spawn(id).id();
        assert_eq!(world.resource::<ZoneBook>().find(id), Some(entity));
        world.despawn(entity);
        let book = &mut *world.resource_mut::<ZoneBook>();
        assert!(book.is_empty() && book.reserved == 0);
        assert_eq!((id, book.reserve()), (ZoneId(1), Some(ZoneId(2))));
    }

    #[test]
    fn there_is_a_most_and_those_on_their_way_count() {
        let mut book = ZoneBook::default();
        let reserved = (0..ZoneId::MOST + 5).filter_map(|_| book.reserve()).count();
        assert_eq!(reserved, ZoneId::MOST);
        book.forgo();
        assert!(book.reserve().is_some() && book.reserve().is_none());
    }
}
