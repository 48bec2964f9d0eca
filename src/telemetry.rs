//! Logs: how an event becomes a line on standard error, and how a flood of events becomes two.
//!
//! - One event is one line. Controls, format characters and bidirectional marks are shown escaped and
//!   long values are cut, so that nothing a player writes moves the cursor or looks like a line of ours.
//! - An event below or above INFO that carries a field `reason` is told once for each place in the
//!   code and reason, then counted, and the count is told every ten seconds ([`Telemetry::report_repeats`]).
//!   INFO is for what happens once in a session's life, and is never held back.
//! - `RUST_LOG` wins over the filter of the configuration. Events of the `log` crate, which bevy uses, arrive too.
//!
//! Spans are not shown: an event says everything in its own fields.

use std::{
    fmt,
    io::{self, IsTerminal},
    sync::Arc,
    time::Instant,
};

use decitick_components::settings::LogFormat;
use tracing::Subscriber;
use tracing_subscriber::{
    EnvFilter,
    fmt::{MakeWriter, time::SystemTime},
    layer::SubscriberExt,
    util::{SubscriberInitExt, TryInitError},
};

use self::{
    background::Background,
    line::OneLine,
    repeats::{RepeatFilter, Repeats},
    tail::TailLayer,
};

mod background;
mod line;
mod repeats;
mod tail;
mod throttle;

pub use tail::LogTail;
pub use throttle::{LogThrottle, Repeated};

/// The running log. Keep it as long as the program runs.
#[derive(Clone)]
pub struct Telemetry {
    repeats: Arc<Repeats>,
    background: Option<Background>,
    tail: Option<LogTail>,
}

impl Telemetry {
    /// Tells how often held-back lines came again, once their ten seconds are over. Call it about once a second.
    pub fn report_repeats(&self) {
        self.repeats.report(Instant::now());
    }

    /// The last lines, when they are kept.
    #[must_use]
    pub const fn tail(&self) -> Option<&LogTail> {
        self.tail.as_ref()
    }

    /// Tells every count that is left. Call it once, before the program ends.
    pub fn finish(&self) {
        self.repeats.report_all();
        if let Some(background) = &self.background {
            background.flush();
        }
    }
}

/// Starts logging to standard error for the whole process. `filter` is used when `RUST_LOG` is not set; with `keep_tail` the
/// last lines are kept in memory too.
///
/// # Errors
///
/// `RUST_LOG` or the filter cannot be understood, or logging was started before. Exit code 2.
pub fn init(format: LogFormat, filter: &str, keep_tail: bool) -> Result<Telemetry, TelemetryError> {
    let filter = match std::env::var("RUST_LOG") {
        Ok(text) if !text.trim().is_empty() => {
            parse_filter(&text).map_err(|problem| TelemetryError::Filter {
                origin: "the environment variable RUST_LOG",
                problem,
            })?
        }
        _ => parse_filter(filter).map_err(|problem| TelemetryError::Filter {
            origin: "log.filter",
            problem,
        })?,
    };
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colour = io::stderr().is_terminal() && !no_colour;
    let background = Background::start(io::stderr()).map_err(TelemetryError::NoThread)?;
    let tail = keep_tail.then(LogTail::default);
    let (subscriber, telemetry) = subscriber(format, filter, colour, background.clone(), tail);
    subscriber.try_init().map_err(TelemetryError::AlreadyStarted)?;
    Ok(Telemetry {
        background: Some(background),
        ..telemetry
    })
}

/// Whether a text is a filter; if not, what is wrong with it.
///
/// # Errors
///
/// The problem and the mend, without the place.
pub fn check_filter(filter: &str) -> Result<(), String> {
    parse_filter(filter).map(drop)
}

/// Why there is no log.
#[derive(Debug)]
pub enum TelemetryError {
    /// A filter cannot be understood.
    Filter {
        /// Where it comes from.
        origin: &'static str,
        /// What is wrong with it and what mends it.
        problem: String,
    },
    /// The system gives no thread that writes the log.
    NoThread(io::Error),
    /// Somebody set up logging before.
    AlreadyStarted(TryInitError),
}

impl fmt::Display for TelemetryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Filter { origin, problem } => write!(formatter, "{origin}: {problem}"),
            Self::NoThread(error) => write!(formatter, "no thread for the log: {error}"),
            Self::AlreadyStarted(error) => {
                write!(formatter, "logging was started before: {error}; start it once")
            }
        }
    }
}

impl std::error::Error for TelemetryError {}

fn parse_filter(filter: &str) -> Result<EnvFilter, String> {
    EnvFilter::builder().parse(filter).map_err(|error| {
        format!(
            "{filter:?} is no log filter: {error}; write one like \"info\" or \"info,decitick_systems=debug\""
        )
    })
}

fn subscriber<W>(
    format: LogFormat,
    filter: EnvFilter,
    colour: bool,
    writer: W,
    tail: Option<LogTail>,
) -> (impl Subscriber + Send + Sync, Telemetry)
where
    W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
{
    let repeats = Arc::new(Repeats::new(Instant::now()));
    let lines = tracing_subscriber::fmt::layer()
        .event_format(OneLine { format, clock: SystemTime })
        .with_ansi(colour && format != LogFormat::Json)
        // A closed standard error must not end the server by a panic in the complaint about it.
        .log_internal_errors(false)
        .with_writer(writer);
    let subscriber = tracing_subscriber::registry()
        .with(filter)
        .with(RepeatFilter(Arc::clone(&repeats)))
        .with(tail.clone().map(TailLayer))
        .with(lines);
    (
        subscriber,
        Telemetry {
            repeats,
            background: None,
            tail,
        },
    )
}

#[cfg(test)]
mod tests {
    use std::sync::{LazyLock, Mutex, PoisonError};

    use tracing::{Dispatch, subscriber::NoSubscriber};

    use super::*;

    #[derive(Clone, Default)]
    struct Captured(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Captured {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A second log beside the captured one: while there is only one, tracing lets the thread that comes first to a
    /// log line decide for all whether anybody wants it, and a test on another thread has no log.
    static SECOND_LOG: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::default()));

    fn logged(format: LogFormat, filter: &str, colour: bool, deed: impl FnOnce(&Telemetry)) -> Vec<String> {
        LazyLock::force(&SECOND_LOG);
        let captured = Captured::default();
        let writer = captured.clone();
        let tail = Some(LogTail::default());
        let writer = move || writer.clone();
        let (subscriber, telemetry) = subscriber(format, parse_filter(filter).unwrap(), colour, writer, tail);
        tracing::subscriber::with_default(subscriber, || deed(&telemetry));
        let bytes = captured.0.lock().unwrap().clone();
        String::from_utf8(bytes)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    const HOSTILE: &str =
        "x\u{1b}[2J\r\n2026-01-01T00:00:00Z ERROR forged\u{2066}\u{202e}\u{2028}\u{7f} reason=kicked";

    #[test]
    fn hostile_text_stays_on_its_line_and_shows_its_controls() {
        for format in [LogFormat::Pretty, LogFormat::Compact] {
            let lines = logged(format, "info", false, |_| {
                tracing::info!(name = HOSTILE, shown = %HOSTILE, "said {HOSTILE}");
            });
            assert_eq!(lines.len(), 1, "{lines:?}");
            assert!(
                !lines[0].chars().any(decitick_protocol::is_control_or_format),
                "{:?}",
                lines[0]
            );
            assert!(
                lines[0].contains("\\u{1b}[2J\\u{d}\\u{a}")
                    && lines[0].contains("\\u{2066}\\u{202e}\\u{2028}\\u{7f}")
            );
            assert!(
                lines[0].contains(" name=\"x"),
                "a value with spaces is quoted, so it forges no field: {}",
                lines[0]
            );
        }
    }

    #[test]
    fn json_lines_stay_valid_and_show_controls_escaped() {
        let lines = logged(LogFormat::Json, "info", true, |_| {
            tracing::info!(
                name = HOSTILE,
                count = 5,
                ratio = 0.5,
                on = true,
                "said {HOSTILE}"
            );
        });
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            !lines[0].chars().any(decitick_protocol::is_control_or_format),
            "{:?}",
            lines[0]
        );
        let value: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(value["level"], "INFO");
        assert_eq!(
            value["fields"]["name"], HOSTILE,
            "a program reads the text as it was"
        );
        assert_eq!(
            (&value["fields"]["count"], &value["fields"]["on"]),
            (&5.into(), &true.into())
        );
        assert!(value["timestamp"].as_str().unwrap().ends_with('Z'));
    }

    #[test]
    fn a_long_value_is_cut() {
        let long = "\u{e000A}".repeat(10 * 1024);
        for format in [LogFormat::Pretty, LogFormat::Compact, LogFormat::Json] {
            let lines = logged(format, "info", false, |_| {
                tracing::info!(name = long, "said {long}");
            });
            assert!(lines[0].chars().count() < 30_000, "{}", lines[0].chars().count());
        }
    }

    #[test]
    fn colour_is_ours_alone() {
        let lines = logged(LogFormat::Pretty, "info", true, |_| {
            tracing::warn!(name = HOSTILE, "said");
        });
        let without_ours = lines[0]
            .replace("\u{1b}[2m", "")
            .replace("\u{1b}[33m", "")
            .replace("\u{1b}[0m", "");
        assert!(
            lines[0].contains('\u{1b}') && !without_ours.contains('\u{1b}'),
            "{:?}",
            lines[0]
        );
    }

    #[test]
    fn a_flood_is_one_line_and_then_a_count() {
        let lines = logged(LogFormat::Compact, "debug", false, |telemetry| {
            for turn in 0..50_000 {
                let reason = if turn % 2 == 0 {
                    "malformed"
                } else {
                    "unknown token"
                };
                tracing::debug!(reason, turn, "datagram dropped");
            }
            tracing::debug!("not of that kind");
            telemetry.finish();
            telemetry.finish();
        });
        assert_eq!(lines.len(), 5, "{lines:#?}");
        assert!(
            lines[0].contains("datagram dropped")
                && lines[0].contains("malformed")
                && lines[0].contains("turn=0")
        );
        assert!(lines[1].contains("unknown token") && lines[1].contains("turn=1"));
        for (line, reason) in [(&lines[3], "malformed"), (&lines[4], "unknown token")] {
            assert!(
                line.contains("repeated=24999") && line.contains(reason) && line.contains("datagram dropped"),
                "{line}"
            );
        }
    }

    #[test]
    fn what_happens_once_in_a_session_is_never_held_back() {
        let lines = logged(LogFormat::Compact, "info", false, |_| {
            for player in 0..50 {
                tracing::info!(player, reason = "kick", "player left");
            }
        });
        assert_eq!(lines.len(), 50);
    }

    #[test]
    fn the_last_lines_are_kept_as_they_were_logged_and_nothing_that_was_held_back() {
        let lines = logged(LogFormat::Compact, "info", false, |telemetry| {
            tracing::debug!("quiet");
            for _ in 0..5 {
                tracing::warn!(reason = "often", id = 5, name = HOSTILE, "said {HOSTILE}");
            }
            let kept = telemetry.tail().unwrap().after(0, 99);
            assert_eq!(kept.len(), 1, "{kept:?}");
            assert_eq!((kept[0].number, kept[0].level), (1, "WARN"));
            assert!(
                kept[0].fields.starts_with("reason=often id=5 name=\"x\\u{1b}"),
                "{:?}",
                kept[0]
            );
            assert!(
                !kept[0]
                    .message
                    .chars()
                    .any(decitick_protocol::is_control_or_format)
            );
            assert!(kept[0].target.contains("telemetry") && kept[0].unix_ms > 1_700_000_000_000);
        });
        assert_eq!(lines.len(), 1);
    }

    #[test]
    fn the_filter_says_what_is_wrong_with_it() {
        assert!(check_filter("info,decitick=debug").is_ok());
        let problem = check_filter("a=b=c").unwrap_err();
        assert!(
            problem.contains("\"a=b=c\"") && problem.contains("\"info\""),
            "{problem}"
        );
        assert!(logged(LogFormat::Pretty, "warn", false, |_| tracing::info!("quiet")).is_empty());
    }
}
