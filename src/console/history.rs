//! The lines that were typed at the console of one server directory: `.console_history`, mode 0600, without lines
//! that may hold a secret.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use decitick_components::console::{find, may_hold_secret};
use nix::{libc::O_NOFOLLOW, unistd::geteuid};

/// The file's name in a server directory.
pub const HISTORY_NAME: &str = ".console_history";
/// Lines that are kept.
pub const HISTORY_LINES: usize = 1_000;
/// Bytes of the file that are looked at.
const HISTORY_BYTES: u64 = 1024 * 1024;

/// The history file of a server directory, open for adding.
#[derive(Debug)]
pub struct History {
    file: File,
    /// The lines that were there, oldest first, at most [`HISTORY_LINES`].
    pub lines: Vec<String>,
}

impl History {
    /// Opens the history of `directory`, made with mode 0600 when it is not there. One with a wider mode is narrowed;
    /// one that grew too long is cut to its last lines.
    ///
    /// # Errors
    /// What the system says; a symbolic link, a file that is no regular one, and a file of another user are refused.
    pub fn open(directory: &Path) -> io::Result<Self> {
        let path = directory.join(HISTORY_NAME);
        let mut options = OpenOptions::new();
        options
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(O_NOFOLLOW);
        let file = options.open(&path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.uid() != geteuid().as_raw() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it is no file of this user",
            ));
        }
        if metadata.permissions().mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
        let (lines, dropped) = last_lines(&file)?;
        if dropped {
            rewrite(&path, &lines)?;
            return Ok(Self {
                file: options.open(&path)?,
                lines,
            });
        }
        Ok(Self { file, lines })
    }

    /// Adds a line, unless it may hold a secret or is blank. Says whether it did.
    ///
    /// # Errors
    /// What the system says.
    pub fn add(&mut self, line: &str) -> io::Result<bool> {
        if !belongs_in_history(line) {
            return Ok(false);
        }
        self.file.write_all(format!("{line}\n").as_bytes())?;
        Ok(true)
    }
}

/// Whether a line may be remembered at all: a command that holds no secret. Slips are forgotten too: `set password x`, `pw x`,
/// and whatever follows a `password set` that was pasted as two lines.
#[must_use]
pub fn belongs_in_history(line: &str) -> bool {
    let known = line
        .split_whitespace()
        .next()
        .is_some_and(|word| find(word).is_some());
    let names_a_password = line.to_lowercase().contains("passw");
    known && !line.contains('\n') && !names_a_password && !may_hold_secret(line)
}

/// The last lines that belong in a history, and whether anything else was there.
fn last_lines(file: &File) -> io::Result<(Vec<String>, bool)> {
    let mut lines = Vec::new();
    let skipped = file.metadata()?.len().saturating_sub(HISTORY_BYTES);
    let mut dropped = skipped > 0;
    let mut reader = file;
    reader.seek(SeekFrom::Start(skipped))?;
    // Where bytes were skipped, the first line is the end of one.
    for line in BufReader::new(reader.take(HISTORY_BYTES))
        .split(b'\n')
        .skip(usize::from(dropped))
    {
        match String::from_utf8(line?) {
            Ok(line) if belongs_in_history(&line) => lines.push(line),
            _ => dropped = true,
        }
    }
    let surplus = lines.len().saturating_sub(HISTORY_LINES);
    lines.drain(..surplus);
    Ok((lines, dropped || surplus > 0))
}

/// Replaces the file whole, so that a crash leaves the old one or the new one.
fn rewrite(path: &Path, lines: &[String]) -> io::Result<()> {
    let temporary = PathBuf::from(format!("{}.{}", path.display(), std::process::id()));
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)?;
    let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    let replaced = file
        .write_all(text.as_bytes())
        .and_then(|()| fs::rename(&temporary, path));
    if replaced.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_in_order_and_those_with_secrets_do_not() {
        let directory = tempfile::tempdir().unwrap();
        let mut history = History::open(directory.path()).unwrap();
        for line in [
            "status",
            "password set hunter2",
            " pasword set hunter2",
            "eval password::hash(\"hunter2\")",
            "",
            "say жук",
            "two\nlines",
        ] {
            history.add(line).unwrap();
        }
        let text = fs::read_to_string(directory.path().join(HISTORY_NAME)).unwrap();
        assert_eq!(text, "status\nsay жук\n");
        assert_eq!(
            History::open(directory.path()).unwrap().lines,
            ["status", "say жук"]
        );
    }

    #[test]
    fn the_file_has_mode_0600_also_when_it_had_a_wider_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(HISTORY_NAME);
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        drop(History::open(directory.path()).unwrap());
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        drop(History::open(directory.path()).unwrap());
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn a_long_history_is_cut_to_its_last_lines_and_still_takes_more() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(HISTORY_NAME);
        let many: String = (0..HISTORY_LINES + 5).map(|n| format!("say {n}\n")).collect();
        fs::write(&path, many).unwrap();
        let mut history = History::open(directory.path()).unwrap();
        assert_eq!(
            (history.lines.len(), history.lines[0].as_str()),
            (HISTORY_LINES, "say 5")
        );
        assert!(history.add("status").unwrap());
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("say 5\n") && text.ends_with("say 1004\nstatus\n"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn of_a_huge_history_only_the_end_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let mut huge = vec![b'x'; 3 * 1024 * 1024];
        huge.extend(b"\nstatus\n\xff\nplayers\n");
        fs::write(directory.path().join(HISTORY_NAME), huge).unwrap();
        assert_eq!(
            History::open(directory.path()).unwrap().lines,
            ["status", "players"]
        );
        let text = fs::read_to_string(directory.path().join(HISTORY_NAME)).unwrap();
        assert_eq!(text, "status\nplayers\n");
    }

    #[test]
    fn a_symbolic_link_and_a_directory_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(HISTORY_NAME);
        let target = directory.path().join("target");
        std::os::unix::fs::symlink(&target, &path).unwrap();
        assert!(History::open(directory.path()).is_err() && !target.exists());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(History::open(directory.path()).is_err());
    }
}
