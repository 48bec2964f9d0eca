//! Fetches the client files of a resource over HTTP (docs/protocol.md 2.7), blocking, and puts each into a folder once it
//! is whole and has the hash that the manifest promises.
//!
//! The server is not trusted: what it sends is bounded in bytes and in time, redirects are not followed, and nothing is
//! written outside the folder. What could not be finished is kept and goes on where it stopped.

mod error;
mod fetch;
mod place;

use std::fs::File;
use std::io::{self, Seek, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use self::fetch::{Arriving, Fetcher};
use self::place::{Place, feed};
use crate::files::{ClientFilesManifest, MANIFEST_NAME, ManifestFile, ManifestLimits};

pub use self::error::FilesError;

/// What a download takes and bears at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DownloadLimits {
    /// What the manifest may ask for.
    pub manifest: ManifestLimits,
    /// How long a connection may take.
    pub connect_time: Duration,
    /// How long the server may be silent, and how long the head of a response may take in all.
    pub silent_time: Duration,
    /// Over how much time the pace is judged.
    pub pace_time: Duration,
    /// The slowest pace, in bytes a second.
    pub pace_bytes_per_second: u64,
}

impl Default for DownloadLimits {
    /// 10 s to connect, 15 s of silence, and 4 KiB/s over 30 s, which is what a server asks of its clients.
    fn default() -> Self {
        Self {
            manifest: ManifestLimits::default(),
            connect_time: Duration::from_secs(10),
            silent_time: Duration::from_secs(15),
            pace_time: Duration::from_secs(30),
            pace_bytes_per_second: 4 * 1024,
        }
    }
}

/// The files of a resource on this disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DownloadedFiles {
    /// The folder that they are in, under their names.
    pub directory: PathBuf,
    /// What the server has. Each of its files is there and has its hash.
    pub manifest: ClientFilesManifest,
    /// How many of them were fetched; the others were there already.
    pub fetched: usize,
    /// Bytes that were fetched.
    pub fetched_bytes: u64,
}

/// Fetches what `resource` has for its clients from `address` into `directory`, which is made when it is not there.
///
/// `manifest_sha256` is what FilesManifest announced. Files that are there with the right hash are not fetched again, and
/// what was begun before is finished. Other files in the folder are left alone. Give each resource a folder of its own.
///
/// # Errors
/// [`FilesError`]: the first thing that went wrong. What was finished by then stays.
pub fn download_files(
    address: SocketAddr,
    resource: &str,
    manifest_sha256: &[u8; 32],
    directory: &Path,
    limits: &DownloadLimits,
) -> Result<DownloadedFiles, FilesError> {
    let fetcher = Fetcher::new(address, resource, *limits);
    let manifest = fetch_manifest(&fetcher, resource, manifest_sha256, &limits.manifest)?;
    let place = Place::make(directory)?;
    let mut downloaded = DownloadedFiles {
        directory: directory.to_owned(),
        manifest,
        fetched: 0,
        fetched_bytes: 0,
    };
    for file in downloaded.manifest.files() {
        if place.holds(file)? {
            continue;
        }
        // A rest of an earlier try may be broken; then the file is fetched whole.
        let bytes = match fetch_file(&fetcher, &place, file) {
            Err(FilesError::OtherContent { resumed: true, .. }) => fetch_file(&fetcher, &place, file),
            other => other,
        }?;
        downloaded.fetched += 1;
        downloaded.fetched_bytes += bytes;
    }
    place.tidy();
    Ok(downloaded)
}

fn fetch_manifest(
    fetcher: &Fetcher,
    resource: &str,
    sha256: &[u8; 32],
    limits: &ManifestLimits,
) -> Result<ClientFilesManifest, FilesError> {
    let mut arriving = fetcher.whole(MANIFEST_NAME)?;
    let mut bytes = Vec::new();
    while let Some(piece) = arriving.next(limits.manifest_bytes.saturating_add(1))? {
        bytes.extend_from_slice(piece);
    }
    Ok(ClientFilesManifest::parse(&bytes, resource, sha256, limits)?)
}

/// Fetches what is missing of one file, and gives it its name once it is right. How many bytes came.
fn fetch_file(fetcher: &Fetcher, place: &Place, file: &ManifestFile) -> Result<u64, FilesError> {
    let mut part = place.begin(file)?;
    let on_disk = |error| FilesError::disk(part.path.clone(), error);
    let mut hasher = Sha256::new();
    let mut have = resumable(&mut part.file, file.size, &mut hasher).map_err(on_disk)?;
    let resumed = have > 0;
    let mut came = 0;
    if have < file.size {
        let (mut arriving, begins) = fetcher.from(file, have)?;
        if begins != have {
            have = 0;
            hasher = Sha256::new();
            start_over(&mut part.file).map_err(on_disk)?;
        }
        came = receive(
            &mut arriving,
            &mut part.file,
            &mut hasher,
            file.size - have,
            file,
            &part.path,
        )?;
        have += came;
    }
    if have < file.size {
        return Err(FilesError::Short {
            name: file.name.clone(),
            bytes: have,
            size: file.size,
        });
    }
    if hasher.finalize().as_slice() != file.sha256 {
        place.discard(&part);
        return Err(FilesError::OtherContent {
            name: file.name.clone(),
            resumed,
        });
    }
    place.finish(part, file)?;
    Ok(came)
}

/// How much of a file is there already, with the hash fed so far and the end as the place to go on.
fn resumable(part: &mut File, size: u64, hasher: &mut Sha256) -> io::Result<u64> {
    if part.metadata()?.len() > size {
        start_over(part)?;
    }
    feed(part, size, hasher)
}

fn start_over(part: &mut File) -> io::Result<()> {
    part.set_len(0)?;
    part.rewind()
}

/// Takes at most `most` bytes; one more is an error, however many would follow.
fn receive(
    arriving: &mut Arriving,
    part: &mut File,
    hasher: &mut Sha256,
    most: u64,
    file: &ManifestFile,
    path: &Path,
) -> Result<u64, FilesError> {
    let mut came = 0u64;
    while let Some(piece) = arriving.next(most.saturating_add(1))? {
        came += piece.len() as u64;
        if came > most {
            return Err(FilesError::Long {
                name: file.name.clone(),
                size: file.size,
            });
        }
        hasher.update(piece);
        part.write_all(piece)
            .map_err(|error| FilesError::disk(path.to_owned(), error))?;
    }
    Ok(came)
}
