//! From errors of the engine to words that help the author of a script: what is wrong, where, and what mends it.
//!
//! Neither paths of Rust nor names of engine internals reach an author.

mod names;
mod parse;
mod problem;

use decitick_components::script::{MAIN_FILE, ScriptFault};
use rhai::{EvalAltResult, Position};

pub(crate) use names::Names;
pub(crate) use parse::parse_fault;
pub(crate) use problem::CallLimits;

use super::fuse::Cut;

/// An error of a call in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Described {
    /// What is wrong, at the innermost place that is known.
    pub(crate) fault: ScriptFault,
    /// The calls that led there, innermost first: `in helper (scripts/race/lib/laps.rhai:12:3)`.
    pub(crate) chain: Vec<String>,
    /// The limit that ended the call, if one did.
    pub(crate) cut: Option<Cut>,
}

/// Describes the error of a call into `resource`. The source of each script is its path from the server directory on,
/// set on its AST; where the engine names none, the resource's main file is meant.
pub(crate) fn describe(
    error: &EvalAltResult,
    resource: &str,
    names: &Names,
    limits: &CallLimits,
) -> Described {
    let main_file = format!("scripts/{resource}/{MAIN_FILE}");
    let (frames, innermost) = unwind(error, &main_file);
    // A native function has no place of its own: what calls it has.
    let place = frames.iter().rev().find(|frame| !frame.position.is_none());
    let fault = ScriptFault {
        file: place.map_or(main_file, |frame| frame.file.clone()),
        line: place.map_or(0, |frame| line(frame.position)),
        column: place.map_or(0, |frame| column(frame.position)),
        problem: problem::problem(innermost, names, limits),
    };
    Described {
        fault,
        chain: frames.iter().rev().filter_map(Frame::in_words).collect(),
        cut: Cut::from_error(innermost),
    }
}

/// A call that was under way, and where it was.
struct Frame {
    /// The function; empty for what the server itself called.
    function: String,
    file: String,
    position: Position,
}

impl Frame {
    fn in_words(&self) -> Option<String> {
        let place = match (line(self.position), column(self.position)) {
            (0, _) => None,
            (line, 0) => Some(format!("{}:{line}", self.file)),
            (line, column) => Some(format!("{}:{line}:{column}", self.file)),
        };
        match (self.function.as_str(), place) {
            ("", None) => None,
            ("", Some(place)) => Some(format!("from {place}")),
            (function, None) => Some(format!("in {}", function_word(function))),
            (function, Some(place)) => Some(format!("in {} ({place})", function_word(function))),
        }
    }
}

/// The frames from the outermost to the innermost, and the error itself.
fn unwind<'e>(error: &'e EvalAltResult, main_file: &str) -> (Vec<Frame>, &'e EvalAltResult) {
    let mut frames = Vec::new();
    let mut function = String::new();
    let mut file = main_file.to_owned();
    let mut error = error;
    loop {
        frames.push(Frame {
            function: function.clone(),
            file: file.clone(),
            position: error.position(),
        });
        let (next, source) = match error {
            EvalAltResult::ErrorInFunctionCall(name, source, inner, _) => {
                function.clone_from(name);
                (inner, source)
            }
            EvalAltResult::ErrorInModule(source, inner, _) => {
                function.clear();
                (inner, source)
            }
            _ => return (frames, error),
        };
        if !source.is_empty() {
            file.clone_from(source);
        }
        error = next;
    }
}

/// What a function is called; closures have no name that anybody wrote.
fn function_word(name: &str) -> &str {
    if name.starts_with(ANONYMOUS) {
        "a closure"
    } else {
        name
    }
}

/// How the engine begins the names of closures.
const ANONYMOUS: &str = "anon$";

fn line(position: Position) -> u32 {
    number(position.line())
}

fn column(position: Position) -> u32 {
    number(position.position())
}

fn number(value: Option<usize>) -> u32 {
    value.map_or(0, |value| u32::try_from(value).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
