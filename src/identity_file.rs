//! `server_identity.key`: the seed of the server's identity on disk (docs/protocol.md 1.6).
//!
//! The file is made once and never replaced, because players pin the key it holds. Everything about
//! it that another user could have tampered with or could read stops the start. What the seed is
//! good for is the protocol's matter.

use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use decitick_protocol::seal::ServerIdentity;

use crate::leftovers;

/// The name of the file in a server directory.
pub const IDENTITY_FILE: &str = "server_identity.key";

/// What the name of a file that is still being written starts with.
const TEMPORARY_PREFIX: &str = ".server_identity.key.";

const SEED_LENGTH: usize = 32;

/// Reads the identity of a server directory, and makes it on the first start.
///
/// However many servers start at once in one directory, all of them return the same identity.
///
/// # Errors
///
/// [`IdentityError`], which names the file and the mend. Exit code 1.
pub fn load_or_create(directory: &Path) -> Result<ServerIdentity, IdentityError> {
    if let Some(identity) = load(directory)? {
        // What a start that was killed half-way left behind.
        leftovers::remove(directory, TEMPORARY_PREFIX);
        return Ok(identity);
    }
    create(directory)?;
    // Read what won: another server may have been faster.
    load(directory)?.ok_or_else(|| IdentityError::new(directory, IdentityFault::Vanished))
}

/// Reads the identity of a server directory if there is one, and never makes one.
///
/// # Errors
///
/// As [`load_or_create`].
pub fn load(directory: &Path) -> Result<Option<ServerIdentity>, IdentityError> {
    read_seed(&directory.join(IDENTITY_FILE))
        .map(|seed| seed.map(|seed| ServerIdentity::from_seed(&seed)))
        .map_err(|fault| IdentityError::new(directory, fault))
}

/// Why there is no identity.
#[derive(Debug)]
pub struct IdentityError {
    /// The key file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: IdentityFault,
}

impl IdentityError {
    fn new(directory: &Path, fault: IdentityFault) -> Self {
        Self {
            path: directory.join(IDENTITY_FILE),
            fault,
        }
    }
}

/// What is wrong with a key file.
#[derive(Debug)]
pub enum IdentityFault {
    /// It is a symbolic link.
    SymbolicLink,
    /// It is a directory, a device or the like.
    NotAFile,
    /// It belongs to another user than the server runs as.
    OtherOwner {
        /// The owner's user id.
        owner: u32,
        /// The server's.
        user: u32,
    },
    /// Group or others may do something with it.
    Permissions {
        /// The permission bits.
        mode: u32,
    },
    /// It may not be read, or reading failed.
    Unreadable(io::Error),
    /// It does not hold exactly a seed.
    Length {
        /// How many bytes it holds.
        bytes: u64,
    },
    /// It could not be made.
    Create(io::Error),
    /// It was made and was gone at once.
    Vanished,
}

impl fmt::Display for IdentityError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.fault {
            IdentityFault::SymbolicLink => {
                write!(
                    formatter,
                    "{path}: the key file is a symbolic link; put the file itself here"
                )
            }
            IdentityFault::NotAFile => write!(
                formatter,
                "{path}: the key file is no regular file; move it away and put the key back, or let the next start make a new one"
            ),
            IdentityFault::OtherOwner { owner, user } => write!(
                formatter,
                "{path}: the key file belongs to user {owner} and the server runs as user {user}; run `chown {user} {path}` if the key is yours"
            ),
            IdentityFault::Permissions { mode } => write!(
                formatter,
                "{path}: the key file has mode {mode:04o}, so others may use it; run `chmod 600 {path}`"
            ),
            IdentityFault::Unreadable(error) => {
                write!(
                    formatter,
                    "{path}: the key file cannot be read: {error}; run `chmod 600 {path}`"
                )
            }
            IdentityFault::Length { bytes } => write!(
                formatter,
                "{path}: the key file has {bytes} bytes instead of {SEED_LENGTH}; restore it from a backup, or move it away to get a new identity, which players who pinned the old one must accept"
            ),
            IdentityFault::Create(error) => write!(
                formatter,
                "{path}: the key file cannot be made: {error}; let the server's user write to the directory"
            ),
            IdentityFault::Vanished => {
                write!(
                    formatter,
                    "{path}: the key file was removed while the server started; start again"
                )
            }
        }
    }
}

impl std::error::Error for IdentityError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.fault {
            IdentityFault::Unreadable(error) | IdentityFault::Create(error) => Some(error),
            _ => None,
        }
    }
}

fn read_seed(path: &Path) -> Result<Option<[u8; SEED_LENGTH]>, IdentityFault> {
    // O_NONBLOCK: a named pipe in the file's place must not hang the start.
    let flags = (nix::fcntl::OFlag::O_NOFOLLOW | nix::fcntl::OFlag::O_NONBLOCK).bits();
    let mut file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fault_of_open(path, error)),
    };
    // Everything is asked of the open file, so that nobody can exchange it in between.
    let metadata = file.metadata().map_err(IdentityFault::Unreadable)?;
    let user = nix::unistd::geteuid().as_raw();
    let mode = metadata.mode() & 0o7777;
    if !metadata.is_file() {
        return Err(IdentityFault::NotAFile);
    }
    if metadata.uid() != user {
        return Err(IdentityFault::OtherOwner {
            owner: metadata.uid(),
            user,
        });
    }
    if mode & 0o077 != 0 {
        return Err(IdentityFault::Permissions { mode });
    }
    if mode & 0o400 == 0 {
        // The superuser could read it all the same; the rule is one for every user.
        return Err(IdentityFault::Unreadable(io::ErrorKind::PermissionDenied.into()));
    }
    if metadata.len() != SEED_LENGTH as u64 {
        return Err(IdentityFault::Length {
            bytes: metadata.len(),
        });
    }
    let mut seed = [0; SEED_LENGTH];
    file.read_exact(&mut seed).map_err(IdentityFault::Unreadable)?;
    Ok(Some(seed))
}

/// A file that cannot be opened is looked at from outside to say why.
fn fault_of_open(path: &Path, error: io::Error) -> IdentityFault {
    let user = nix::unistd::geteuid().as_raw();
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => IdentityFault::SymbolicLink,
        Ok(metadata) if !metadata.is_file() => IdentityFault::NotAFile,
        Ok(metadata) if metadata.uid() != user => IdentityFault::OtherOwner {
            owner: metadata.uid(),
            user,
        },
        _ => IdentityFault::Unreadable(error),
    }
}

/// Puts a fresh seed in place unless there is one: written and synced under a name of its own, then
/// linked, which fails when the name is taken and so never replaces a key.
fn create(directory: &Path) -> Result<(), IdentityError> {
    let fault = |error| IdentityError::new(directory, IdentityFault::Create(error));
    let temporary = directory.join(temporary_name().map_err(fault)?);
    let linked =
        write_seed(&temporary).and_then(|()| std::fs::hard_link(&temporary, directory.join(IDENTITY_FILE)));
    // The link, if made, keeps the content; a name that stays behind is cleaned at the next start.
    let _ = std::fs::remove_file(&temporary);
    match linked {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        // A server that found the winner's key has cleaned up our file: the winner's key is there.
        Err(error) if error.kind() == io::ErrorKind::NotFound && directory.join(IDENTITY_FILE).exists() => {}
        Err(error) => return Err(fault(error)),
    }
    // The winner may not have come this far yet, so everybody makes the name durable.
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(fault)
}

fn write_seed(path: &Path) -> io::Result<()> {
    let mut seed = [0; SEED_LENGTH];
    getrandom::fill(&mut seed).map_err(io::Error::other)?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    // The umask may have taken bits away that the owner needs.
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    file.write_all(&seed)?;
    file.sync_all()
}

fn temporary_name() -> io::Result<String> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(format!("{TEMPORARY_PREFIX}{:016x}", u64::from_le_bytes(random)))
}

#[cfg(test)]
mod tests;
