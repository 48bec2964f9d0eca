//! The letters between console edges and the tick: a line in, an answer out, matched by a number.
//!
//! Plain bounded storage. Who fills it and who drains it is the shell's matter.

use std::{collections::VecDeque, fmt};

use bevy_ecs::resource::Resource;

/// One line that an edge took in.
#[derive(Clone, PartialEq, Eq)]
pub struct ConsoleRequest {
    /// What the answer names.
    pub id: u64,
    /// The line without its line end, at most [`super::MAX_LINE`] bytes. It may hold a password.
    pub line: String,
}

impl fmt::Debug for ConsoleRequest {
    /// Shows the length only: the line may hold a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConsoleRequest({}, {} bytes)", self.id, self.line.len())
    }
}

/// What a line was answered: any number of parts, for commands that tell of things as they happen, and one last word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleAnswer {
    /// The request it answers.
    pub id: u64,
    /// Whether the command did what it says. Parts are always `true`.
    pub ok: bool,
    /// The answer: text for people, or one JSON value when the line ended in `--json`.
    pub text: String,
    /// Whether this is a part, and others or the last word follow.
    pub more: bool,
}

impl ConsoleAnswer {
    /// The whole answer, or its last word.
    #[must_use]
    pub const fn last(id: u64, ok: bool, text: String) -> Self {
        Self {
            id,
            ok,
            text,
            more: false,
        }
    }

    /// A part of an answer that goes on.
    #[must_use]
    pub const fn part(id: u64, text: String) -> Self {
        Self {
            id,
            ok: true,
            text,
            more: true,
        }
    }
}

/// Lines that wait for the tick, oldest first.
#[derive(Resource, Debug, Default)]
pub struct ConsoleInbox(pub VecDeque<ConsoleRequest>);

impl ConsoleInbox {
    /// Lines that may wait. Beyond it an edge answers "busy".
    pub const CAPACITY: usize = 256;

    /// How many more may be added.
    #[must_use]
    pub fn room(&self) -> usize {
        Self::CAPACITY.saturating_sub(self.0.len())
    }
}

/// Requests whose askers left, were cut off or want no more: answers that go on end. Filled by the edge, taken by
/// whoever produces parts.
#[derive(Resource, Debug, Default)]
pub struct ConsoleLeft(pub Vec<u64>);

/// Answers of this tick, in order.
#[derive(Resource, Debug, Default)]
pub struct ConsoleOutbox(pub Vec<ConsoleAnswer>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_in_a_log_shows_nothing_of_its_line() {
        let request = ConsoleRequest {
            id: 7,
            line: "password set hunter2".to_owned(),
        };
        assert_eq!(format!("{request:?}"), "ConsoleRequest(7, 20 bytes)");
    }
}
