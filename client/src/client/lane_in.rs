//! The server's lane as its receiver sees it: order, once, and when to acknowledge (docs/protocol.md 2.1).
//!
//! It is generic over the event: what an event means is not its business.

use std::collections::BTreeMap;
use std::time::Duration;

/// How far from the next expected event, itself counted, an event may be and still be kept: the server has at most this
/// many in flight.
pub(super) const REORDER_WINDOW: u32 = 256;
/// Least time between two ClientAck.
pub(super) const ACK_INTERVAL: Duration = Duration::from_millis(50);

/// What became of an event that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It is the next one.
    Next,
    /// It is kept until the ones before it are here.
    Ahead,
    /// It was delivered or is held already.
    Duplicate,
    /// It is further ahead than anything in flight can be.
    TooFar,
}

/// The receiving end of the server's lane.
#[derive(Debug)]
pub(super) struct LaneIn<E> {
    next: u32,
    held: BTreeMap<u32, E>,
    ack_wanted: bool,
    last_ack: Option<Duration>,
}

impl<E> LaneIn<E> {
    /// A lane that expects event 1.
    pub(super) const fn new() -> Self {
        Self {
            next: 1,
            held: BTreeMap::new(),
            ack_wanted: false,
            last_ack: None,
        }
    }

    /// Takes an event that arrived. Everything but what is too far ahead wants an acknowledgement: a repeated event says
    /// that the last one was lost.
    pub(super) fn receive(&mut self, event_id: u32, event: E) -> Arrival {
        if event_id >= self.next && event_id - self.next >= REORDER_WINDOW {
            return Arrival::TooFar;
        }
        self.ack_wanted = true;
        if event_id < self.next || self.held.contains_key(&event_id) {
            return Arrival::Duplicate;
        }
        self.held.insert(event_id, event);
        if event_id == self.next {
            Arrival::Next
        } else {
            Arrival::Ahead
        }
    }

    /// The next event in order, when it is here. It counts as delivered from now on.
    pub(super) fn pop_ready(&mut self) -> Option<(u32, E)> {
        let event = self.held.remove(&self.next)?;
        let event_id = self.next;
        self.next = self.next.saturating_add(1);
        self.ack_wanted = true;
        Some((event_id, event))
    }

    /// When the next ClientAck may go out; `None` when there is nothing to acknowledge.
    pub(super) fn ack_due(&self) -> Option<Duration> {
        let anything = self.ack_wanted && self.next > 1;
        anything.then(|| self.last_ack.map_or(Duration::ZERO, |last| last + ACK_INTERVAL))
    }

    /// The acknowledgement to send at `now`: the highest id up to which everything was delivered.
    pub(super) fn take_ack(&mut self, now: Duration) -> Option<u32> {
        if self.ack_due()? > now {
            return None;
        }
        self.ack_wanted = false;
        self.last_ack = Some(now);
        Some(self.next - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn drain(lane: &mut LaneIn<u32>) -> Vec<u32> {
        std::iter::from_fn(|| lane.pop_ready().map(|(id, _)| id)).collect()
    }

    #[test]
    fn events_are_delivered_in_order_and_once() {
        let mut lane = LaneIn::new();
        assert_eq!(lane.receive(3, 3), Arrival::Ahead);
        assert_eq!(lane.receive(2, 2), Arrival::Ahead);
        assert_eq!(lane.receive(3, 3), Arrival::Duplicate);
        assert_eq!(drain(&mut lane), [0; 0]);
        assert_eq!(lane.receive(1, 1), Arrival::Next);
        assert_eq!(drain(&mut lane), [1, 2, 3]);
        assert_eq!(lane.receive(2, 2), Arrival::Duplicate);
        assert_eq!(drain(&mut lane), [0; 0]);
    }

    #[test]
    fn the_reorder_buffer_ends_exactly_255_ahead() {
        let mut lane = LaneIn::new();
        assert_eq!(lane.receive(1 + 255, 0), Arrival::Ahead);
        assert_eq!(lane.receive(1 + 256, 0), Arrival::TooFar);
        assert_eq!(lane.receive(u32::MAX, 0), Arrival::TooFar);
        assert_eq!(lane.receive(1, 0), Arrival::Next);
        assert_eq!(drain(&mut lane), [1]);
        assert_eq!(
            lane.receive(2 + 255, 0),
            Arrival::Ahead,
            "the window moves with the delivered ones"
        );
    }

    #[test]
    fn the_first_ack_after_an_idle_lane_goes_out_at_once_and_the_next_50_ms_later() {
        let mut lane = LaneIn::new();
        assert_eq!(lane.ack_due(), None);
        lane.receive(1, 0);
        drain(&mut lane);
        assert_eq!(lane.take_ack(ms(7)), Some(1));
        assert_eq!(lane.ack_due(), None, "nothing new to acknowledge");
        lane.receive(2, 0);
        drain(&mut lane);
        assert_eq!(lane.ack_due(), Some(ms(57)));
        assert_eq!(lane.take_ack(ms(56)), None);
        assert_eq!(lane.take_ack(ms(57)), Some(2));
    }

    #[test]
    fn a_repeated_event_is_acknowledged_again_and_a_gap_with_what_came_before_it() {
        let mut lane = LaneIn::new();
        lane.receive(1, 0);
        drain(&mut lane);
        assert_eq!(lane.take_ack(ms(0)), Some(1));
        lane.receive(1, 0);
        assert_eq!(lane.take_ack(ms(50)), Some(1));
        lane.receive(3, 0);
        assert_eq!(lane.take_ack(ms(100)), Some(1));
    }

    #[test]
    fn nothing_is_acknowledged_before_the_first_delivery() {
        let mut lane = LaneIn::new();
        lane.receive(2, 0);
        assert_eq!(lane.ack_due(), None);
        assert_eq!(lane.take_ack(ms(1000)), None);
    }
}
