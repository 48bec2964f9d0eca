//! Players go out of everybody's sight at once: their sessions ended, they fell, or they come into the world anew. What a
//! view would notice by itself within half a second must not wait then.

use std::collections::BTreeMap;

use bevy_ecs::world::World;
use decitick_components::{
    lane::{LaneEvent, OutboundLane},
    session::{PlayerId, PlayerToken},
    view::View,
};
use decitick_protocol::{PlayerStreamOut, ServerLaneEvent};

use crate::lane::broadcast::{encoded, push_critical};

/// Who goes out of sight, and what those who saw it are told.
#[derive(Debug, Default)]
pub(crate) struct Vanishing(BTreeMap<PlayerId, Vec<LaneEvent>>);

impl Vanishing {
    /// Adds a player, and news of it that come before the PlayerStreamOut.
    pub(crate) fn add(&mut self, player: PlayerId, generation: PlayerToken, news: Option<LaneEvent>) {
        let packet = PlayerStreamOut {
            player_id: u32::from(player.0),
            player_token: generation.0,
        };
        let out = encoded(&ServerLaneEvent::PlayerStreamOut(packet), false);
        self.0.insert(player, news.into_iter().chain([out]).collect());
    }

    /// Takes them out of every view, in one pass however many they are.
    pub(crate) fn vanish(&self, world: &mut World) {
        if self.0.is_empty() {
            return;
        }
        let mut viewers = world.query::<(&mut View, &mut OutboundLane)>();
        for (mut view, mut lane) in viewers.iter_mut(world) {
            view.players.remove_each(|id| {
                let Some(events) = self.0.get(&id) else {
                    return false;
                };
                for event in events {
                    push_critical(&mut lane, event);
                }
                true
            });
        }
    }
}
