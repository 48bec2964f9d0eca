//! Where a server directory's socket is, and how to reach it when its path is longer than a socket address can
//! hold. Linux offers a short way: through the open directory, `/proc/self/fd/N/console.sock`.

use std::{
    fs::File,
    io,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
};

use socket2::SockAddr;

/// A socket's place in an open directory.
#[derive(Debug)]
pub(super) struct Place {
    /// The directory, kept open: the short way leads through it.
    pub(super) directory: File,
    /// The path as the operator would write it.
    pub(super) path: PathBuf,
    name: &'static str,
}

impl Place {
    /// The socket `name` in `directory`.
    ///
    /// # Errors
    /// What opening the directory says.
    pub(super) fn open(directory: &Path, name: &'static str) -> io::Result<Self> {
        let opened = File::open(directory)?;
        if !opened.metadata()?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        Ok(Self {
            directory: opened,
            path: directory.join(name),
            name,
        })
    }

    /// The address to bind or connect; `None` when the path is too long and there is no short way.
    pub(super) fn address(&self) -> Option<SockAddr> {
        SockAddr::unix(&self.path).ok().or_else(|| self.short_way())
    }

    fn short_way(&self) -> Option<SockAddr> {
        let opened = PathBuf::from(format!("/proc/self/fd/{}", self.directory.as_raw_fd()));
        if !opened.is_dir() {
            return None;
        }
        SockAddr::unix(opened.join(self.name)).ok()
    }
}
