//! Client to server: events in order, each once, from datagrams in any order.

use crate::inspection::summary;
use std::{collections::BTreeMap, time::Duration};

use bevy_ecs::component::Component;
use decitick_protocol::ClientLaneEvent;

/// What became of a lane packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Taken; it is delivered now or when the gap before it closes.
    Taken,
    /// Delivered before: it is acknowledged again and has no effect.
    Old,
    /// Further ahead than the window: dropped.
    Beyond,
}

/// The receiving end of a connection's lane.
#[derive(Component, Debug, Default)]
pub struct InboundLane {
    delivered: u32,
    ahead: BTreeMap<u32, Box<(Option<ClientLaneEvent>, Duration)>>,
    acknowledge: bool,
}

impl InboundLane {
    /// Events that are kept ahead of the next expected one.
    pub const WINDOW: u32 = 64;

    /// Takes a well-formed lane packet that arrived at `arrived`; `None` for one whose content the phase of the connection
    /// does not allow, which only uses up its id. Whatever becomes of it, an acknowledgement is due this tick.
    pub fn accept(
        &mut self,
        event_id: u32,
        event: impl Into<Option<ClientLaneEvent>>,
        arrived: Duration,
    ) -> Arrival {
        self.acknowledge = true;
        if event_id <= self.delivered {
            return Arrival::Old;
        }
        // The next expected id is delivered + 1; up to WINDOW ids after that are kept.
        if event_id - self.delivered - 1 > Self::WINDOW {
            return Arrival::Beyond;
        }
        self.ahead
            .entry(event_id)
            .or_insert_with(|| Box::new((event.into(), arrived)));
        Arrival::Taken
    }

    /// The next event in order, if it is here, and when it arrived: not when the gap before it closed.
    pub fn next_in_order(&mut self) -> Option<(Option<ClientLaneEvent>, Duration)> {
        let next = self.delivered.checked_add(1)?;
        let event = self.ahead.remove(&next)?;
        self.delivered = next;
        Some(*event)
    }

    /// The highest contiguous id, if a lane packet arrived since the last call.
    pub fn take_acknowledgement(&mut self) -> Option<u32> {
        std::mem::take(&mut self.acknowledge).then_some(self.delivered)
    }

    /// The highest contiguous id.
    #[must_use]
    pub const fn delivered(&self) -> u32 {
        self.delivered
    }

    /// Events that wait for a gap to close.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.ahead.len()
    }
}

summary!(|lane: InboundLane| {
    delivered: u32 = lane.delivered,
    waiting: usize = lane.ahead.len(),
    acknowledge: bool = lane.acknowledge,
});

#[cfg(test)]
mod tests {
    use decitick_protocol::{ChatSend, PlainText};

    use super::*;

    fn chat(text: &str) -> ClientLaneEvent {
        ClientLaneEvent::ChatSend(ChatSend {
            text: PlainText::parse(text).unwrap(),
        })
    }

    const NOW: Duration = Duration::from_secs(1);

    fn next(lane: &mut InboundLane) -> Option<ClientLaneEvent> {
        lane.next_in_order().and_then(|(event, _)| event)
    }

    fn drain(lane: &mut InboundLane) -> usize {
        std::iter::from_fn(|| lane.next_in_order()).count()
    }

    #[test]
    fn a_gap_holds_back_what_follows_it() {
        let mut lane = InboundLane::default();
        assert_eq!(lane.accept(2, chat("b"), NOW), Arrival::Taken);
        assert_eq!((drain(&mut lane), lane.take_acknowledgement()), (0, Some(0)));
        assert_eq!(lane.accept(1, chat("a"), NOW), Arrival::Taken);
        assert_eq!(next(&mut lane), Some(chat("a")));
        assert_eq!(next(&mut lane), Some(chat("b")));
        assert_eq!(lane.take_acknowledgement(), Some(2));
        assert_eq!(lane.take_acknowledgement(), None);
    }

    #[test]
    fn an_event_is_delivered_once_and_acknowledged_again() {
        let mut lane = InboundLane::default();
        lane.accept(1, chat("a"), NOW);
        assert_eq!(drain(&mut lane), 1);
        lane.take_acknowledgement();
        assert_eq!(lane.accept(1, chat("other"), NOW), Arrival::Old);
        assert_eq!((drain(&mut lane), lane.take_acknowledgement()), (0, Some(1)));
    }

    #[test]
    fn the_first_content_of_an_id_counts() {
        let mut lane = InboundLane::default();
        lane.accept(2, chat("first"), NOW);
        lane.accept(2, chat("second"), NOW);
        lane.accept(1, chat("a"), NOW);
        lane.next_in_order();
        assert_eq!(next(&mut lane), Some(chat("first")));
    }

    #[test]
    fn sixty_four_events_ahead_of_the_next_one_are_kept_and_no_more() {
        let mut lane = InboundLane::default();
        assert_eq!(lane.accept(65, chat("last kept"), NOW), Arrival::Taken);
        assert_eq!(lane.accept(66, chat("too far"), NOW), Arrival::Beyond);
        assert_eq!(lane.accept(u32::MAX, chat("far away"), NOW), Arrival::Beyond);
        assert_eq!(lane.waiting(), 1);
    }

    #[test]
    fn an_event_that_waited_for_a_gap_arrived_when_it_arrived() {
        let mut lane = InboundLane::default();
        lane.accept(2, chat("b"), Duration::from_secs(1));
        lane.accept(1, chat("a"), Duration::from_secs(3));
        let arrivals: Vec<Duration> = std::iter::from_fn(|| lane.next_in_order())
            .map(|(_, arrived)| arrived)
            .collect();
        assert_eq!(arrivals, [Duration::from_secs(3), Duration::from_secs(1)]);
    }
}
