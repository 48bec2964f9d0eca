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
use decitick_systems::console::request_stop;

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
    let elapsed = epoch.elapsed();
    let next = elapsed.as_nanos() / TICK.as_nanos() + 1;
    let deadline = epoch.at(TICK.saturating_mul(u32::try_from(next).unwrap_or(u32::MAX)));
    thread::sleep(deadline.saturating_duration_since(Instant::now()));
}

/// Writes the clock; counts the ticks that were missed since the last one and says so once.
fn begin_tick(app: &mut App, epoch: Epoch, last_tick: u64) -> u64 {
    let unix = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    let mut clock = app.world_mut().resource_mut::<Clock>();
    clock.advance(epoch.elapsed(), unix);
    let number = clock.tick;
    let missed = number.saturating_sub(last_tick + 1);
    if missed > 0 && last_tick > 0 {
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
    app.world_mut().resource_mut::<TickTimes>().record(took);
    if !finished {
        tracing::error!("a tick panicked outside its systems");
        trouble::note();
    }
}
