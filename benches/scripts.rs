//! Measures what gamemodes cost: calls into scripts and what scripts call, against a bare Rhai engine that does the same,
//! and ticks with resources against ticks without (docs/benchmarks.md).
//!
//! Everything runs in this process, in the App of the program without any edge: time is virtual, the stopwatch and the
//! memory gauge that bound script calls are the real ones. `cargo bench --bench scripts` runs every row,
//! `-- calls timers` only those.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a measurement prints its table, and stops at the first thing that is not as it must be"
)]

#[path = "rows/scripts/mod.rs"]
mod rows;
#[expect(dead_code, reason = "the other programs of this directory use the rest")]
mod support;

/// Counts what each thread holds, as the program's own does: every allocation of a script pays for it.
#[global_allocator]
static ALLOCATOR: alloc_metrics::MetricAlloc<std::alloc::System> =
    alloc_metrics::MetricAlloc::new(std::alloc::System);

fn main() {
    support::program::run(&rows::ALL);
}
