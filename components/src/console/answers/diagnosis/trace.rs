//! The parts of the answer of `trace`: the datagrams of one connection in one tick, field by field. What is a secret is
//! here as a length already.

use std::fmt::{self, Write};

use decitick_protocol::escape_for_display;
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::super::{AnswerText, Layout};

/// Characters of one line, what the reader's terminal may be wide. A longer one is cut and says so.
const LINE_CHARACTERS: usize = 240;
/// Characters of a text that are shown.
const TEXT_CHARACTERS: usize = 128;

/// What a connection said and was told in one tick.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceAnswer {
    /// Its player id; `null` in the tick in which its session ended.
    pub player: Option<u16>,
    /// The tick.
    pub tick: u64,
    /// Its datagrams: those that came in, then those that went out, in order.
    pub packets: Vec<TraceRow>,
    /// Datagrams beyond those, which are not shown.
    pub more: u32,
}

/// One datagram.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceRow {
    /// `in` or `out`.
    pub direction: &'static str,
    /// The packet's name in docs/protocol.md, or `unknown`.
    pub packet: &'static str,
    /// Its size.
    pub size_bytes: usize,
    /// Why it was dropped; `null` when it was not, or nobody knows.
    pub dropped: Option<&'static str>,
    /// Its fields as docs/protocol.md names them.
    pub fields: TraceFields,
}

/// Fields in their order. In JSON a map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceFields(pub Vec<(&'static str, TraceValue)>);

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TraceValue {
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f32),
    /// Yes or no.
    Truth(bool),
    /// A text of a client, a gamemode or an operator.
    Text(String),
    /// A place or a velocity.
    Place([f32; 3]),
    /// Several numbers.
    List(Vec<i64>),
    /// Something that is shown as its length.
    Hidden {
        /// Its bytes.
        hidden_bytes: usize,
    },
}

impl TraceValue {
    /// Something of which only the length is shown.
    #[must_use]
    pub const fn hidden(hidden_bytes: usize) -> Self {
        Self::Hidden { hidden_bytes }
    }

    /// A text; it is escaped when it is shown.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

impl Serialize for TraceFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl fmt::Display for TraceValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(value) => value.fmt(f),
            Self::Real(value) => write!(f, "{value:.2}"),
            Self::Truth(value) => f.write_str(if *value { "yes" } else { "no" }),
            Self::Text(text) => write!(f, "\"{}\"", escape_for_display(text, TEXT_CHARACTERS)),
            Self::Place([x, y, z]) => write!(f, "({x:.2}, {y:.2}, {z:.2})"),
            Self::List(values) => {
                f.write_char('[')?;
                for (index, value) in values.iter().enumerate() {
                    let comma = if index == 0 { "" } else { " " };
                    write!(f, "{comma}{value}")?;
                }
                f.write_char(']')
            }
            Self::Hidden { hidden_bytes } => write!(f, "<{hidden_bytes} bytes>"),
        }
    }
}

impl TraceRow {
    fn line(&self, tick: u64) -> String {
        let mut line = format!(
            "{tick}  {:<3}  {:<16}  {:>4} B",
            self.direction, self.packet, self.size_bytes
        );
        if let Some(reason) = self.dropped {
            let _ = write!(line, "  DROPPED {reason}");
        }
        for (index, (name, value)) in self.fields.0.iter().enumerate() {
            let before = if index == 0 { "  " } else { ", " };
            let _ = write!(line, "{before}{name} {value}");
        }
        cut(line)
    }
}

fn cut(mut line: String) -> String {
    if let Some((end, _)) = line.char_indices().nth(LINE_CHARACTERS) {
        line.truncate(end);
        line.push_str("...");
    }
    line
}

impl AnswerText for TraceAnswer {
    fn text(&self, _: Layout) -> String {
        let mut lines: Vec<String> = self.packets.iter().map(|row| row.line(self.tick)).collect();
        if self.more > 0 {
            lines.push(format!("{}  and {} more", self.tick, self.more));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(fields: Vec<(&'static str, TraceValue)>) -> TraceRow {
        TraceRow {
            direction: "in",
            packet: "ChatSend",
            size_bytes: 21,
            dropped: None,
            fields: TraceFields(fields),
        }
    }

    fn answer(packets: Vec<TraceRow>, more: u32) -> TraceAnswer {
        TraceAnswer {
            player: Some(5),
            tick: 1234,
            packets,
            more,
        }
    }

    #[test]
    fn a_line_tells_direction_packet_size_and_fields_and_obeys_no_text() {
        let said = row(vec![
            ("event_id", TraceValue::Whole(7)),
            ("text", TraceValue::text("\u{1b}[31mhi\nthere")),
        ]);
        let late = TraceRow {
            direction: "out",
            dropped: Some("too_fast"),
            ..row(vec![
                ("position", TraceValue::Place([1.0, -2.5, 3.0])),
                ("session_token", TraceValue::hidden(8)),
            ])
        };
        let text = answer(vec![said, late], 34).text(Layout::WIDE);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].starts_with("1234  in   ChatSend            21 B  event_id 7, text \""));
        assert!(!text.contains('\u{1b}'));
        assert!(lines[1].contains("DROPPED too_fast  position (1.00, -2.50, 3.00), session_token <8 bytes>"));
        assert_eq!(lines[2], "1234  and 34 more");
    }

    #[test]
    fn a_line_is_cut_where_it_is_too_long() {
        let long = row((0..100).map(|n| ("number", TraceValue::Whole(n))).collect());
        let text = answer(vec![long], 0).text(Layout::WIDE);
        assert_eq!(text.chars().count(), LINE_CHARACTERS + 3);
        assert!(text.ends_with("..."));
    }

    #[test]
    fn json_names_each_field() {
        let shown = answer(
            vec![row(vec![
                ("text", TraceValue::text("hi")),
                ("data", TraceValue::hidden(9)),
                ("players", TraceValue::List(vec![3, 5])),
            ])],
            0,
        );
        let json = serde_json::to_value(shown).unwrap();
        let fields = &json["packets"][0]["fields"];
        assert_eq!(fields["text"], "hi");
        assert_eq!(fields["data"]["hidden_bytes"], 9);
        assert_eq!(fields["players"][1], 5);
        assert_eq!(json["packets"][0]["dropped"], serde_json::Value::Null);
    }
}
