//! Telling a thing once and counting the rest: a plain value, the time is an argument.

use std::{collections::BTreeMap, time::Duration};

/// Lets the first of many alike through and counts the others until their window is over.
///
/// A window that saw repeats is followed by another one in which everything is counted; one that saw none
/// is closed, and the next of its kind is let through again. Holds at most `capacity` kinds; what comes
/// on top is counted together.
#[derive(Debug)]
pub struct LogThrottle<K, V> {
    window: Duration,
    capacity: usize,
    kinds: BTreeMap<K, Kind<V>>,
    /// Since when how many events of kinds that found no room.
    crowded_out: Option<(Duration, u64)>,
}

#[derive(Debug)]
struct Kind<V> {
    label: V,
    since: Duration,
    repeats: u64,
}

/// How often something came again without being told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated<V> {
    /// What came again; nothing for all that found no room.
    pub label: Option<V>,
    /// How often.
    pub count: u64,
    /// In how much time.
    pub over: Duration,
}

impl<K: Ord, V: Clone> LogThrottle<K, V> {
    /// One that tells a kind at most once in a window.
    pub const fn new(window: Duration, capacity: usize) -> Self {
        Self {
            window,
            capacity,
            kinds: BTreeMap::new(),
            crowded_out: None,
        }
    }

    /// Whether to tell this one. `now` is any monotonic time; `label` is asked for when the kind is new.
    pub fn admit(&mut self, now: Duration, key: K, label: impl FnOnce() -> V) -> bool {
        if let Some(kind) = self.kinds.get_mut(&key) {
            kind.repeats = kind.repeats.saturating_add(1);
            return false;
        }
        if self.kinds.len() >= self.capacity {
            let (since, count) = self.crowded_out.unwrap_or((now, 0));
            self.crowded_out = Some((since, count.saturating_add(1)));
            return false;
        }
        self.kinds.insert(
            key,
            Kind {
                label: label(),
                since: now,
                repeats: 0,
            },
        );
        true
    }

    /// What to tell of the windows that are over, in the order of the keys.
    pub fn due(&mut self, now: Duration) -> Vec<Repeated<V>> {
        let window = self.window;
        self.report(now, |since| now.saturating_sub(since) >= window)
    }

    /// What to tell of all windows, over or not; everything is forgotten.
    pub fn drain(&mut self, now: Duration) -> Vec<Repeated<V>> {
        let reports = self.report(now, |_| true);
        self.kinds.clear();
        reports
    }

    fn report(&mut self, now: Duration, is_over: impl Fn(Duration) -> bool) -> Vec<Repeated<V>> {
        let mut reports = Vec::new();
        self.kinds.retain(|_, kind| {
            if !is_over(kind.since) {
                return true;
            }
            if kind.repeats == 0 {
                return false;
            }
            reports.push(Repeated {
                label: Some(kind.label.clone()),
                count: kind.repeats,
                over: now.saturating_sub(kind.since),
            });
            kind.repeats = 0;
            kind.since = now;
            true
        });
        if let Some((since, count)) = self.crowded_out
            && is_over(since)
        {
            reports.push(Repeated {
                label: None,
                count,
                over: now.saturating_sub(since),
            });
            self.crowded_out = None;
        }
        reports
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(10);

    fn at(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn the_first_is_told_and_the_rest_counted_until_the_window_is_over() {
        let mut throttle = LogThrottle::new(WINDOW, 8);
        assert!(throttle.admit(at(0), "a", || "a"));
        for millisecond in 1..100 {
            assert!(!throttle.admit(at(millisecond), "a", || "a"));
        }
        assert!(throttle.admit(at(50), "b", || "b"), "another kind is told");
        assert_eq!(throttle.due(at(9_999)), []);
        assert_eq!(
            throttle.due(at(10_000)),
            [Repeated {
                label: Some("a"),
                count: 99,
                over: WINDOW
            }]
        );
        assert!(
            !throttle.admit(at(10_001), "a", || "a"),
            "it goes on, so it is counted on"
        );
        assert_eq!(
            throttle.due(at(20_000)),
            [Repeated {
                label: Some("a"),
                count: 1,
                over: WINDOW
            }]
        );
        assert_eq!(throttle.due(at(30_000)), []);
        assert!(
            throttle.admit(at(30_001), "a", || "a"),
            "after a quiet window it is news again"
        );
        assert!(throttle.admit(at(30_001), "b", || "b"));
    }

    #[test]
    fn the_number_of_kinds_is_bounded() {
        let mut throttle = LogThrottle::new(WINDOW, 2);
        let told = (0..1_000)
            .filter(|&kind| throttle.admit(at(0), kind, || kind))
            .count();
        assert_eq!(told, 2);
        assert_eq!(
            throttle.due(WINDOW),
            [Repeated {
                label: None,
                count: 998,
                over: WINDOW
            }]
        );
        assert!(throttle.admit(WINDOW, 5, || 5), "quiet kinds made room");
    }

    #[test]
    fn what_is_left_at_the_end_is_told() {
        let mut throttle = LogThrottle::new(WINDOW, 2);
        throttle.admit(at(0), "a", || "a");
        throttle.admit(at(5), "a", || "a");
        assert_eq!(
            throttle.drain(at(7)),
            [Repeated {
                label: Some("a"),
                count: 1,
                over: at(7)
            }]
        );
        assert_eq!(throttle.drain(at(8)), []);
    }
}
