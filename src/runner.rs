//! The loop that makes ticks: tick n starts at the start plus n x 100 ms.
//!
//! What the stock runner of the framework did, and where it is now: it finishes and cleans up the plugins
//! ([`prepare`]), updates the App, and leaves when it should exit. What it did not do: keep to absolute deadlines,
//! so that no tick drifts; skip the ticks it is too late for instead of running them in a burst, count them, and say
//! so once; fill the pool of random bytes; end gracefully on a signal or when our own code panicked.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use bevy_app::{App, PluginsState};
use decitick_components::{
    clock::{Clock, TICK},
    entropy::Entropy,
    server::Lifecycle,
    tally::TickTimes,
};
use decitick_systems::{anatomy::settle_tick, console::request_stop};

use crate::{entropy, socket::Epoch, telemetry::Telemetry, trouble};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// As it was asked to.
    Gracefully,
    /// Because of a fault of our own code, or of the machine; the log says which.
    BadlyAfterFault,
}

/// Finishes what plugins began.
pub fn prepare(app: &mut App) {
    while app.plugins_state() == PluginsState::Adding {
        thread::yield_now();
    }
    app.finish();
    app.cleanup();
}

/// Runs ticks until the server is to stop. `stop` is set by a signal.
#[must_use]
pub fn run(app: &mut App, epoch: Epoch, stop: &Arc<AtomicBool>, telemetry: &Telemetry) -> Ended {
    prepare(app);
    let mut faulty = false;
    let mut last_tick = 0;
    loop {
        wait_for_next_tick(epoch);
        if stop.swap(false, Ordering::Relaxed) {
            tracing::info!("stopping, as the signal says");
            request_stop(app.world_mut());
        }
        let number = begin_tick(app, epoch, last_tick);
        if !refill(app) {
            faulty = true;
            request_stop(app.world_mut());
        }
        step(app);
        if app.world().resource::<Lifecycle>().stopping {
            return if faulty || trouble::happened() {
                Ended::BadlyAfterFault
            } else {
                Ended::Gracefully
            };
        }
        if trouble::happened() {
            // Half-done state is not served: the next tick tells everybody, and the server ends, even if that tick
            // cannot be finished either.
            if faulty {
                return Ended::BadlyAfterFault;
            }
            faulty = true;
            request_stop(app.world_mut());
        }
        if number / 10 != last_tick / 10 {
            telemetry.report_repeats();
        }
        last_tick = number;
    }
}

fn wait_for_next_tick(epoch: Epoch) {
    let deadline = epoch.at(next_deadline(epoch.elapsed()));
    thread::sleep(deadline.saturating_duration_since(Instant::now()));
}

/// When the next tick is due, since the start: a whole number of ticks from it, whatever the ticks before took.
fn next_deadline(elapsed: Duration) -> Duration {
    let next = elapsed.as_nanos() / TICK.as_nanos() + 1;
    TICK.saturating_mul(u32::try_from(next).unwrap_or(u32::MAX))
}

/// Ticks between two that ran. The first tick of a process has none before it.
const fn missed_between(last_tick: u64, number: u64) -> u64 {
    if last_tick == 0 {
        0
    } else {
        number.saturating_sub(last_tick + 1)
    }
}

/// Writes the clock; counts the ticks that were missed since the last one and says so once.
fn begin_tick(app: &mut App, epoch: Epoch, last_tick: u64) -> u64 {
    let unix = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    let mut clock = app.world_mut().resource_mut::<Clock>();
    clock.advance(epoch.elapsed(), unix);
    let number = clock.tick;
    let missed = missed_between(last_tick, number);
    if missed > 0 {
        app.world_mut().resource_mut::<TickTimes>().skipped += missed;
        tracing::warn!(
            ticks = missed,
            reason = "late",
            "the server was late and skipped ticks"
        );
    }
    number
}

fn refill(app: &mut App) -> bool {
    match entropy::refill(&mut app.world_mut().resource_mut::<Entropy>()) {
        Ok(()) => true,
        Err(error) => {
            tracing::error!(%error, "no random bytes");
            false
        }
    }
}

/// One tick, timed.
fn step(app: &mut App) {
    let started = Instant::now();
    let finished = catch_unwind(AssertUnwindSafe(|| app.update())).is_ok();
    let took = started.elapsed();
    settle_tick(app.world_mut(), took);
    if !finished {
        tracing::error!("a tick panicked outside its systems");
        trouble::note();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `count` ticks of which each takes what `work` says and begins a little after its deadline; returns when
    /// each began.
    fn beginnings(count: u32, work: impl Fn(u32) -> Duration) -> Vec<Duration> {
        let wake_up = Duration::from_micros(60);
        let mut now = Duration::ZERO;
        (0..count)
            .map(|index| {
                let begun = next_deadline(now) + wake_up;
                now = begun + work(index);
                begun
            })
            .collect()
    }

    #[test]
    fn six_thousand_ticks_do_not_drift_whatever_they_take() {
        for work in [0, 30, 99] {
            let begun = beginnings(6000, |_| Duration::from_millis(work));
            for (number, at) in (1..).zip(begun) {
                assert_eq!(at, TICK * number + Duration::from_micros(60), "{work} ms of work");
            }
        }
    }

    #[test]
    fn after_a_stall_the_next_tick_is_on_time_and_the_missed_ones_are_counted_and_not_made_up_for() {
        let stall = Duration::from_millis(1030);
        let begun = beginnings(20, |index| if index == 9 { stall } else { Duration::ZERO });
        let numbers: Vec<u64> = begun
            .iter()
            .map(|at| u64::try_from(at.as_millis() / TICK.as_millis()).unwrap())
            .collect();
        assert_eq!(numbers[9..12], [10, 21, 22]);
        let missed: u64 = numbers
            .windows(2)
            .map(|pair| missed_between(pair[0], pair[1]))
            .sum();
        assert_eq!(missed, 10);
    }
}
