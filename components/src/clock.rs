//! The time of a tick, as a value.
//!
//! The runner (or a test) writes [`Clock`] before each tick; everything below the shell reads it and nothing
//! below the shell reads a clock of the operating system.

use bevy_ecs::reflect::ReflectResource;
use bevy_reflect::Reflect;
use std::time::Duration;

use bevy_ecs::resource::Resource;

/// Length of a tick: 100 ms (docs/protocol.md 1.1).
pub const TICK: Duration = Duration::from_millis(100);

/// What time it is in this tick.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Resource)]
pub struct Clock {
    /// Number of this tick: whole ticks since the start. It jumps when ticks were skipped.
    pub tick: u64,
    /// Monotonic time since the server started; timeouts, RTT, cookies and buckets run on it.
    pub since_start: Duration,
    /// Real time since the tick before, at most 1 s: what a simulation step may use.
    pub step: Duration,
    /// Wall-clock time since the Unix epoch; only bans and identity assertions run on it.
    pub unix: Duration,
    /// How long the process stood still before this tick, when it was noticeable (over 1 s); else zero.
    pub stalled: Duration,
}

impl Clock {
    /// The longest step a simulation is told of.
    pub const LONGEST_STEP: Duration = Duration::from_secs(1);

    /// Moves to `now`: sets the tick number, the step and the stall. Time never runs backwards here.
    pub fn advance(&mut self, now: Duration, unix: Duration) {
        let now = now.max(self.since_start);
        let passed = now.saturating_sub(self.since_start);
        self.stalled = if passed > Self::LONGEST_STEP {
            passed
        } else {
            Duration::ZERO
        };
        self.step = passed.min(Self::LONGEST_STEP);
        self.since_start = now;
        self.unix = unix;
        self.tick = u64::try_from(now.as_nanos() / TICK.as_nanos()).unwrap_or(u64::MAX);
    }

    /// Seconds since the Unix epoch, rounded down.
    #[must_use]
    pub const fn unix_seconds(&self) -> u64 {
        self.unix.as_secs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_number_follows_elapsed_time_and_may_jump() {
        let mut clock = Clock::default();
        clock.advance(Duration::from_millis(199), Duration::ZERO);
        assert_eq!(clock.tick, 1);
        clock.advance(Duration::from_millis(20_000), Duration::ZERO);
        assert_eq!((clock.tick, clock.step), (200, Duration::from_secs(1)));
        assert_eq!(clock.stalled, Duration::from_millis(19_801));
    }

    #[test]
    fn time_never_runs_backwards_and_wall_time_may() {
        let mut clock = Clock::default();
        clock.advance(Duration::from_secs(5), Duration::from_secs(1000));
        clock.advance(Duration::from_secs(4), Duration::from_secs(10));
        assert_eq!(clock.since_start, Duration::from_secs(5));
        assert_eq!(clock.unix_seconds(), 10);
    }
}
