//! The disk side of a download: the folder of a resource, and files that get their name when they are whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::FilesError;
use crate::files::ManifestFile;

/// The folder of what is not finished; names of client files never begin with a dot.
const PARTS_FOLDER: &str = ".partial";
/// Bytes that are hashed at once.
const PIECE_BYTES: usize = 64 * 1024;

/// The folder of a resource.
pub(super) struct Place {
    directory: PathBuf,
    parts: PathBuf,
}

/// A file that is not finished.
pub(super) struct Part {
    pub file: File,
    pub path: PathBuf,
}

impl Place {
    pub(super) fn make(directory: &Path) -> Result<Self, FilesError> {
        fs::create_dir_all(directory).map_err(|error| FilesError::disk(directory.to_owned(), error))?;
        let parts = directory.join(PARTS_FOLDER);
        make_folder(&parts)?;
        Ok(Self {
            directory: directory.to_owned(),
            parts,
        })
    }

    /// Whether a file is there, as the manifest has it.
    pub(super) fn holds(&self, file: &ManifestFile) -> Result<bool, FilesError> {
        let path = self.directory.join(&file.name);
        let on_disk = |error| FilesError::disk(path.clone(), error);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() && metadata.len() == file.size => {}
            Ok(metadata) if metadata.is_dir() => return Err(FilesError::InTheWay(path)),
            // What is no file, or another one, is replaced.
            Ok(_) => return Ok(false),
            Err(error) if is_absent(&error) => return Ok(false),
            Err(error) => return Err(on_disk(error)),
        }
        let mut hasher = Sha256::new();
        let mut found = OpenOptions::new().read(true).open(&path).map_err(on_disk)?;
        feed(&mut found, file.size, &mut hasher).map_err(on_disk)?;
        Ok(hasher.finalize().as_slice() == file.sha256)
    }

    /// Begins a file, or goes on with what is there of it. Its name on the way is its hash, so that what was begun of
    /// another content is never taken for this one.
    pub(super) fn begin(&self, file: &ManifestFile) -> Result<Part, FilesError> {
        let hash: String = file.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = self.parts.join(hash);
        if fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(FilesError::InTheWay(path));
        }
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        match opened {
            Ok(file) => Ok(Part { file, path }),
            Err(error) => Err(FilesError::disk(path, error)),
        }
    }

    /// Gives a whole file its name.
    pub(super) fn finish(&self, part: Part, file: &ManifestFile) -> Result<(), FilesError> {
        let mut target = self.directory.clone();
        let mut parts = file.name.split('/').peekable();
        while let Some(name) = parts.next() {
            target.push(name);
            if parts.peek().is_some() {
                make_folder(&target)?;
            }
        }
        let Part { file, path } = part;
        drop(file);
        fs::rename(&path, &target).map_err(|error| FilesError::disk(target, error))
    }

    /// Throws away what turned out wrong.
    pub(super) fn discard(&self, part: &Part) {
        // What cannot be removed is judged again when it is gone on with.
        let _ = fs::remove_file(&part.path);
    }

    /// Removes what was begun and never finished, once nothing is wanted of it any more.
    pub(super) fn tidy(&self) {
        // What stays behind costs room, and is looked at again the next time.
        for part in fs::read_dir(&self.parts).into_iter().flatten().flatten() {
            let _ = fs::remove_file(part.path());
        }
        let _ = fs::remove_dir(&self.parts);
    }
}

/// Makes a folder that must be one itself, not a link to somewhere else.
fn make_folder(path: &Path) -> Result<(), FilesError> {
    match fs::create_dir(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => Ok(()),
            _ => Err(FilesError::InTheWay(path.to_owned())),
        },
        Err(error) => Err(FilesError::disk(path.to_owned(), error)),
    }
}

fn is_absent(error: &io::Error) -> bool {
    // A file where a folder is to be is met again, and told, when that folder is made.
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Hashes a file from its beginning, at most `most` bytes, and stays at the end of them. How many they were.
pub(super) fn feed(file: &mut File, most: u64, hasher: &mut Sha256) -> io::Result<u64> {
    file.rewind()?;
    let mut piece = vec![0; PIECE_BYTES];
    let mut file = file.take(most);
    let mut bytes = 0u64;
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(bytes),
            Ok(read) => {
                hasher.update(piece.get(..read).unwrap_or_default());
                bytes = bytes.saturating_add(read as u64);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
