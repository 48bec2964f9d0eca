//! The answer of `limits`: what the limit tables hold, in all or for one address.

use std::{net::IpAddr, time::Duration};

use decitick_protocol::escape_for_display;
use serde::Serialize;

use super::super::text_table::{Layout, TextTable, counted, milliseconds};
use super::{AnswerText, SHOWN_CHARACTERS};
use crate::limits::LimitTable;

/// The answer of `limits`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LimitsAnswer {
    /// One row a table.
    pub tables: Vec<LimitTableRow>,
    /// What they hold for the address that was asked for.
    pub address: Option<AddressLimits>,
}

/// How full a table is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LimitTableRow {
    /// What the table limits.
    pub name: &'static str,
    /// Addresses it holds.
    pub entries: u64,
    /// Addresses it can hold.
    pub capacity: u64,
    /// How often it refused since the start.
    pub refused: u64,
}

impl LimitTableRow {
    /// Of one table.
    #[must_use]
    pub fn new(name: &'static str, table: &LimitTable) -> Self {
        Self {
            name,
            entries: table.len() as u64,
            capacity: table.capacity() as u64,
            refused: table.refused(),
        }
    }
}

/// What the tables hold for one address.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AddressLimits {
    /// The address that was asked for.
    pub ip: IpAddr,
    /// What it counts as: an IPv6 address by its prefix.
    pub counts_as: IpAddr,
    /// Sessions it has.
    pub sessions: u64,
    /// Sessions it may have (`limits.connections_per_ip`); none: as many as there are slots, for it is exempt.
    pub max_sessions: Option<u64>,
    /// What its ban tells, when one is in force.
    pub ban: Option<String>,
    /// One row a table.
    pub tables: Vec<AddressTableRow>,
}

/// What one table holds for an address.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AddressTableRow {
    /// What the table limits.
    pub name: &'static str,
    /// Takes that are left; none: the table does not hold the address, so all are.
    pub left: Option<f64>,
    /// How long until the next take; zero when one is possible now.
    pub wait_ms: f64,
}

impl AddressTableRow {
    /// Of `key`, as [`crate::limits::limit_key`] made it, at this time since the start.
    #[must_use]
    pub fn new(name: &'static str, table: &LimitTable, key: IpAddr, now: Duration) -> Self {
        let left = table.left(key, now);
        let missing = left.map_or(0.0, |left| (1.0 - left).max(0.0));
        let wait = Duration::try_from_secs_f64(missing / table.rule().per_second).unwrap_or_default();
        Self {
            name,
            left: left.map(|left| (left * 1e3).round() / 1e3),
            wait_ms: milliseconds(wait),
        }
    }
}

impl AnswerText for LimitsAnswer {
    fn text(&self, layout: Layout) -> String {
        match &self.address {
            Some(address) => address.text(layout),
            None => self.tables_text(layout),
        }
    }
}

impl LimitsAnswer {
    fn tables_text(&self, layout: Layout) -> String {
        let mut table = TextTable::default();
        table.row(["table", "entries", "capacity", "refused"].map(str::to_owned));
        for row in &self.tables {
            table.row([
                row.name.to_owned(),
                row.entries.to_string(),
                row.capacity.to_string(),
                row.refused.to_string(),
            ]);
        }
        table.text(layout)
    }
}

impl AddressLimits {
    fn text(&self, layout: Layout) -> String {
        let mut table = TextTable::default();
        table.row(["table", "left", "wait"].map(str::to_owned));
        for row in &self.tables {
            table.row([
                row.name.to_owned(),
                row.left
                    .map_or_else(|| "all".to_owned(), |left| format!("{left:.1}")),
                format!("{:.1} s", row.wait_ms / 1e3),
            ]);
        }
        let sessions = match self.max_sessions {
            Some(most) => format!(
                "{} of {most} (limits.connections_per_ip)",
                counted(self.sessions, "session")
            ),
            None => format!(
                "{}, exempt from limits per address (limits.loopback_exempt)",
                counted(self.sessions, "session")
            ),
        };
        let ban = match self.ban.as_deref() {
            None => String::new(),
            Some("") => ", banned".to_owned(),
            Some(reason) => format!(", banned: {}", escape_for_display(reason, SHOWN_CHARACTERS)),
        };
        let counts_as = if self.counts_as == self.ip {
            String::new()
        } else {
            format!(", counts as {}", self.counts_as)
        };
        format!("{}{counts_as}: {sessions}{ban}\n{}", self.ip, table.text(layout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{ADMISSION, limit_key};

    #[test]
    fn an_address_tells_whether_it_is_exempt_and_what_its_ban_says() {
        let ip: IpAddr = "127.0.0.1".parse().unwrap();
        let mut address = AddressLimits {
            ip,
            counts_as: ip,
            sessions: 60,
            max_sessions: None,
            ban: Some("spam".to_owned()),
            tables: Vec::new(),
        };
        let text = address.text(Layout::WIDE);
        assert!(
            text.contains("60 sessions, exempt") && text.contains("banned: spam"),
            "{text}"
        );
        address.ban = None;
        assert!(!address.text(Layout::WIDE).contains("banned"));
    }

    #[test]
    fn an_address_shows_what_is_left_and_how_long_to_wait() {
        let ip: IpAddr = "2001:db8::1".parse().unwrap();
        let key = limit_key(ip, 64);
        let now = Duration::from_secs(3);
        let mut table = LimitTable::new(ADMISSION, 8);
        for _ in 0..6 {
            table.take(key, now);
        }
        let rows = vec![AddressTableRow::new("admission", &table, key, now)];
        let address = AddressLimits {
            ip,
            counts_as: key,
            sessions: 1,
            max_sessions: Some(5),
            ban: None,
            tables: rows,
        };
        let answer = LimitsAnswer {
            tables: vec![LimitTableRow::new("admission", &table)],
            address: Some(address),
        };
        let text = answer.text(Layout::WIDE);
        assert!(
            text.starts_with(
                "2001:db8::1, counts as 2001:db8::: 1 session of 5 (limits.connections_per_ip)\n"
            ),
            "{text}"
        );
        assert!(text.contains("admission  0.0   2.0 s"), "{text}");
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(json["address"]["tables"][0]["wait_ms"].as_f64(), Some(2000.0));
        assert_eq!(json["tables"][0]["refused"].as_u64(), Some(1));
    }

    #[test]
    fn without_an_address_every_table_shows_how_full_it_is() {
        let table = LimitTable::new(ADMISSION, 4096);
        let answer = LimitsAnswer {
            tables: vec![LimitTableRow::new("query", &table)],
            address: None,
        };
        assert_eq!(
            answer.text(Layout::WIDE),
            "table  entries  capacity  refused\nquery  0        4096      0"
        );
        let other = AddressTableRow::new("query", &table, IpAddr::from([192, 0, 2, 7]), Duration::ZERO);
        assert_eq!((other.left, other.wait_ms), (None, 0.0));
    }
}
