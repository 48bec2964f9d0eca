//! What is known of the content of client files: which hash a file has in which state.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use decitick_components::script::ResourceName;

use super::super::walk::Stamp;

/// Hashes by resource and name, each with the state of the file that was hashed. Shared by the thread that hashes and the
/// server, which sends a file only while it is in the state that has the promised hash.
#[derive(Clone, Debug, Default)]
pub struct KnownHashes(Arc<Mutex<Hashes>>);

type Hashes = BTreeMap<ResourceName, BTreeMap<Box<str>, Known>>;

#[derive(Clone, Copy, Debug)]
struct Known {
    stamp: Stamp,
    sha256: [u8; 32],
}

impl KnownHashes {
    /// The hash of a file in this state.
    pub(crate) fn find(&self, resource: &ResourceName, name: &str, stamp: &Stamp) -> Option<[u8; 32]> {
        let hashes = self.lock();
        let known = hashes.get(resource)?.get(name)?;
        (known.stamp == *stamp).then_some(known.sha256)
    }

    pub(super) fn insert(&self, resource: &ResourceName, name: &str, stamp: Stamp, sha256: [u8; 32]) {
        self.lock()
            .entry(resource.clone())
            .or_default()
            .insert(name.into(), Known { stamp, sha256 });
    }

    pub(super) fn retain(&self, resource: &ResourceName, keep: impl Fn(&str) -> bool) {
        let mut hashes = self.lock();
        if let Some(files) = hashes.get_mut(resource) {
            files.retain(|name, _| keep(name));
            if files.is_empty() {
                hashes.remove(resource);
            }
        }
    }

    /// Forgets a resource.
    pub(in crate::scripts) fn forget(&self, resource: &ResourceName) {
        self.lock().remove(resource);
    }

    fn lock(&self) -> MutexGuard<'_, Hashes> {
        // Whoever panicked left whole entries behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
