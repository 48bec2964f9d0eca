//! The answer of `status`: how the server is.

use decitick_protocol::escape_for_display;
use serde::Serialize;

use super::{
    super::text_table::{Layout, TextTable, bytes, counted, duration, milliseconds},
    AnswerText, HitsAnswer, NetsimAnswer, ReasonCounts, ResourceRow, SHOWN_CHARACTERS, WorldAnswer, tenths,
};
use crate::tally::TickTimes;

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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{reasons::DropReason, tally::DropCounts};

    fn some_drops() -> DropCounts {
        let mut drops = DropCounts::default();
        drops.add(DropReason::Empty);
        drops.add(DropReason::Malformed);
        drops.add(DropReason::Malformed);
        drops
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
            drops_by_reason: ReasonCounts::from(&some_drops()),
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
