//! `scripts/<resource>/`: reads the files of a resource as they stand, or says everything that is wrong with them.

use std::{collections::BTreeMap, fs, path::Path};

use decitick_components::script::{MAIN_FILE, Manifest, ResourceName, ScriptBundle, ScriptFault};

use super::{
    SCRIPTS_FOLDER,
    manifest::{ManifestFile, fault_at},
    text_file::{self, TextFault},
    walk::{BYTES_MOST, FILE_BYTES_MOST, FILES_MOST, Listing, MANIFEST_FILE, fault_of_file, list},
};

/// So many resources of a directory are looked at.
const RESOURCES_MOST: usize = 4096;
/// A message lists the resources of a directory when there are no more than this.
const LISTED_MOST: usize = 8;

/// A resource's folder, read at one moment.
#[derive(Debug)]
pub struct ReadFolder {
    /// What could be read of it. A manifest that could not stands there as the default one.
    pub bundle: ScriptBundle,
    /// The manifest with its places, when it could be read.
    pub manifest: Option<ManifestFile>,
    /// Whether there is anything under that name.
    pub exists: bool,
    /// Everything that is wrong; empty when the bundle is whole.
    pub faults: Vec<ScriptFault>,
    /// Whether all scripts are in the bundle, so that compiling it can tell more, whatever is wrong with the manifest.
    pub scripts_whole: bool,
}

/// Reads the folder of a resource of a server directory.
///
/// Symbolic links are never followed. At most 256 scripts of 1 MiB each and 8 MiB in all are taken, in folders at most 8
/// deep; each breach is a fault. Hidden files, `*.d.rhai` and the folder `client` are passed over.
#[must_use]
pub fn read(directory: &Path, resource: &ResourceName) -> ReadFolder {
    let Listing {
        found,
        manifest,
        scripts,
        faults,
    } = list(directory, resource);
    let mut read = Reader {
        root: directory.join(SCRIPTS_FOLDER).join(resource.as_str()),
        shown: format!("{SCRIPTS_FOLDER}/{resource}"),
        faults,
    };
    let mut folder = ReadFolder {
        bundle: ScriptBundle {
            resource: resource.clone(),
            manifest: Manifest::default(),
            files: BTreeMap::new(),
        },
        manifest: None,
        exists: found,
        faults: Vec::new(),
        scripts_whole: false,
    };
    if !found {
        folder.faults.push(missing(directory, resource));
        return folder;
    }
    let listed_whole = read.faults.is_empty();
    if manifest.is_some() {
        folder.manifest = read.manifest(resource);
    } else if listed_whole {
        read.fault(
            MANIFEST_FILE,
            "is missing; write one, as in (description: \"what it is\")",
        );
    }
    if scripts.len() <= FILES_MOST {
        folder.bundle.files = read.scripts(scripts.keys());
    }
    if listed_whole && !scripts.contains_key(MAIN_FILE) {
        read.fault(MAIN_FILE, "is missing; it is the script that is run first");
    }
    folder.scripts_whole =
        listed_whole && folder.bundle.files.len() == scripts.len() && scripts.contains_key(MAIN_FILE);
    if let Some(file) = &folder.manifest {
        folder.bundle.manifest = file.manifest.clone();
    }
    folder.faults = read.faults;
    folder
}

/// The resources of a server directory: folders under `scripts` with a resource's name that hold a manifest or a main
/// script, in order.
#[must_use]
pub fn existing(directory: &Path) -> Vec<ResourceName> {
    let Ok(entries) = fs::read_dir(directory.join(SCRIPTS_FOLDER)) else {
        return Vec::new();
    };
    let mut names: Vec<ResourceName> = entries
        .flatten()
        .filter(|entry| {
            let holds = |name: &str| fs::symlink_metadata(entry.path().join(name)).is_ok();
            holds(MANIFEST_FILE) || holds(MAIN_FILE)
        })
        .filter_map(|entry| entry.file_name().to_str().and_then(ResourceName::parse))
        .take(RESOURCES_MOST)
        .collect();
    names.sort();
    names
}

/// Names the resources that were probably meant.
pub(super) fn nearest_of(wanted: &str, names: &[ResourceName]) -> String {
    let nearest = names
        .iter()
        .min_by_key(|name| strsim::damerau_levenshtein(wanted, name.as_str()));
    match nearest {
        None => "there is no other resource in scripts".to_owned(),
        Some(nearest) if names.len() > LISTED_MOST => {
            format!("the nearest one there is \"{nearest}\"")
        }
        Some(nearest) => {
            let all: Vec<&str> = names.iter().map(ResourceName::as_str).collect();
            format!(
                "the nearest one there is \"{nearest}\" (there are: {})",
                all.join(", ")
            )
        }
    }
}

fn missing(directory: &Path, resource: &ResourceName) -> ScriptFault {
    let path = directory.join(SCRIPTS_FOLDER).join(resource.as_str());
    let nearest = nearest_of(resource.as_str(), &existing(directory));
    let problem = format!(
        "there is no such resource; it was looked for at {}, and {nearest}",
        path.display()
    );
    fault_of_file(format!("{SCRIPTS_FOLDER}/{resource}"), problem)
}

struct Reader {
    root: std::path::PathBuf,
    shown: String,
    faults: Vec<ScriptFault>,
}

impl Reader {
    fn manifest(&mut self, resource: &ResourceName) -> Option<ManifestFile> {
        let text = self.text(MANIFEST_FILE)?;
        match ManifestFile::parse(format!("{}/{MANIFEST_FILE}", self.shown), text) {
            Ok(file) => {
                self.faults.extend(file.faults(resource));
                Some(file)
            }
            Err(fault) => {
                self.faults.push(fault);
                None
            }
        }
    }

    fn scripts<'names>(&mut self, names: impl Iterator<Item = &'names String>) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let mut left = BYTES_MOST;
        for name in names {
            if let Some(text) = self.text(name) {
                let Some(rest) = left.checked_sub(text.len() as u64) else {
                    // The listing has said so, or the files grow while they are read and are read again soon.
                    return BTreeMap::new();
                };
                left = rest;
                files.insert(name.clone(), text);
            }
        }
        files
    }

    fn text(&mut self, inside: &str) -> Option<String> {
        match text_file::read(&self.root.join(inside), FILE_BYTES_MOST) {
            Ok(text) => Some(text),
            Err(TextFault {
                position: Some(position),
                problem,
            }) => {
                let file = format!("{}/{inside}", self.shown);
                self.faults.push(fault_at(file, position, problem));
                None
            }
            Err(TextFault {
                position: None,
                problem,
            }) => {
                self.fault(inside, problem);
                None
            }
        }
    }

    fn fault(&mut self, inside: &str, problem: impl Into<String>) {
        self.faults
            .push(fault_of_file(format!("{}/{inside}", self.shown), problem));
    }
}

#[cfg(test)]
mod tests;
