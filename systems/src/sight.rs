//! A player goes out of everybody's sight at once: its session ended, it fell, or it comes into the world anew. What a
//! view would notice by itself within half a second must not wait then.

use bevy_ecs::world::World;
use decitick_components::{
    lane::OutboundLane,
    session::{PlayerId, PlayerToken},
    view::View,
};
use decitick_protocol::{PlayerStreamOut, ServerLaneEvent};

use crate::lane::broadcast::{encoded, push_critical};

/// Takes players out of every view, and tells those who had them in view.
pub(crate) fn vanish(world: &mut World, gone: &[(PlayerId, PlayerToken)]) {
    if gone.is_empty() {
        return;
    }
    let events: Vec<_> = gone
        .iter()
        .map(|&(player, generation)| {
            let packet = PlayerStreamOut {
                player_id: u32::from(player.0),
                player_token: generation.0,
            };
            (player, encoded(&ServerLaneEvent::PlayerStreamOut(packet), false))
        })
        .collect();
    let mut viewers = world.query::<(&mut View, &mut OutboundLane)>();
    for (mut view, mut lane) in viewers.iter_mut(world) {
        if view.players.ids().is_empty() {
            continue;
        }
        for (player, event) in &events {
            if view.players.remove(*player) {
                push_critical(&mut lane, event);
            }
        }
    }
}
