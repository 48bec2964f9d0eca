//! The layer that holds back repeated events, and tells their count later.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use decitick_protocol::escape_for_display;
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::layer::{Context, Layer};

use super::throttle::{LogThrottle, Repeated};

const WINDOW: Duration = Duration::from_secs(10);
/// Different places and reasons remembered at once; a reason may be made of what a peer sent.
const KINDS_MAX: usize = 1_024;
/// Characters kept of a reason or a message.
const TEXT_MAX: usize = 120;
/// The target of summaries, which are never held back themselves.
const TARGET: &str = "decitick::repeats";

/// A place in the code and the reason it gave; for what scripts do, whose it was and where in the script.
type Key = (Option<&'static str>, Option<u32>, [String; 3]);

#[derive(Clone, Debug)]
struct Label {
    level: Level,
    message: String,
    reason: String,
}

pub(super) struct Repeats {
    started: Instant,
    throttle: Mutex<LogThrottle<Key, Label>>,
}

impl Repeats {
    pub(super) fn new(started: Instant) -> Self {
        Self {
            started,
            throttle: Mutex::new(LogThrottle::new(WINDOW, KINDS_MAX)),
        }
    }

    pub(super) fn report(&self, now: Instant) {
        let due = self.throttle().due(now.duration_since(self.started));
        tell(due);
    }

    pub(super) fn report_all(&self) {
        let rest = self.throttle().drain(self.started.elapsed());
        tell(rest);
    }

    /// A panic elsewhere while the lock was held leaves counts that are off by one at worst.
    fn throttle(&self) -> MutexGuard<'_, LogThrottle<Key, Label>> {
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the counts; the lock is not held, since telling comes back to the layer.
///
/// What was shown at DEBUG is told at INFO, so that a filter by target does not lose it.
fn tell(reports: Vec<Repeated<Label>>) {
    for Repeated { label, count, over } in reports {
        let seconds = over.as_secs();
        match label {
            Some(Label {
                level,
                message,
                reason,
            }) if level <= Level::WARN => {
                tracing::warn!(target: TARGET, repeated = count, seconds, reason, "again: {message}");
            }
            Some(Label { message, reason, .. }) => {
                tracing::info!(target: TARGET, repeated = count, seconds, reason, "again: {message}");
            }
            None => {
                tracing::warn!(target: TARGET, repeated = count, "again: various lines, too many to tell apart");
            }
        }
    }
}

pub(super) struct RepeatFilter(pub(super) Arc<Repeats>);

impl<S: Subscriber> Layer<S> for RepeatFilter {
    fn event_enabled(&self, event: &Event<'_>, _context: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        let repeats_matter = *metadata.level() != Level::INFO
            && metadata.target() != TARGET
            && metadata.fields().field("reason").is_some();
        if !repeats_matter {
            return true;
        }
        let mut texts = Texts::default();
        event.record(&mut texts);
        let whose = [texts.reason.clone(), texts.resource, texts.place];
        let key = (metadata.file(), metadata.line(), whose);
        let label = || Label {
            level: *metadata.level(),
            message: texts.message,
            reason: texts.reason,
        };
        self.0.throttle().admit(self.0.started.elapsed(), key, label)
    }
}

/// The fields that make a summary or tell one kind from another.
#[derive(Default)]
struct Texts {
    message: String,
    reason: String,
    resource: String,
    place: String,
}

impl Visit for Texts {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message = escape_for_display(value, TEXT_MAX),
            "reason" => self.reason = escape_for_display(value, TEXT_MAX),
            "resource" => self.resource = escape_for_display(value, TEXT_MAX),
            "place" => self.place = escape_for_display(value, TEXT_MAX),
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if matches!(field.name(), "message" | "reason" | "resource" | "place") {
            self.record_str(field, &format!("{value:?}"));
        }
    }
}
