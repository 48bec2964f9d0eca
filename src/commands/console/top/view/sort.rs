//! The order of the players in the live view.

use std::cmp::Ordering;

use super::super::figures::Player;

/// By what players are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    #[default]
    Id,
    Rtt,
    Loss,
    Queue,
    Idle,
}

impl Sort {
    /// What `s` chooses next.
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Id => Self::Rtt,
            Self::Rtt => Self::Loss,
            Self::Loss => Self::Queue,
            Self::Queue => Self::Idle,
            Self::Idle => Self::Id,
        }
    }

    /// The head of its column.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Rtt => "rtt",
            Self::Loss => "loss",
            Self::Queue => "queue",
            Self::Idle => "idle",
        }
    }

    /// The worst first, except by id.
    pub(super) fn compare(self, one: &Player, other: &Player) -> Ordering {
        let by = match self {
            Self::Id => Ordering::Equal,
            Self::Rtt => other.rtt_ms.cmp(&one.rtt_ms),
            Self::Loss => other.loss_percent.total_cmp(&one.loss_percent),
            Self::Queue => other.queue_length.cmp(&one.queue_length),
            Self::Idle => other.idle_ms.cmp(&one.idle_ms),
        };
        by.then(one.id.cmp(&other.id))
    }
}
