//! The time of day in the world: what the server last set, and how it runs on from there (docs/protocol.md 2.3).

use std::time::Duration;

use decitick_protocol::RunClock;

/// Minutes of a day.
const DAY: u64 = 24 * 60;

/// The clock as the server told it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WorldClock {
    /// Minute of the day at `since`, with the part of the next one that had passed.
    minute: f64,
    since: Duration,
    /// Real milliseconds for a minute; `None` while it stands still.
    ms_per_minute: Option<u16>,
}

impl WorldClock {
    /// A clock that stands still: it runs when a RunClock says so.
    pub(super) fn new(hours: u8, minutes: u8, now: Duration) -> Self {
        Self {
            minute: minute_of_day(hours, minutes),
            since: now,
            ms_per_minute: None,
        }
    }

    /// Takes a SetTime: the minute begins now.
    pub(super) fn set(&mut self, hours: u8, minutes: u8, now: Duration) {
        self.minute = minute_of_day(hours, minutes);
        self.since = now;
    }

    /// Takes a RunClock: the time goes on from where it is.
    pub(super) fn run(&mut self, run: RunClock, now: Duration) {
        self.minute = self.minute_at(now);
        self.since = now;
        self.ms_per_minute = run.running.then_some(run.ms_per_minute);
    }

    /// Hour (0..=23) and minute (0..=59) at `now`.
    pub(super) fn time(&self, now: Duration) -> (u8, u8) {
        let minute = self.minute_at(now) as u64 % DAY;
        ((minute / 60) as u8, (minute % 60) as u8)
    }

    fn minute_at(&self, now: Duration) -> f64 {
        let passed = self.ms_per_minute.map_or(0.0, |ms_per_minute| {
            now.saturating_sub(self.since).as_secs_f64() * 1000.0 / f64::from(ms_per_minute)
        });
        (self.minute + passed) % DAY as f64
    }
}

fn minute_of_day(hours: u8, minutes: u8) -> f64 {
    f64::from(u16::from(hours) * 60 + u16::from(minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    const RUNNING: RunClock = RunClock {
        running: true,
        ms_per_minute: 1000,
    };

    #[test]
    fn a_clock_stands_still_until_it_is_told_to_run_and_when_it_is_stopped() {
        let mut clock = WorldClock::new(12, 34, ms(0));
        assert_eq!(clock.time(ms(90_000)), (12, 34));
        clock.run(RUNNING, ms(90_000));
        assert_eq!(clock.time(ms(90_999)), (12, 34));
        assert_eq!(clock.time(ms(91_000)), (12, 35));
        assert_eq!(clock.time(ms(90_000 + 3_600_000)), (0, 34), "60 hours later");
        let stopped = RunClock {
            running: false,
            ..RUNNING
        };
        clock.run(stopped, ms(116_000));
        assert_eq!(clock.time(ms(900_000)), (13, 0));
    }

    #[test]
    fn midnight_is_passed_and_a_set_time_begins_its_minute() {
        let mut clock = WorldClock::new(23, 59, ms(0));
        clock.run(RUNNING, ms(0));
        assert_eq!(clock.time(ms(1_000)), (0, 0));
        clock.set(6, 0, ms(1_500));
        assert_eq!(clock.time(ms(2_499)), (6, 0));
        assert_eq!(clock.time(ms(2_500)), (6, 1));
    }

    #[test]
    fn another_speed_keeps_the_part_of_the_minute_that_has_passed() {
        let mut clock = WorldClock::new(8, 0, ms(0));
        clock.run(RUNNING, ms(0));
        let slower = RunClock {
            ms_per_minute: 10_000,
            ..RUNNING
        };
        clock.run(slower, ms(500));
        assert_eq!(clock.time(ms(5_400)), (8, 0));
        assert_eq!(clock.time(ms(5_600)), (8, 1));
    }
}
