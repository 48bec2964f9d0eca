//! Lane events are encoded once and shared by every lane they are queued on.

use std::collections::BTreeMap;

use bevy_ecs::world::World;
use decitick_components::{
    lane::{LaneEvent, OutboundLane},
    phase::Phase,
    session::{PlayerId, SlotTable},
    view::View,
};
use decitick_protocol::ServerLaneEvent;

/// Encodes an event whose id is written when it is sent.
pub(crate) fn encoded(event: &ServerLaneEvent, droppable: bool) -> LaneEvent {
    let mut datagram = Vec::with_capacity(64);
    event.encode(0, &mut datagram);
    LaneEvent {
        datagram: datagram.into(),
        droppable: droppable && event.droppable_kind(),
    }
}

/// Queues an event that must arrive. A full lane remembers that it overflowed, and Expire ends the session.
pub(crate) fn push_critical(lane: &mut OutboundLane, event: &LaneEvent) {
    // The refusal is kept by the lane itself; see OutboundLane::overflowed.
    let _ = lane.push(event.clone());
}

/// Queues an event that must arrive on one lane alone.
pub(crate) fn tell(lane: &mut OutboundLane, event: &ServerLaneEvent) {
    push_critical(lane, &encoded(event, false));
}

/// Queues an event that must arrive on the lane of everybody who joined.
pub(crate) fn tell_everybody(world: &mut World, event: &ServerLaneEvent) {
    let event = encoded(event, false);
    let connections: Vec<_> = world.resource::<SlotTable>().iter().collect();
    for (_, entity) in connections {
        let joined = world.get::<Phase>(entity).is_some_and(|phase| phase.joined());
        if let Some(mut lane) = world.get_mut::<OutboundLane>(entity).filter(|_| joined) {
            push_critical(&mut lane, &event);
        }
    }
}

/// Queues events that must arrive, each on the lanes of those who have its player in view. All of a tick are told in
/// one pass: a gamemode may change everybody at once.
pub(crate) fn tell_viewers(world: &mut World, news: &BTreeMap<PlayerId, LaneEvent>) {
    if news.is_empty() {
        return;
    }
    let mut viewers = world.query::<(&View, &mut OutboundLane)>();
    for (view, mut lane) in viewers.iter_mut(world) {
        for event in view.players.ids().iter().filter_map(|id| news.get(id)) {
            push_critical(&mut lane, event);
        }
    }
}
