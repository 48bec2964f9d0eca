//! Why the ban list cannot be read or written.

use std::{fmt, io, path::Path};

use crate::fault::{Fault, Position};

/// One or more faults of `bans.toml`, a line each; each names the file and the mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BanFileError {
    faults: Vec<Fault>,
}

impl BanFileError {
    /// The faults, at least one.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    pub(super) const fn malformed(faults: Vec<Fault>) -> Self {
        Self { faults }
    }

    pub(super) fn symbolic_link(path: &Path) -> Self {
        Self::of_file(
            path,
            "the ban list is a symbolic link; put the file itself here".to_owned(),
        )
    }

    pub(super) fn not_a_file(path: &Path) -> Self {
        Self::of_file(
            path,
            "the ban list is no regular file; move it away and put the list back".to_owned(),
        )
    }

    pub(super) fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self::of_file(
            path,
            format!("the ban list cannot be read: {error}; let the server's user read it"),
        )
    }

    pub(super) fn not_utf8(path: &Path, position: Position) -> Self {
        Self::malformed(vec![Fault::at(
            path,
            position,
            "the ban list is not UTF-8 here; save it as UTF-8",
        )])
    }

    pub(super) fn save(path: &Path, error: &io::Error) -> Self {
        Self::of_file(
            path,
            format!(
                "the ban list cannot be written: {error}; the file is as it was, let the server's user write to the directory"
            ),
        )
    }

    fn of_file(path: &Path, problem: String) -> Self {
        Self {
            faults: vec![Fault::of_file(path, problem)],
        }
    }
}

impl fmt::Display for BanFileError {
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

impl std::error::Error for BanFileError {}
