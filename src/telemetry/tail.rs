//! The last lines of the log in memory, for who looks at the server in a browser. What was held back is not in it, as it is
//! not in the log.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use decitick_components::live::{LogLine, RecentLog};
use tracing::{Event, Subscriber};
use tracing_subscriber::{Layer, layer::Context};

use super::line::{Parts, shown_fields, shown_message};

/// Characters of the values of one line.
const FIELDS_MAX: usize = 2_000;

/// The last lines; clones share them.
#[derive(Clone, Debug, Default)]
pub struct LogTail(Arc<Mutex<Lines>>);

#[derive(Debug, Default)]
struct Lines {
    last: VecDeque<LogLine>,
    count: u64,
}

impl LogTail {
    /// The lines after this number, oldest first, at most so many. What is too old is not there any more.
    #[must_use]
    pub fn after(&self, number: u64, most: usize) -> Vec<LogLine> {
        let lines = self.lock();
        let begin = lines.last.partition_point(|line| line.number <= number);
        lines.last.range(begin..).take(most).cloned().collect()
    }

    fn push(&self, line: LogLine) {
        let mut lines = self.lock();
        lines.count += 1;
        let number = lines.count;
        if lines.last.len() >= RecentLog::KEPT {
            lines.last.pop_front();
        }
        lines.last.push_back(LogLine { number, ..line });
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts every event that is logged into the tail.
#[derive(Debug)]
pub(super) struct TailLayer(pub(super) LogTail);

impl<S: Subscriber> Layer<S> for TailLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut parts = Parts::default();
        event.record(&mut parts);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.0.push(LogLine {
            number: 0,
            unix_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            level: event.metadata().level().as_str(),
            target: parts.target(event),
            message: shown_message(&parts),
            fields: shown_fields(&parts).chars().take(FIELDS_MAX).collect(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: &str) -> LogLine {
        LogLine {
            number: 0,
            unix_ms: 0,
            level: "INFO",
            target: String::new(),
            message: message.to_owned(),
            fields: String::new(),
        }
    }

    #[test]
    fn lines_are_numbered_and_only_the_last_are_kept() {
        let tail = LogTail::default();
        assert!(tail.after(0, 10).is_empty());
        for number in 1..=RecentLog::KEPT + 20 {
            tail.push(line(&number.to_string()));
        }
        let oldest = tail.after(0, 2);
        assert_eq!(
            (oldest.len(), oldest[0].number, oldest[0].message.as_str()),
            (2, 21, "21")
        );
        assert_eq!(tail.after(515, 10).len(), 5);
        assert!(tail.after(9_999, 10).is_empty());
    }
}
