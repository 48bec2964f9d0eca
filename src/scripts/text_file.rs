//! Reads a text of a resource: a regular file, never through a link, of bounded size, in UTF-8.

use std::{
    fs::OpenOptions,
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use crate::fault::Position;

/// What is wrong with a file, and where in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TextFault {
    /// Where, when it is a place in the text.
    pub position: Option<Position>,
    /// What, and the mend.
    pub problem: String,
}

impl TextFault {
    fn of_file(problem: impl Into<String>) -> Self {
        Self {
            position: None,
            problem: problem.into(),
        }
    }
}

/// Reads at most `most` bytes; a byte order mark at the beginning is left out.
///
/// # Errors
/// It is a link, no regular file, too large, unreadable, or not UTF-8.
pub(super) fn read(path: &Path, most: u64) -> Result<String, TextFault> {
    let bytes = read_bytes(path, most).map_err(|error| {
        if std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
            TextFault::of_file("is a symbolic link; put the file itself here")
        } else {
            TextFault::of_file(format!("cannot be read: {error}; let the server's user read it"))
        }
    })?;
    if bytes.len() as u64 > most {
        return Err(too_large(most));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| not_utf8(&error))?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// The fault of a file of more bytes than are read.
pub(super) fn too_large(most: u64) -> TextFault {
    TextFault::of_file(format!(
        "is larger than {} KiB; split it into several files",
        most / 1024
    ))
}

fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // O_NONBLOCK: a named pipe in the file's place must not hang whoever reads.
    let flags = (nix::fcntl::OFlag::O_NOFOLLOW | nix::fcntl::OFlag::O_NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn not_utf8(error: &std::string::FromUtf8Error) -> TextFault {
    let end = error.utf8_error().valid_up_to();
    let valid = String::from_utf8_lossy(error.as_bytes().get(..end).unwrap_or_default());
    TextFault {
        position: Some(Position::of_offset(&valid, usize::MAX)),
        problem: "is not UTF-8 here; save the file as UTF-8".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_up_to_its_bound_and_without_a_byte_order_mark() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, "\u{feff}four").unwrap();
        assert_eq!(read(&path, 7), Ok("four".to_owned()));
        assert_eq!(read(&path, 6), Err(too_large(6)));
    }

    #[test]
    fn what_is_no_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "x").unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRUSR).unwrap();
        let problem = |name: &str| read(&path(name), 99).unwrap_err().problem;
        assert!(problem("link").contains("symbolic link"));
        assert!(problem("pipe").contains("no regular file"));
        assert!(problem("none").contains("cannot be read"));
        assert!(read(folder.path(), 99).is_err());
    }

    #[test]
    fn a_byte_that_is_no_utf8_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, b"\xc3\xa4\n\xc3\xa4b\xff").unwrap();
        let fault = read(&path, 99).unwrap_err();
        assert_eq!(fault.position, Some(Position { line: 2, column: 3 }));
    }
}
