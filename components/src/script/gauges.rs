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
