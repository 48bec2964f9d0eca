//! What was dropped of late.

use std::time::Duration;

use bevy_ecs::resource::Resource;

use super::DropCounts;

/// The drops of the last minute, by looking back at the counts of each second. Its storage is made once.
#[derive(Resource, Clone, Debug)]
pub struct RecentDrops {
    seconds: Vec<DropCounts>,
    next: usize,
    now: DropCounts,
    at: Duration,
}

impl Default for RecentDrops {
    fn default() -> Self {
        Self {
            seconds: vec![DropCounts::default(); Self::SECONDS],
            next: 0,
            now: DropCounts::default(),
            at: Duration::ZERO,
        }
    }
}

impl RecentDrops {
    /// Seconds that are looked back on.
    pub const SECONDS: usize = 60;

    /// Takes the counts of now, once a second; what is in between is passed over.
    pub fn observe(&mut self, now: Duration, counts: &[&DropCounts]) {
        if now.saturating_sub(self.at) < Duration::from_secs(1) {
            return;
        }
        self.at = now;
        if let Some(second) = self.seconds.get_mut(self.next) {
            second.clone_from(&self.now);
        }
        self.next = (self.next + 1) % Self::SECONDS;
        self.now = DropCounts::default();
        for counts in counts {
            self.now.merge(counts);
        }
    }

    /// How often each reason occurred in the last minute, up to the second that runs.
    #[must_use]
    pub fn last_minute(&self) -> DropCounts {
        let mut counts = self.now.clone();
        if let Some(before) = self.seconds.get(self.next) {
            for (count, before) in counts.0.iter_mut().zip(before.0) {
                *count = count.saturating_sub(before);
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reasons::DropReason;

    #[test]
    fn drops_of_the_last_minute_forget_what_is_older() {
        let mut recent = RecentDrops::default();
        let mut counts = DropCounts::default();
        for second in 1..=100u64 {
            counts.add(DropReason::Empty);
            recent.observe(Duration::from_secs(second), &[&counts]);
            recent.observe(Duration::from_millis(second * 1000 + 500), &[&counts]);
            let expected = second.min(RecentDrops::SECONDS as u64);
            assert_eq!(
                recent.last_minute().count(DropReason::Empty),
                expected,
                "{second}"
            );
        }
    }
}
