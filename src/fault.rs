//! What is wrong in a file or an option that an operator wrote: where, what, and how to mend it.
//!
//! Every reader of configuration reports in these types, so that `serve` and `check` print one form:
//! `FILE:LINE:COLUMN: problem`, one line a fault.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// A place in a text, both counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// Where a byte offset lies in a text; past its end it is the end.
    pub fn of_offset(text: &str, offset: usize) -> Self {
        let mut position = Self { line: 1, column: 1 };
        for (_, character) in text.char_indices().take_while(|&(at, _)| at < offset) {
            if character == '\n' {
                position = Self {
                    line: position.line.saturating_add(1),
                    column: 1,
                };
            } else {
                position.column = position.column.saturating_add(1);
            }
        }
        position
    }
}

/// Where a fault is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file or directory, and the place in it when there is one.
    File {
        /// Its path.
        path: PathBuf,
        /// The place in its text.
        position: Option<Position>,
    },
    /// A command line option, without its value: that may be a secret.
    Option(String),
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File {
                path,
                position: Some(position),
            } => {
                write!(
                    formatter,
                    "{}:{}:{}",
                    path.display(),
                    position.line,
                    position.column
                )
            }
            Self::File { path, position: None } => write!(formatter, "{}", path.display()),
            Self::Option(option) => formatter.write_str(option),
        }
    }
}

/// One fault: `PLACE: problem`, on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it is.
    pub place: Place,
    /// What is wrong and what mends it.
    pub problem: String,
}

impl Fault {
    /// A fault of a whole file or directory.
    pub fn of_file(path: &Path, problem: impl Into<String>) -> Self {
        Self {
            place: Place::File {
                path: path.to_owned(),
                position: None,
            },
            problem: problem.into(),
        }
    }

    /// A fault at a place in a file.
    pub fn at(path: &Path, position: Position, problem: impl Into<String>) -> Self {
        Self {
            place: Place::File {
                path: path.to_owned(),
                position: Some(position),
            },
            problem: problem.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.problem)
    }
}

/// Why a configuration cannot be used: one or more faults, a line each. `serve` ends with exit code 2 then, `check` with 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationError {
    faults: Vec<Fault>,
}

impl ConfigurationError {
    /// Nothing when there are no faults.
    ///
    /// # Errors
    ///
    /// The error that holds them when there are.
    pub fn unless_empty(faults: Vec<Fault>) -> Result<(), Self> {
        if faults.is_empty() {
            Ok(())
        } else {
            Err(Self { faults })
        }
    }

    /// The faults, at least one.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }
}

impl From<Fault> for ConfigurationError {
    fn from(fault: Fault) -> Self {
        Self { faults: vec![fault] }
    }
}

impl fmt::Display for ConfigurationError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            fault.fmt(formatter)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigurationError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let text = "äb\nc";
        let at = |offset| Position::of_offset(text, offset);
        assert_eq!(at(0), Position { line: 1, column: 1 });
        assert_eq!(
            at(2),
            Position { line: 1, column: 2 },
            "after one character of two bytes"
        );
        assert_eq!(at(4), Position { line: 2, column: 1 });
        assert_eq!(at(99), Position { line: 2, column: 2 }, "past the end is the end");
    }

    #[test]
    fn a_fault_is_one_line_that_names_its_place() {
        let path = Path::new("d/assets/server.ron");
        let position = Position { line: 3, column: 5 };
        assert_eq!(
            Fault::at(path, position, "broken; mend it").to_string(),
            "d/assets/server.ron:3:5: broken; mend it"
        );
        assert_eq!(
            Fault::of_file(path, "gone").to_string(),
            "d/assets/server.ron: gone"
        );
    }
}
