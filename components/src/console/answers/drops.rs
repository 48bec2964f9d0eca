//! The answer of `drops`: where every datagram went.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    super::text_table::{Layout, TextTable},
    AnswerText,
};
use crate::{
    reasons::DropReason,
    tally::{DropCounts, Tally},
};

/// Counts by [`DropReason`]. In JSON a map that has every reason, zeros too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ReasonCounts(BTreeMap<&'static str, u64>);

impl From<&DropCounts> for ReasonCounts {
    fn from(counts: &DropCounts) -> Self {
        Self(
            DropReason::ALL
                .iter()
                .map(|&reason| (reason.name(), counts.count(reason)))
                .collect(),
        )
    }
}

impl ReasonCounts {
    /// Reasons that occurred, the most frequent first.
    pub(super) fn most_frequent_first(&self) -> Vec<(&'static str, u64)> {
        let mut occurred: Vec<_> = self
            .0
            .iter()
            .filter(|&(_, &count)| count > 0)
            .map(|(&name, &count)| (name, count))
            .collect();
        occurred.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
        occurred
    }
}

/// The answer of `drops`: received = handled + queued + dropped, when balanced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DropsAnswer {
    /// Datagrams read from the sockets, and copies that the simulated network made of them.
    pub received: u64,
    /// Datagrams that had their effect, or were rightly without one.
    pub handled: u64,
    /// Datagrams that wait for the tick, or are held back by the simulated network.
    pub queued: u64,
    /// Datagrams that were discarded.
    pub dropped: u64,
    /// The same by reason.
    pub by_reason: ReasonCounts,
    /// Datagrams that were discarded in the last minute.
    pub dropped_last_minute: u64,
    /// The same by reason.
    pub last_minute_by_reason: ReasonCounts,
    /// Datagrams the kernel discarded before they were received.
    pub kernel_lost: u64,
    /// Of those received, how many are copies that the simulated network made.
    pub simulated_copies: u64,
    /// Of those queued, how many the simulated network holds back.
    pub held_back: u64,
    /// What became of what the server sent.
    pub sent: SentAnswer,
    /// Whether the sum holds.
    pub balanced: bool,
}

/// What became of what the server sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SentAnswer {
    /// Datagrams of ticks that were handed to the kernel.
    pub datagrams: u64,
    /// Datagrams that it refused because the peer is unreachable.
    pub unreachable: u64,
    /// Datagrams that it refused because its send buffer was full.
    pub buffer_full: u64,
    /// Datagrams that it refused for another reason.
    pub other_errors: u64,
    /// Answers of the door, to queries and first hellos, that it refused.
    pub door_errors: u64,
    /// Whole ticks whose datagrams were given up because sending fell behind.
    pub ticks_given_up: u64,
    /// Datagrams that the simulated network lost.
    pub simulated_lost: u64,
}

impl From<&Tally> for SentAnswer {
    fn from(tally: &Tally) -> Self {
        Self {
            datagrams: tally.sent.datagrams,
            unreachable: tally.sent.unreachable,
            buffer_full: tally.sent.buffer_full,
            other_errors: tally.sent.other_errors,
            door_errors: tally.door.send_errors,
            ticks_given_up: tally.sent.outboxes_dropped,
            simulated_lost: tally.sent.simulated_lost,
        }
    }
}

impl DropsAnswer {
    /// Of the counts of now and those of the last minute.
    #[must_use]
    pub fn new(tally: &Tally, last_minute: &DropCounts) -> Self {
        let drops = tally.all_drops();
        Self {
            received: tally.received(),
            handled: tally.door.handled + tally.handled,
            queued: tally.queued(),
            dropped: drops.total(),
            by_reason: ReasonCounts::from(&drops),
            dropped_last_minute: last_minute.total(),
            last_minute_by_reason: ReasonCounts::from(last_minute),
            kernel_lost: tally.door.kernel_lost,
            simulated_copies: tally.duplicated,
            held_back: tally.held_back,
            sent: SentAnswer::from(tally),
            balanced: tally.balanced(),
        }
    }
}

impl AnswerText for DropsAnswer {
    fn text(&self, layout: Layout) -> String {
        let mut table = TextTable::default();
        table.row(["", "since the start", "last minute"].map(str::to_owned));
        let mut line =
            |name: &str, count: u64, recent: String| table.row([name.to_owned(), count.to_string(), recent]);
        let none = String::new;
        line("received", self.received, none());
        line("handled", self.handled, none());
        line("queued", self.queued, none());
        line("dropped", self.dropped, self.dropped_last_minute.to_string());
        for (name, count) in self.by_reason.most_frequent_first() {
            let recent = self.last_minute_by_reason.0.get(name).copied().unwrap_or(0);
            line(&format!("  {name}"), count, recent.to_string());
        }
        line("lost in the kernel", self.kernel_lost, none());
        let sent = &self.sent;
        line("sent", sent.datagrams, none());
        // What is there in trouble only is told of in trouble only.
        for (name, count) in [
            ("  unreachable", sent.unreachable),
            ("  send buffer full", sent.buffer_full),
            ("  other send errors", sent.other_errors),
            ("  send errors at the door", sent.door_errors),
            ("  whole ticks given up", sent.ticks_given_up),
            ("  lost by netsim", sent.simulated_lost),
            ("copies by netsim", self.simulated_copies),
            ("held back by netsim", self.held_back),
        ] {
            if count > 0 {
                line(name, count, none());
            }
        }
        let verdict = if self.balanced {
            "balanced: received = handled + queued + dropped"
        } else {
            "NOT BALANCED: received is not handled + queued + dropped; this is a fault of the server, report it"
        };
        format!("{}\n{verdict}", table.text(layout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally() -> Tally {
        let mut tally = Tally::default();
        tally.door.received = 10;
        tally.door.handled = 2;
        tally.door.dropped.add(DropReason::Empty);
        tally.door.passed = 7;
        tally.taken = 4;
        tally.handled = 2;
        tally.dropped.add(DropReason::Malformed);
        tally.dropped.add(DropReason::Malformed);
        tally.door.kernel_lost = 5;
        tally
    }

    #[test]
    fn drops_add_up_and_list_the_most_frequent_reason_first() {
        let mut recent = DropCounts::default();
        recent.add(DropReason::Malformed);
        let answer = DropsAnswer::new(&tally(), &recent);
        assert_eq!(
            (answer.received, answer.handled, answer.queued, answer.dropped),
            (10, 4, 3, 3)
        );
        let text = answer.text(Layout::WIDE);
        assert!(
            text.find("malformed").unwrap() < text.find("empty").unwrap(),
            "{text}"
        );
        assert!(
            text.ends_with("balanced: received = handled + queued + dropped"),
            "{text}"
        );
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(
            (
                json["by_reason"]["malformed"].as_u64(),
                json["by_reason"]["stopping"].as_u64()
            ),
            (Some(2), Some(0))
        );
        assert_eq!(
            (json["balanced"].as_bool(), json["kernel_lost"].as_u64()),
            (Some(true), Some(5))
        );
        assert!(text.contains("  malformed         2                1"), "{text}");
        assert!(
            !text.contains("netsim") && !text.contains("send errors"),
            "{text}"
        );
        assert_eq!(json["last_minute_by_reason"]["malformed"].as_u64(), Some(1));
    }

    #[test]
    fn what_was_sent_and_refused_is_told() {
        let mut troubled = tally();
        troubled.sent.buffer_full = 3;
        troubled.door.send_errors = 4;
        troubled.sent.simulated_lost = 5;
        let answer = DropsAnswer::new(&troubled, &DropCounts::default());
        let text = answer.text(Layout::WIDE);
        for part in ["send buffer full", "send errors at the door", "lost by netsim"] {
            assert!(text.contains(part), "{text}");
        }
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(json["sent"]["door_errors"].as_u64(), Some(4));
    }

    #[test]
    fn a_ledger_that_does_not_balance_says_so_loudly() {
        let mut unbalanced = tally();
        unbalanced.door.received += 1;
        assert!(
            DropsAnswer::new(&unbalanced, &DropCounts::default())
                .text(Layout::WIDE)
                .contains("NOT BALANCED")
        );
    }
}
