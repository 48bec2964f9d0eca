//! A value of any type, as consoles show it: what reflection found, without the type.

use std::time::Duration;

use decitick_protocol::escape_for_display;
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::SHOWN_CHARACTERS;

/// Items of a list that a text shows; JSON has them all.
const LISTED: usize = 20;
/// Characters up to which a value made of several stands on one line.
const ON_ONE_LINE: usize = 60;

/// A value. In JSON, durations are numbers of seconds, entities are texts like `12v3`, a variant with fields is
/// `{"Name": fields}` and one without is its name.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// An option that holds nothing.
    Nothing,
    /// True or false.
    Flag(bool),
    /// A whole number below 0.
    Signed(i64),
    /// A whole number.
    Unsigned(u64),
    /// A number of single precision.
    Single(f32),
    /// A number.
    Double(f64),
    /// A time, or a time since the start of the server.
    Span(Duration),
    /// A text that somebody wrote.
    Text(String),
    /// The name of a variant, an entity, an address: a word without blanks.
    Word(String),
    /// Several of a kind.
    List(Vec<Self>),
    /// Named parts.
    Fields(Vec<(String, Self)>),
    /// A variant with parts.
    Variant(String, Box<Self>),
    /// What was left out, since the answer would have become too large.
    Cut,
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => serializer.serialize_none(),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Signed(number) => serializer.serialize_i64(*number),
            Self::Unsigned(number) => serializer.serialize_u64(*number),
            Self::Single(number) => serializer.serialize_f32(*number),
            Self::Double(number) => serializer.serialize_f64(*number),
            Self::Span(span) => serializer.serialize_f64(span.as_secs_f64()),
            Self::Text(text) | Self::Word(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Fields(fields) => serialize_fields(fields, serializer),
            Self::Variant(name, inside) => serializer.collect_map([(name, inside)]),
            Self::Cut => serializer.serialize_str("(left out)"),
        }
    }
}

/// Named values as one JSON object.
pub(super) fn serialize_fields<S: Serializer>(
    fields: &[(String, Shown)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(fields.len()))?;
    for (name, value) in fields {
        map.serialize_entry(name, value)?;
    }
    map.end()
}

impl Shown {
    /// On one line, however long.
    #[must_use]
    pub fn line(&self) -> String {
        match self {
            Self::Nothing => "none".to_owned(),
            Self::Flag(flag) => flag.to_string(),
            Self::Signed(number) => number.to_string(),
            Self::Unsigned(number) => number.to_string(),
            Self::Single(number) => number.to_string(),
            Self::Double(number) => number.to_string(),
            Self::Span(span) => format!("{} s", (span.as_secs_f64() * 1e6).round() / 1e6),
            Self::Text(text) => format!("\"{}\"", escape_for_display(text, SHOWN_CHARACTERS)),
            Self::Word(word) => escape_for_display(word, SHOWN_CHARACTERS),
            Self::List(items) => {
                let mut lines: Vec<String> = items.iter().take(LISTED).map(Self::line).collect();
                lines.extend(more(items.len()));
                format!("[{}]", lines.join(", "))
            }
            Self::Fields(fields) => {
                let named = |(name, value): &(String, Self)| format!("{}: {}", escaped(name), value.line());
                let mut lines: Vec<String> = fields.iter().take(LISTED).map(named).collect();
                lines.extend(more(fields.len()));
                format!("({})", lines.join(", "))
            }
            Self::Variant(name, inside) => match &**inside {
                Self::List(_) | Self::Fields(_) => format!("{name} {}", inside.line()),
                _ => format!("{name}({})", inside.line()),
            },
            Self::Cut => "(left out)".to_owned(),
        }
    }

    /// Adds rows of a name and a value, further in for what is inside. Parts of `self` stand on lines of their own.
    pub(super) fn add_rows(&self, name: &str, depth: usize, rows: &mut Vec<[String; 2]>) {
        let head = format!("{}{}", "  ".repeat(depth), escaped(name));
        match self {
            Self::Fields(fields) if !fields.is_empty() => {
                rows.push([head, String::new()]);
                add_parts(
                    fields.iter().map(|(name, value)| (name.clone(), value)),
                    depth,
                    rows,
                );
            }
            Self::List(items) if !items.is_empty() && !self.fits_one_line() => {
                rows.push([head, String::new()]);
                let parts = items.iter().enumerate();
                add_parts(
                    parts.map(|(index, value)| (index.to_string(), value)),
                    depth,
                    rows,
                );
            }
            Self::Variant(variant, inside) if !self.fits_one_line() => match &**inside {
                Self::Fields(fields) => {
                    rows.push([head, variant.clone()]);
                    add_parts(
                        fields.iter().map(|(name, value)| (name.clone(), value)),
                        depth,
                        rows,
                    );
                }
                _ => inside.add_rows(&format!("{name} {variant}"), depth, rows),
            },
            _ => rows.push([head, self.line()]),
        }
    }

    fn fits_one_line(&self) -> bool {
        self.line().chars().count() <= ON_ONE_LINE
    }

    /// Every part that has no parts itself, with its path, in order; `false` when there are more than `most`.
    pub fn leaves(&self, most: usize) -> (Vec<(String, Self)>, bool) {
        let mut found = Vec::new();
        let whole = self.collect_leaves(String::new(), most, &mut found);
        (found, whole)
    }

    fn collect_leaves(&self, path: String, most: usize, found: &mut Vec<(String, Self)>) -> bool {
        let below = |name: &str| {
            if path.is_empty() {
                name.to_owned()
            } else {
                format!("{path}.{name}")
            }
        };
        match self {
            Self::Fields(fields) => fields
                .iter()
                .all(|(name, value)| value.collect_leaves(below(name), most, found)),
            Self::List(items) => items
                .iter()
                .enumerate()
                .all(|(index, value)| value.collect_leaves(below(&index.to_string()), most, found)),
            Self::Variant(name, inside) => {
                let variant = Self::Word(name.clone()).collect_leaves(path.clone(), most, found);
                variant && inside.collect_leaves(path, most, found)
            }
            leaf if found.len() < most => {
                found.push((path, leaf.clone()));
                true
            }
            _ => false,
        }
    }
}

fn add_parts<'a>(
    parts: impl ExactSizeIterator<Item = (String, &'a Shown)>,
    depth: usize,
    rows: &mut Vec<[String; 2]>,
) {
    let count = parts.len();
    for (name, value) in parts.take(LISTED) {
        if value.fits_one_line() {
            rows.push([
                format!("{}{}", "  ".repeat(depth + 1), escaped(&name)),
                value.line(),
            ]);
        } else {
            value.add_rows(&name, depth + 1, rows);
        }
    }
    if let Some(more) = more(count) {
        rows.push([format!("{}{more}", "  ".repeat(depth + 1)), String::new()]);
    }
}

fn more(count: usize) -> Option<String> {
    (count > LISTED).then(|| format!("and {} more", count - LISTED))
}

fn escaped(name: &str) -> String {
    escape_for_display(name, SHOWN_CHARACTERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(parts: &[(&str, Shown)]) -> Shown {
        Shown::Fields(
            parts
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
        )
    }

    fn rows(value: &Shown) -> Vec<[String; 2]> {
        let mut rows = Vec::new();
        value.add_rows("It", 0, &mut rows);
        rows
    }

    #[test]
    fn small_parts_stand_on_one_line_and_large_ones_below_each_other() {
        let place = fields(&[("x", Shown::Single(0.1)), ("y", Shown::Unsigned(2))]);
        let list = Shown::List((0..50).map(Shown::Unsigned).collect());
        let value = fields(&[("place", place), ("list", list)]);
        let rows = rows(&value);
        assert_eq!(rows[0], ["It", ""]);
        assert_eq!(rows[1], ["  place", "(x: 0.1, y: 2)"]);
        assert_eq!(rows[2], ["  list", ""]);
        assert_eq!(
            (rows[3].clone(), rows.len()),
            (["    0".to_owned(), "0".to_owned()], 24)
        );
        assert_eq!(rows[23], ["    and 30 more", ""]);
    }

    #[test]
    fn json_has_every_item_seconds_and_the_names_of_variants() {
        let value = fields(&[
            ("list", Shown::List((0..50).map(Shown::Unsigned).collect())),
            ("span", Shown::Span(Duration::from_millis(1_500))),
            ("none", Shown::Nothing),
            (
                "variant",
                Shown::Variant("Orbit".to_owned(), Box::new(Shown::Single(0.1))),
            ),
        ]);
        let json = serde_json::to_value(&value).unwrap();
        assert_eq!(json["list"].as_array().unwrap().len(), 50);
        assert_eq!((json["span"].as_f64(), json["none"].is_null()), (Some(1.5), true));
        assert_eq!(
            serde_json::to_string(&value).unwrap().split("variant\":").nth(1),
            Some("{\"Orbit\":0.1}}")
        );
    }

    #[test]
    fn a_hostile_text_stays_on_its_line() {
        let line = Shown::Text(format!("\u{1b}[2J\r\n\u{202e}{}", "x".repeat(9_999))).line();
        assert!(
            line.len() < 300 && line.chars().all(|c| !decitick_protocol::is_control_or_format(c)),
            "{line}"
        );
    }

    #[test]
    fn leaves_are_named_by_their_paths_and_counted() {
        let value = fields(&[
            ("a", fields(&[("b", Shown::Unsigned(1))])),
            ("c", Shown::List(vec![Shown::Nothing, Shown::Flag(true)])),
        ]);
        let (leaves, whole) = value.leaves(9);
        let paths: Vec<&str> = leaves.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!((paths, whole), (vec!["a.b", "c.0", "c.1"], true));
        assert_eq!((value.leaves(2).0.len(), value.leaves(2).1), (2, false));
    }
}
