//! Times, as distributions in bounded memory. What they are times of is not known here.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Longest time that is told apart, in microseconds; longer ones count as this.
const LONGEST_US: u64 = 60_000_000;

/// Times, as a histogram of microseconds with three significant digits and a fixed size.
#[derive(Debug, Clone)]
pub(super) struct Times(Histogram<u64>);

impl Times {
    #[expect(
        clippy::expect_used,
        reason = "the bounds are constants that the histogram takes"
    )]
    pub(super) fn new() -> Self {
        Self(Histogram::new_with_bounds(1, LONGEST_US, 3).expect("constant bounds"))
    }

    pub(super) fn record(&mut self, time: Duration) {
        self.0.saturating_record(
            u64::try_from(time.as_micros())
                .unwrap_or(LONGEST_US)
                .min(LONGEST_US),
        );
    }

    pub(super) fn count(&self) -> u64 {
        self.0.len()
    }

    /// The time in milliseconds below or at which this share of all times lies; 0 when there is none.
    pub(super) fn quantile_ms(&self, share: f64) -> f64 {
        to_ms(self.0.value_at_quantile(share))
    }

    pub(super) fn max_ms(&self) -> f64 {
        to_ms(self.0.max())
    }
}

fn to_ms(microseconds: u64) -> f64 {
    microseconds as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn near(value: f64, expected: f64) -> bool {
        (value - expected).abs() <= expected * 0.002
    }

    #[test]
    fn quantiles_are_right_to_three_digits_and_the_longest_time_is_bounded() {
        let mut times = Times::new();
        for milliseconds in 1..=1000 {
            times.record(ms(milliseconds));
        }
        assert!(near(times.quantile_ms(0.5), 500.0), "{}", times.quantile_ms(0.5));
        assert!(
            near(times.quantile_ms(0.99), 990.0),
            "{}",
            times.quantile_ms(0.99)
        );
        assert!(near(times.max_ms(), 1000.0));
        times.record(Duration::MAX);
        assert!(near(times.max_ms(), 60_000.0));
        assert_eq!(times.count(), 1001);
    }
}
