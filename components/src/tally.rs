//! Counters: the drop ledger, traffic, and how long ticks took. Plain numbers with the rule that they add up.

mod recent;

use std::{collections::BTreeMap, time::Duration};

use bevy_ecs::resource::Resource;
use bevy_reflect::{Reflect, structs::DynamicStruct};

use crate::{
    inspection::{Summarise, SummaryField, summary},
    reasons::DropReason,
};

pub use recent::RecentDrops;

/// How often each [`DropReason`] occurred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropCounts([u64; DropReason::ALL.len()]);

impl Default for DropCounts {
    fn default() -> Self {
        Self([0; DropReason::ALL.len()])
    }
}

impl DropCounts {
    /// Counts one.
    pub fn add(&mut self, reason: DropReason) {
        if let Some(count) = self.0.get_mut(reason as usize) {
            *count += 1;
        }
    }

    /// How often.
    #[must_use]
    pub fn count(&self, reason: DropReason) -> u64 {
        self.0.get(reason as usize).copied().unwrap_or(0)
    }

    /// All together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds another ledger's counts.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    /// Each reason with its count, zeros left out.
    pub fn nonzero(&self) -> impl Iterator<Item = (DropReason, u64)> {
        DropReason::ALL
            .iter()
            .map(|&reason| (reason, self.count(reason)))
            .filter(|&(_, count)| count > 0)
    }
}

/// What the door did with what it received: `received = handled + dropped + passed` at every moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DoorTally {
    /// Datagrams read from the sockets.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Answered at the door: challenges and query answers.
    pub handled: u64,
    /// Bytes the door sent.
    pub answered_bytes: u64,
    /// Put into a queue for the tick.
    pub passed: u64,
    /// Discarded at the door.
    pub dropped: DropCounts,
    /// Datagrams the kernel discarded because the receive buffer was full; never received, so not in `received`.
    pub kernel_lost: u64,
    /// Send errors of the door's answers.
    pub send_errors: u64,
    /// How full the door's limit tables are.
    pub tables: Vec<DoorTable>,
}

/// How full one of the door's limit tables is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoorTable {
    /// Its name.
    pub name: &'static str,
    /// Entries held.
    pub entries: usize,
    /// Entries it can hold.
    pub capacity: usize,
    /// How often it refused since the start.
    pub refused: u64,
}

/// What the tick did with what it took: `taken = handled + dropped`, once it is over.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// The door's counts as of the last tick.
    pub door: DoorTally,
    /// Datagrams the tick took from the queues.
    pub taken: u64,
    /// Copies that the simulated network made of received datagrams; each counts as one more that was received.
    pub duplicated: u64,
    /// Of those that are queued, how many the simulated network holds back.
    pub held_back: u64,
    /// Datagrams that had their effect, or were rightly without one.
    pub handled: u64,
    /// Datagrams the tick discarded.
    pub dropped: DropCounts,
    /// What was sent.
    pub sent: SentTally,
    /// Lane events that were acknowledged and ignored because they came too often.
    pub lane_limited: u64,
    /// Droppable lane events that were discarded from a full backlog.
    pub lane_discarded: u64,
    /// Lane events sent again.
    pub resends: u64,
    /// Traffic of the last seconds.
    pub rates: Rates,
}

/// The counts as they stood when the last tick was over: in the midst of a tick some datagrams are taken and not yet
/// judged.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
pub struct SettledTally(pub Tally);

/// Traffic per second, smoothed over a few seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Datagrams received.
    pub packets_in: f64,
    /// Datagrams sent.
    pub packets_out: f64,
    /// Bytes received.
    pub bytes_in: f64,
    /// Bytes sent.
    pub bytes_out: f64,
    seen: [u64; 4],
    at: Duration,
}

impl Rates {
    const PERIOD: Duration = Duration::from_secs(1);

    /// Takes the counts of now (datagrams in and out, bytes in and out); once a second the rates move half way to
    /// what the last second was.
    pub fn observe(&mut self, now: Duration, counts: [u64; 4]) {
        let passed = now.saturating_sub(self.at);
        if passed < Self::PERIOD {
            return;
        }
        let seconds = passed.as_secs_f64();
        let rates = [
            &mut self.packets_in,
            &mut self.packets_out,
            &mut self.bytes_in,
            &mut self.bytes_out,
        ];
        for ((rate, count), seen) in rates.into_iter().zip(counts).zip(self.seen) {
            let last = count.saturating_sub(seen) as f64 / seconds;
            *rate = f64::midpoint(*rate, last);
        }
        self.seen = counts;
        self.at = now;
    }
}

impl Tally {
    /// Datagrams that were received, copies that the simulated network made among them.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.door.received + self.duplicated
    }

    /// Datagrams between the door and the tick.
    #[must_use]
    pub const fn queued(&self) -> u64 {
        (self.door.passed + self.duplicated).saturating_sub(self.taken)
    }

    /// Whether received = handled + dropped + queued.
    #[must_use]
    pub fn balanced(&self) -> bool {
        let handled = self.door.handled + self.handled;
        let dropped = self.door.dropped.total() + self.dropped.total();
        self.received() == handled + dropped + self.queued()
    }

    /// Every drop, door and tick together.
    #[must_use]
    pub fn all_drops(&self) -> DropCounts {
        let mut all = self.door.dropped.clone();
        all.merge(&self.dropped);
        all
    }
}

/// What the transmitting side reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
pub struct SentTally {
    /// Datagrams handed to the kernel.
    pub datagrams: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Datagrams the kernel refused because the peer is unreachable.
    pub unreachable: u64,
    /// Datagrams the kernel refused because its send buffer was full.
    pub buffer_full: u64,
    /// Datagrams the kernel refused for another reason.
    pub other_errors: u64,
    /// Whole outboxes that were dropped because the transmitting side fell behind.
    pub outboxes_dropped: u64,
    /// Datagrams that the simulated network lost.
    pub simulated_lost: u64,
}

impl SentTally {
    /// Adds what was counted since.
    pub const fn add(&mut self, more: &Self) {
        let Self {
            datagrams,
            bytes,
            unreachable,
            buffer_full,
            other_errors,
            outboxes_dropped,
            simulated_lost,
        } = more;
        self.datagrams += *datagrams;
        self.bytes += *bytes;
        self.unreachable += *unreachable;
        self.buffer_full += *buffer_full;
        self.other_errors += *other_errors;
        self.outboxes_dropped += *outboxes_dropped;
        self.simulated_lost += *simulated_lost;
    }
}

/// How long the last ticks took.
#[derive(Resource, Clone, Debug)]
pub struct TickTimes {
    recent: Vec<Duration>,
    next: usize,
    /// Ticks that took longer than a tick lasts.
    pub overruns: u64,
    /// Ticks that were skipped because the server was late.
    pub skipped: u64,
}

impl Default for TickTimes {
    fn default() -> Self {
        Self {
            recent: Vec::with_capacity(Self::KEPT),
            next: 0,
            overruns: 0,
            skipped: 0,
        }
    }
}

impl TickTimes {
    /// Ticks that are looked back on: one minute.
    pub const KEPT: usize = 600;

    /// Records one tick.
    pub fn record(&mut self, took: Duration) {
        if took > crate::clock::TICK {
            self.overruns += 1;
        }
        if self.recent.len() < Self::KEPT {
            self.recent.push(took);
        } else if let Some(slot) = self.recent.get_mut(self.next) {
            *slot = took;
        }
        self.next = (self.next + 1) % Self::KEPT;
    }

    /// How many ticks are looked back on, at most [`TickTimes::KEPT`].
    #[must_use]
    pub const fn count(&self) -> usize {
        self.recent.len()
    }

    /// The last `count` ticks of those that are looked back on, newest first.
    pub fn newest(&self, count: usize) -> impl Iterator<Item = Duration> {
        let (before, after) = self.recent.split_at(self.next.min(self.recent.len()));
        before.iter().rev().chain(after.iter().rev()).take(count).copied()
    }

    /// The 50th and 99th percentile and the longest of the recent ticks.
    #[must_use]
    pub fn percentiles(&self) -> (Duration, Duration, Duration) {
        let mut sorted = self.recent.clone();
        sorted.sort_unstable();
        let at = |hundredth: usize| {
            let index = (sorted.len().saturating_sub(1)) * hundredth / 100;
            sorted.get(index).copied().unwrap_or_default()
        };
        (at(50), at(99), at(100))
    }
}

impl DropCounts {
    fn shown(&self) -> BTreeMap<String, u64> {
        self.nonzero()
            .map(|(reason, count)| (reason.name().to_owned(), count))
            .collect()
    }
}

summary!(|tally: Tally| {
    received: u64 = tally.door.received,
    received_bytes: u64 = tally.door.received_bytes,
    handled_at_the_door: u64 = tally.door.handled,
    passed: u64 = tally.door.passed,
    kernel_lost: u64 = tally.door.kernel_lost,
    dropped_at_the_door: BTreeMap<String, u64> = tally.door.dropped.shown(),
    taken: u64 = tally.taken,
    handled: u64 = tally.handled,
    dropped: BTreeMap<String, u64> = tally.dropped.shown(),
    sent: SentTally = tally.sent,
    lane_limited: u64 = tally.lane_limited,
    lane_discarded: u64 = tally.lane_discarded,
    resends: u64 = tally.resends,
    packets_in_per_s: f64 = tally.rates.packets_in,
    packets_out_per_s: f64 = tally.rates.packets_out,
    bytes_in_per_s: f64 = tally.rates.bytes_in,
    bytes_out_per_s: f64 = tally.rates.bytes_out,
});

impl Summarise for SettledTally {
    fn fields() -> &'static [SummaryField] {
        Tally::fields()
    }

    fn summary(&self) -> DynamicStruct {
        self.0.summary()
    }
}

summary!(|times: TickTimes| {
    ticks: usize = times.recent.len(),
    p50: Duration = times.percentiles().0,
    p99: Duration = times.percentiles().1,
    longest: Duration = times.percentiles().2,
    overruns: u64 = times.overruns,
    skipped: u64 = times.skipped,
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledger_balances_only_when_every_datagram_is_somewhere() {
        let mut tally = Tally::default();
        tally.door.received = 10;
        tally.door.handled = 2;
        tally.door.dropped.add(DropReason::Empty);
        tally.door.passed = 7;
        tally.taken = 4;
        tally.handled = 3;
        tally.dropped.add(DropReason::Malformed);
        assert_eq!(tally.queued(), 3);
        assert!(tally.balanced());
        tally.handled += 1;
        assert!(!tally.balanced());
    }

    #[test]
    fn tick_percentiles_forget_what_is_older_than_a_minute() {
        let mut times = TickTimes::default();
        times.record(Duration::from_millis(150));
        for _ in 0..TickTimes::KEPT {
            times.record(Duration::from_millis(2));
        }
        assert_eq!(times.overruns, 1);
        assert_eq!(times.percentiles().2, Duration::from_millis(2));
    }

    #[test]
    fn a_copy_that_the_simulated_network_made_is_one_more_that_was_received() {
        let mut tally = Tally::default();
        tally.door.received = 1;
        tally.door.passed = 1;
        tally.duplicated = 1;
        assert_eq!((tally.received(), tally.queued()), (2, 2));
        assert!(tally.balanced());
        tally.taken = 1;
        assert!(!tally.balanced());
        tally.dropped.add(DropReason::Simulated);
        assert!(tally.balanced());
    }
}
