//! `bans.toml`: the ban list on disk (docs/protocol.md 1.6).
//!
//! Every change is written whole under another name, synced and renamed over the old file, so that a
//! crash at any moment leaves either the old list or the new one. A file that is not understood stops
//! the start: guessing would let somebody back in. What a ban means is said by `decitick_components::bans`.

use std::{
    fmt::Write as _,
    fs::{File, OpenOptions},
    io::{self, Read, Write as _},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use decitick_components::bans::{Ban, BanList, BanRange, BanReason};
use serde::Deserialize;
use toml::Spanned;

use crate::{
    fault::{Fault, Position},
    leftovers,
};

mod error;

pub use error::BanFileError;

/// The name of the file in a server directory.
pub const BAN_FILE: &str = "bans.toml";

/// What the name of a file that is still being written starts with.
const TEMPORARY_PREFIX: &str = ".bans.toml.";

const HEADER: &str = "# The ban list of this server. Every ban and unban writes it anew, without further comments.\n\
                      # expiry is in Unix seconds; without it, or with 0, a ban is permanent.\n";

/// Reads the ban list of a server directory; without a file it is empty.
///
/// Ended bans are read too. Of two bans of one range the more lasting one counts.
///
/// # Errors
///
/// The file is a symbolic link, cannot be read, or has faults, all of which are told with their line.
/// Exit code 1.
pub fn load(directory: &Path) -> Result<BanList, BanFileError> {
    let path = directory.join(BAN_FILE);
    match read(&path)? {
        None => Ok(BanList::default()),
        Some(text) => parse(&path, &text),
    }
}

/// Removes what a server that was killed while it saved left behind; call it once at the start.
///
/// Failing is harmless: such a file is never read.
pub fn remove_leftovers(directory: &Path) {
    leftovers::remove(directory, TEMPORARY_PREFIX);
}

/// Writes the whole list and returns once it is durable: only then may the command that changed it
/// report success. On an error the old file stands as it was.
///
/// # Errors
///
/// The list cannot be written; the server runs on and the operator is told.
pub fn save(directory: &Path, list: &BanList) -> Result<(), BanFileError> {
    let temporary = directory.join(temporary_name());
    let written = write_whole(directory, &temporary, &text_of(list));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written.map_err(|error| BanFileError::save(&directory.join(BAN_FILE), &error))
}

fn write_whole(directory: &Path, temporary: &Path, text: &str) -> io::Result<()> {
    let path = directory.join(BAN_FILE);
    let mut file = OpenOptions::new().write(true).create_new(true).open(temporary)?;
    // An operator who changed the mode of the list meant it.
    if let Ok(old) = std::fs::symlink_metadata(&path)
        && old.is_file()
    {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(temporary, &path)?;
    // The rename is durable only when the directory is.
    File::open(directory)?.sync_all()
}

/// Unlike that of every other process, and of every other save of this one.
fn temporary_name() -> String {
    static SAVES: AtomicU64 = AtomicU64::new(0);
    format!(
        "{TEMPORARY_PREFIX}{}-{}",
        std::process::id(),
        SAVES.fetch_add(1, Ordering::Relaxed)
    )
}

fn read(path: &Path) -> Result<Option<String>, BanFileError> {
    // O_NONBLOCK: a named pipe in the file's place must not hang the start.
    let flags = (nix::fcntl::OFlag::O_NOFOLLOW | nix::fcntl::OFlag::O_NONBLOCK).bits();
    let mut file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(_) if std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) => {
            return Err(BanFileError::symbolic_link(path));
        }
        Err(error) => return Err(BanFileError::unreadable(path, &error)),
    };
    let metadata = file
        .metadata()
        .map_err(|error| BanFileError::unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(BanFileError::not_a_file(path));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|error| BanFileError::unreadable(path, &error))?;
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes());
        BanFileError::not_utf8(path, Position::of_offset(&text, valid))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    bans: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    address: Spanned<String>,
    reason: Option<Spanned<String>>,
    expiry: Option<Spanned<i64>>,
}

fn parse(path: &Path, text: &str) -> Result<BanList, BanFileError> {
    let document: Document = toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let message = error.message().replace('\n', " ");
        BanFileError::malformed(vec![Fault::at(
            path,
            Position::of_offset(text, offset),
            mend(&message),
        )])
    })?;
    let mut list = BanList::default();
    let mut faults = Vec::new();
    for entry in &document.bans {
        let mut at = |offset: usize, problem: String| {
            faults.push(Fault::at(path, Position::of_offset(text, offset), problem));
        };
        if let Some(ban) = entry.ban(&mut at) {
            insert_lasting(&mut list, ban);
        }
    }
    if faults.is_empty() {
        Ok(list)
    } else {
        Err(BanFileError::malformed(faults))
    }
}

impl Entry {
    /// The ban, or nothing after its faults were told.
    fn ban(&self, fault: &mut impl FnMut(usize, String)) -> Option<Ban> {
        let range = BanRange::parse(self.address.get_ref())
            .map_err(|problem| fault(self.address.span().start, format!("address: {problem}")));
        let reason = self.reason.as_ref().map_or(Ok(BanReason::default()), |reason| {
            BanReason::parse(reason.get_ref())
                .map_err(|problem| fault(reason.span().start, format!("reason: {problem}")))
        });
        let expiry = self.expiry.as_ref().map_or(Ok(0), |expiry| {
            u64::try_from(*expiry.get_ref()).map_err(|_| {
                fault(
                    expiry.span().start,
                    "expiry: it is negative; write Unix seconds, or leave it out for a permanent ban"
                        .to_owned(),
                );
            })
        });
        let (range, reason, expiry) = (range.ok()?, reason.ok()?, expiry.ok()?);
        Some(Ban {
            range,
            reason,
            expiry: if expiry == 0 { None } else { Some(expiry) },
        })
    }
}

fn insert_lasting(list: &mut BanList, ban: Ban) {
    let lasts = |ban: &Ban| ban.expiry.unwrap_or(u64::MAX);
    let new_lasts = lasts(&ban);
    if let Some(old) = list.insert(ban)
        && lasts(&old) > new_lasts
    {
        list.insert(old);
    }
}

fn mend(message: &str) -> String {
    if message.starts_with("unknown field") {
        format!("{message}; correct the key or take it out")
    } else {
        format!(
            "{message}; a ban is written as [[bans]] with address = \"...\", reason = \"...\" and expiry = SECONDS"
        )
    }
}

fn text_of(list: &BanList) -> String {
    let mut text = HEADER.to_owned();
    for ban in list.iter() {
        let address = toml::Value::String(ban.range.to_string());
        let reason = toml::Value::String(ban.reason.as_str().to_owned());
        // Writing into a String cannot fail.
        let _ = write!(text, "\n[[bans]]\naddress = {address}\nreason = {reason}\n");
        if let Some(expiry) = ban.expiry {
            let _ = writeln!(text, "expiry = {expiry}");
        }
    }
    text
}

#[cfg(test)]
mod tests;
