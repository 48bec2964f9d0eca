//! One line of an edge from its asking to its last word: parts are told as they come, and in between the edge looks
//! whether its peer is still there and still wants them. It knows no socket and no terminal.

use std::time::{Duration, Instant};

use decitick_components::console::{asks_for_json, goes_on};

use super::{
    framing::Outcome,
    hub::{AskError, ConsoleHandle},
    input::Seen,
};

/// How often the peer is looked at while an answer is awaited.
const LOOK: Duration = Duration::from_millis(50);
/// The last word of an answer that its asker ended with an empty line.
const ENDED: &str = "ended";

/// How an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// With this last word, [`Outcome::Done`] or [`Outcome::Failed`].
    Last(Outcome, String),
    /// With the server; what to say of it.
    Stopped(String),
    /// The peer is gone.
    HungUp,
}

/// Asks a line and tells its answer. An answer that goes on may take its own time; any other has `patience`. `look` is
/// told whether the answer goes on.
///
/// # Errors
/// Those of `tell` and `look`.
pub(super) fn converse<Fault>(
    handle: &ConsoleHandle,
    line: String,
    patience: Duration,
    mut tell: impl FnMut(&str) -> Result<(), Fault>,
    mut look: impl FnMut(bool) -> Result<Seen, Fault>,
) -> Result<Told, Fault> {
    let (json, goes_on) = (asks_for_json(&line), goes_on(&line));
    let failed = |error: AskError| {
        let text = own_words(json, "error", &error.to_string());
        match error {
            AskError::Stopped => Told::Stopped(text),
            _ => Told::Last(Outcome::Failed, text),
        }
    };
    let asking = match handle.begin(line) {
        Ok(asking) => asking,
        Err(error) => return Ok(failed(error)),
    };
    let begun = Instant::now();
    let mut told_something = false;
    loop {
        match asking.next(LOOK.min(patience)) {
            Ok(answer) if answer.more => {
                told_something = true;
                tell(&answer.text)?;
            }
            Ok(answer) => return Ok(Told::Last(Outcome::of(answer.ok), answer.text)),
            Err(AskError::TooLate { .. }) if goes_on || begun.elapsed() < patience => {}
            Err(AskError::TooLate { .. }) => return Ok(failed(AskError::TooLate { patience })),
            // It was answered, as far as there was something to tell.
            Err(AskError::Stopped) if told_something => {
                return Ok(Told::Stopped(own_words(json, "error", "the server stops")));
            }
            Err(error) => return Ok(failed(error)),
        }
        match look(goes_on)? {
            Seen::Nothing => {}
            Seen::EmptyLine => return Ok(Told::Last(Outcome::Done, own_words(json, "message", ENDED))),
            Seen::HungUp => return Ok(Told::HungUp),
        }
    }
}

/// What an edge says itself, in the form that was asked for.
fn own_words(json: bool, key: &str, text: &str) -> String {
    if json {
        serde_json::json!({ key: text }).to_string()
    } else {
        text.to_owned()
    }
}
