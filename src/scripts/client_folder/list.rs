//! Lists `client/` without reading it: files and their state, and what must not be there.
//!
//! The same list feeds the reader and the watch. It is bounded, and no symbolic link is ever followed.

use std::{
    collections::BTreeMap,
    fs::{self, DirEntry},
    io,
    path::{Path, PathBuf},
};

use decitick_client::files::{NAME_BYTES_MOST, NameFault, NameSet, name_fault};
use decitick_components::script::{ResourceName, ScriptFault};

use super::super::{
    SCRIPTS_FOLDER,
    walk::{CLIENT_FOLDER, DEPTH_MOST, ENTRIES_MOST, Stamp, fault_of_file, is_hidden},
};

/// Files of one resource.
pub(super) const FILES_MOST: usize = 4096;
/// Bytes of one file.
pub(super) const FILE_BYTES_MOST: u64 = 512 << 20;
/// Bytes of all files of one resource.
pub(super) const BYTES_MOST: u64 = 4 << 30;

/// What `client/` holds at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::scripts) struct ClientListing {
    /// Files by their path inside the folder, with `/` between parts.
    pub files: BTreeMap<Box<str>, Stamp>,
    /// What must not be there, or too much of it.
    pub faults: Vec<ScriptFault>,
}

/// Lists the client files of a resource. Where the resource itself is not as it must be there are none.
pub(in crate::scripts) fn list(directory: &Path, resource: &ResourceName) -> ClientListing {
    let mut walk = Walk {
        shown: format!("{SCRIPTS_FOLDER}/{resource}/{CLIENT_FOLDER}"),
        listing: ClientListing::default(),
        entries: 0,
    };
    let mut root = directory.join(SCRIPTS_FOLDER);
    for part in [resource.as_str(), CLIENT_FOLDER] {
        // That these are folders is the list of scripts' to say.
        if !fs::symlink_metadata(&root).is_ok_and(|metadata| metadata.is_dir()) {
            return walk.listing;
        }
        root.push(part);
    }
    match fs::symlink_metadata(&root) {
        Ok(metadata) if metadata.is_dir() => walk.tree(&root),
        Ok(metadata) if metadata.is_symlink() => {
            walk.fault("", "is a symbolic link; put the folder itself here");
        }
        Ok(_) => walk.fault(
            "",
            "is no folder; what clients are to have goes into a folder of this name",
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => walk.unreadable("", &error),
    }
    walk.check_bounds();
    walk.listing
}

struct Walk {
    /// The folder as faults name it.
    shown: String,
    listing: ClientListing,
    entries: usize,
}

/// A folder that is still to be looked into.
struct Folder {
    path: PathBuf,
    /// Its path inside `client/`, with a `/` at its end unless it is empty.
    inside: String,
    depth: usize,
}

impl Walk {
    fn tree(&mut self, root: &Path) {
        let mut folders = vec![Folder {
            path: root.to_owned(),
            inside: String::new(),
            depth: 0,
        }];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(&folder.path) {
                Ok(entries) => entries,
                Err(error) => {
                    self.unreadable(folder.inside.trim_end_matches('/'), &error);
                    continue;
                }
            };
            for entry in entries {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        self.unreadable(folder.inside.trim_end_matches('/'), &error);
                        break;
                    }
                };
                self.entries = self.entries.saturating_add(1);
                if self.entries > ENTRIES_MOST {
                    let problem = format!(
                        "holds more than {ENTRIES_MOST} files and folders; move away what clients do not need"
                    );
                    self.fault("", problem);
                    return;
                }
                if !is_hidden(&entry.file_name()) {
                    self.entry(&entry, &folder, &mut folders);
                }
            }
        }
    }

    fn entry(&mut self, entry: &DirEntry, folder: &Folder, folders: &mut Vec<Folder>) {
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            let shown: String = name.to_string_lossy().escape_debug().collect();
            self.fault(
                &format!("{}{shown}", folder.inside),
                "has a name that is no UTF-8 text; rename it",
            );
            return;
        };
        let inside = format!("{}{name}", folder.inside);
        if let Some(fault) = name_fault(&inside) {
            self.name_fault(&inside, fault);
            return;
        }
        let path = entry.path();
        // The metadata of the entry itself: of a link, not of what it leads to.
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            // It went between two looks; whoever watches sees the next state.
            return;
        };
        if metadata.is_symlink() {
            self.fault(&inside, "is a symbolic link; put the file itself here");
        } else if metadata.is_dir() {
            if folder.depth == DEPTH_MOST {
                let problem = format!("is a folder too deep; {DEPTH_MOST} inside each other are taken");
                self.fault(&inside, problem);
            } else {
                folders.push(Folder {
                    path,
                    inside: format!("{inside}/"),
                    depth: folder.depth.saturating_add(1),
                });
            }
        } else if metadata.is_file() {
            if metadata.len() > FILE_BYTES_MOST {
                let problem = format!(
                    "has {} MiB; {} MiB are taken, so split it",
                    metadata.len().div_ceil(1 << 20),
                    FILE_BYTES_MOST >> 20
                );
                self.fault(&inside, problem);
            }
            self.listing.files.insert(inside.into(), Stamp::of(&metadata));
        } else {
            self.fault(&inside, "is no regular file; remove it");
        }
    }

    fn check_bounds(&mut self) {
        let mut names = NameSet::default();
        let clashes: Vec<_> = self
            .listing
            .files
            .keys()
            .filter_map(|name| names.add(name).map(|fault| (name.clone(), fault)))
            .collect();
        for (name, fault) in clashes {
            self.name_fault(&name, fault);
        }
        let count = self.listing.files.len();
        if count > FILES_MOST {
            let problem = format!("holds {count} files; {FILES_MOST} are taken");
            self.fault("", problem);
        }
        let sizes = self.listing.files.values();
        let bytes = sizes.fold(0u64, |sum, stamp| sum.saturating_add(stamp.size));
        if bytes > BYTES_MOST {
            let problem = format!(
                "holds {} MiB; {} MiB are taken",
                bytes.div_ceil(1 << 20),
                BYTES_MOST >> 20
            );
            self.fault("", problem);
        }
        // Folders come in the order of the file system.
        self.listing.faults.sort();
    }

    fn name_fault(&mut self, inside: &str, fault: NameFault) {
        let shown: String = inside.escape_debug().collect();
        let problem = match fault {
            NameFault::Manifest => {
                "stands in the place of the manifest that the server makes; rename it".to_owned()
            }
            NameFault::Length => {
                format!("has a path of more than {NAME_BYTES_MOST} bytes inside {CLIENT_FOLDER}; shorten it")
            }
            fault => format!("has a name that not every client can take: it {fault}; rename it"),
        };
        self.fault(&shown, problem);
    }

    fn unreadable(&mut self, inside: &str, error: &io::Error) {
        let problem = format!("cannot be read: {error}; let the server's user read it");
        self.fault(inside, problem);
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
