//! What waits between the readers and the tick: two bounded slabs behind one short lock.
//!
//! A reader appends while it holds the lock; the tick swaps its empty slabs in. Sessions and hellos have slabs of
//! their own, so that no flood of one starves the other, and the counts move under the same lock, so that they
//! add up in every snapshot.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use decitick_components::{
    mailbox::{Batch, Inbox},
    tally::DoorTally,
};

/// Datagrams and counts on their way to the tick.
#[derive(Debug)]
pub struct Mailbox {
    /// Datagrams of sessions.
    pub sessions: Batch,
    /// Hellos with a valid cookie.
    pub hellos: Batch,
    /// Addresses that flooded.
    pub flooding: Vec<SocketAddr>,
    /// The door's counts.
    pub tally: DoorTally,
}

impl Default for Mailbox {
    fn default() -> Self {
        Self {
            sessions: Batch::bounded(Inbox::SESSION_DATAGRAMS, Inbox::SESSION_BYTES),
            hellos: Batch::bounded(Inbox::HELLOS, Inbox::HELLO_BYTES),
            flooding: Vec::new(),
            tally: DoorTally::default(),
        }
    }
}

/// A mailbox that readers and the tick share.
#[derive(Clone, Debug, Default)]
pub struct SharedMailbox(Arc<Mutex<Mailbox>>);

impl SharedMailbox {
    /// Opens it. A reader that panicked while it held the lock left whole entries behind: they are used on.
    pub fn lock(&self) -> MutexGuard<'_, Mailbox> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
