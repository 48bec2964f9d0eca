//! Where the time of ticks goes: how long each step and each system took, and which ticks were slow and why. Plain
//! numbers; who measures is for the systems.

use std::{collections::VecDeque, time::Duration};

use bevy_ecs::resource::Resource;

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

/// What one system took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemTimes {
    /// Its path without the crate, such as `motion::take_frames`.
    pub name: String,
    /// The step of the tick it belongs to, such as `Simulate`.
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
    /// How long ticks took, in seconds, since the start.
    pub ticks: Histogram,
    /// The last slow ticks, oldest first, at most [`SLOW_TICKS`].
    pub slow: VecDeque<SlowTick>,
}

impl Default for TickAnatomy {
    fn default() -> Self {
        Self {
            systems: Vec::new(),
            ticks: Histogram::new(TICK_SECONDS),
            slow: VecDeque::with_capacity(SLOW_TICKS),
        }
    }
}

impl TickAnatomy {
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
}
