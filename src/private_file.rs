//! Files that hold a secret of the server: made once for its user alone and never replaced, and read only when nobody else
//! could have read them or put them there. What is in them, and what to tell the operator, is for their owners.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

/// What is wrong with such a file.
#[derive(Debug)]
pub(crate) enum PrivateFault {
    /// It is a symbolic link.
    SymbolicLink,
    /// It is a directory, a device or the like.
    NotAFile,
    /// It belongs to another user than the server runs as.
    OtherOwner { owner: u32, user: u32 },
    /// Group or others may do something with it.
    Permissions { mode: u32 },
    /// It may not be read.
    Unreadable(io::Error),
}

/// Opens the file for reading, and tells its length; `None` when there is none.
pub(crate) fn open(path: &Path) -> Result<Option<(File, u64)>, PrivateFault> {
    // O_NONBLOCK: a named pipe in the file's place must not hang the start.
    let flags = (nix::fcntl::OFlag::O_NOFOLLOW | nix::fcntl::OFlag::O_NONBLOCK).bits();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fault_of_open(path, error)),
    };
    // Everything is asked of the open file, so that nobody can exchange it in between.
    let metadata = file.metadata().map_err(PrivateFault::Unreadable)?;
    let user = nix::unistd::geteuid().as_raw();
    let mode = metadata.mode() & 0o7777;
    if !metadata.is_file() {
        return Err(PrivateFault::NotAFile);
    }
    if metadata.uid() != user {
        return Err(PrivateFault::OtherOwner {
            owner: metadata.uid(),
            user,
        });
    }
    if mode & 0o077 != 0 {
        return Err(PrivateFault::Permissions { mode });
    }
    if mode & 0o400 == 0 {
        // The superuser could read it all the same; the rule is one for every user.
        return Err(PrivateFault::Unreadable(io::ErrorKind::PermissionDenied.into()));
    }
    Ok(Some((file, metadata.len())))
}

/// A file that cannot be opened is looked at from outside to say why.
fn fault_of_open(path: &Path, error: io::Error) -> PrivateFault {
    let user = nix::unistd::geteuid().as_raw();
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => PrivateFault::SymbolicLink,
        Ok(metadata) if !metadata.is_file() => PrivateFault::NotAFile,
        Ok(metadata) if metadata.uid() != user => PrivateFault::OtherOwner {
            owner: metadata.uid(),
            user,
        },
        _ => PrivateFault::Unreadable(error),
    }
}

/// Puts a file in place unless there is one: written and synced under a name of its own that begins with `prefix`, then
/// linked, which fails when the name is taken and so never replaces a file. However many do so at once, one file stays,
/// and nobody fails.
pub(crate) fn create(directory: &Path, name: &str, prefix: &str, content: &[u8]) -> io::Result<()> {
    let path = directory.join(name);
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let temporary = directory.join(format!("{prefix}{:016x}", u64::from_le_bytes(random)));
    let linked = write(&temporary, content).and_then(|()| std::fs::hard_link(&temporary, &path));
    // The link, if made, keeps the content; a name that stays behind is cleaned at the next start.
    let _ = std::fs::remove_file(&temporary);
    match linked {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        // A server that found the winner's file has cleaned up ours: the winner's file is there.
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.exists() => {}
        Err(error) => return Err(error),
    }
    // The winner may not have come this far yet, so everybody makes the name durable.
    File::open(directory)?.sync_all()
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    // The umask may have taken bits away that the owner needs.
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    file.write_all(content)?;
    file.sync_all()
}
