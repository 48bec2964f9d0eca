//! When a frame of somebody out of view is a fault of the server, and when the network explains it (docs/protocol.md
//! 2.6). It knows times only.

use std::time::Duration;

/// How long after a delivered stream-out, despawn or leave a frame is still excused as one that was on its way.
pub(super) const OUT_GRACE: Duration = Duration::from_secs(2);
/// How long frames may come before the stream-in that explains them: it may have been lost and be on its way again.
pub(super) const IN_GRACE: Duration = Duration::from_secs(3);

/// What a frame of somebody out of view says about the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lateness {
    /// Nothing: it was on its way when its subject went out of view.
    Excused,
    /// It was sent after that; unless its subject is coming back, the server should have stopped.
    Late,
    /// The server did not stop.
    Fault,
}

/// The time somebody spends out of view, after having been in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutOfView {
    since: Duration,
    late_since: Option<Duration>,
}

impl OutOfView {
    /// Out of view from `since` on.
    pub(super) const fn new(since: Duration) -> Self {
        Self {
            since,
            late_since: None,
        }
    }

    /// From when on.
    pub(super) const fn since(&self) -> Duration {
        self.since
    }

    /// Judges a frame that arrived at `now`.
    pub(super) fn judge(&mut self, now: Duration) -> Lateness {
        if now < self.since + OUT_GRACE {
            return Lateness::Excused;
        }
        if now < *self.late_since.get_or_insert(now) + IN_GRACE {
            Lateness::Late
        } else {
            Lateness::Fault
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn frames_are_excused_for_2_s_and_a_fault_3_s_after_the_first_late_one() {
        let mut out = OutOfView::new(ms(1_000));
        assert_eq!(out.judge(ms(1_000)), Lateness::Excused);
        assert_eq!(out.judge(ms(2_999)), Lateness::Excused);
        assert_eq!(
            out.judge(ms(60_000)),
            Lateness::Late,
            "a stream-in may be on its way"
        );
        assert_eq!(out.judge(ms(62_999)), Lateness::Late);
        assert_eq!(out.judge(ms(63_000)), Lateness::Fault);
    }
}
