//! Which players a player sees.

use bevy_ecs::component::Component;

use crate::session::PlayerId;

/// The players in a player's view, by ascending id.
#[derive(Component, Clone, Debug, Default)]
pub struct View {
    players: Vec<PlayerId>,
    /// Whether changes were left over that the limit per tick put off.
    pub unsettled: bool,
}

/// Changes of a view per tick (docs/protocol.md 2.4).
pub const CHANGES_PER_TICK: usize = 8;

impl View {
    /// Whether `player` is in view.
    #[must_use]
    pub fn contains(&self, player: PlayerId) -> bool {
        self.players.binary_search(&player).is_ok()
    }

    /// Adds a player; `false` when it was in view.
    pub fn insert(&mut self, player: PlayerId) -> bool {
        match self.players.binary_search(&player) {
            Ok(_) => false,
            Err(place) => {
                self.players.insert(place, player);
                true
            }
        }
    }

    /// Removes a player; `false` when it was not in view.
    pub fn remove(&mut self, player: PlayerId) -> bool {
        match self.players.binary_search(&player) {
            Ok(place) => {
                self.players.remove(place);
                true
            }
            Err(_) => false,
        }
    }

    /// The players in view, by ascending id.
    #[must_use]
    pub fn players(&self) -> &[PlayerId] {
        &self.players
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_holds_each_player_once_in_order() {
        let mut view = View::default();
        assert!(view.insert(PlayerId(5)) && view.insert(PlayerId(2)) && !view.insert(PlayerId(5)));
        assert_eq!(view.players(), [PlayerId(2), PlayerId(5)]);
        assert!(view.remove(PlayerId(5)) && !view.remove(PlayerId(5)));
        assert!(!view.contains(PlayerId(5)) && view.contains(PlayerId(2)));
    }
}
