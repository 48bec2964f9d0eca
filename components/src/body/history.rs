//! Where a body was in the last second: what a shot is judged by, since the shooter saw the past (docs/protocol.md 2.5).

use crate::inspection::{Place, summary};
use bevy_reflect::Reflect;
use std::time::Duration;

use bevy_ecs::component::Component;
use decitick_protocol::Vec3;

/// Samples that are kept: so many that they reach back a second however often frames come.
const KEPT: usize = 13;
/// Least time between two samples in milliseconds, but for the newest, which is always there: a little less than a
/// tick, so that a client with a frame a tick has a sample for each.
const SPACING: u64 = 90;

/// The last positions of a body, about one a tick. It holds nothing from before the last spawn or teleport: between the
/// two places the body never was.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct PositionHistory {
    samples: [Sample; KEPT],
    length: usize,
    next: usize,
    /// Time of the first sample after the last restart.
    began: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sample {
    /// Milliseconds since the start of the server: exact enough for what moves at most 200 m/s.
    at: u64,
    position: Vec3,
}

impl Sample {
    const fn told(self) -> (Duration, Vec3) {
        (Duration::from_millis(self.at), self.position)
    }
}

impl PositionHistory {
    /// How far back it reaches.
    pub const REACH: Duration = Duration::from_secs(1);

    /// Begins anew at a place.
    pub const fn restart(&mut self) {
        self.length = 0;
        self.next = 0;
        self.began = None;
    }

    /// Adds where the body was at `at`. Times do not fall; one that does is taken as equal to the last.
    pub fn record(&mut self, at: Duration, position: Vec3) {
        let (newest, before) = {
            let mut samples = self.newest_first();
            (samples.next(), samples.next())
        };
        let at = milliseconds(at).max(newest.map_or(0, |sample| sample.at));
        let crowded = newest
            .zip(before)
            .is_some_and(|(newest, before)| newest.at - before.at < SPACING);
        if crowded {
            // The newest makes room for this one.
            self.next = (self.next + KEPT - 1) % KEPT;
        } else {
            self.length = (self.length + 1).min(KEPT);
        }
        if let Some(place) = self.samples.get_mut(self.next) {
            *place = Sample { at, position };
        }
        self.next = (self.next + 1) % KEPT;
        self.began.get_or_insert(at);
    }

    /// The newest sample: when, since the start, and where.
    #[must_use]
    pub fn newest(&self) -> Option<(Duration, Vec3)> {
        self.newest_first().next().map(Sample::told)
    }

    /// The last sample at `at` or before; the oldest there is when all are newer.
    #[must_use]
    pub fn last_before(&self, at: Duration) -> Option<(Duration, Vec3)> {
        let at = milliseconds(at);
        let before = self.newest_first().find(|sample| sample.at <= at);
        before.or_else(|| self.newest_first().last()).map(Sample::told)
    }

    /// Whether the body was in the world, where it is now, at `at`: not before its last spawn or teleport.
    #[must_use]
    pub fn reaches(&self, at: Duration) -> bool {
        self.began.is_some_and(|began| milliseconds(at) >= began)
    }

    /// Where the body was at `at`, between two samples on the straight line from one to the other. `now` bounds how far
    /// back is looked: at most [`PositionHistory::REACH`]. `None` while nothing was recorded.
    #[must_use]
    pub fn position_at(&self, at: Duration, now: Duration) -> Option<Vec3> {
        let at = milliseconds(at.max(now.saturating_sub(Self::REACH)));
        let mut later: Option<Sample> = None;
        for sample in self.newest_first() {
            if sample.at <= at {
                return Some(later.map_or(sample.position, |later| between(sample, later, at)));
            }
            later = Some(sample);
        }
        later.map(|oldest| oldest.position)
    }

    fn newest_first(&self) -> impl Iterator<Item = Sample> {
        (1..=self.length)
            .filter_map(|back| self.samples.get((self.next + KEPT - back) % KEPT))
            .copied()
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn between(earlier: Sample, later: Sample, at: u64) -> Vec3 {
    let span = later.at.saturating_sub(earlier.at).max(1);
    let share = at.saturating_sub(earlier.at) as f32 / span as f32;
    let (from, to) = (earlier.position, later.position);
    Vec3 {
        x: (to.x - from.x).mul_add(share, from.x),
        y: (to.y - from.y).mul_add(share, from.y),
        z: (to.z - from.z).mul_add(share, from.z),
    }
}

#[derive(Reflect)]
struct ShownSample {
    at: Duration,
    position: Place,
}

summary!(|history: PositionHistory| {
    began: Option<Duration> = history.began.map(Duration::from_millis),
    newest_first: Vec<ShownSample> = history
        .newest_first()
        .map(Sample::told)
        .map(|(at, position)| ShownSample { at, position: Place(position) })
        .collect(),
});

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    const fn at(x: f32) -> Vec3 {
        Vec3 { x, y: 0.0, z: 0.0 }
    }

    fn x_at(history: &PositionHistory, time: u64, now: u64) -> Option<f32> {
        history.position_at(ms(time), ms(now)).map(|position| position.x)
    }

    #[test]
    fn a_body_was_between_two_samples_on_the_way_from_one_to_the_other() {
        let mut history = PositionHistory::default();
        assert_eq!(x_at(&history, 5, 5), None);
        history.record(ms(1000), at(0.0));
        history.record(ms(1100), at(10.0));
        assert_eq!(x_at(&history, 1050, 1200), Some(5.0));
        assert_eq!(x_at(&history, 1000, 1200), Some(0.0));
        assert_eq!(
            x_at(&history, 1190, 1200),
            Some(10.0),
            "after the last sample it stands there"
        );
        assert_eq!(
            x_at(&history, 900, 1200),
            Some(0.0),
            "before the first sample too"
        );
    }

    #[test]
    fn it_reaches_back_one_second_and_no_further() {
        let mut history = PositionHistory::default();
        for n in 0..50u16 {
            history.record(ms(u64::from(n) * 100), at(f32::from(n)));
        }
        let now = 4_950;
        assert_eq!(x_at(&history, 3_950, now), Some(39.5));
        assert_eq!(
            x_at(&history, 0, now),
            Some(39.5),
            "a client with a round trip of minutes does not shoot minutes ago"
        );
    }

    #[test]
    fn a_second_is_kept_however_often_frames_come() {
        for step in [5u64, 16, 33, 50, 89, 91, 100, 250] {
            let mut history = PositionHistory::default();
            let mut now = 0;
            while now < 5_000 {
                history.record(ms(now), at(now as f32));
                now += step;
            }
            let newest = now - step;
            for back in [0, 300, 700, 1_000] {
                let x = x_at(&history, newest - back, newest).unwrap();
                assert!(
                    (x - (newest - back) as f32).abs() < 1.0,
                    "a frame every {step} ms, {back} ms ago: {x}"
                );
            }
        }
    }

    #[test]
    fn after_a_restart_nothing_from_before_counts() {
        let mut history = PositionHistory::default();
        history.record(ms(1000), at(0.0));
        history.restart();
        history.record(ms(1100), at(500.0));
        assert_eq!(x_at(&history, 1050, 1150), Some(500.0));
    }

    #[test]
    fn time_that_falls_is_taken_as_equal() {
        let mut history = PositionHistory::default();
        history.record(ms(1000), at(0.0));
        history.record(ms(900), at(1.0));
        assert_eq!(x_at(&history, 1000, 1000), Some(1.0));
    }
}
