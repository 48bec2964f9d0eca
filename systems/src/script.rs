//! Gamemodes: resources of scripts that decide what the game is.
//!
//! Scripts run in the step Script of a tick, and where the simulation asks them something (`judge`). They read the world
//! through a copy of it (`mirror`) and leave wishes; whatever they keep, ask for or break stays within their resource.
//! Files, databases and clocks are the shell's: a resource comes in as a [`LoadedResource`].

mod compile;
mod loading;

pub use compile::{Program, compile};
pub use loading::{LoadCause, LoadedResource, PreparedResource, ScriptInbox};
