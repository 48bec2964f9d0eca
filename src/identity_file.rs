//! `server_identity.key`: the seed of the server's identity on disk (docs/protocol.md 1.6).
//!
//! The file is made once and never replaced, because players pin the key it holds. Everything about
//! it that another user could have tampered with or could read stops the start. What the seed is
//! good for is the protocol's matter.

use std::{
    fmt,
    io::{self, Read},
    path::{Path, PathBuf},
};

use decitick_protocol::seal::ServerIdentity;

use crate::{
    leftovers,
    private_file::{self, PrivateFault},
};

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
    let Some((mut file, bytes)) = private_file::open(path)? else {
        return Ok(None);
    };
    if bytes != SEED_LENGTH as u64 {
        return Err(IdentityFault::Length { bytes });
    }
    let mut seed = [0; SEED_LENGTH];
    file.read_exact(&mut seed).map_err(IdentityFault::Unreadable)?;
    Ok(Some(seed))
}

impl From<PrivateFault> for IdentityFault {
    fn from(fault: PrivateFault) -> Self {
        match fault {
            PrivateFault::SymbolicLink => Self::SymbolicLink,
            PrivateFault::NotAFile => Self::NotAFile,
            PrivateFault::OtherOwner { owner, user } => Self::OtherOwner { owner, user },
            PrivateFault::Permissions { mode } => Self::Permissions { mode },
            PrivateFault::Unreadable(error) => Self::Unreadable(error),
        }
    }
}

/// Puts a fresh seed in place unless there is one.
fn create(directory: &Path) -> Result<(), IdentityError> {
    let mut seed = [0; SEED_LENGTH];
    getrandom::fill(&mut seed)
        .map_err(io::Error::other)
        .and_then(|()| private_file::create(directory, IDENTITY_FILE, TEMPORARY_PREFIX, &seed))
        .map_err(|error| IdentityError::new(directory, IdentityFault::Create(error)))
}

#[cfg(test)]
mod tests;
