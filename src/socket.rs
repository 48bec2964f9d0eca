//! Sockets: datagrams come in on a reader thread per listener and go out on one transmit thread.
//!
//! Everything here moves bytes and times; what a datagram means is decided by the door and the tick. On Linux the
//! system calls are batched (recvmmsg, sendmmsg, segmentation offload for several packets to one client) and the
//! kernel's receive times and destination addresses are used; elsewhere a plain path does the same one by one.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod plain;

mod impair;
mod listeners;
mod mailbox;
mod plugin;
mod reader;
mod transmit;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use plain as platform;

pub use listeners::{BindError, Listener, bind_all};
pub use mailbox::{Mailbox, SharedMailbox};
pub(crate) use plugin::hand_out;
pub use plugin::{SocketPlugin, Traffic};
pub use reader::{Readers, start_readers};
pub use transmit::{TransmitThread, start_transmit};

use std::{
    net::{IpAddr, SocketAddr},
    time::{Duration, Instant},
};

/// Room for one datagram: more than any that is taken, so that a longer one is seen to be longer.
pub(crate) const DATAGRAM_ROOM: usize = 2048;
/// Datagrams that are received by one system call.
pub(crate) const BATCH: usize = 64;

/// A datagram as the platform received it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) from: SocketAddr,
    pub(crate) length: usize,
    /// How long the kernel held it, at most 1 s.
    pub(crate) held: Duration,
    pub(crate) local: Option<IpAddr>,
}

/// A datagram to hand to the platform.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending<'a> {
    pub(crate) to: SocketAddr,
    pub(crate) local: Option<IpAddr>,
    pub(crate) bytes: &'a [u8],
}

/// The moment from which all times of the process run.
#[derive(Clone, Copy, Debug)]
pub struct Epoch(Instant);

impl Epoch {
    /// Now.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Monotonic time since the epoch.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    /// The instant that lies `after` past the epoch.
    #[must_use]
    pub fn at(&self, after: Duration) -> Instant {
        self.0 + after
    }
}
