//! Gamemodes at the edge: their folders, their databases, and the gauges that bound their calls.
//!
//! What a script may do and when it runs is said by the systems; here is what must not happen in a tick. One thread reads,
//! compiles and watches folders; one thread a resource keeps its store and its database; one thread hashes passwords.
//! Wishes come from the tick and answers go back to it through [`ScriptWorkers`].

pub mod client_folder;
pub mod folder;
pub mod gauges;
pub mod load;
mod manifest;
pub mod needs;
pub mod passwords;
pub mod sql;
mod text_file;
mod walk;
pub mod watch;
mod workers;

pub use workers::{ScriptThreads, ScriptWorkers, names};

/// The folder of a server directory that holds a folder a resource.
pub const SCRIPTS_FOLDER: &str = "scripts";
