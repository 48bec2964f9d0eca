//! The files that a resource has for its clients: names, sizes and hashes, never their content (docs/protocol.md 2.7).
//!
//! Reading, hashing and serving them is the shell's. The tick decides whose files are there and announces them.

use crate::inspection::{hex, summary};
use std::{collections::BTreeMap, sync::Arc};

use bevy_ecs::{message::Message, resource::Resource};

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

/// The files of a resource are there now, are others now, or are there no more.
#[derive(Message, Clone, Debug)]
pub struct FilesRequest {
    /// Whose.
    pub resource: ResourceName,
    /// The hash of the manifest; `None`: there are none.
    pub sha256: Option<[u8; 32]>,
}

/// Whose files are there now, in the order in which the resources were started, with the hash of each manifest.
#[derive(Resource, Clone, Debug, Default, PartialEq, Eq)]
pub struct AnnouncedFiles(pub Vec<(ResourceName, [u8; 32])>);

impl AnnouncedFiles {
    /// Takes what is there now of a resource; whether clients have to be told.
    pub fn set(&mut self, resource: &ResourceName, sha256: Option<[u8; 32]>) -> bool {
        let held = self.0.iter().position(|(name, _)| name == resource);
        match (held.and_then(|index| self.0.get_mut(index)), sha256) {
            (Some((_, held)), Some(sha256)) => std::mem::replace(held, sha256) != sha256,
            (None, Some(sha256)) => {
                self.0.push((resource.clone(), sha256));
                true
            }
            (_, None) => {
                self.0.retain(|(name, _)| name != resource);
                false
            }
        }
    }

    /// The hash of a resource's manifest.
    #[must_use]
    pub fn find(&self, resource: &str) -> Option<[u8; 32]> {
        let (_, sha256) = self.0.iter().find(|(name, _)| name.as_str() == resource)?;
        Some(*sha256)
    }
}

summary!(|files: AnnouncedFiles| {
    sha256: BTreeMap<String, String> = files
        .0
        .iter()
        .map(|(resource, sha256)| (resource.to_string(), hex(sha256)))
        .collect(),
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_told_of_files_that_are_new_or_others_and_never_of_the_same_twice() {
        let [a, b] = ["a", "b"].map(|name| ResourceName::parse(name).unwrap());
        let mut files = AnnouncedFiles::default();
        assert!(files.set(&b, Some([1; 32])));
        assert!(files.set(&a, Some([2; 32])));
        assert!(!files.set(&b, Some([1; 32])));
        assert!(files.set(&b, Some([3; 32])));
        assert_eq!(files.0, [(b.clone(), [3; 32]), (a, [2; 32])]);
        assert!(!files.set(&b, None));
        assert_eq!((files.find("b"), files.find("a")), (None, Some([2; 32])));
        assert!(files.set(&b, Some([3; 32])));
    }
}
