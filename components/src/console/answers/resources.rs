//! What `resource list` answers, and its rows in `status`.

use decitick_protocol::escape_for_display;
use serde::Serialize;

use super::super::text_table::{Layout, TextTable, bytes, counted};
use super::AnswerText;

/// Characters of an error that are shown.
const SHOWN_ERROR: usize = 300;

/// The answer of `resource list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ResourcesAnswer {
    /// Those that run in the order in which they were started, then the others.
    pub resources: Vec<ResourceRow>,
}

/// One resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceRow {
    /// Its name.
    pub name: String,
    /// What its manifest says it is.
    pub description: String,
    /// `running`, `paused`, `waiting` or `faulty`.
    pub state: &'static str,
    /// Calls since it was started or reloaded.
    pub calls: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Milliseconds that it took in the last full second.
    pub ms_per_s: f64,
    /// The longest call.
    pub longest_call_ms: f64,
    /// Bytes that its values hold.
    pub memory_bytes: u64,
    /// Its last error, one line.
    pub last_error: Option<String>,
}

impl ResourceRow {
    /// One line for people.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a size for people")]
    pub fn text(&self) -> String {
        format!(
            "{}: {}, {}, {}, {:.2} ms/s, longest {:.2} ms, {}",
            self.name,
            self.state,
            counted(self.calls, "call"),
            counted(self.errors, "error"),
            self.ms_per_s,
            self.longest_call_ms,
            bytes(self.memory_bytes as f64)
        )
    }
}

impl AnswerText for ResourcesAnswer {
    #[expect(clippy::cast_precision_loss, reason = "a size for people")]
    fn text(&self, layout: Layout) -> String {
        if self.resources.is_empty() {
            return "no resources; name some under `resources` in assets/server.ron, or type: resource start NAME"
                .to_owned();
        }
        let mut table = TextTable::default();
        let heads = [
            "name",
            "state",
            "calls",
            "errors",
            "time",
            "longest",
            "memory",
            "what it is",
        ];
        table.row(heads.map(str::to_owned));
        for row in &self.resources {
            table.row([
                row.name.clone(),
                row.state.to_owned(),
                row.calls.to_string(),
                row.errors.to_string(),
                format!("{:.2} ms/s", row.ms_per_s),
                format!("{:.2} ms", row.longest_call_ms),
                bytes(row.memory_bytes as f64),
                escape_for_display(&row.description, 64),
            ]);
        }
        let errors: String = self
            .resources
            .iter()
            .filter_map(|row| Some((row, row.last_error.as_ref()?)))
            .map(|(row, error)| {
                format!(
                    "\nlast error of {}: {}",
                    row.name,
                    escape_for_display(error, SHOWN_ERROR)
                )
            })
            .collect();
        format!("{}{errors}", table.text(layout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_error_stands_below_the_table_on_one_line() {
        let answer = ResourcesAnswer {
            resources: vec![ResourceRow {
                name: "race".to_owned(),
                description: "laps".to_owned(),
                state: "paused",
                calls: 3,
                errors: 1,
                ms_per_s: 1.0,
                longest_call_ms: 40.0,
                memory_bytes: 10,
                last_error: Some("scripts/race/main.rhai:1:2: a\nb".to_owned()),
            }],
        };
        let text = answer.text(Layout::WIDE);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(
            text.contains("last error of race: scripts/race/main.rhai:1:2: a"),
            "{text}"
        );
        assert!(
            ResourcesAnswer::default()
                .text(Layout::WIDE)
                .contains("resource start NAME")
        );
    }
}
