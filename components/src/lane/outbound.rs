//! Server to client: at most 256 events in flight, the rest in a bounded backlog without ids.

use crate::inspection::summary;
use std::{collections::VecDeque, sync::Arc, time::Duration};

use bevy_ecs::component::Component;

/// An encoded lane packet whose event id is written when it is sent. Shared by every lane it is queued on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneEvent {
    /// The whole datagram; bytes 1..5 are the event id's place.
    pub datagram: Arc<[u8]>,
    /// Whether a full backlog may discard it.
    pub droppable: bool,
}

/// The critical backlog is full: the connection can no longer be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneFull;

/// An event to send now.
#[derive(Clone, Debug)]
pub struct Due {
    /// Its id.
    pub event_id: u32,
    /// Its datagram, the id not yet written.
    pub datagram: Arc<[u8]>,
}

#[derive(Debug)]
struct InFlight {
    datagram: Arc<[u8]>,
    first_sent: Option<Duration>,
    last_sent: Duration,
}

/// The sending end of a connection's lane.
#[derive(Component, Debug, Default)]
pub struct OutboundLane {
    acknowledged: u32,
    in_flight: VecDeque<InFlight>,
    backlog: VecDeque<LaneEvent>,
    critical: usize,
    droppable: usize,
    progress: Duration,
    overflowed: bool,
    discarded: u64,
}

impl OutboundLane {
    /// Events that may be unacknowledged at once.
    pub const IN_FLIGHT: usize = 256;
    /// Critical events that may wait; one more is an overflow.
    pub const CRITICAL: usize = 4096;
    /// Droppable events that may wait; one more discards the oldest.
    pub const DROPPABLE: usize = 1024;
    /// Events that a lane at rest has room for.
    const KEPT: usize = 4;

    /// Queues an event behind those that wait.
    ///
    /// # Errors
    /// [`LaneFull`] when a critical event finds no room; the lane stays overflowed from then on.
    pub fn push(&mut self, event: LaneEvent) -> Result<(), LaneFull> {
        if event.droppable {
            if self.droppable == Self::DROPPABLE {
                self.discard_oldest_droppable();
            }
            self.droppable += 1;
        } else if self.critical == Self::CRITICAL {
            self.overflowed = true;
            return Err(LaneFull);
        } else {
            self.critical += 1;
        }
        self.backlog.push_back(event);
        Ok(())
    }

    fn discard_oldest_droppable(&mut self) {
        if let Some(oldest) = self.backlog.iter().position(|event| event.droppable) {
            self.backlog.remove(oldest);
            self.droppable -= 1;
            self.discarded += 1;
        }
    }

    /// Gives the next waiting event an id, if the window has room. The caller sends it at `now`.
    pub fn next_new(&mut self, now: Duration) -> Option<Due> {
        if self.in_flight.len() >= Self::IN_FLIGHT {
            return None;
        }
        let event = self.backlog.pop_front()?;
        if event.droppable {
            self.droppable -= 1;
        } else {
            self.critical -= 1;
        }
        if self.in_flight.is_empty() {
            self.progress = now;
        }
        let datagram = Arc::clone(&event.datagram);
        self.in_flight.push_back(InFlight {
            datagram: event.datagram,
            first_sent: None,
            last_sent: now,
        });
        Some(Due {
            event_id: self.highest_sent(),
            datagram,
        })
    }

    /// How many events are due to be sent again, at most `most`.
    #[must_use]
    pub fn due_count(&self, now: Duration, timeout: Duration, most: usize) -> usize {
        self.in_flight
            .iter()
            .filter(|event| now.saturating_sub(event.last_sent) >= timeout)
            .take(most)
            .count()
    }

    /// Sends again up to `most` events that are older than `timeout`, lowest id first.
    pub fn resend(
        &mut self,
        now: Duration,
        timeout: Duration,
        most: usize,
        mut send: impl FnMut(Due),
    ) -> usize {
        let ids = self.acknowledged.saturating_add(1)..;
        let due = ids
            .zip(&mut self.in_flight)
            .filter(|(_, event)| now.saturating_sub(event.last_sent) >= timeout)
            .take(most);
        let mut count = 0;
        for (event_id, event) in due {
            event.last_sent = now;
            count += 1;
            send(Due {
                event_id,
                datagram: Arc::clone(&event.datagram),
            });
        }
        count
    }

    /// The first send of `event_id` was handed to the kernel at `at`.
    pub fn first_sent_at(&mut self, event_id: u32, at: Duration) {
        let index = event_id.checked_sub(self.acknowledged.saturating_add(1));
        if let Some(event) = index.and_then(|index| self.in_flight.get_mut(index as usize)) {
            event.first_sent.get_or_insert(at);
        }
    }

    /// Everything up to `event_id` was received, says a ClientAck that arrived at `arrived`. Returns the round
    /// trip measured from the first send of the newest event it acknowledges, when it advances the lane. An id
    /// above the highest sent or below the last changes nothing.
    pub fn acknowledge(&mut self, event_id: u32, arrived: Duration) -> Option<Duration> {
        if event_id <= self.acknowledged || event_id > self.highest_sent() {
            return None;
        }
        let count = (event_id - self.acknowledged) as usize;
        let newest = self.in_flight.drain(..count).next_back();
        self.acknowledged = event_id;
        self.progress = self.progress.max(arrived);
        self.rest();
        newest?.first_sent.map(|sent| arrived.saturating_sub(sent))
    }

    /// With nothing in flight, room that only a burst such as the greeting needed is given back: a connection at
    /// rest is small.
    fn rest(&mut self) {
        if self.in_flight.is_empty() {
            self.in_flight.shrink_to(Self::KEPT);
        }
        if self.backlog.is_empty() {
            self.backlog.shrink_to(Self::KEPT);
        }
    }

    /// The highest id handed out; 0 before the first.
    #[must_use]
    pub fn highest_sent(&self) -> u32 {
        self.acknowledged
            .saturating_add(u32::try_from(self.in_flight.len()).unwrap_or(u32::MAX))
    }

    /// How long events have waited without an acknowledgement that advances the lane; `None` when none wait.
    #[must_use]
    pub fn stalled_for(&self, now: Duration) -> Option<Duration> {
        (!self.in_flight.is_empty()).then(|| now.saturating_sub(self.progress))
    }

    /// Whether a critical event found no room.
    #[must_use]
    pub const fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Events in flight and in the backlog.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.in_flight.len() + self.backlog.len()
    }

    /// Whether nothing waits in the backlog for an id.
    #[must_use]
    pub fn has_backlog(&self) -> bool {
        !self.backlog.is_empty()
    }

    /// Droppable events discarded since the last call.
    pub fn take_discarded(&mut self) -> u64 {
        std::mem::take(&mut self.discarded)
    }

    /// The time after which an event is sent again: twice the round trip within 200 ms and 1 s, or 500 ms when
    /// it was not measured (docs/protocol.md 2.1).
    #[must_use]
    pub fn resend_timeout(rtt: Option<Duration>) -> Duration {
        rtt.map_or(Duration::from_millis(500), |rtt| {
            (rtt * 2).clamp(Duration::from_millis(200), Duration::from_secs(1))
        })
    }
}

summary!(|lane: OutboundLane| {
    acknowledged: u32 = lane.acknowledged,
    in_flight: usize = lane.in_flight.len(),
    waiting_critical: usize = lane.critical,
    waiting_droppable: usize = lane.droppable,
    discarded: u64 = lane.discarded,
    overflowed: bool = lane.overflowed,
    progress: Duration = lane.progress,
});

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn event(n: u32, droppable: bool) -> LaneEvent {
        LaneEvent {
            datagram: n.to_le_bytes().as_slice().into(),
            droppable,
        }
    }

    fn number(due: &Due) -> u32 {
        u32::from_le_bytes(due.datagram.as_ref().try_into().unwrap())
    }

    fn send_all(lane: &mut OutboundLane, now: Duration) -> Vec<u32> {
        std::iter::from_fn(|| lane.next_new(now))
            .map(|due| due.event_id)
            .collect()
    }

    #[test]
    fn ids_start_at_one_and_at_most_256_are_in_flight() {
        let mut lane = OutboundLane::default();
        for n in 0..300 {
            lane.push(event(n, false)).unwrap();
        }
        assert_eq!(send_all(&mut lane, ms(0)), (1..=256).collect::<Vec<_>>());
        lane.acknowledge(10, ms(1));
        assert_eq!(send_all(&mut lane, ms(2)), (257..=266).collect::<Vec<_>>());
    }

    #[test]
    fn an_event_is_resent_at_its_timeout_lowest_id_first_and_not_before() {
        let mut lane = OutboundLane::default();
        for n in 0..50 {
            lane.push(event(n, false)).unwrap();
        }
        send_all(&mut lane, ms(0));
        assert_eq!(lane.due_count(ms(499), ms(500), 32), 0);
        let mut ids = Vec::new();
        assert_eq!(
            lane.resend(ms(500), ms(500), 32, |due| ids.push(due.event_id)),
            32
        );
        assert_eq!(ids, (1..=32).collect::<Vec<_>>());
        ids.clear();
        lane.resend(ms(600), ms(500), 32, |due| ids.push(due.event_id));
        assert_eq!(ids, (33..=50).collect::<Vec<_>>());
    }

    #[test]
    fn an_acknowledgement_outside_what_was_sent_changes_nothing() {
        let mut lane = OutboundLane::default();
        for n in 0..5 {
            lane.push(event(n, false)).unwrap();
        }
        send_all(&mut lane, ms(0));
        for wrong in [0, 6, u32::MAX] {
            assert_eq!(lane.acknowledge(wrong, ms(10)), None);
        }
        assert_eq!(
            (lane.depth(), lane.stalled_for(ms(15_000))),
            (5, Some(ms(15_000)))
        );
        lane.acknowledge(5, ms(20));
        assert_eq!((lane.depth(), lane.stalled_for(ms(99_000))), (0, None));
    }

    #[test]
    fn a_round_trip_is_measured_from_the_first_send_of_the_newest_acknowledged_event() {
        let mut lane = OutboundLane::default();
        for n in 0..3 {
            lane.push(event(n, false)).unwrap();
        }
        send_all(&mut lane, ms(0));
        lane.first_sent_at(1, ms(1));
        lane.first_sent_at(2, ms(5));
        lane.first_sent_at(2, ms(400));
        assert_eq!(lane.acknowledge(2, ms(45)), Some(ms(40)));
        assert_eq!(lane.acknowledge(3, ms(60)), None, "its send was never reported");
    }

    #[test]
    fn a_lane_at_rest_keeps_no_room_of_a_burst() {
        let mut lane = OutboundLane::default();
        for n in 0..200 {
            lane.push(event(n, false)).unwrap();
        }
        send_all(&mut lane, ms(0));
        lane.acknowledge(200, ms(10));
        assert!(lane.in_flight.capacity() < 16 && lane.backlog.capacity() < 16);
    }

    #[test]
    fn the_stall_clock_starts_with_the_first_unacknowledged_event() {
        let mut lane = OutboundLane::default();
        assert_eq!(lane.stalled_for(ms(60_000)), None);
        lane.push(event(0, false)).unwrap();
        lane.next_new(ms(60_000)).unwrap();
        assert_eq!(lane.stalled_for(ms(61_000)), Some(ms(1_000)));
    }

    #[test]
    fn one_critical_event_too_many_overflows() {
        let mut lane = OutboundLane::default();
        for n in 0..4096 {
            lane.push(event(n, false)).unwrap();
        }
        assert!(!lane.overflowed());
        assert_eq!(lane.push(event(9, false)), Err(LaneFull));
        assert!(lane.overflowed());
    }

    #[test]
    fn one_droppable_event_too_many_discards_the_oldest_droppable_and_never_a_critical_one() {
        let mut lane = OutboundLane::default();
        lane.push(event(5000, false)).unwrap();
        for n in 0..1030 {
            lane.push(event(n, true)).unwrap();
        }
        assert_eq!(lane.take_discarded(), 6);
        assert_eq!(number(&lane.next_new(ms(0)).unwrap()), 5000);
        assert_eq!(number(&lane.next_new(ms(0)).unwrap()), 6);
        assert_eq!(lane.depth(), 1025);
    }

    #[test]
    fn the_resend_timeout_is_twice_the_round_trip_within_bounds() {
        assert_eq!(OutboundLane::resend_timeout(None), ms(500));
        assert_eq!(OutboundLane::resend_timeout(Some(ms(30))), ms(200));
        assert_eq!(OutboundLane::resend_timeout(Some(ms(150))), ms(300));
        assert_eq!(OutboundLane::resend_timeout(Some(ms(2000))), ms(1000));
    }
}
