//! A console line becomes a command with validated arguments, or a typed error; nothing is cut or guessed.
//!
//! Words are separated by blanks. A TEXT or REASON is the rest of the line as it stands, without quotes and
//! without the blanks around it. `--json` as the last word asks for a JSON answer and is no argument.

use super::{
    command::ConsoleCommand,
    commands::{self, shown},
    error::ConsoleError,
    text_table::Layout,
};

/// Bytes that a line may have.
pub const MAX_LINE: usize = 4096;
const JSON_FLAG: &str = "--json";
const WIDTH_FLAG: &str = "--width";
/// Columns that `--width` may name.
const WIDTHS: std::ops::RangeInclusive<u16> = 20..=1_000;

/// A line that was understood.
#[derive(Clone, Debug)]
pub struct ConsoleLine {
    /// What to do.
    pub command: ConsoleCommand,
    /// Whether the answer is to be one JSON value.
    pub json: bool,
    /// How a text is to be laid out.
    pub layout: Layout,
}

/// Reads one line, without its line end.
///
/// # Errors
/// What is wrong with it, with usage and mend. The text of an error never holds a password.
pub fn parse(line: &str) -> Result<ConsoleLine, ConsoleError> {
    if line.len() > MAX_LINE {
        return Err(ConsoleError::LineTooLong { bytes: line.len() });
    }
    let (line, json) = split_json(line);
    let (line, layout) = split_width(line);
    let (word, arguments) = first_word(line);
    if word.is_empty() {
        return Err(ConsoleError::Empty);
    }
    let info = commands::find(word).ok_or_else(|| ConsoleError::UnknownCommand {
        word: shown(word),
        nearest: commands::nearest(word).name,
    })?;
    match (info.parse)(arguments) {
        Ok(command) => Ok(ConsoleLine {
            command,
            json,
            layout,
        }),
        Err(fault) => Err(ConsoleError::Argument { command: info, fault }),
    }
}

/// Whether a line asks for JSON, be it a command or not: so an error can be JSON too.
#[must_use]
pub fn asks_for_json(line: &str) -> bool {
    split_json(line).1
}

/// The first word, and what follows it without the blanks between and after.
pub(super) fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_matches(is_blank);
    match text.split_once(is_blank) {
        Some((word, rest)) => (word, rest.trim_start_matches(is_blank)),
        None => (text, ""),
    }
}

const fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn split_json(line: &str) -> (&str, bool) {
    let line = line.trim_matches(is_blank);
    match line.strip_suffix(JSON_FLAG) {
        Some(rest) if rest.is_empty() || rest.ends_with(is_blank) => (rest.trim_end_matches(is_blank), true),
        _ => (line, false),
    }
}

/// `--width N` at the end, with N from 20 to 1,000. Anything else is left where it is.
fn split_width(line: &str) -> (&str, Layout) {
    let split = || {
        let (rest, number) = line.rsplit_once(is_blank)?;
        let width = number.parse().ok().filter(|width| WIDTHS.contains(width))?;
        let rest = rest.trim_end_matches(is_blank).strip_suffix(WIDTH_FLAG)?;
        (rest.is_empty() || rest.ends_with(is_blank)).then(|| {
            let layout = Layout { width: Some(width) };
            (rest.trim_end_matches(is_blank), layout)
        })
    };
    split().unwrap_or((line, Layout::WIDE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        parse(line).expect_err(line).to_string()
    }

    #[test]
    fn json_is_asked_for_by_the_last_word_only() {
        assert!(parse("status --json").unwrap().json);
        assert!(!parse("say --json is a flag").unwrap().json);
        let line = parse("say hello --json").unwrap();
        assert!(line.json && matches!(line.command, ConsoleCommand::Say(text) if text.as_str() == "hello"));
        assert!(parse("say hello--json").is_ok_and(|line| !line.json));
        assert!(asks_for_json("nonsense --json") && !asks_for_json("nonsense"));
        assert!(matches!(parse("--json"), Err(ConsoleError::Empty)));
    }

    #[test]
    fn a_width_is_named_at_the_end_and_belongs_to_no_text() {
        let width = |line: &str| parse(line).unwrap().layout.width;
        assert_eq!(width("status --width 80"), Some(80));
        assert_eq!(width("status --width 80 --json"), Some(80));
        assert_eq!(
            (width("say --width 80 wide"), width("say a --width 19")),
            (None, None)
        );
        let line = parse("say hello --width 80").unwrap();
        assert!(matches!(line.command, ConsoleCommand::Say(text) if text.as_str() == "hello"));
        assert!(matches!(parse("--width 80"), Err(ConsoleError::Empty)));
    }

    #[test]
    fn unknown_words_are_escaped_capped_and_answered_with_the_nearest_command() {
        assert!(refused("stauts").contains("`status`"));
        assert!(refused("help stauts").contains("`status`"));
        assert!(refused("Kick 5").contains("`kick`"));
        let hostile = refused("\u{1b}[2J\u{202e}x 5");
        assert!(
            !hostile.contains('\u{1b}') && !hostile.contains('\u{202e}'),
            "{hostile:?}"
        );
        assert!(refused(&"y".repeat(4000)).len() < 300);
        assert!(matches!(
            parse(&"y".repeat(4097)),
            Err(ConsoleError::LineTooLong { bytes: 4097 })
        ));
        assert!(matches!(parse(" \t "), Err(ConsoleError::Empty)));
    }
}
