//! The files that a resource has for its clients: names, sizes and hashes, never their content (docs/protocol.md 2.7).
//!
//! Reading, hashing and serving them is the shell's. The tick decides whose files are there and announces them.

use std::{collections::BTreeMap, sync::Arc};

use bevy_ecs::resource::Resource;

use crate::script::ResourceName;

/// A file for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientFile {
    /// Bytes.
    pub size: u64,
    /// SHA-256 of its content.
    pub sha256: [u8; 32],
}

/// All files of one resource at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientManifest {
    /// By path inside `client/`, with `/` between parts: `login.html`, `images/logo.png`.
    pub files: BTreeMap<Box<str>, ClientFile>,
    /// `manifest.json` as it is served.
    pub json: Arc<[u8]>,
    /// SHA-256 of `json`, which FilesManifest announces.
    pub sha256: [u8; 32],
}

/// Whose files are there now, in the order in which the resources were started, with the hash of each manifest.
#[derive(Resource, Clone, Debug, Default, PartialEq, Eq)]
pub struct AnnouncedFiles(pub Vec<(ResourceName, [u8; 32])>);
