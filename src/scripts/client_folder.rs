//! `scripts/<resource>/client/`: the files that a resource has for its clients, hashed, and their manifest
//! (docs/protocol.md 2.7).
//!
//! Here is what is there and what may not be; who is sent it, and when, is the server of client files' to know.

mod hashes;
mod list;
mod open;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, SystemTime},
};

use decitick_components::{
    client_files::{ClientFile, ClientManifest},
    script::{ResourceName, ScriptFault},
};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    SCRIPTS_FOLDER,
    walk::{CLIENT_FOLDER, Stamp, fault_of_file},
};

pub use self::hashes::KnownHashes;
pub(super) use self::list::{ClientListing, list};
pub(crate) use self::open::{ClientContent, open};

/// Bytes that are hashed at once.
const PIECE_BYTES: usize = 64 * 1024;
/// Two writes closer together than this may leave a file with one and the same time.
const CLOCK_GRAIN: Duration = Duration::from_millis(50);

/// Reads and hashes the client files of a resource; `None` when it has none.
///
/// Files whose hash is in `known` for the state they are in are not read again. Afterwards `known` has exactly the files
/// that are there.
///
/// # Errors
/// Everything that is wrong with the folder: links, names, sizes, files that cannot be read. See [`faults`].
pub fn read(
    directory: &Path,
    resource: &ResourceName,
    known: &KnownHashes,
) -> Result<Option<Arc<ClientManifest>>, Vec<ScriptFault>> {
    let ClientListing { files, faults } = list(directory, resource);
    if !faults.is_empty() {
        return Err(faults);
    }
    let newest = files
        .iter()
        .filter(|(name, stamp)| known.find(resource, name, stamp).is_none())
        .filter_map(|(_, stamp)| stamp.newest())
        .max();
    wait_for_clock(newest);
    let mut faults = Vec::new();
    let mut hashed = BTreeMap::new();
    for (name, stamp) in files {
        let hash = known
            .find(resource, &name, &stamp)
            .map_or_else(|| hash(directory, resource, &name, &stamp), Ok);
        match hash {
            Ok(sha256) => {
                known.insert(resource, &name, stamp, sha256);
                let size = stamp.size;
                hashed.insert(name, ClientFile { size, sha256 });
            }
            Err(error) => faults.push(unreadable(resource, &name, &error)),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    known.retain(resource, |name| hashed.contains_key(name));
    if hashed.is_empty() {
        return Ok(None);
    }
    manifest(resource, hashed)
        .map(|manifest| Some(Arc::new(manifest)))
        .map_err(|error| vec![unreadable(resource, "", &error)])
}

/// Everything that is wrong with the client files of a resource, without hashing them: what must not be there, and what
/// cannot be opened.
#[must_use]
pub fn faults(directory: &Path, resource: &ResourceName) -> Vec<ScriptFault> {
    let ClientListing { files, mut faults } = list(directory, resource);
    for name in files.keys() {
        if let Err(error) = open(directory, resource, name) {
            faults.push(unreadable(resource, name, &error));
        }
    }
    faults
}

/// A file that was written just now could be written again without getting another time, and its hash would stand for
/// both; once the clock has moved on, it cannot.
fn wait_for_clock(newest: Option<SystemTime>) {
    let age = newest.and_then(|newest| SystemTime::now().duration_since(newest).ok());
    if let Some(rest) = age.and_then(|age| CLOCK_GRAIN.checked_sub(age)) {
        thread::sleep(rest);
    }
}

fn hash(directory: &Path, resource: &ResourceName, name: &str, listed: &Stamp) -> io::Result<[u8; 32]> {
    let content = open(directory, resource, name)?;
    let mut hasher = Sha256::new();
    let bytes = feed(&content.file, listed.size, &mut hasher)?;
    if content.stamp != *listed || bytes != listed.size || !content.is_unchanged()? {
        return Err(io::Error::other("it changed while it was read"));
    }
    Ok(hasher.finalize().into())
}

/// Reads one byte more than there should be, so that a file that grows is not read for ever.
fn feed(file: &File, size: u64, hasher: &mut Sha256) -> io::Result<u64> {
    let mut piece = vec![0; PIECE_BYTES];
    let mut file = file.take(size.saturating_add(1));
    let mut bytes = 0u64;
    loop {
        let read = match file.read(&mut piece) {
            Ok(0) => return Ok(bytes),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(piece.get(..read).unwrap_or_default());
        bytes = bytes.saturating_add(read as u64);
    }
}

fn unreadable(resource: &ResourceName, name: &str, error: &io::Error) -> ScriptFault {
    let folder = format!("{SCRIPTS_FOLDER}/{resource}/{CLIENT_FOLDER}");
    let file = if name.is_empty() {
        folder
    } else {
        format!("{folder}/{name}")
    };
    fault_of_file(
        file,
        format!("cannot be read: {error}; let the server's user read it, and save it again"),
    )
}

#[derive(Serialize)]
struct ManifestDocument<'files> {
    resource: &'files str,
    files: Vec<FileDocument<'files>>,
}

#[derive(Serialize)]
struct FileDocument<'files> {
    name: &'files str,
    size: u64,
    sha256: String,
}

fn manifest(resource: &ResourceName, files: BTreeMap<Box<str>, ClientFile>) -> io::Result<ClientManifest> {
    let document = ManifestDocument {
        resource: resource.as_str(),
        files: files
            .iter()
            .map(|(name, file)| FileDocument {
                name,
                size: file.size,
                sha256: file.sha256.iter().map(|byte| format!("{byte:02x}")).collect(),
            })
            .collect(),
    };
    let json: Arc<[u8]> = serde_json::to_vec(&document)?.into();
    Ok(ClientManifest {
        files,
        sha256: Sha256::digest(&json).into(),
        json,
    })
}

#[cfg(test)]
mod tests;
