//! The last lines of the log, for who looks at the server.

use std::collections::VecDeque;

use bevy_ecs::resource::Resource;

/// One event of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Rises by one with each line, from 1 at the start of the server.
    pub number: u64,
    /// When it happened, in milliseconds since 1970.
    pub unix_ms: u64,
    /// `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`.
    pub level: &'static str,
    /// The module it comes from.
    pub target: String,
    /// What it says.
    pub message: String,
    /// Its values as the text log writes them: `id=5 name="Bob"`.
    pub fields: String,
}

/// The last lines of the log. The shell fills it while somebody looks, and from what it kept when somebody begins to.
#[derive(Resource, Clone, Debug, Default)]
pub struct RecentLog {
    /// Whether somebody looks.
    pub wanted: bool,
    lines: VecDeque<LogLine>,
}

impl RecentLog {
    /// Lines that are kept.
    pub const KEPT: usize = 500;

    /// Adds a line that is newer than all there are.
    pub fn push(&mut self, line: LogLine) {
        if self.lines.len() >= Self::KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// The number of the newest line; 0 when there is none.
    #[must_use]
    pub fn newest(&self) -> u64 {
        self.lines.back().map_or(0, |line| line.number)
    }

    /// The lines after this number, oldest first.
    pub fn after(&self, number: u64) -> impl Iterator<Item = &LogLine> {
        let begin = self.lines.partition_point(|line| line.number <= number);
        self.lines.range(begin..)
    }

    /// Lines there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_lines_make_room_and_the_rest_is_found_by_number() {
        let mut log = RecentLog::default();
        assert_eq!((log.newest(), log.after(0).count()), (0, 0));
        for number in 1..=600 {
            log.push(LogLine {
                number,
                unix_ms: 0,
                level: "INFO",
                target: String::new(),
                message: String::new(),
                fields: String::new(),
            });
        }
        assert_eq!((log.len(), log.newest()), (RecentLog::KEPT, 600));
        assert_eq!(log.after(0).next().unwrap().number, 101);
        assert_eq!(log.after(598).count(), 2);
        assert_eq!(log.after(9_999).count(), 0);
    }
}
