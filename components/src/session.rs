//! Who holds a slot: ids, generations, session tokens and the table of slots.

use crate::inspection::summary;
use bevy_ecs::reflect::ReflectComponent;
use bevy_ecs::{component::Component, entity::Entity, resource::Resource};
use bevy_reflect::Reflect;
use decitick_protocol::MAX_PLAYERS;
use std::collections::BTreeMap;

use crate::secret::Secret;

/// A player's id: `0..MAX_PLAYERS`, the lowest free one when the session began, reused later.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[reflect(Component)]
#[component(immutable)]
pub struct PlayerId(pub u16);

/// A session's public generation: 1, 2, 3 ... for the life of the process (docs/protocol.md 1.5).
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[reflect(Component)]
#[component(immutable)]
pub struct PlayerToken(pub u32);

/// The secret a client proves its session with: 64 random bits, never 0. It never leaves the server but in the
/// ServerHello of its session.
#[derive(Component, Debug)]
#[component(immutable)]
pub struct SessionToken(pub Secret<u64>);

/// The credential of a session, as the SHA-256 of its public key; only the auth resource may see it.
#[derive(Component, Clone, Copy, Debug)]
#[component(immutable)]
pub struct CredentialId(pub [u8; 32]);

/// Which connection holds which id.
#[derive(Resource, Debug)]
pub struct SlotTable {
    slots: Vec<Option<Entity>>,
    open: u16,
    taken: u16,
    last_token: u32,
}

impl SlotTable {
    /// A table with `open` slots, at most [`MAX_PLAYERS`].
    #[must_use]
    pub fn new(open: u16) -> Self {
        let open = open.min(MAX_PLAYERS);
        Self {
            slots: vec![None; usize::from(open)],
            open,
            taken: 0,
            last_token: 0,
        }
    }

    /// The lowest free id.
    #[must_use]
    pub fn lowest_free(&self) -> Option<PlayerId> {
        if self.taken >= self.open {
            return None;
        }
        let index = self.slots.iter().position(Option::is_none)?;
        u16::try_from(index).ok().map(PlayerId)
    }

    /// The next generation: it grows by one and is never handed out twice.
    pub const fn next_token(&mut self) -> PlayerToken {
        self.last_token = self.last_token.saturating_add(1);
        PlayerToken(self.last_token)
    }

    /// Gives `id` to `entity`. An id that is taken or out of range stays as it is.
    pub fn occupy(&mut self, id: PlayerId, entity: Entity) {
        if let Some(slot @ None) = self.slots.get_mut(usize::from(id.0)) {
            *slot = Some(entity);
            self.taken += 1;
        }
    }

    /// Frees `id` if `entity` holds it.
    pub fn release(&mut self, id: PlayerId, entity: Entity) {
        if let Some(slot) = self.slots.get_mut(usize::from(id.0))
            && *slot == Some(entity)
        {
            *slot = None;
            self.taken -= 1;
        }
    }

    /// Who holds `id`.
    #[must_use]
    pub fn holder(&self, id: PlayerId) -> Option<Entity> {
        self.slots.get(usize::from(id.0)).copied().flatten()
    }

    /// Every connection, by ascending id.
    pub fn iter(&self) -> impl Iterator<Item = (PlayerId, Entity)> {
        (0..)
            .map(PlayerId)
            .zip(&self.slots)
            .filter_map(|(id, slot)| slot.map(|entity| (id, entity)))
    }

    /// Slots taken.
    #[must_use]
    pub const fn taken(&self) -> u16 {
        self.taken
    }

    /// Slots there are.
    #[must_use]
    pub const fn open(&self) -> u16 {
        self.open
    }
}

summary!(|slots: SlotTable| {
    open: u16 = slots.open,
    taken: u16 = slots.taken,
    last_token: u32 = slots.last_token,
    holders: BTreeMap<u16, Entity> = slots.iter().map(|(id, entity)| (id.0, entity)).collect(),
});

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(n: u32) -> Entity {
        Entity::from_raw_u32(n).unwrap()
    }

    #[test]
    fn the_lowest_free_id_is_given_and_none_reaches_the_limit() {
        let mut slots = SlotTable::new(2);
        slots.occupy(slots.lowest_free().unwrap(), entity(1));
        slots.occupy(slots.lowest_free().unwrap(), entity(2));
        assert_eq!(slots.lowest_free(), None);
        slots.release(PlayerId(0), entity(1));
        assert_eq!(slots.lowest_free(), Some(PlayerId(0)));
        assert_eq!(slots.holder(PlayerId(1)), Some(entity(2)));
    }

    #[test]
    fn only_the_holder_releases_an_id() {
        let mut slots = SlotTable::new(2);
        slots.occupy(PlayerId(0), entity(1));
        slots.release(PlayerId(0), entity(2));
        slots.release(PlayerId(7), entity(1));
        assert_eq!((slots.taken(), slots.holder(PlayerId(0))), (1, Some(entity(1))));
    }

    #[test]
    fn generations_grow_by_one_from_one() {
        let mut slots = SlotTable::new(1);
        assert_eq!(
            [slots.next_token(), slots.next_token()],
            [PlayerToken(1), PlayerToken(2)]
        );
    }
}
