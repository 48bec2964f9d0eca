//! Reads a RON text into a typed value and says what is wrong with it in words that mend it.
//!
//! Knows the format and its faults, none of the values that are read.

use std::{
    io::{self, Read},
    path::Path,
};

use ron::error::{Error as RonError, SpannedError};
use serde::de::DeserializeOwned;

use crate::{
    fault::{Fault, Position},
    ron_outline::Node,
};

/// A message lists the words known in its place when there are no more than this.
const LISTED_MAX: usize = 8;

/// Bytes of a file that is still read.
const BYTES_MAX: u64 = 1024 * 1024;

/// The bytes of a regular file. A pipe or a device would never end, or never begin.
fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, nix::libc::O_NONBLOCK);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(io::Error::other("it is larger than 1 MiB"));
    }
    Ok(bytes)
}

/// The text of a file, or nothing when there is no such file.
///
/// # Errors
///
/// A fault when the file is there but cannot be read, or is not UTF-8.
pub(crate) fn read_optional(path: &Path) -> Result<Option<String>, Fault> {
    let bytes = match read_bounded(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(Fault::of_file(
                path,
                format!("cannot be read: {error}; make it a file that this user may read"),
            ));
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let valid = String::from_utf8_lossy(
                error
                    .as_bytes()
                    .get(..error.utf8_error().valid_up_to())
                    .unwrap_or(&[]),
            )
            .into_owned();
            let position = Position::of_offset(&valid, usize::MAX);
            Err(Fault::at(
                path,
                position,
                "is not UTF-8 here; save the file as UTF-8",
            ))
        }
    }
}

/// Reads a whole text as one value.
///
/// # Errors
///
/// What is wrong first, and where.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, RonFault> {
    ron::from_str(text).map_err(|error| RonFault::of_error(text, &error))
}

/// What is wrong with a RON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RonFault {
    /// Where.
    pub position: Position,
    /// What, and the mend.
    pub problem: String,
}

impl RonFault {
    /// The same fault, of a file.
    pub(crate) fn in_file(self, path: &Path) -> Fault {
        Fault::at(path, self.position, self.problem)
    }

    fn of_error(text: &str, error: &SpannedError) -> Self {
        let start = Position {
            line: error.span.start.line,
            column: error.span.start.col,
        };
        let end = Position {
            line: error.span.end.line,
            column: error.span.end.col,
        };
        // A known name of the wrong kind is reported at its first letter, everything else where reading stopped.
        let position = if named_at_start(&error.code) { start } else { end };
        let mut problem = describe(&error.code);
        if !names_its_key(&error.code)
            && let Some(key) = key_at(text, position)
        {
            problem = format!("{key}: {problem}");
        }
        Self { position, problem }
    }
}

fn named_at_start(code: &RonError) -> bool {
    matches!(
        code,
        RonError::NoSuchStructField { .. }
            | RonError::NoSuchEnumVariant { .. }
            | RonError::DuplicateStructField { .. }
    )
}

fn names_its_key(code: &RonError) -> bool {
    matches!(
        code,
        RonError::NoSuchStructField { .. } | RonError::DuplicateStructField { .. }
    )
}

/// The dotted key of the value at a position, when the text can be followed that far.
fn key_at(text: &str, position: Position) -> Option<String> {
    let line_start: usize = text
        .split_inclusive('\n')
        .take(position.line.saturating_sub(1))
        .map(str::len)
        .sum();
    let line = text.get(line_start..)?;
    let column_offset = line
        .char_indices()
        .nth(position.column.saturating_sub(1))
        .map_or(line.len(), |(at, _)| at);
    Node::of_text(text)?.key_at(line_start.saturating_add(column_offset))
}

fn describe(code: &RonError) -> String {
    match code {
        RonError::NoSuchStructField { expected, found, .. } => {
            format!("unknown key {found:?}; {}", nearest(found, expected))
        }
        RonError::NoSuchEnumVariant { expected, found, .. } => {
            format!("unknown word {found:?}; {}", nearest(found, expected))
        }
        RonError::DuplicateStructField { field, .. } => {
            format!("key \"{field}\" is given twice; take one out")
        }
        RonError::MissingStructField { field, .. } => format!("key \"{field}\" is missing; add it"),
        RonError::ExpectedString => "a text in double quotes is wanted here, like \"text\"".to_owned(),
        RonError::ExpectedOption => "None or Some(...) is wanted here".to_owned(),
        RonError::ExpectedBoolean => "true or false is wanted here".to_owned(),
        RonError::ExpectedInteger => "a whole number is wanted here".to_owned(),
        RonError::ExpectedFloat => "a number is wanted here".to_owned(),
        RonError::ExpectedArray => "a list is wanted here, like [a, b]".to_owned(),
        RonError::ExpectedStructLike | RonError::ExpectedNamedStructLike(_) => {
            "keys in parentheses are wanted here, like (key: value)".to_owned()
        }
        RonError::ExpectedComma => "a comma is missing before this".to_owned(),
        RonError::ExpectedStructLikeEnd | RonError::ExpectedOptionEnd => {
            "a closing ) is wanted here, or a comma before the next value".to_owned()
        }
        RonError::ExpectedArrayEnd => {
            "a closing ] is wanted here, or a comma before the next value".to_owned()
        }
        RonError::ExpectedMapColon => "a colon is wanted here, as in key: value".to_owned(),
        RonError::ExpectedIdentifier => "a key is wanted here, as in key: value".to_owned(),
        RonError::ExpectedStringEnd => "the text that starts here has no closing quote".to_owned(),
        RonError::UnclosedBlockComment => "a comment /* is not closed; end it with */".to_owned(),
        RonError::TrailingCharacters => "nothing may follow the closing bracket; take this out".to_owned(),
        RonError::Eof => "the text ends too early; a closing bracket or quote is missing".to_owned(),
        RonError::IntegerOutOfBounds => "the number is too large or too small for this key".to_owned(),
        other => lower_first(&other.to_string()),
    }
}

/// Names the word that was probably meant: one that holds the other, else the one spelled most alike.
fn nearest(found: &str, known: &[&str]) -> String {
    let likeness = |word: &&&str| {
        let holds = found.len() > 2 && (word.contains(found) || found.contains(**word));
        strsim::jaro_winkler(found, word) + f64::from(u8::from(holds))
    };
    match known
        .iter()
        .max_by(|left, right| likeness(left).total_cmp(&likeness(right)))
    {
        Some(closest) if known.len() > LISTED_MAX => format!("the nearest known one is \"{closest}\""),
        Some(closest) => format!(
            "the nearest known one is \"{closest}\" (known here: {})",
            known.join(", ")
        ),
        None => "none is known here".to_owned(),
    }
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(characters).collect()
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[derive(Default)]
    struct Outer {
        name: String,
        count: u8,
        inner: Inner,
        list: Vec<std::net::SocketAddr>,
        option: Option<u8>,
        flag: bool,
        word: Word,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Inner {
        radius: f32,
    }

    #[derive(Debug, Default, Deserialize)]
    enum Word {
        #[default]
        Frozen,
        #[expect(dead_code, reason = "read by serde only")]
        Running(u16),
    }

    fn fault(text: &str) -> String {
        let fault = parse::<Outer>(text).unwrap_err();
        format!(
            "{}:{} {}",
            fault.position.line, fault.position.column, fault.problem
        )
    }

    #[test]
    fn every_common_mistake_gets_its_place_its_key_and_a_mend() {
        for (text, wanted) in [
            (
                "(\n  nmae: \"x\",\n)",
                ["2:3 ", "unknown key \"nmae\"", "nearest known one is \"name\""],
            ),
            (
                "(\n  inner: (radus: 1.0),\n)",
                ["2:11 ", "unknown key \"radus\"", "\"radius\""],
            ),
            (
                "(word: Forzen)",
                ["1:8 ", "unknown word \"Forzen\"", "\"Frozen\""],
            ),
            ("(\n  count: 1,\n  count: 2)", ["3:3 ", "\"count\"", "twice"]),
            ("(count: 300)", ["1:", "count: ", "too large"]),
            ("(count: x)", ["1:9 ", "count: ", "whole number"]),
            ("(name: 5)", ["1:8 ", "name: ", "double quotes"]),
            ("(option: 5)", ["1:10 ", "option: ", "Some(...)"]),
            ("(flag: 1)", ["1:8 ", "flag: ", "true or false"]),
            ("(list: [\"127.0.0.1\"])", ["1:", "list: ", "socket address"]),
            ("(name: \"x\" count: 5)", ["1:12 ", "", "comma"]),
            ("(name: \"x\"", ["1:11 ", "", "missing"]),
            ("(name: \"x\")x", ["1:12 ", "", "take this out"]),
        ] {
            let message = fault(text);
            assert!(message.starts_with(wanted[0]), "{text:?} -> {message}");
            assert!(
                message.contains(wanted[1]) && message.contains(wanted[2]),
                "{text:?} -> {message}"
            );
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }

    #[test]
    fn a_missing_file_is_no_fault_and_an_unreadable_one_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.ron");
        assert_eq!(read_optional(&path), Ok(None));
        std::fs::write(&path, b"(\n  a\xff").unwrap();
        let fault = read_optional(&path).unwrap_err();
        assert!(
            fault
                .to_string()
                .ends_with("x.ron:2:4: is not UTF-8 here; save the file as UTF-8"),
            "{fault}"
        );
        assert!(
            read_optional(directory.path())
                .unwrap_err()
                .to_string()
                .contains("cannot be read")
        );
    }
}
