//! What the tick measures script calls with: a stopwatch and the memory count of its thread.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

use decitick_components::script::{MemoryGauge, Stopwatch};

/// A stopwatch that runs.
#[must_use]
pub fn stopwatch() -> Stopwatch {
    Stopwatch {
        exact: since_first_look,
        coarse,
    }
}

/// The count of the allocator of the program. A binary of your own counts with it when its global allocator is
/// `alloc_metrics::MetricAlloc`; without, the gauge stands still and only the other limits bound a call.
#[must_use]
pub fn memory_gauge() -> MemoryGauge {
    MemoryGauge(allocated_by_thread)
}

fn since_first_look() -> Duration {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

/// The kernel's coarse clock: read without a system call, and moved by the timer interrupt, some milliseconds apart.
#[cfg(target_os = "linux")]
fn coarse() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_MONOTONIC_COARSE).map_or_else(|_| since_first_look(), Duration::from)
}

#[cfg(not(target_os = "linux"))]
fn coarse() -> Duration {
    since_first_look()
}

fn allocated_by_thread() -> i64 {
    i64::try_from(alloc_metrics::thread_metrics().allocated_bytes).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stopwatch_never_goes_back() {
        let Stopwatch { exact, coarse } = stopwatch();
        for read in [exact, coarse] {
            let looks: Vec<Duration> = (0..1000).map(|_| read()).collect();
            assert!(looks.is_sorted());
            while read() == looks[0] {
                std::hint::spin_loop();
            }
        }
    }

    #[test]
    fn the_gauge_can_be_read_under_any_allocator() {
        let MemoryGauge(read) = memory_gauge();
        let before = read();
        let kept = vec![0u8; 4096];
        assert!(read() >= before, "{}", kept.len());
    }
}
