//! A RON file that is one list, where its entries stand, and what is wrong with them.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;

use crate::{
    fault::{ConfigurationError, Fault, Position},
    ron_file,
    ron_outline::Node,
};

/// So many faults of one file are described, the others only counted: nobody reads more, and a file of a hundred
/// thousand faults must not hold up who asks.
const DESCRIBED_MOST: usize = 50;

/// What is wrong with the entries of one file.
#[derive(Debug, Default)]
pub(super) struct Problems {
    /// Number of the entry that is judged.
    entry: usize,
    described: Vec<Problem>,
    /// How many more there are.
    more: usize,
}

/// One thing that is wrong.
#[derive(Debug)]
struct Problem {
    entry: usize,
    /// Dotted key inside the entry.
    key: String,
    /// What is wrong with the value there and what mends it.
    text: String,
}

impl Problems {
    /// Adds a problem of the value under `key`, dotted, inside the entry that is judged; a part of a list is named by its
    /// number, as in `motion.points.3`. Neither is written out when the problem is only counted.
    pub(super) fn add(&mut self, key: impl fmt::Display, problem: impl fmt::Display) {
        if self.described.len() < DESCRIBED_MOST {
            self.described.push(Problem {
                entry: self.entry,
                key: key.to_string(),
                text: problem.to_string(),
            });
        } else {
            self.more = self.more.saturating_add(1);
        }
    }
}

/// A file that is one list.
pub(super) struct ListFile<T> {
    path: PathBuf,
    text: String,
    /// Whether there is no such file, and the text is the one that stands for it.
    built_in: bool,
    /// Its entries, in order.
    pub entries: Vec<T>,
}

impl<T: DeserializeOwned> ListFile<T> {
    /// Reads the file `name` of a server directory, or `built_in` when there is none.
    ///
    /// # Errors
    ///
    /// It cannot be read, or its text is no such list.
    pub(super) fn read(directory: &Path, name: &str, built_in: &str) -> Result<Self, Fault> {
        let path = directory.join(name);
        let (text, built_in) = match ron_file::read_optional(&path)? {
            Some(text) => (text, false),
            None => (built_in.to_owned(), true),
        };
        let entries = ron_file::parse(&text).map_err(|fault| fault.in_file(&path))?;
        Ok(Self {
            path,
            text,
            built_in,
            entries,
        })
    }

    /// Judges every entry.
    ///
    /// # Errors
    ///
    /// The first 50 problems in the order in which they stand in the file, each with its place, and how many more there
    /// are.
    pub(super) fn check(&self, mut judge: impl FnMut(&T, &mut Problems)) -> Result<(), ConfigurationError> {
        let mut problems = Problems::default();
        for (index, entry) in self.entries.iter().enumerate() {
            problems.entry = index;
            judge(entry, &mut problems);
        }
        if problems.described.is_empty() {
            return Ok(());
        }
        let Problems {
            described, mut more, ..
        } = problems;
        let mut faults = if self.built_in {
            more = more.saturating_add(described.len().saturating_sub(1));
            described
                .iter()
                .take(1)
                .map(|problem| self.built_in_fault(problem))
                .collect()
        } else {
            self.placed_faults(described)
        };
        match more {
            0 => {}
            1 => faults.push(self.fault("and 1 more fault")),
            _ => faults.push(self.fault(format!("and {more} more faults"))),
        }
        ConfigurationError::unless_empty(faults)
    }

    /// The built-in list is sound by itself, but other files may leave it no room. It has no places to tell of.
    fn built_in_fault(&self, problem: &Problem) -> Fault {
        let Problem { key, text, .. } = problem;
        self.fault(format!(
            "the file is missing, and the built-in list does not fit here ({key}: {text}); write a list that does"
        ))
    }

    fn placed_faults(&self, problems: Vec<Problem>) -> Vec<Fault> {
        let Some(outline) = Node::of_text(&self.text) else {
            return problems
                .into_iter()
                .map(|Problem { key, text, .. }| self.fault(format!("{key}: {text}")))
                .collect();
        };
        let mut placed: Vec<(usize, Problem)> = problems
            .into_iter()
            .map(|problem| {
                let key = format!("{}.{}", problem.entry, problem.key);
                (outline.reach(&key).start, problem)
            })
            .collect();
        placed.sort_by_key(|&(offset, _)| offset);
        let mut passed = Passed::default();
        placed
            .into_iter()
            .map(|(offset, Problem { key, text, .. })| {
                Fault::at(
                    &self.path,
                    passed.on_to(&self.text, offset),
                    format!("{key}: {text}"),
                )
            })
            .collect()
    }

    /// The fault of a list without entries that must have one.
    pub(super) fn empty(&self) -> Fault {
        self.fault("the list is empty; write at least one entry, or delete the file to use the built-in list")
    }

    /// A fault of the whole file.
    pub(super) fn fault(&self, problem: impl Into<String>) -> Fault {
        Fault::of_file(&self.path, problem)
    }
}

/// How far a text has been passed through: places that rise are all found in one pass.
struct Passed {
    offset: usize,
    position: Position,
}

impl Default for Passed {
    fn default() -> Self {
        Self {
            offset: 0,
            position: Position { line: 1, column: 1 },
        }
    }
}

impl Passed {
    /// Goes on to `offset`, at or after the one before, and tells where that is.
    fn on_to(&mut self, text: &str, offset: usize) -> Position {
        let between = text.get(self.offset..offset).unwrap_or_default();
        let step = Position::of_offset(between, usize::MAX);
        let column_before = if step.line == 1 { self.position.column } else { 1 };
        self.position = Position {
            line: self.position.line.saturating_add(step.line).saturating_sub(1),
            column: column_before.saturating_add(step.column).saturating_sub(1),
        };
        self.offset = offset;
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testing::directory_with, *};

    /// Judges a list in which each number is to be even, and each of a pair from the last to the first.
    fn check(text: &str) -> Result<(), ConfigurationError> {
        let directory = directory_with("pairs.ron", text);
        let file = ListFile::<(u32, u32)>::read(directory.path(), "assets/pairs.ron", "[]").unwrap();
        file.check(|&(left, right), problems| {
            for (key, number) in [("1", right), ("0", left)] {
                if number % 2 == 1 {
                    problems.add(key, format_args!("{number} is odd"));
                }
            }
        })
    }

    fn lines(result: Result<(), ConfigurationError>) -> Vec<String> {
        let told = result.unwrap_err().to_string();
        told.lines()
            .map(|line| line.rsplit("pairs.ron").next().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn faults_are_told_in_the_order_of_the_file_each_at_its_line_and_column() {
        assert_eq!(check("[(0, 2),\n(4, 6)]"), Ok(()));
        assert_eq!(
            lines(check(
                "[(0, 2), // ä\n  (1, 3), /* ä */ (5, 6),\n\n(8, 7),\n(9, 0)]"
            )),
            [
                ":2:4: 0: 1 is odd",
                ":2:7: 1: 3 is odd",
                ":2:20: 0: 5 is odd",
                ":4:5: 1: 7 is odd",
                ":5:2: 0: 9 is odd",
            ]
        );
    }

    #[test]
    fn fifty_faults_are_described_and_the_others_counted() {
        let told = |faults: usize| lines(check(&format!("[\n{}]", "(1, 2),\n".repeat(faults))));
        assert_eq!(told(50).len(), 50);
        assert_eq!(told(50).last().unwrap(), ":51:2: 0: 1 is odd");
        assert_eq!(told(51).len(), 51);
        assert_eq!(told(51).last().unwrap(), ": and 1 more fault");
        assert_eq!(told(20_000).len(), 51);
        assert_eq!(told(20_000).last().unwrap(), ": and 19950 more faults");
    }

    #[test]
    fn a_problem_that_is_only_counted_is_not_written_out() {
        struct Unwritten;
        impl fmt::Display for Unwritten {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                panic!("written")
            }
        }
        let mut problems = Problems::default();
        for _ in 0..DESCRIBED_MOST {
            problems.add("key", "problem");
        }
        problems.add(Unwritten, Unwritten);
        assert_eq!((problems.described.len(), problems.more), (DESCRIBED_MOST, 1));
    }

    #[test]
    fn a_built_in_list_that_does_not_fit_has_no_places_and_one_line() {
        let directory = tempfile::tempdir().unwrap();
        let file = ListFile::<u32>::read(directory.path(), "assets/pairs.ron", "[1, 2, 3]").unwrap();
        let told = lines(file.check(|number, problems| problems.add("key", format_args!("{number} is bad"))));
        assert_eq!(
            told,
            [
                ": the file is missing, and the built-in list does not fit here (key: 1 is bad); write a list that does",
                ": and 2 more faults",
            ]
        );
    }
}
