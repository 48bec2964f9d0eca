//! The client's own lane as its sender sees it: ids, window, resends (docs/protocol.md 2.1).
//!
//! It holds encoded datagrams and knows nothing of what they say.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

/// Most events unacknowledged.
pub(super) const WINDOW: usize = 64;
/// Age of the last sending from which an event is sent again.
pub(super) const RESEND_AFTER: Duration = Duration::from_millis(250);
/// Most resends within any [`RESEND_SPAN`].
pub(super) const RESENDS: usize = 32;
/// See [`RESENDS`].
pub(super) const RESEND_SPAN: Duration = Duration::from_millis(100);
/// Most events the lane holds, in flight and waiting together.
pub(super) const CAPACITY: usize = 1024;

/// The client's lane already holds as many events as it may: the server acknowledges slower than the program sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneFull;

impl fmt::Display for LaneFull {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "the client's lane holds {CAPACITY} unacknowledged events: send the next when some arrived"
        )
    }
}

impl std::error::Error for LaneFull {}

/// How an acknowledgement was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AckOutcome {
    /// Events left the lane.
    Advanced,
    /// It says nothing new.
    Stale,
    /// It is above everything that was sent.
    Foreign,
}

/// What [`LaneOut::poll`] gave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sending {
    /// An event for the first time.
    First,
    /// An event again.
    Again,
}

#[derive(Debug)]
struct Outstanding {
    datagram: Vec<u8>,
    last_sent: Option<Duration>,
}

/// The sending end of the client's lane.
#[derive(Debug)]
pub(super) struct LaneOut {
    /// Highest id acknowledged; the front of the queue has the id after it.
    acked: u32,
    queue: VecDeque<Outstanding>,
    /// How many of the queue's front were sent at least once.
    sent: usize,
    /// When the latest resends went out, the oldest first, at most [`RESENDS`].
    resends: VecDeque<Duration>,
}

impl LaneOut {
    /// A lane whose first event gets the id 1.
    pub(super) const fn new() -> Self {
        Self {
            acked: 0,
            queue: VecDeque::new(),
            sent: 0,
            resends: VecDeque::new(),
        }
    }

    /// Puts an event on the lane; `encode` gets its id and gives the whole datagram.
    pub(super) fn push(&mut self, encode: impl FnOnce(u32) -> Vec<u8>) -> Result<u32, LaneFull> {
        if self.queue.len() >= CAPACITY {
            return Err(LaneFull);
        }
        let waiting = u32::try_from(self.queue.len()).map_err(|_| LaneFull)?;
        let event_id = self
            .acked
            .checked_add(waiting)
            .and_then(|id| id.checked_add(1))
            .ok_or(LaneFull)?;
        self.queue.push_back(Outstanding {
            datagram: encode(event_id),
            last_sent: None,
        });
        Ok(event_id)
    }

    /// Takes a cumulative acknowledgement.
    pub(super) fn acknowledge(&mut self, ack: u32) -> AckOutcome {
        let Some(count) = ack.checked_sub(self.acked).filter(|count| *count > 0) else {
            return AckOutcome::Stale;
        };
        let Some(count) = usize::try_from(count).ok().filter(|count| *count <= self.sent) else {
            return AckOutcome::Foreign;
        };
        self.queue.drain(..count);
        self.sent -= count;
        self.acked = ack;
        AckOutcome::Advanced
    }

    /// Writes the next datagram that is due at `now`, the lowest id first.
    pub(super) fn poll(&mut self, now: Duration, out: &mut Vec<u8>) -> Option<Sending> {
        let may_resend = self.resend_from().is_none_or(|from| from <= now);
        for outstanding in self.queue.iter_mut().take(WINDOW) {
            let sending = match outstanding.last_sent {
                None => Sending::First,
                Some(last) if may_resend && last + RESEND_AFTER <= now => Sending::Again,
                Some(_) => continue,
            };
            outstanding.last_sent = Some(now);
            out.extend_from_slice(&outstanding.datagram);
            match sending {
                Sending::First => self.sent += 1,
                Sending::Again => {
                    if self.resends.len() >= RESENDS {
                        self.resends.pop_front();
                    }
                    self.resends.push_back(now);
                }
            }
            return Some(sending);
        }
        None
    }

    /// When [`LaneOut::poll`] has something next; `None` when nothing waits.
    pub(super) fn due(&self) -> Option<Duration> {
        let resend_from = self.resend_from().unwrap_or(Duration::ZERO);
        self.queue
            .iter()
            .take(WINDOW)
            .map(|outstanding| match outstanding.last_sent {
                None => Duration::ZERO,
                Some(last) => (last + RESEND_AFTER).max(resend_from),
            })
            .min()
    }

    /// Highest id acknowledged.
    pub(super) const fn acked(&self) -> u32 {
        self.acked
    }

    /// Events not acknowledged yet, the waiting ones included.
    pub(super) fn outstanding(&self) -> usize {
        self.queue.len()
    }

    /// From when on one more resend keeps within the bound; `None` while fewer than the bound were ever made.
    fn resend_from(&self) -> Option<Duration> {
        let oldest = *self.resends.front()?;
        (self.resends.len() >= RESENDS).then(|| oldest + RESEND_SPAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn lane_of(count: u32) -> LaneOut {
        let mut lane = LaneOut::new();
        for _ in 0..count {
            lane.push(|id| id.to_le_bytes().to_vec()).unwrap();
        }
        lane
    }

    fn poll_ids(lane: &mut LaneOut, now: Duration) -> Vec<u32> {
        std::iter::from_fn(|| {
            let mut out = Vec::new();
            lane.poll(now, &mut out)?;
            Some(u32::from_le_bytes(out.try_into().unwrap()))
        })
        .collect()
    }

    #[test]
    fn ids_start_at_1_and_grow_by_one_over_acknowledgements() {
        let mut lane = lane_of(2);
        assert_eq!(poll_ids(&mut lane, ms(0)), [1, 2]);
        assert_eq!(lane.acknowledge(2), AckOutcome::Advanced);
        assert_eq!(lane.push(|_| Vec::new()), Ok(3));
    }

    #[test]
    fn at_most_64_are_unacknowledged_and_the_rest_wait() {
        let mut lane = lane_of(70);
        assert_eq!(poll_ids(&mut lane, ms(0)), (1..=64).collect::<Vec<_>>());
        assert_eq!(lane.acknowledge(3), AckOutcome::Advanced);
        assert_eq!(poll_ids(&mut lane, ms(1)), [65, 66, 67]);
        assert_eq!(lane.outstanding(), 67);
    }

    #[test]
    fn an_event_goes_out_again_after_exactly_250_ms() {
        let mut lane = lane_of(1);
        assert_eq!(lane.due(), Some(ms(0)));
        assert_eq!(poll_ids(&mut lane, ms(10)), [1]);
        assert_eq!(lane.due(), Some(ms(260)));
        assert_eq!(poll_ids(&mut lane, ms(259)), [0; 0]);
        assert_eq!(poll_ids(&mut lane, ms(260)), [1]);
        assert_eq!(poll_ids(&mut lane, ms(509)), [0; 0]);
        assert_eq!(poll_ids(&mut lane, ms(510)), [1]);
    }

    #[test]
    fn at_most_32_are_resent_within_100_ms_the_lowest_first() {
        let mut lane = lane_of(64);
        poll_ids(&mut lane, ms(0));
        assert_eq!(poll_ids(&mut lane, ms(250)), (1..=32).collect::<Vec<_>>());
        assert_eq!(lane.due(), Some(ms(350)));
        assert_eq!(poll_ids(&mut lane, ms(349)), [0; 0]);
        assert_eq!(poll_ids(&mut lane, ms(350)), (33..=64).collect::<Vec<_>>());
        assert_eq!(poll_ids(&mut lane, ms(449)), [0; 0]);
        assert_eq!(lane.due(), Some(ms(500)));
    }

    #[test]
    fn resends_that_may_not_go_do_not_hold_up_a_first_sending() {
        let mut lane = lane_of(40);
        poll_ids(&mut lane, ms(0));
        poll_ids(&mut lane, ms(250));
        lane.push(|id| id.to_le_bytes().to_vec()).unwrap();
        assert_eq!(poll_ids(&mut lane, ms(260)), [41]);
    }

    #[test]
    fn an_ack_that_is_stale_or_above_what_was_sent_changes_nothing() {
        let mut lane = lane_of(3);
        assert_eq!(lane.acknowledge(1), AckOutcome::Foreign, "nothing was sent yet");
        poll_ids(&mut lane, ms(0));
        assert_eq!(lane.acknowledge(4), AckOutcome::Foreign);
        assert_eq!(lane.acknowledge(u32::MAX), AckOutcome::Foreign);
        assert_eq!(lane.acknowledge(0), AckOutcome::Stale);
        assert_eq!(lane.acknowledge(2), AckOutcome::Advanced);
        assert_eq!(lane.acknowledge(2), AckOutcome::Stale);
        assert_eq!(lane.acknowledge(1), AckOutcome::Stale);
        assert_eq!((lane.acked(), lane.outstanding()), (2, 1));
    }

    #[test]
    fn the_lane_is_bounded_and_says_so() {
        let mut lane = lane_of(1024);
        assert_eq!(lane.push(|_| Vec::new()), Err(LaneFull));
        assert!(LaneFull.to_string().contains("1024"));
    }
}
