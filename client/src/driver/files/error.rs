//! Why files could not be fetched.

use std::error::Error;
use std::path::PathBuf;
use std::{fmt, io};

use decitick_protocol::text::escape_for_display;

use crate::files::ManifestError;

/// So many characters of a name are shown.
const SHOWN_CHARACTERS: usize = 80;

/// Why a download ended early.
#[derive(Debug)]
#[non_exhaustive]
pub enum FilesError {
    /// No connection, or it ended or was silent for too long, or what came is no HTTP.
    Connection {
        /// The file that was asked for.
        name: String,
        /// What the system or the HTTP library says.
        error: io::Error,
    },
    /// The server answered with something else than the file; redirects, too.
    Status {
        /// The file that was asked for.
        name: String,
        /// The HTTP status.
        status: u16,
    },
    /// The manifest is not used.
    Manifest(ManifestError),
    /// The server sends too slowly.
    Slow {
        /// The file.
        name: String,
    },
    /// Fewer bytes came than the manifest says; they are kept.
    Short {
        /// The file.
        name: String,
        /// Bytes that are there.
        bytes: u64,
        /// Bytes that the manifest says.
        size: u64,
    },
    /// More bytes came than the manifest says.
    Long {
        /// The file.
        name: String,
        /// Bytes that the manifest says.
        size: u64,
    },
    /// The content does not have the hash that the manifest says; it is thrown away.
    OtherContent {
        /// The file.
        name: String,
        /// Whether some of it was there from an earlier try.
        resumed: bool,
    },
    /// Something is where a file or folder is to be, and it is not replaced: a folder, or a link.
    InTheWay(PathBuf),
    /// The disk.
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

impl FilesError {
    pub(super) const fn disk(path: PathBuf, error: io::Error) -> Self {
        Self::Disk { path, error }
    }
}

impl From<ManifestError> for FilesError {
    fn from(error: ManifestError) -> Self {
        Self::Manifest(error)
    }
}

impl fmt::Display for FilesError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |name: &str| escape_for_display(name, SHOWN_CHARACTERS);
        match self {
            Self::Connection { name, error } => write!(
                out,
                "\"{}\" could not be fetched: {}; try again",
                shown(name),
                escape_for_display(&error.to_string(), 200)
            ),
            Self::Status { name, status } => write!(
                out,
                "the server answered {status} for \"{}\"; it may just have changed, so wait for the next announcement",
                shown(name)
            ),
            Self::Manifest(error) => error.fmt(out),
            Self::Slow { name } => {
                write!(out, "\"{}\" comes too slowly; try again later", shown(name))
            }
            Self::Short { name, bytes, size } => write!(
                out,
                "\"{}\" ended after {bytes} of {size} bytes; try again to go on from there",
                shown(name)
            ),
            Self::Long { name, size } => write!(
                out,
                "\"{}\" has more than the {size} bytes that its manifest says",
                shown(name)
            ),
            Self::OtherContent { name, .. } => write!(
                out,
                "\"{}\" is not what its manifest says; it may just have changed, so wait for the next announcement",
                shown(name)
            ),
            Self::InTheWay(path) => write!(
                out,
                "{} is in the way: it is a folder or a link; move it away",
                path.display()
            ),
            Self::Disk { path, error } => write!(out, "{}: {error}", path.display()),
        }
    }
}

impl Error for FilesError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Connection { error, .. } | Self::Disk { error, .. } => Some(error),
            Self::Manifest(error) => Some(error),
            _ => None,
        }
    }
}
