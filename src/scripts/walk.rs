//! Lists what a resource's folder holds, without reading it: scripts, the manifest, and what must not be there.
//!
//! The same list feeds the reader and the watch, so that both mean the same files. It is bounded, and no symbolic link is
//! ever followed: a link could lead out of the folder, and a script must not see what is not its own.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use decitick_components::script::{ResourceName, ScriptFault};
use decitick_protocol::text::is_control_or_format;

use super::SCRIPTS_FOLDER;

/// The manifest of a resource.
pub(super) const MANIFEST_FILE: &str = "resource.ron";
/// The folder of a resource whose files are for clients.
pub(super) const CLIENT_FOLDER: &str = "client";

/// Script files of one resource.
pub(super) const FILES_MOST: usize = 256;
/// Bytes of one file.
pub(super) const FILE_BYTES_MOST: u64 = 1024 * 1024;
/// Bytes of all scripts of a resource.
pub(super) const BYTES_MOST: u64 = 8 * 1024 * 1024;
/// Folders inside each other, below the resource's own.
pub(super) const DEPTH_MOST: usize = 8;
/// Files and folders of any kind that are looked at.
pub(super) const ENTRIES_MOST: usize = 10_000;

/// What tells one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub size: u64,
    device: u64,
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.len(),
            device: metadata.dev(),
            inode: metadata.ino(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// When anything about the file last changed.
    pub(crate) fn newest(&self) -> Option<SystemTime> {
        let (seconds, nanoseconds) = self.modified.max(self.changed);
        let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
        UNIX_EPOCH.checked_add(since)
    }
}

/// What a folder holds at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// Whether there is such a folder.
    pub found: bool,
    /// The manifest.
    pub manifest: Option<Stamp>,
    /// Scripts by their path inside the folder, with `/` between parts.
    pub scripts: BTreeMap<String, Stamp>,
    /// What must not be there, or too much of it.
    pub faults: Vec<ScriptFault>,
}

/// Lists the folder of a resource.
pub(super) fn list(directory: &Path, resource: &ResourceName) -> Listing {
    let mut walk = Walk {
        shown: format!("{SCRIPTS_FOLDER}/{resource}"),
        listing: Listing::default(),
        entries: 0,
    };
    let scripts = directory.join(SCRIPTS_FOLDER);
    let root = scripts.join(resource.as_str());
    for (path, shown) in [(&scripts, SCRIPTS_FOLDER.to_owned()), (&root, walk.shown.clone())] {
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(metadata) => {
                let problem = if metadata.is_symlink() {
                    "is a symbolic link; put the folder itself here"
                } else {
                    "is no folder; put a folder with resource.ron and main.rhai here"
                };
                walk.listing.found = true;
                walk.listing.faults.push(fault_of_file(shown, problem));
                return walk.listing;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return walk.listing,
            Err(error) => {
                walk.listing.found = true;
                let problem = format!("cannot be read: {error}; let the server's user read it");
                walk.listing.faults.push(fault_of_file(shown, problem));
                return walk.listing;
            }
        }
    }
    walk.listing.found = true;
    walk.tree(&root);
    walk.check_bounds();
    walk.listing
}

/// A fault of a whole file or folder.
pub(super) fn fault_of_file(file: String, problem: impl Into<String>) -> ScriptFault {
    ScriptFault {
        file,
        line: 0,
        column: 0,
        problem: problem.into(),
    }
}

struct Walk {
    /// The resource's folder as faults name it.
    shown: String,
    listing: Listing,
    entries: usize,
}

impl Walk {
    fn tree(&mut self, root: &Path) {
        let mut folders: Vec<(PathBuf, String, usize)> = vec![(root.to_owned(), String::new(), 0)];
        while let Some((path, inside, depth)) = folders.pop() {
            let entries = match fs::read_dir(&path) {
                Ok(entries) => entries,
                Err(error) => {
                    let problem = format!("cannot be read: {error}; let the server's user read it");
                    self.fault(&inside, problem);
                    continue;
                }
            };
            for entry in entries {
                let Ok(entry) = entry else {
                    self.fault(
                        &inside,
                        "cannot be read to its end; let the server's user read it",
                    );
                    break;
                };
                self.entries = self.entries.saturating_add(1);
                if self.entries > ENTRIES_MOST {
                    let problem = format!(
                        "holds more than {ENTRIES_MOST} files and folders; move away what is no script"
                    );
                    self.fault("", problem);
                    return;
                }
                let name = entry.file_name();
                if !is_hidden(&name) {
                    self.entry(&entry.path(), &name, &inside, depth, &mut folders);
                }
            }
        }
    }

    fn entry(
        &mut self,
        path: &Path,
        name: &OsStr,
        folder: &str,
        depth: usize,
        folders: &mut Vec<(PathBuf, String, usize)>,
    ) {
        let join = |name: &str| {
            if folder.is_empty() {
                name.to_owned()
            } else {
                format!("{folder}/{name}")
            }
        };
        if depth == 0 && name == CLIENT_FOLDER {
            return;
        }
        let plain = name
            .to_str()
            .filter(|name| !name.chars().any(is_control_or_format));
        let Some(name) = plain else {
            let shown: String = name.to_string_lossy().escape_debug().collect();
            self.fault(&join(&shown), "has a name that is no plain UTF-8 text; rename it");
            return;
        };
        let inside = join(name);
        // The metadata of the entry itself: of a link, not of what it leads to.
        let Ok(metadata) = fs::symlink_metadata(path) else {
            // It went between two looks; whoever watches sees the next state.
            return;
        };
        if metadata.is_symlink() {
            self.fault(&inside, "is a symbolic link; put the file itself here");
        } else if metadata.is_dir() {
            if depth == DEPTH_MOST {
                let problem = format!("is a folder too deep; {DEPTH_MOST} inside each other are taken");
                self.fault(&inside, problem);
            } else {
                folders.push((path.to_owned(), inside, depth.saturating_add(1)));
            }
        } else if folder.is_empty() && name == MANIFEST_FILE {
            self.listing.manifest = Some(Stamp::of(&metadata));
        } else if name.ends_with(".rhai") && !name.ends_with(".d.rhai") {
            self.listing.scripts.insert(inside, Stamp::of(&metadata));
        }
    }

    fn check_bounds(&mut self) {
        let count = self.listing.scripts.len();
        if count > FILES_MOST {
            let problem = format!("holds {count} scripts; {FILES_MOST} are taken");
            self.fault("", problem);
        }
        let sizes = self.listing.scripts.values();
        let bytes = sizes.fold(0u64, |sum, stamp| sum.saturating_add(stamp.size));
        if bytes > BYTES_MOST {
            let problem = format!(
                "holds {} KiB of scripts; {} KiB are taken",
                bytes.div_ceil(1024),
                BYTES_MOST / 1024
            );
            self.fault("", problem);
        }
        // Folders come in the order of the file system.
        self.listing.faults.sort();
    }

    fn fault(&mut self, inside: &str, problem: impl Into<String>) {
        let file = if inside.is_empty() {
            self.shown.clone()
        } else {
            format!("{}/{inside}", self.shown)
        };
        self.listing.faults.push(fault_of_file(file, problem));
    }
}

pub(super) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().first() == Some(&b'.')
}
