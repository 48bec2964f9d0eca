//! Resources that the shell has read and compiled, on their way into the tick.

use std::collections::{BTreeMap, VecDeque};

use bevy_ecs::resource::Resource;
use decitick_components::script::{ResourceName, ScriptFault};

use super::Program;

/// Why a resource was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadCause {
    /// The tick asked for it, with [`ScriptWork::Load`](decitick_components::script::ScriptWork::Load).
    Asked,
    /// A file of it changed.
    Changed,
}

/// A resource that compiled.
#[derive(Debug)]
pub struct PreparedResource {
    /// Its scripts.
    pub program: Program,
    /// What its store held on disk, each value one MessagePack value. A reload keeps the store it has.
    pub store: BTreeMap<String, Vec<u8>>,
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
