//! The answers of `players` and `bans`: tables whose texts others wrote, escaped for a terminal.

use std::net::SocketAddr;

use decitick_protocol::escape_for_display;
use serde::Serialize;

use super::{
    super::text_table::{Layout, TextTable, counted, duration},
    AnswerText, SHOWN_CHARACTERS, tenths,
};
use crate::bans::Ban;

/// The answer of `players`, by id.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PlayersAnswer {
    /// One row a session.
    pub players: Vec<PlayerRow>,
}

/// One session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayerRow {
    /// The id that commands take.
    pub id: u16,
    /// Which holder of the id: the player token.
    pub generation: u32,
    /// The name as the client sent it.
    pub name: String,
    /// IP and port.
    pub address: SocketAddr,
    /// `pre_auth`, `pre_spawn` or `spawned`.
    pub phase: &'static str,
    /// Smoothed round trip; none before the first sample.
    pub rtt_ms: Option<u16>,
    /// Share of keepalives that were not answered.
    #[serde(serialize_with = "tenths")]
    pub loss_percent: f64,
    /// Lane events that wait for their acknowledgement or for room.
    pub queue_length: u64,
    /// Since the last packet of the client.
    pub idle_ms: u64,
}

impl AnswerText for PlayersAnswer {
    fn text(&self, layout: Layout) -> String {
        if self.players.is_empty() {
            return "no players".to_owned();
        }
        let mut table = TextTable::default();
        let heads = [
            "id", "gen", "name", "address", "phase", "rtt", "loss", "queue", "idle",
        ];
        table.row(heads.map(str::to_owned));
        for row in &self.players {
            table.row([
                row.id.to_string(),
                row.generation.to_string(),
                escape_for_display(&row.name, SHOWN_CHARACTERS),
                row.address.to_string(),
                row.phase.to_owned(),
                row.rtt_ms
                    .map_or_else(|| "-".to_owned(), |rtt| format!("{rtt} ms")),
                format!("{:.1} %", row.loss_percent),
                row.queue_length.to_string(),
                format!("{} ms", row.idle_ms),
            ]);
        }
        format!(
            "{}\n{}",
            table.text(layout),
            counted(self.players.len() as u64, "player")
        )
    }
}

/// The answer of `bans`, by range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BansAnswer {
    /// One row a ban that holds.
    pub bans: Vec<BanRow>,
}

/// One ban.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BanRow {
    /// The address, or the range with its prefix length.
    pub address: String,
    /// What the banned are told.
    pub reason: String,
    /// The Unix second at which it ends; none: never.
    pub expiry: Option<u64>,
    /// Seconds until then; none: for good.
    pub remaining_s: Option<u64>,
}

impl BanRow {
    /// Of one ban, at this Unix second.
    #[must_use]
    pub fn new(ban: &Ban, now_unix: u64) -> Self {
        Self {
            address: ban.range.to_string(),
            reason: ban.reason.as_str().to_owned(),
            expiry: ban.expiry,
            remaining_s: ban.expiry.map(|expiry| expiry.saturating_sub(now_unix)),
        }
    }
}

impl AnswerText for BansAnswer {
    fn text(&self, layout: Layout) -> String {
        if self.bans.is_empty() {
            return "no bans".to_owned();
        }
        let mut table = TextTable::default();
        table.row(["address", "left", "reason"].map(str::to_owned));
        for row in &self.bans {
            table.row([
                escape_for_display(&row.address, SHOWN_CHARACTERS),
                row.remaining_s.map_or_else(|| "for good".to_owned(), duration),
                escape_for_display(&row.reason, SHOWN_CHARACTERS),
            ]);
        }
        format!(
            "{}\n{}",
            table.text(layout),
            counted(self.bans.len() as u64, "ban")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bans::{BanRange, BanReason};

    fn player(id: u16, name: &str) -> PlayerRow {
        PlayerRow {
            id,
            generation: 41,
            name: name.to_owned(),
            address: "[2001:db8::7]:5000".parse().unwrap(),
            phase: "spawned",
            rtt_ms: (id > 0).then_some(25),
            loss_percent: 2.25,
            queue_length: 3,
            idle_ms: 90,
        }
    }

    #[test]
    fn a_hostile_name_stays_on_its_line_and_reaches_no_terminal() {
        let name = format!("\u{1b}[2J\r\nfake\u{2066}\u{202e}{}", "x".repeat(10_240));
        let text = PlayersAnswer {
            players: vec![player(0, &name), player(1, "Bob")],
        }
        .text(Layout::WIDE);
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(
            text.chars()
                .all(|c| c == '\n' || !decitick_protocol::is_control_or_format(c)),
            "{text:?}"
        );
        assert!(text.len() < 2_000, "{} bytes", text.len());
    }

    #[test]
    fn players_are_rows_with_units_and_a_dash_before_the_first_round_trip() {
        let answer = PlayersAnswer {
            players: vec![player(0, "Ann"), player(999, "Bob")],
        };
        let text = answer.text(Layout::WIDE);
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows[1].split_whitespace().nth(5), Some("-"));
        assert!(
            rows[2].contains("25 ms") && rows[2].contains("[2001:db8::7]:5000"),
            "{text}"
        );
        assert_eq!(rows[3], "2 players");
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(json["players"][0]["rtt_ms"], serde_json::Value::Null);
        assert_eq!(json["players"][1]["address"], "[2001:db8::7]:5000");
        assert_eq!(PlayersAnswer::default().text(Layout::WIDE), "no players");
    }

    #[test]
    fn bans_show_address_time_left_and_reason() {
        let ban = |range: &str, expiry| Ban {
            range: BanRange::parse(range).unwrap(),
            reason: BanReason::parse("cheat").unwrap(),
            expiry,
        };
        let rows = [ban("127.0.0.9", None), ban("2001:db8::/32", Some(1_060))];
        let answer = BansAnswer {
            bans: rows.iter().map(|ban| BanRow::new(ban, 1_000)).collect(),
        };
        let text = answer.text(Layout::WIDE);
        assert!(text.contains("127.0.0.9      for good  cheat"), "{text}");
        assert!(text.contains("2001:db8::/32  1 min     cheat"), "{text}");
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(
            (
                json["bans"][0]["expiry"].as_u64(),
                json["bans"][1]["remaining_s"].as_u64()
            ),
            (None, Some(60))
        );
        assert_eq!(BansAnswer::default().text(Layout::WIDE), "no bans");
    }
}
