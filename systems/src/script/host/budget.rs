//! The time that all resources share in a tick.

use std::time::Duration;

/// What is left of the tick. A quarter is kept for what the simulation asks after the scripts had their turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    whole: Duration,
    left: Duration,
}

/// Who asks for time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The scripts' own step of the tick.
    Script,
    /// A question of the simulation, which has to be answered now.
    Question,
    /// What cannot wait and comes seldom: the last words of a resource.
    Farewell,
}

impl Budget {
    pub(super) const fn new(whole: Duration) -> Self {
        Self { whole, left: whole }
    }

    pub(super) const fn refill(&mut self) {
        self.left = self.whole;
    }

    /// How long a call may take now; `None` when there is too little left to begin one.
    pub(super) fn share(&self, turn: Turn) -> Option<Duration> {
        let kept = match turn {
            Turn::Script => self.whole / 4,
            Turn::Question => Duration::ZERO,
            Turn::Farewell => return Some(self.left.max(self.whole / 2)),
        };
        let left = self.left.saturating_sub(kept);
        // A call that is begun with little left is not cut half way: the tick has some room beyond the budget.
        (left >= self.least()).then_some(left.max(self.whole / 2))
    }

    /// Less than this is no use to begin with: a call that is cut has done half of what it should.
    fn least(&self) -> Duration {
        (self.whole / 8).min(Duration::from_millis(5))
    }

    pub(super) fn spend(&mut self, time: Duration) {
        self.left = self.left.saturating_sub(time);
    }

    /// Whether a call that took so long and was cut had a fair share.
    pub(super) fn was_fair(&self, time: Duration) -> bool {
        time >= self.whole / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_step_leaves_a_quarter_for_questions() {
        let mut budget = Budget::new(Duration::from_millis(40));
        assert_eq!(budget.share(Turn::Script), Some(Duration::from_millis(30)));
        budget.spend(Duration::from_millis(27));
        assert_eq!(budget.share(Turn::Script), None);
        assert_eq!(budget.share(Turn::Question), Some(Duration::from_millis(20)));
        budget.spend(Duration::from_secs(1));
        assert_eq!(budget.share(Turn::Question), None);
        assert_eq!(budget.share(Turn::Farewell), Some(Duration::from_millis(20)));
        budget.refill();
        assert_eq!(budget.share(Turn::Question), Some(Duration::from_millis(40)));
    }

    #[test]
    fn a_small_budget_is_still_one() {
        let budget = Budget::new(Duration::from_millis(1));
        assert!(budget.share(Turn::Script).is_some());
    }
}
