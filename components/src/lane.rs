//! The reliable lanes of a connection, as data with their rules (docs/protocol.md 2.1). They know no socket and
//! no clock: time is an argument, and what is to be sent is handed to the caller.

mod inbound;
mod outbound;

pub use inbound::{Arrival, InboundLane};
pub use outbound::{Due, LaneEvent, LaneFull, OutboundLane};

use bevy_ecs::reflect::ReflectComponent;
use bevy_reflect::Reflect;
use std::time::Duration;

use bevy_ecs::component::Component;

use crate::limits::{BucketRule, CHAT, CLIENT_EVENT, HIT_REPORT, TokenBucket, VIEW_ACTION};

/// How much of each kind of lane packet a connection may still send.
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component)]
pub struct LaneBudgets {
    buckets: [Option<TokenBucket>; 4],
}

/// A kind of client lane packet with a budget of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetedKind {
    /// ChatSend.
    Chat,
    /// ClientEvent.
    ClientEvent,
    /// ViewAction.
    ViewAction,
    /// HitReport.
    HitReport,
}

impl LaneBudgets {
    /// Takes one of `kind`; `false` when it came too often.
    pub fn take(&mut self, kind: BudgetedKind, now: Duration) -> bool {
        let rule: &BucketRule = match kind {
            BudgetedKind::Chat => &CHAT,
            BudgetedKind::ClientEvent => &CLIENT_EVENT,
            BudgetedKind::ViewAction => &VIEW_ACTION,
            BudgetedKind::HitReport => &HIT_REPORT,
        };
        self.buckets.get_mut(kind as usize).is_some_and(|slot| {
            slot.get_or_insert_with(|| TokenBucket::full(rule, now))
                .take(rule, now)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_budget_of_its_own() {
        let mut budgets = LaneBudgets::default();
        let taken = (0..20)
            .filter(|_| budgets.take(BudgetedKind::Chat, Duration::ZERO))
            .count();
        assert_eq!(taken, 10);
        assert!(budgets.take(BudgetedKind::HitReport, Duration::ZERO));
        assert!(budgets.take(BudgetedKind::Chat, Duration::from_millis(500)));
    }
}
