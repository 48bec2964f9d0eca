//! How answers look on a terminal: within its width, in a few colours, and with a last guard: whatever an answer
//! holds, it drives nothing. A pipe gets answers as they are.
//!
//! Colours follow from the command that was asked and from whether it was done, never from what an answer says: a
//! player's text can not ask for them.

use std::{borrow::Cow, env, io::IsTerminal};

use decitick_components::console::{ConsoleCommand, MAX_LINE, ResourceAction, asks_for_json, parse, wrapped};
use decitick_protocol::is_control_or_format;

/// Columns that answers are laid out for.
const COLUMNS: std::ops::RangeInclusive<u16> = 20..=1_000;
const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const PLAIN: &str = "\x1b[0m";

/// Where answers are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Whether it is a terminal.
    pub terminal: bool,
    /// Whether it shows colours.
    pub colours: bool,
    /// Its columns, when they are known.
    pub columns: Option<u16>,
}

impl Look {
    /// A pipe or a file.
    pub const PIPE: Self = Self {
        terminal: false,
        colours: false,
        columns: None,
    };

    /// Of a stream of this program, as it is now: a terminal may change its size.
    #[must_use]
    pub fn of(stream: &impl IsTerminal) -> Self {
        if !stream.is_terminal() {
            return Self::PIPE;
        }
        // https://no-color.org
        let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_none_or(|kind| kind == "dumb");
        let columns = crossterm::terminal::size()
            .ok()
            .map(|(columns, _)| columns)
            .filter(|&columns| columns > 0)
            .map(|columns| columns.clamp(*COLUMNS.start(), *COLUMNS.end()));
        Self {
            terminal: true,
            colours: !unwanted,
            columns,
        }
    }

    /// The line that is sent for what was typed: on a terminal it names the width for which the answer is to be laid
    /// out.
    #[must_use]
    pub fn asked<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let Some(columns) = self.columns else {
            return line.into();
        };
        let asked = format!("{line} --width {columns}");
        let fits = asked.len() <= MAX_LINE && !line.trim().is_empty() && !asks_for_json(line);
        if fits { asked.into() } else { line.into() }
    }

    /// An answer, or a part of one, to what was typed, as it is to be shown; without a line end at the last.
    #[must_use]
    pub fn shown<'a>(&self, line: &str, done: bool, text: &'a str) -> Cow<'a, str> {
        if !self.terminal {
            return text.into();
        }
        let safe = for_terminal(text);
        if asks_for_json(line) {
            return safe;
        }
        let laid_out = match self.columns {
            Some(columns) => Cow::Owned(wrapped(&safe, columns)),
            None => safe,
        };
        if !self.colours {
            return laid_out;
        }
        if !done {
            return format!("{RED}{laid_out}{PLAIN}").into();
        }
        match laid_out.split_once('\n') {
            Some((head, rows)) if begins_with_heads(line) => format!("{BOLD}{head}{PLAIN}\n{rows}").into(),
            _ => laid_out,
        }
    }
}

/// Whether the answer to a line is a table whose first line names its columns.
fn begins_with_heads(line: &str) -> bool {
    parse(line).is_ok_and(|line| {
        matches!(
            line.command,
            ConsoleCommand::Players
                | ConsoleCommand::Bans
                | ConsoleCommand::Limits { ip: None }
                | ConsoleCommand::Resource(ResourceAction::List)
                | ConsoleCommand::Entities(_)
                | ConsoleCommand::Resources { name: None }
                | ConsoleCommand::Systems
        )
    })
}

/// The text as a terminal may get it: control and format characters other than line feed and tab are shown as
/// `\u{..}`. JSON for a pipe is left alone; this is for terminals only.
#[must_use]
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    let harmful = |character: char| {
        let breaks = matches!(character, '\u{2028}' | '\u{2029}');
        breaks || is_control_or_format(character) && !matches!(character, '\n' | '\t')
    };
    if !text.chars().any(harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if harmful(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_direction_marks_are_shown_and_not_obeyed() {
        assert_eq!(for_terminal("a\n\tжук"), "a\n\tжук");
        assert_eq!(for_terminal("a\u{1b}[2J\r\u{2066}"), "a\\u{1b}[2J\\u{d}\\u{2066}");
    }

    const TERMINAL: Look = Look {
        terminal: true,
        colours: true,
        columns: Some(30),
    };

    #[test]
    fn a_terminal_names_its_width_and_a_pipe_and_json_do_not() {
        assert_eq!(TERMINAL.asked("status"), "status --width 30");
        assert_eq!(TERMINAL.asked("status --json"), "status --json");
        assert_eq!(TERMINAL.asked("  "), "  ");
        assert_eq!(Look::PIPE.asked("status"), "status");
        let long = "x".repeat(MAX_LINE - 5);
        assert_eq!(TERMINAL.asked(&long), long);
    }

    #[test]
    fn errors_are_red_heads_are_bold_and_a_text_asks_for_neither() {
        let shown = |line, done, text| TERMINAL.shown(line, done, text).into_owned();
        assert_eq!(shown("kick 5", false, "nobody"), "\x1b[31mnobody\x1b[0m");
        assert_eq!(
            shown("players", true, "id  name\n1   \x1b[31mBob"),
            "\x1b[1mid  name\x1b[0m\n1   \\u{1b}[31mBob"
        );
        assert_eq!(shown("status", true, "a\nb"), "a\nb");
        assert_eq!(shown("players --json", true, "{}"), "{}");
        assert_eq!(
            shown("say x", true, "one two three four five six seven"),
            "one two three four five six\n  seven"
        );
        let plain = Look {
            colours: false,
            ..TERMINAL
        };
        assert_eq!(plain.shown("kick 5", false, "nobody"), "nobody");
        assert_eq!(Look::PIPE.shown("kick 5", false, "a\x1b"), "a\x1b");
    }
}
