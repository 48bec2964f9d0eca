//! A last guard before a terminal: whatever an answer holds, it drives nothing.

use std::borrow::Cow;

use decitick_protocol::is_control_or_format;

/// The text as a terminal may get it: control and format characters other than line feed and tab are shown as
/// `\u{..}`. JSON for a pipe is left alone; this is for terminals only.
#[must_use]
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    let harmful = |character: char| is_control_or_format(character) && !matches!(character, '\n' | '\t');
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
}
