//! The HTTP server of client files (docs/protocol.md 2.7): what the tick put up, and nothing else, to whoever asks.
//!
//! [`ClientFiles`] is the small table between the tick and the server: the tick puts a manifest up, and from that moment
//! its files can be fetched. A file is found by its name in the manifest and by nothing else, and it is sent only while it
//! is in the state whose hash the manifest promises. Nothing here knows the game, a session or a script.

mod body;
mod conditions;
mod connection;
mod content_type;
mod listener;
mod pace;
mod request;
mod response;
mod seats;

use std::{
    collections::BTreeMap,
    io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use decitick_components::{client_files::ClientManifest, script::ResourceName, settings::Settings};

use crate::{
    edge_runtime::EdgeRuntime,
    scripts::client_folder::{self, ClientContent, KnownHashes},
};

pub use self::listener::{ClientFilesListener, ListenError};

/// What the server takes and bears at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServeLimits {
    /// Connections in all.
    pub connections: usize,
    /// Connections of one IP.
    pub connections_per_ip: usize,
    /// Leading bits of an IPv6 address that count as one IP.
    pub ipv6_prefix: u8,
    /// Whether 127.0.0.0/8 and ::1 are free of the limit per IP.
    pub loopback_exempt: bool,
    /// How long the head of a request may take, the wait for it included: so long a connection may be idle.
    pub head_time: Duration,
    /// How long a client may take nothing of a response.
    pub stall_time: Duration,
    /// Over how much time of waiting for a client its pace is judged.
    pub pace_time: Duration,
    /// The slowest pace, in bytes a second.
    pub pace_bytes_per_second: u64,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            connections: 256,
            connections_per_ip: 16,
            ipv6_prefix: 64,
            loopback_exempt: true,
            head_time: Duration::from_secs(10),
            stall_time: Duration::from_secs(15),
            pace_time: Duration::from_secs(30),
            pace_bytes_per_second: 4 * 1024,
        }
    }
}

impl ServeLimits {
    /// The limits of a server with these settings.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        Self {
            ipv6_prefix: settings.limits.ipv6_prefix,
            loopback_exempt: settings.limits.loopback_exempt,
            ..Self::default()
        }
    }
}

/// Bytes of the head of a request.
const HEAD_BYTES: usize = 8 * 1024;
/// Bytes of a file that are read at once; a connection holds no more than two such pieces.
const PIECE_BYTES: u64 = 64 * 1024;

/// Whose client files are up. Its clones are one and the same.
#[derive(Clone, Debug)]
pub struct ClientFiles {
    directory: Arc<PathBuf>,
    known: KnownHashes,
    up: Arc<Mutex<BTreeMap<ResourceName, Arc<ClientManifest>>>>,
}

impl ClientFiles {
    /// The table of a server directory; nothing is up. `known` is what the files were hashed with.
    #[must_use]
    pub fn new(directory: PathBuf, known: KnownHashes) -> Self {
        Self {
            directory: Arc::new(directory),
            known,
            up: Arc::default(),
        }
    }

    /// Puts these files of a resource up in place of those it had, or takes them down. Holds from the moment it returns;
    /// touches no file.
    pub fn activate(&self, resource: &ResourceName, files: Option<Arc<ClientManifest>>) {
        let mut up = self.lock();
        match files {
            Some(files) => up.insert(resource.clone(), files),
            None => up.remove(resource),
        };
    }

    fn manifest(&self, resource: &str) -> Option<(ResourceName, Arc<ClientManifest>)> {
        let up = self.lock();
        let (name, manifest) = up.get_key_value(resource)?;
        Some((name.clone(), Arc::clone(manifest)))
    }

    /// Opens a file whose content is the one with this hash.
    fn open(&self, resource: &ResourceName, name: &str, sha256: &[u8; 32]) -> io::Result<ClientContent> {
        let content = client_folder::open(&self.directory, resource, name)?;
        if self.known.find(resource, name, &content.stamp).as_ref() != Some(sha256) {
            return Err(io::Error::other("it changed since it was hashed"));
        }
        Ok(content)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ResourceName, Arc<ClientManifest>>> {
        // Whoever panicked left whole entries behind.
        self.up.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves what is up to whoever connects, until the runtime ends.
pub fn serve(runtime: &EdgeRuntime, listener: ClientFilesListener, files: ClientFiles, limits: ServeLimits) {
    runtime.spawn(listener::accept(listener, files, limits));
}
