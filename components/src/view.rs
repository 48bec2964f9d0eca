//! What a player sees.

use bevy_ecs::component::Component;
use bevy_ecs::reflect::ReflectComponent;
use bevy_reflect::Reflect;

use crate::{session::PlayerId, thing::ThingId};

/// The players and things in a player's view.
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component)]
pub struct View {
    /// Players in view.
    pub players: Sighted<PlayerId>,
    /// Things in view.
    pub things: Sighted<ThingId>,
    /// Whether changes were left over that the limit per tick put off.
    pub unsettled: bool,
    /// Whether things wait for their turn among the changes of a tick: players leave them some room then.
    pub things_waiting: bool,
    /// Whether it has a place to see from: from the first spawn on, also while fallen.
    pub open: bool,
}

/// Changes of a view per tick, of players and things together (docs/protocol.md 2.4).
pub const CHANGES_PER_TICK: usize = 8;

/// What is in view, by ascending id.
#[derive(Clone, Debug, PartialEq, Eq, Reflect)]
pub struct Sighted<Id>(Vec<Id>);

impl<Id: Ord + Copy> Sighted<Id> {
    /// Whether `id` is in view.
    #[must_use]
    pub fn contains(&self, id: Id) -> bool {
        self.0.binary_search(&id).is_ok()
    }

    /// Adds one; `false` when it was in view.
    pub fn insert(&mut self, id: Id) -> bool {
        match self.0.binary_search(&id) {
            Ok(_) => false,
            Err(place) => {
                self.0.insert(place, id);
                true
            }
        }
    }

    /// Removes one; `false` when it was not in view.
    pub fn remove(&mut self, id: Id) -> bool {
        match self.0.binary_search(&id) {
            Ok(place) => {
                self.0.remove(place);
                true
            }
            Err(_) => false,
        }
    }

    /// Removes those for whom `gone` says so.
    pub fn remove_each(&mut self, mut gone: impl FnMut(Id) -> bool) {
        self.0.retain(|&id| !gone(id));
    }

    /// What is in view, by ascending id.
    #[must_use]
    pub fn ids(&self) -> &[Id] {
        &self.0
    }
}

impl<Id> Default for Sighted<Id> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_holds_each_player_once_in_order() {
        let mut players = Sighted::default();
        assert!(players.insert(PlayerId(5)) && players.insert(PlayerId(2)) && !players.insert(PlayerId(5)));
        assert_eq!(players.ids(), [PlayerId(2), PlayerId(5)]);
        assert!(players.remove(PlayerId(5)) && !players.remove(PlayerId(5)));
        assert!(!players.contains(PlayerId(5)) && players.contains(PlayerId(2)));
    }
}
