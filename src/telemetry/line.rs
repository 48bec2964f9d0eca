//! An event as one line of text or JSON.

use std::fmt;

use decitick_components::settings::LogFormat;
use decitick_protocol::{escape_for_display, is_control_or_format};
use serde_json::{Map, Value};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::Writer,
        time::{FormatTime, SystemTime},
    },
    registry::LookupSpan,
};

/// Characters shown of a message or a value.
const VALUE_MAX: usize = 1_000;

/// Writes every event as one line.
pub(super) struct OneLine {
    pub(super) format: LogFormat,
    pub(super) clock: SystemTime,
}

impl<S, N> FormatEvent<S, N> for OneLine
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        _context: &FmtContext<'_, S, N>,
        writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut parts = Parts::default();
        event.record(&mut parts);
        let level = *event.metadata().level();
        let target = parts.target(event);
        let mut timestamp = String::new();
        self.clock.format_time(&mut Writer::new(&mut timestamp))?;
        match self.format {
            LogFormat::Pretty => write_pretty(writer, &timestamp, level, &target, &parts),
            LogFormat::Compact => write_compact(writer, &timestamp, level, &parts),
            LogFormat::Json => write_json(writer, timestamp, level, target, parts),
        }
    }
}

fn write_pretty(
    mut writer: Writer<'_>,
    timestamp: &str,
    level: Level,
    target: &str,
    parts: &Parts,
) -> fmt::Result {
    let paint = Paint::of(&writer);
    write!(
        writer,
        "{}{timestamp}{} {}{level:>5}{} {}{}:{} {}",
        paint.dim,
        paint.plain,
        paint.level(level),
        paint.plain,
        paint.dim,
        escape_for_display(target, VALUE_MAX),
        paint.plain,
        shown_message(parts),
    )?;
    write_fields(&mut writer, parts, &paint)
}

fn write_compact(mut writer: Writer<'_>, timestamp: &str, level: Level, parts: &Parts) -> fmt::Result {
    let paint = Paint::of(&writer);
    // 2026-01-31T12:34:56.789012Z: the time of day to the second.
    let time = timestamp.get(11..19).unwrap_or(timestamp);
    let plain = paint.plain;
    write!(
        writer,
        "{}{time}{plain} {}{level:>5}{plain} {}",
        paint.dim,
        paint.level(level),
        shown_message(parts)
    )?;
    write_fields(&mut writer, parts, &paint)
}

fn write_fields(writer: &mut Writer<'_>, parts: &Parts, paint: &Paint) -> fmt::Result {
    for (name, value) in &parts.fields {
        write!(
            writer,
            " {}{name}={}{}",
            paint.dim,
            paint.plain,
            shown_value(value)
        )?;
    }
    writer.write_char('\n')
}

/// The values of an event as one text.
pub(super) fn shown_fields(parts: &Parts) -> String {
    let shown = |(name, value): &(&'static str, Value)| format!("{name}={}", shown_value(value));
    parts.fields.iter().map(shown).collect::<Vec<_>>().join(" ")
}

/// The message of an event, escaped and cut.
pub(super) fn shown_message(parts: &Parts) -> String {
    escape_for_display(&parts.message, VALUE_MAX)
}

/// A text that could be taken for something else (it has blanks, quotes or an equals sign, or is empty) stands in quotes.
fn shown_value(value: &Value) -> String {
    let Value::String(text) = value else {
        return value.to_string();
    };
    let bare = !text.is_empty()
        && !text.contains(|character: char| character.is_whitespace() || "\"'\\=".contains(character));
    if bare {
        return escape_for_display(text, VALUE_MAX);
    }
    let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escape_for_display(&quoted, VALUE_MAX))
}

fn write_json(
    mut writer: Writer<'_>,
    timestamp: String,
    level: Level,
    target: String,
    parts: Parts,
) -> fmt::Result {
    let mut fields = Map::new();
    fields.insert("message".to_owned(), Value::String(cut(parts.message)));
    for (name, value) in parts.fields {
        let value = match value {
            Value::String(text) => Value::String(cut(text)),
            other => other,
        };
        fields.insert(name.to_owned(), value);
    }
    let mut line = Map::new();
    line.insert("timestamp".to_owned(), Value::String(timestamp));
    line.insert("level".to_owned(), Value::String(level.to_string()));
    line.insert("target".to_owned(), Value::String(target));
    line.insert("fields".to_owned(), Value::Object(fields));
    // JSON escapes the controls of ASCII; the rest is escaped here. Outside texts there is none of them.
    for character in Value::Object(line).to_string().chars() {
        if is_control_or_format(character) || matches!(character, '\u{2028}' | '\u{2029}') {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        } else {
            writer.write_char(character)?;
        }
    }
    writer.write_char('\n')
}

fn cut(text: String) -> String {
    match text.char_indices().nth(VALUE_MAX) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text,
    }
}

/// What is in an event.
#[derive(Default)]
pub(super) struct Parts {
    message: String,
    fields: Vec<(&'static str, Value)>,
    /// Where an event of the `log` crate says that it comes from.
    log_target: Option<String>,
}

impl Parts {
    /// The module that an event comes from.
    pub(super) fn target(&self, event: &Event<'_>) -> String {
        self.log_target
            .clone()
            .unwrap_or_else(|| event.metadata().target().to_owned())
    }

    fn add(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            ("log.target", Value::String(text)) => self.log_target = Some(text),
            (name, _) if name.starts_with("log.") => {}
            (name, value) => self.fields.push((name, value)),
        }
    }
}

impl Visit for Parts {
    fn record_f64(&mut self, field: &Field, value: f64) {
        // JSON has no NaN and no infinity.
        self.add(
            field,
            serde_json::Number::from_f64(value).map_or_else(|| value.to_string().into(), Value::Number),
        );
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format!("{value:?}").into());
    }
}

/// The colours of a terminal, or nothing.
struct Paint {
    dim: &'static str,
    plain: &'static str,
    colour: bool,
}

impl Paint {
    fn of(writer: &Writer<'_>) -> Self {
        if writer.has_ansi_escapes() {
            Self {
                dim: "\u{1b}[2m",
                plain: "\u{1b}[0m",
                colour: true,
            }
        } else {
            Self {
                dim: "",
                plain: "",
                colour: false,
            }
        }
    }

    fn level(&self, level: Level) -> &'static str {
        match level {
            _ if !self.colour => "",
            Level::ERROR => "\u{1b}[31m",
            Level::WARN => "\u{1b}[33m",
            Level::INFO => "\u{1b}[32m",
            Level::DEBUG => "\u{1b}[34m",
            Level::TRACE => "\u{1b}[35m",
        }
    }
}
