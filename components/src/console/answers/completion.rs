//! The answer of `complete`: what may stand next on a line.

use decitick_protocol::escape_for_display;
use serde::{Deserialize, Serialize};

use super::{super::text_table::Layout, AnswerText, SHOWN_CHARACTERS};

/// The answer of `complete`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionAnswer {
    /// Where the word begins that a candidate replaces, in bytes of the line.
    pub start: usize,
    /// What may stand there.
    pub candidates: Vec<Candidate>,
}

/// One word that may stand there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Candidate {
    /// What replaces the word, with a blank behind it when the word is whole.
    pub text: String,
    /// How it is offered: `5 Bob` for the id of a player.
    pub shown: String,
}

impl Candidate {
    /// A whole word that is offered as it is.
    #[must_use]
    pub fn word(word: &str) -> Self {
        Self {
            text: format!("{word} "),
            shown: word.to_owned(),
        }
    }
}

impl AnswerText for CompletionAnswer {
    fn text(&self, _: Layout) -> String {
        let shown: Vec<String> = self
            .candidates
            .iter()
            .map(|candidate| escape_for_display(&candidate.shown, SHOWN_CHARACTERS))
            .collect();
        shown.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_one_a_line_and_drive_no_terminal() {
        let answer = CompletionAnswer {
            start: 5,
            candidates: vec![
                Candidate::word("5"),
                Candidate {
                    text: "6 ".to_owned(),
                    shown: "6 \u{1b}[2J".to_owned(),
                },
            ],
        };
        assert_eq!(answer.text(Layout::WIDE), "5\n6 \\u{1b}[2J");
        assert_eq!(
            serde_json::to_value(&answer).unwrap()["candidates"][0]["text"],
            "5 "
        );
    }
}
