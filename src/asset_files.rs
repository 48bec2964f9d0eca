//! `assets/weapons.ron`, `assets/spawns.ron` and `assets/things.ron`: read, checked to the last bound, or the built-in
//! ones when a file is missing.
//!
//! Knows the files and their bounds; what weapons, spawn points and things do is the systems' matter.

mod checks;
mod list;
mod spawns;
mod things;
mod weapons;

pub use self::{spawns::load_spawns, things::load_things, weapons::load_weapons};

/// The text that `decitick init` writes to `assets/weapons.ron`, used when the file is missing.
pub const DEFAULT_WEAPONS: &str = include_str!("../assets/weapons.ron");
/// The text that `decitick init` writes to `assets/spawns.ron`, used when the file is missing.
pub const DEFAULT_SPAWNS: &str = include_str!("../assets/spawns.ron");
/// The text that `decitick init` writes to `assets/things.ron`, used when the file is missing.
pub const DEFAULT_THINGS: &str = include_str!("../assets/things.ron");

/// What the tests of all three files need.
#[cfg(test)]
mod testing {
    /// A server directory that holds one asset file.
    pub(super) fn directory_with(name: &str, text: &str) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("assets")).unwrap();
        std::fs::write(directory.path().join("assets").join(name), text).unwrap();
        directory
    }
}
