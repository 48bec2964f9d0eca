//! What bounds a script call is measured by the shell: time and memory of the thread that ticks.

use std::{fmt, time::Duration};

use bevy_ecs::resource::Resource;

/// A monotonic stopwatch. It bounds script calls and decides nothing else; the time of the game is
/// [`Clock`](crate::clock::Clock). The default stands still, so that a test is bounded by operations alone.
#[derive(Resource, Clone, Copy)]
pub struct Stopwatch {
    /// To a microsecond.
    pub exact: fn() -> Duration,
    /// To some milliseconds, and so cheap that it can be read for every operation of a script. It has a start of its own.
    pub coarse: fn() -> Duration,
}

impl Stopwatch {
    /// The end of a stretch of time that begins now.
    #[must_use]
    pub fn deadline(self, length: Duration) -> Deadline {
        Deadline {
            exact: self.exact,
            at: (self.exact)().saturating_add(length),
        }
    }
}

/// When something that is done in a tick has to stop, and the rest waits for the next one. Under a stopwatch that stands
/// still it never comes.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    exact: fn() -> Duration,
    at: Duration,
}

impl Deadline {
    /// Whether it has come.
    #[must_use]
    pub fn passed(&self) -> bool {
        (self.exact)() >= self.at
    }
}

impl Default for Stopwatch {
    fn default() -> Self {
        Self {
            exact: || Duration::ZERO,
            coarse: || Duration::ZERO,
        }
    }
}

impl fmt::Debug for Stopwatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stopwatch")
    }
}

/// Bytes that the calling thread has allocated and not freed, as a running count that only differences mean
/// something of; it may be negative. The default counts nothing.
#[derive(Resource, Clone, Copy)]
pub struct MemoryGauge(pub fn() -> i64);

impl Default for MemoryGauge {
    fn default() -> Self {
        Self(|| 0)
    }
}

impl fmt::Debug for MemoryGauge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryGauge")
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local!(static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) });

    #[test]
    fn a_deadline_comes_when_its_time_is_over_and_never_where_time_stands_still() {
        let stopwatch = Stopwatch {
            exact: || NOW.get(),
            coarse: || NOW.get(),
        };
        let deadline = stopwatch.deadline(Duration::from_millis(8));
        assert!(!deadline.passed());
        NOW.set(Duration::from_millis(7));
        assert!(!deadline.passed());
        NOW.set(Duration::from_millis(8));
        assert!(deadline.passed());
        assert!(!Stopwatch::default().deadline(Duration::from_millis(8)).passed());
    }
}
