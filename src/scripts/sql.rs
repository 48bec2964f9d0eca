//! What a gamemode keeps: one SQLite file a resource, `store/<resource>.sqlite`.
//!
//! The file holds the resource's store (`store::put`, in a table of ours that its SQL never reaches) and whatever tables
//! its own SQL makes (`db::execute`). A thread a resource keeps both, each over a connection of its own: store before
//! statements, so that neither a long statement of another resource nor a queue of its own delays what must be durable soon,
//! and statements in the order in which they came. What an answer says is on disk is on disk.

mod file;
mod guard;
mod keeper;
mod statement;
mod store;

use std::{path::Path, time::Duration};

use decitick_components::script::ResourceName;

pub use keeper::Keepers;

/// The folder of a server directory with a file a resource.
pub const STORE_FOLDER: &str = "store";
/// The table of the store; no statement of a script reaches it.
const STORE_TABLE: &str = "decitick_store";

/// How long one statement may run.
pub const STATEMENT_TIME: Duration = Duration::from_secs(1);
/// Rows of one answer.
pub const ROWS_MOST: usize = 10_000;
/// Bytes of the values of one answer; a value counts as 8 bytes at least.
pub const ANSWER_BYTES_MOST: usize = 1024 * 1024;
/// Bytes of one value.
pub const VALUE_BYTES_MOST: usize = 1024 * 1024;
/// Bytes of the text of one statement.
pub const SQL_BYTES_MOST: usize = 64 * 1024;
/// Parameters of one statement.
pub const PARAMETERS_MOST: usize = 1_000;
/// Bytes of the database file of one resource.
pub const FILE_BYTES_MOST: i64 = 256 * 1024 * 1024;
/// Statements of one resource that wait.
pub const WAITING_MOST: usize = 1_000;
/// Bytes of the statements of one resource that wait, and of the changes of its store that do.
pub const WAITING_BYTES_MOST: usize = 64 * 1024 * 1024;
/// Bytes of keys and values of a store that are read.
pub const STORE_BYTES_MOST: usize = 64 * 1024 * 1024;

/// The file of a resource from the server directory on, as faults name it.
#[must_use]
pub fn shown_path(resource: &ResourceName) -> String {
    format!("{STORE_FOLDER}/{resource}.sqlite")
}

/// Whether a resource has kept anything yet.
fn exists(directory: &Path, resource: &ResourceName) -> bool {
    std::fs::symlink_metadata(directory.join(shown_path(resource))).is_ok()
}

/// A short text of what SQLite says.
fn words(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}
