//! The server puts a body elsewhere: frames from where it was are ignored until its client has followed
//! (docs/protocol.md 2.3), and no shot counts on the way between.

use std::time::Duration;

use bevy_ecs::query::QueryData;
use decitick_components::{
    body::{FrameGate, Motion, PositionHistory},
    lane::OutboundLane,
};
use decitick_protocol::{ServerLaneEvent, SetPosition};

use crate::lane::broadcast::tell;

/// What changes beside the motion when a body is put elsewhere.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Moved {
    pub(crate) gate: &'static mut FrameGate,
    pub(crate) history: &'static mut PositionHistory,
    lane: &'static mut OutboundLane,
}

/// Tells the client where its body is now, and waits for it there.
pub(crate) fn teleport(motion: &Motion, moved: &mut MovedItem<'_, '_>, now: Duration, settle: Duration) {
    moved.gate.open_settle_window(motion.position, now, settle);
    moved.history.restart();
    moved.history.record(now, motion.position);
    let packet = SetPosition {
        position: motion.position,
        heading: motion.heading,
        area: motion.area,
    };
    tell(&mut moved.lane, &ServerLaneEvent::SetPosition(packet));
}
