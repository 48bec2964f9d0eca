//! Completion of console lines, from the one table of commands. It knows no terminal.

use decitick_components::console::COMMANDS;

/// What may stand at the end of `line`: where the word begins that would be replaced, in bytes, and the words.
#[must_use]
pub fn completions(line: &str) -> (usize, Vec<&'static str>) {
    let start = line.rfind([' ', '\t']).map_or(0, |blank| blank + 1);
    let (before, word) = line.split_at_checked(start).unwrap_or(("", line));
    let before: Vec<&str> = before.split_whitespace().collect();
    let words: Vec<&'static str> = match before.as_slice() {
        [] | ["help"] => COMMANDS.iter().map(|info| info.name).collect(),
        ["password"] if !word.starts_with('-') => vec!["set", "clear"],
        // Never inside a password: what is typed there is nobody's business.
        ["password", "set", ..] => Vec::new(),
        _ if word.is_empty() => Vec::new(),
        _ => vec!["--json"],
    };
    (
        start,
        words
            .into_iter()
            .filter(|candidate| candidate.starts_with(word))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_word_is_completed_to_the_commands() {
        assert_eq!(completions("st"), (0, vec!["status"]));
        assert_eq!(completions("  ban"), (2, vec!["ban", "bans"]));
        assert_eq!(completions("").1.len(), COMMANDS.len());
        assert_eq!(completions("xyz"), (0, vec![]));
        assert_eq!(completions("жук"), (0, vec![]));
    }

    #[test]
    fn arguments_are_completed_where_a_choice_is_known() {
        assert_eq!(completions("help unb"), (5, vec!["unban"]));
        assert_eq!(completions("password "), (9, vec!["set", "clear"]));
        assert_eq!(completions("password c"), (9, vec!["clear"]));
        assert_eq!(completions("status --"), (7, vec!["--json"]));
        assert_eq!(completions("kick 5 "), (7, vec![]));
        assert_eq!(completions("password set --"), (13, vec![]));
    }
}
