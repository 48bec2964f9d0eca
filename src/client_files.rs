//! The HTTP server of client files (docs/protocol.md 2.7): what the tick put up, and nothing else, to whoever asks.
//!
//! [`ClientFiles`] is the small table between the tick and the server: the tick puts a manifest up, and from that moment
//! its files can be fetched. A file is found by its name in the manifest and by nothing else, and it is sent only while it
//! is in the state whose hash the manifest promises. Nothing here knows the game, a session or a script.

mod body;
mod conditions;
mod content_type;
mod listener;
mod request;
mod response;

use std::{
    collections::BTreeMap,
    io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use decitick_components::{client_files::ClientManifest, script::ResourceName};

use crate::{
    edge_runtime::EdgeRuntime,
    http,
    scripts::client_folder::{self, ClientContent, KnownHashes},
};

pub use self::listener::ClientFilesListener;
pub use crate::http::{HttpLimits as ServeLimits, ListenError};

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
    runtime.spawn(http::serve(listener.0, limits, move |request| {
        let files = files.clone();
        async move { response::answer(&files, request).await }
    }));
}
