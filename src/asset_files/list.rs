//! A RON file that is one list, where its entries stand, and what is wrong with them.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::{
    fault::{ConfigurationError, Fault, Position},
    ron_file,
    ron_outline::Node,
};

/// What is wrong with one entry: dotted keys inside the entry, and what mends them.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<(String, String)>);

impl Problems {
    /// Adds a problem of the value under `key`; a part of a list is named by its number, as in `motion.points.3`.
    pub(super) fn add(&mut self, key: impl Into<String>, problem: impl Into<String>) {
        self.0.push((key.into(), problem.into()));
    }
}

/// A file that is one list.
pub(super) struct ListFile<T> {
    path: PathBuf,
    text: String,
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
        let text = ron_file::read_optional(&path)?.unwrap_or_else(|| built_in.to_owned());
        let entries = ron_file::parse(&text).map_err(|fault| fault.in_file(&path))?;
        Ok(Self { path, text, entries })
    }

    /// Judges every entry.
    ///
    /// # Errors
    ///
    /// Every problem of every entry, with its place.
    pub(super) fn check(&self, mut judge: impl FnMut(&T, &mut Problems)) -> Result<(), ConfigurationError> {
        let outline = Node::of_text(&self.text);
        let mut faults = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            let mut problems = Problems::default();
            judge(entry, &mut problems);
            for (key, problem) in problems.0 {
                let problem = format!("{key}: {problem}");
                faults.push(match &outline {
                    Some(outline) => {
                        let offset = outline.reach(&format!("{index}.{key}")).start;
                        Fault::at(&self.path, Position::of_offset(&self.text, offset), problem)
                    }
                    None => Fault::of_file(&self.path, problem),
                });
            }
        }
        ConfigurationError::unless_empty(faults)
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
