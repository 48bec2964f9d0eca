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

impl MovedItem<'_, '_> {
    /// Tells the client where its body is.
    pub(crate) fn tell_position(&mut self, motion: &Motion) {
        let packet = SetPosition {
            position: motion.position,
            heading: motion.heading,
            area: motion.area,
        };
        tell(&mut self.lane, &ServerLaneEvent::SetPosition(packet));
    }

    /// Begins anew at where the body is now, which was in `left_area` before, and tells the client.
    pub(crate) fn teleport(&mut self, motion: &Motion, left_area: u8, now: Duration, settle: Duration) {
        self.gate
            .open_settle_window(motion.position, (left_area, motion.area), now, settle);
        self.history.restart();
        self.history.record(now, motion.position);
        self.tell_position(motion);
    }
}
