//! Resources that the shell has read and compiled, on their way into the tick.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use bevy_ecs::resource::Resource;
use decitick_components::{
    client_files::ClientManifest,
    script::{ResourceName, ScriptFault},
};

use super::Program;

/// Why a resource was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadCause {
    /// The tick asked for it, with [`ScriptWork::Load`](decitick_components::script::ScriptWork::Load).
    Asked,
    /// A script or the manifest of it changed.
    Changed,
    /// Nothing but its client files changed: the resource runs on, and what is served and announced is replaced.
    FilesChanged,
}

/// A resource that compiled.
#[derive(Debug)]
pub struct PreparedResource {
    /// Its scripts.
    pub program: Program,
    /// What its store held on disk, each value one MessagePack value. A reload keeps the store it has.
    pub store: BTreeMap<String, Vec<u8>>,
    /// Its files for clients; `None` when it has none.
    pub client_files: Option<Arc<ClientManifest>>,
}

/// A resource that was read, whatever came of it.
#[derive(Debug)]
pub struct LoadedResource {
    /// Its name.
    pub name: ResourceName,
    /// Why it was read.
    pub cause: LoadCause,
    /// What it is, or everything that is wrong with it.
    pub result: Result<Box<PreparedResource>, Vec<ScriptFault>>,
}

/// Resources that came in since the last tick, oldest first.
#[derive(Resource, Debug, Default)]
pub struct ScriptInbox(pub VecDeque<LoadedResource>);
