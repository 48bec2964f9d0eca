//! Where the time of ticks goes: how long each step and each system took, and which ticks were slow and why. Plain
//! numbers; who measures is for the systems.

use std::{collections::VecDeque, time::Duration};

use bevy_ecs::resource::Resource;

use crate::tally::TickTimes;

/// Counts by size, as a Prometheus histogram has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    bounds: &'static [f64],
    counts: Vec<u64>,
    sum: f64,
}

impl Histogram {
    /// An empty one with these upper bounds, rising; beyond the last there is one more bucket.
    #[must_use]
    pub fn new(bounds: &'static [f64]) -> Self {
        Self {
            bounds,
            counts: vec![0; bounds.len() + 1],
            sum: 0.0,
        }
    }

    /// Counts one value.
    pub fn observe(&mut self, value: f64) {
        let bucket = self.bounds.partition_point(|&bound| bound < value);
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
        self.sum += value;
    }

    /// Upper bounds with the number of values up to each, rising; the last bound is infinite and its number is that of
    /// all values.
    pub fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        let bounds = self.bounds.iter().copied().chain([f64::INFINITY]);
        bounds.zip(self.counts.iter().scan(0, |sum, &count| {
            *sum += count;
            Some(*sum)
        }))
    }

    /// How many values there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Their sum.
    #[must_use]
    pub const fn sum(&self) -> f64 {
        self.sum
    }
}

/// Upper bounds of tick times, in seconds.
pub const TICK_SECONDS: &[f64] = &[
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.2, 0.5, 1.0,
];

/// Ticks that [`SystemTimes::recent`] looks back on.
pub const RECENT_TICKS: usize = 100;
/// Slow ticks that are kept.
pub const SLOW_TICKS: usize = 20;

/// A tick that takes longer than this, half of the time it has, is slow.
pub const SLOW: Duration = Duration::from_millis(50);
/// A tick that takes so many times as long as the 99th percentile of the last minute is slow too ...
pub const UNUSUAL_TIMES: u32 = 5;
/// ... when it takes at least this long ...
pub const UNUSUAL_LEAST: Duration = Duration::from_millis(10);
/// ... and enough ticks went before to know what is usual.
pub const UNUSUAL_AFTER: usize = 100;

/// Whether a tick is slow; `before` are the times of those before it.
#[must_use]
pub fn is_slow(took: Duration, before: &TickTimes) -> bool {
    if took > SLOW {
        return true;
    }
    if took < UNUSUAL_LEAST || before.count() < UNUSUAL_AFTER {
        return false;
    }
    let (_, p99, _) = before.percentiles();
    took > p99 * UNUSUAL_TIMES
}

/// What one system took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemTimes {
    /// Its path without the crate, such as `motion::take_frames`.
    pub name: String,
    /// The step of the tick it belongs to, such as `Simulate`; empty when it belongs to none.
    pub step: &'static str,
    /// How often it ran since the start.
    pub runs: u64,
    /// What it took since the start.
    pub total: Duration,
    /// What it took in the last [`RECENT_TICKS`] ticks together.
    pub recent: Duration,
    /// The longest of those.
    pub recent_max: Duration,
}

/// One slow tick.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowTick {
    /// Its number.
    pub tick: u64,
    /// Wall-clock Unix seconds at its beginning.
    pub unix_seconds: u64,
    /// What it took.
    pub took: Duration,
    /// The system that took most, and how long.
    pub system: (String, Duration),
    /// The gamemode that took most, and how long; none when none ran.
    pub resource: Option<(String, Duration)>,
    /// The connection that sent most, as a player id with its datagrams; none when nothing came.
    pub connection: Option<(u16, u32)>,
}

/// Where the time of ticks went.
#[derive(Resource, Clone, Debug)]
pub struct TickAnatomy {
    /// Every system of the tick, in order. Empty when nobody measures.
    pub systems: Vec<SystemTimes>,
    /// What is in no system: deferred commands, messages that rotate, systems that were added after the start.
    pub between: SystemTimes,
    /// How long ticks took, in seconds, since the start.
    pub ticks: Histogram,
    /// The last slow ticks, oldest first, at most [`SLOW_TICKS`].
    pub slow: VecDeque<SlowTick>,
    recent: Recent,
}

/// The last ticks: for each, what every system took and last what was between them. Its storage is made once.
#[derive(Clone, Debug, Default)]
struct Recent {
    took: Vec<Duration>,
    columns: usize,
    next: usize,
    filled: usize,
}

impl Default for TickAnatomy {
    fn default() -> Self {
        let mut anatomy = Self {
            systems: Vec::new(),
            between: SystemTimes {
                name: BETWEEN.to_owned(),
                ..SystemTimes::default()
            },
            ticks: Histogram::new(TICK_SECONDS),
            slow: VecDeque::with_capacity(SLOW_TICKS),
            recent: Recent::default(),
        };
        anatomy.begin(Vec::new());
        anatomy
    }
}

/// The name of [`TickAnatomy::between`].
const BETWEEN: &str = "between systems";

impl TickAnatomy {
    /// Measures these systems, in their order, from now on.
    pub fn begin(&mut self, systems: Vec<SystemTimes>) {
        let columns = systems.len() + 1;
        self.systems = systems;
        self.recent = Recent {
            took: vec![Duration::ZERO; columns * RECENT_TICKS],
            columns,
            next: 0,
            filled: 0,
        };
    }

    /// Takes the figures of one tick: what it took in all, and for each system, in order, what it took and how often it ran.
    pub fn record(&mut self, took: Duration, figures: impl Iterator<Item = (Duration, u64)>) {
        self.ticks.observe(took.as_secs_f64());
        let Self {
            systems,
            between,
            recent,
            ..
        } = self;
        let mut rest = took;
        for (column, (system, (took, runs))) in systems.iter_mut().zip(figures).enumerate() {
            rest = rest.saturating_sub(took);
            system.runs += runs;
            recent.put(column, took, system);
        }
        between.runs += 1;
        recent.put(systems.len(), rest, between);
        recent.next = (recent.next + 1) % RECENT_TICKS;
        recent.filled = (recent.filled + 1).min(RECENT_TICKS);
    }

    /// Keeps a slow tick, and forgets the oldest when there are too many.
    pub fn keep_slow(&mut self, tick: SlowTick) {
        if self.slow.len() >= SLOW_TICKS {
            self.slow.pop_front();
        }
        self.slow.push_back(tick);
    }

    /// How many ticks `recent` is about, at most [`RECENT_TICKS`].
    #[must_use]
    pub const fn recent_ticks(&self) -> usize {
        self.recent.filled
    }

    /// What each step of the tick took since the start, in order.
    #[must_use]
    pub fn steps(&self) -> Vec<(&'static str, Duration)> {
        let mut steps: Vec<(&'static str, Duration)> = Vec::new();
        for system in &self.systems {
            match steps.last_mut() {
                Some((step, total)) if *step == system.step => *total += system.total,
                _ => steps.push((system.step, system.total)),
            }
        }
        steps
    }
}

impl Recent {
    /// Puts what a system took into the tick that runs, in the place of what it took [`RECENT_TICKS`] ticks ago.
    fn put(&mut self, column: usize, took: Duration, times: &mut SystemTimes) {
        let Some(place) = self.took.get_mut(self.next * self.columns + column) else {
            return;
        };
        let left = std::mem::replace(place, took);
        times.total += took;
        times.recent = (times.recent + took).saturating_sub(left);
        if took >= times.recent_max {
            times.recent_max = took;
        } else if left == times.recent_max {
            let all = self.took.iter().skip(column).step_by(self.columns.max(1));
            times.recent_max = all.max().copied().unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_each_value_once_and_shows_how_many_are_not_above_a_bound() {
        let mut histogram = Histogram::new(&[1.0, 2.0]);
        for value in [0.5, 1.0, 1.5, 9.0] {
            histogram.observe(value);
        }
        let shown: Vec<(f64, u64)> = histogram.cumulative().collect();
        assert_eq!(shown, [(1.0, 2), (2.0, 3), (f64::INFINITY, 4)]);
        assert_eq!((histogram.count(), histogram.sum()), (4, 12.0));
    }

    fn two_systems() -> TickAnatomy {
        let system = |name: &str, step| SystemTimes {
            name: name.to_owned(),
            step,
            ..SystemTimes::default()
        };
        let mut anatomy = TickAnatomy::default();
        anatomy.begin(vec![
            system("a", "Receive"),
            system("b", "Simulate"),
            system("c", "Simulate"),
        ]);
        anatomy
    }

    const fn ms(amount: u64) -> Duration {
        Duration::from_millis(amount)
    }

    #[test]
    fn what_is_in_no_system_is_between_them_and_the_parts_make_the_whole() {
        let mut anatomy = two_systems();
        anatomy.record(ms(10), [(ms(1), 1), (ms(2), 1), (ms(3), 0)].into_iter());
        let parts: Duration = anatomy.systems.iter().map(|system| system.total).sum();
        assert_eq!(anatomy.between.total, ms(4));
        assert_eq!(parts + anatomy.between.total, ms(10));
        assert_eq!(anatomy.steps(), [("Receive", ms(1)), ("Simulate", ms(5))]);
        assert_eq!(anatomy.systems[2].runs, 0);
    }

    #[test]
    fn recent_figures_forget_what_is_more_than_a_hundred_ticks_ago() {
        let mut anatomy = two_systems();
        anatomy.record(ms(90), [(ms(70), 1), (ms(1), 1), (ms(1), 1)].into_iter());
        for _ in 0..RECENT_TICKS - 1 {
            anatomy.record(ms(9), [(ms(2), 1), (ms(1), 1), (ms(1), 1)].into_iter());
        }
        assert_eq!(anatomy.systems[0].recent_max, ms(70));
        assert_eq!(anatomy.systems[0].recent, ms(70 + 2 * 99));
        anatomy.record(ms(9), [(ms(3), 1), (ms(1), 1), (ms(1), 1)].into_iter());
        assert_eq!(anatomy.systems[0].recent_max, ms(3));
        assert_eq!(anatomy.systems[0].recent, ms(3 + 2 * 99));
        assert_eq!(anatomy.systems[0].total, ms(70 + 3 + 2 * 99));
        assert_eq!(anatomy.recent_ticks(), RECENT_TICKS);
    }

    #[test]
    fn a_tick_is_slow_at_half_its_time_or_when_it_is_far_from_what_is_usual() {
        let mut times = TickTimes::default();
        assert!(is_slow(ms(51), &times) && !is_slow(ms(50), &times));
        assert!(!is_slow(ms(30), &times), "nobody knows yet what is usual");
        for _ in 0..UNUSUAL_AFTER {
            times.record(ms(3));
        }
        assert!(is_slow(ms(16), &times) && !is_slow(ms(15), &times));
        for _ in 0..TickTimes::KEPT {
            times.record(Duration::from_micros(100));
        }
        assert!(
            !is_slow(ms(9), &times),
            "too short to matter, however unusual it is"
        );
    }

    #[test]
    fn only_the_last_slow_ticks_are_kept() {
        let mut anatomy = TickAnatomy::default();
        for tick in 0..30 {
            anatomy.keep_slow(SlowTick {
                tick,
                unix_seconds: 0,
                took: ms(60),
                system: ("a".to_owned(), ms(50)),
                resource: None,
                connection: None,
            });
        }
        let kept: Vec<u64> = anatomy.slow.iter().map(|slow| slow.tick).collect();
        assert_eq!(kept, (10..30).collect::<Vec<u64>>());
    }
}
