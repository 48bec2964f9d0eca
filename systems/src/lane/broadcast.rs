//! Lane events are encoded once and shared by every lane they are queued on.

use decitick_components::lane::{LaneEvent, OutboundLane};
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
