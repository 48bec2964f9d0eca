//! The answers of `status` and `drops`: how the server is, and where every datagram went.

use std::collections::BTreeMap;

use decitick_protocol::escape_for_display;
use serde::Serialize;

use super::{
    super::text_table::{Layout, TextTable, bytes, counted, duration, milliseconds},
    AnswerText, HitsAnswer, NetsimAnswer, ResourceRow, SHOWN_CHARACTERS, WorldAnswer, tenths,
};
use crate::{
    reasons::DropReason,
    tally::{DropCounts, Tally, TickTimes},
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
    fn most_frequent_first(&self) -> Vec<(&'static str, u64)> {
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

/// The answer of `status`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatusAnswer {
    /// The name of the server.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// Seconds since the start.
    pub uptime_s: u64,
    /// Sessions, those in PreAuth included.
    pub players: u16,
    /// Sessions that are possible.
    pub max_players: u16,
    /// Players who are in the world.
    pub players_spawned: u64,
    /// Time of day, clock and weather.
    pub world: WorldAnswer,
    /// Things there are.
    pub things: u64,
    /// Zones there are.
    pub zones: u64,
    /// The ticks of the last minute.
    pub tick: TickAnswer,
    /// Datagrams received each second, of late.
    #[serde(serialize_with = "tenths")]
    pub packets_in_per_s: f64,
    /// Datagrams sent each second, of late.
    #[serde(serialize_with = "tenths")]
    pub packets_out_per_s: f64,
    /// Bytes received each second, of late.
    #[serde(serialize_with = "tenths")]
    pub bytes_in_per_s: f64,
    /// Bytes sent each second, of late.
    #[serde(serialize_with = "tenths")]
    pub bytes_out_per_s: f64,
    /// What gamemode resources cost.
    pub resources: Vec<ResourceRow>,
    /// Claimed hits since the start.
    pub hits: HitsAnswer,
    /// Discarded datagrams since the start.
    pub drops_by_reason: ReasonCounts,
    /// How bad the network is made; `null` when it is as it is.
    pub netsim: Option<NetsimAnswer>,
}

/// How the ticks of the last minute were.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TickAnswer {
    /// The number of the present tick.
    pub number: u64,
    /// Half of the ticks took at most this long.
    pub p50_ms: f64,
    /// 99 of 100 ticks took at most this long.
    pub p99_ms: f64,
    /// The longest.
    pub max_ms: f64,
    /// Ticks since the start that took longer than a tick lasts.
    pub overruns: u64,
    /// Ticks since the start that were skipped because the server was late.
    pub skipped: u64,
}

impl TickAnswer {
    /// Of tick `number`.
    #[must_use]
    pub fn new(number: u64, times: &TickTimes) -> Self {
        let (p50, p99, max) = times.percentiles();
        Self {
            number,
            p50_ms: milliseconds(p50),
            p99_ms: milliseconds(p99),
            max_ms: milliseconds(max),
            overruns: times.overruns,
            skipped: times.skipped,
        }
    }
}

impl AnswerText for StatusAnswer {
    fn text(&self, layout: Layout) -> String {
        let tick = &self.tick;
        let drops: Vec<String> = self
            .drops_by_reason
            .most_frequent_first()
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let mut table = TextTable::default();
        let mut line = |name: &str, value: String| table.row([name.to_owned(), value]);
        line("name", escape_for_display(&self.name, SHOWN_CHARACTERS));
        line("version", escape_for_display(&self.version, SHOWN_CHARACTERS));
        line("uptime", duration(self.uptime_s));
        line(
            "players",
            format!(
                "{} of {}, {} spawned",
                self.players, self.max_players, self.players_spawned
            ),
        );
        line(
            "world",
            format!(
                "{}; {}, {}",
                self.world.text(layout),
                counted(self.things, "thing"),
                counted(self.zones, "zone")
            ),
        );
        line(
            "tick",
            format!(
                "{}: p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms; {}, {} skipped",
                tick.number,
                tick.p50_ms,
                tick.p99_ms,
                tick.max_ms,
                counted(tick.overruns, "overrun"),
                tick.skipped
            ),
        );
        let rate = |packets: f64, size: f64| format!("{packets:.0} packets/s, {}/s", bytes(size));
        line("in", rate(self.packets_in_per_s, self.bytes_in_per_s));
        line("out", rate(self.packets_out_per_s, self.bytes_out_per_s));
        for (index, row) in self.resources.iter().enumerate() {
            line(if index == 0 { "resources" } else { "" }, row.text());
        }
        line("hits", self.hits.text());
        line(
            "drops",
            if drops.is_empty() {
                "none".to_owned()
            } else {
                drops.join(", ")
            },
        );
        if let Some(netsim) = &self.netsim {
            line("netsim", netsim.text(layout));
        }
        table.text(layout)
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
    use std::time::Duration;

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

    #[test]
    fn status_has_units_in_its_keys_and_in_its_text() {
        let mut times = TickTimes::default();
        times.record(Duration::from_micros(1500));
        times.skipped = 3;
        let answer = StatusAnswer {
            name: "Night City".to_owned(),
            version: "0.1.0".to_owned(),
            uptime_s: 3_725,
            players: 12,
            max_players: 1000,
            players_spawned: 11,
            world: WorldAnswer {
                time: "06:05".to_owned(),
                clock_ms_per_minute: None,
                weather: 8,
            },
            things: 1,
            zones: 0,
            tick: TickAnswer::new(37_250, &times),
            packets_in_per_s: 120.0,
            packets_out_per_s: 1300.4321,
            bytes_in_per_s: 5_520.0,
            bytes_out_per_s: 2e6,
            resources: vec![ResourceRow {
                name: "race".to_owned(),
                description: String::new(),
                state: "running",
                calls: 12,
                errors: 1,
                ms_per_s: 0.25,
                longest_call_ms: 1.5,
                memory_bytes: 2_000_000,
                last_error: None,
            }],
            hits: HitsAnswer {
                counted: 4,
                ..HitsAnswer::default()
            },
            drops_by_reason: ReasonCounts::from(&tally().all_drops()),
            netsim: None,
        };
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(
            (json["tick"]["p99_ms"].as_f64(), json["tick"]["skipped"].as_u64()),
            (Some(1.5), Some(3))
        );
        assert_eq!(
            (
                json["uptime_s"].as_u64(),
                json["drops_by_reason"]["empty"].as_u64()
            ),
            (Some(3725), Some(1))
        );
        assert_eq!(
            (json["world"]["time"].as_str(), json["hits"]["counted"].as_u64()),
            (Some("06:05"), Some(4))
        );
        let text = answer.text(Layout::WIDE);
        for part in [
            "1 h 2 min",
            "12 of 1000, 11 spawned",
            "06:05, the clock is frozen, weather 8; 1 thing, 0 zones",
            "4 counted, 0 refused",
            "race: running, 12 calls, 1 error, 0.25 ms/s, longest 1.50 ms, 2.0 MB",
            "p99 1.50 ms",
            "0 overruns",
            "5.5 kB/s",
            "2.0 MB/s",
            "malformed 2, empty 1",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
