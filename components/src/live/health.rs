//! The last ten minutes of a server, second by second.

use std::{collections::VecDeque, time::Duration};

use bevy_ecs::resource::Resource;

/// What happened in one second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HealthSecond {
    /// Which second since the start of the server.
    pub at_s: u64,
    /// The mean time of its ticks, in milliseconds.
    pub tick_mean_ms: f32,
    /// Its longest tick, in milliseconds.
    pub tick_max_ms: f32,
    /// Sessions at its end.
    pub players: u16,
    /// What was counted in it.
    pub counts: Totals,
    /// Memory of the process at its end, in bytes; none where it is not known.
    pub resident_bytes: Option<u64>,
}

/// What is counted since the start of the server, or within a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Ticks that took longer than a tick lasts.
    pub overruns: u64,
    /// Ticks that were skipped.
    pub skipped: u64,
    /// Datagrams received.
    pub datagrams_in: u64,
    /// Datagrams sent.
    pub datagrams_out: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Datagrams discarded.
    pub drops: u64,
    /// Datagrams that the kernel discarded because a receive buffer was full.
    pub kernel_lost: u64,
}

impl Totals {
    /// What came since `before`.
    #[must_use]
    pub const fn since(&self, before: &Self) -> Self {
        Self {
            overruns: self.overruns.saturating_sub(before.overruns),
            skipped: self.skipped.saturating_sub(before.skipped),
            datagrams_in: self.datagrams_in.saturating_sub(before.datagrams_in),
            datagrams_out: self.datagrams_out.saturating_sub(before.datagrams_out),
            bytes_in: self.bytes_in.saturating_sub(before.bytes_in),
            bytes_out: self.bytes_out.saturating_sub(before.bytes_out),
            drops: self.drops.saturating_sub(before.drops),
            kernel_lost: self.kernel_lost.saturating_sub(before.kernel_lost),
        }
    }
}

/// The last ten minutes. Its storage is made once.
#[derive(Resource, Clone, Debug)]
pub struct HealthHistory {
    seconds: VecDeque<HealthSecond>,
    totals: Totals,
    at: Duration,
}

impl Default for HealthHistory {
    fn default() -> Self {
        Self {
            seconds: VecDeque::with_capacity(Self::KEPT),
            totals: Totals::default(),
            at: Duration::ZERO,
        }
    }
}

impl HealthHistory {
    /// Seconds that are kept: ten minutes.
    pub const KEPT: usize = 600;

    /// Whether a second is over at this time since the start, and [`Self::record`] is to be called.
    #[must_use]
    pub const fn is_due(&self, now: Duration) -> bool {
        now.as_secs() > self.at.as_secs()
    }

    /// Records the second that is over: its ticks, and the counts as they stand now.
    pub fn record(
        &mut self,
        now: Duration,
        ticks: impl Iterator<Item = Duration>,
        totals: Totals,
        players: u16,
        resident_bytes: Option<u64>,
    ) {
        let (mut sum, mut longest, mut count) = (Duration::ZERO, Duration::ZERO, 0u32);
        for took in ticks {
            sum += took;
            longest = longest.max(took);
            count += 1;
        }
        let milliseconds = |time: Duration| time.as_secs_f32() * 1000.0;
        if self.seconds.len() >= Self::KEPT {
            self.seconds.pop_front();
        }
        self.seconds.push_back(HealthSecond {
            at_s: now.as_secs(),
            tick_mean_ms: milliseconds(sum.checked_div(count).unwrap_or_default()),
            tick_max_ms: milliseconds(longest),
            players,
            counts: totals.since(&self.totals),
            resident_bytes,
        });
        self.totals = totals;
        self.at = now;
    }

    /// What was recorded after this second, oldest first.
    pub fn after(&self, at_s: u64) -> impl DoubleEndedIterator<Item = &HealthSecond> {
        let begin = self.seconds.partition_point(|second| second.at_s <= at_s);
        self.seconds.range(begin..)
    }

    /// The last `count` seconds that were recorded, newest first.
    pub fn newest(&self, count: usize) -> impl Iterator<Item = &HealthSecond> {
        self.seconds.iter().rev().take(count)
    }

    /// Seconds that are kept now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.seconds.len()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seconds.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(bytes_in: u64) -> Totals {
        Totals {
            bytes_in,
            ..Totals::default()
        }
    }

    #[test]
    fn a_second_has_what_came_in_it_and_only_ten_minutes_are_kept() {
        let mut history = HealthHistory::default();
        assert!(!history.is_due(Duration::from_millis(999)));
        for second in 1..=700u64 {
            let now = Duration::from_millis(second * 1000 + 30);
            assert!(history.is_due(now), "{second}");
            let ticks = [10, 30].map(Duration::from_millis);
            history.record(now, ticks.into_iter(), totals(second * 100), 7, None);
            assert!(!history.is_due(now + Duration::from_millis(900)));
        }
        assert_eq!(history.len(), 600);
        let last = history.newest(1).next().unwrap();
        assert_eq!((last.at_s, last.counts.bytes_in, last.players), (700, 100, 7));
        assert_eq!((last.tick_mean_ms, last.tick_max_ms), (20.0, 30.0));
        assert_eq!(history.after(0).next().unwrap().at_s, 101);
        assert_eq!(
            history.after(698).map(|second| second.at_s).collect::<Vec<_>>(),
            [699, 700]
        );
        assert_eq!(history.after(700).count(), 0);
    }

    #[test]
    fn seconds_that_were_passed_over_are_one_record() {
        let mut history = HealthHistory::default();
        history.record(Duration::from_secs(5), std::iter::empty(), totals(10), 0, None);
        assert_eq!((history.len(), history.newest(1).next().unwrap().at_s), (1, 5));
        assert!(!history.is_due(Duration::from_millis(5_900)));
    }
}
