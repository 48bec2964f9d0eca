//! Many real clients in one process, for load and for measurement.
//!
//! One thread and one poll loop run them all, each with a UDP socket of its own. They ask the server for its key, join
//! at a steady pace, log in where they must, ask for a body, walk, look, shoot at whom they reach, chat now and then, and
//! leave with a goodbye. Only what a browser would do for them runs on threads of its own.
//! What they see ends in a [`BotsReport`], and what the server must not have done in its failures. They know of the server what docs/protocol.md says, and decide nothing about the wire: that is
//! [`client`](crate::client)'s business.

mod bot;
mod browser;
mod error;
mod fleet;
mod login;
mod measure;
mod options;
mod page;
mod random;
mod report;
mod shoot;
mod times;
mod totals;
mod walk;

use std::net::{SocketAddr, ToSocketAddrs};
use std::ops::ControlFlow;
use std::time::Duration;

use decitick_protocol::PasswordKey;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::driver::{Answered, query};

pub use self::error::BotsError;
pub use self::login::Login;
pub use self::options::BotsOptions;
pub use self::report::{
    BotCounts, BotsReport, Combat, Lane, Logins, Loss, Percentiles, Relay, ThingCounts, Traffic,
    WorldClockSeen,
};
pub use self::walk::WalkKind;

use self::fleet::Fleet;

/// File descriptors a run needs besides one socket a bot.
const SPARE_FILES: u64 = 64;

/// How a run goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BotsState {
    /// What the bots are doing.
    pub phase: BotsPhase,
    /// Bots that are to join.
    pub asked: u64,
    /// Bots that are joined now.
    pub joined: u64,
    /// Bots that failed to join or lost their session.
    pub gone: u64,
    /// How much of the asked time has passed.
    pub playing: Duration,
    /// Median latency of a relayed frame so far, in milliseconds; 0 while none was measured.
    pub frame_p50_ms: f64,
    /// Median round trip as the server measures it so far, in milliseconds; 0 while none was measured.
    pub rtt_p50_ms: f64,
}

/// The phases of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BotsPhase {
    /// Bots join.
    Joining,
    /// All have joined or failed to; the measured window is open.
    Playing,
    /// The bots say goodbye.
    Leaving,
}

/// Is told how a run goes on.
pub trait Progress {
    /// Called about five times a second. `Break` ends the run at once: the bots say goodbye, and the report says that it
    /// was interrupted.
    fn update(&mut self, state: &BotsState) -> ControlFlow<()>;
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn update(&mut self, _state: &BotsState) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Runs bots as `options` say and tells `progress` on the way.
///
/// # Errors
/// [`BotsError`]: the run could not be made. Bots that fail to join, or are lost, are in the report
/// ([`BotsReport::is_success`]).
pub fn run_bots(options: &BotsOptions, progress: &mut dyn Progress) -> Result<BotsReport, BotsError> {
    options.check()?;
    let answered = find(&options.server)?;
    if answered.info.password_required && options.password.is_none() {
        return Err(BotsError::PasswordNeeded);
    }
    // Slow on purpose, so it is done once for all bots and before the first attempt's 3 s begin.
    let key = options
        .password
        .as_ref()
        .map(|password| PasswordKey::derive(password, &answered.info.server_key));
    allow_files(options.count as u64 + SPARE_FILES)?;
    Fleet::new(options, &answered, key)?.run(&answered, progress)
}

/// Asks each address of a HOST:PORT in turn; the first that answers is the server.
///
/// # Errors
/// [`BotsError::Resolve`], or what the last address had to say.
pub fn find(server: &str) -> Result<Answered, BotsError> {
    let unknown = |source| BotsError::Resolve {
        server: server.to_owned(),
        source,
    };
    let addresses: Vec<SocketAddr> = server
        .to_socket_addrs()
        .map_err(|error| unknown(Some(error)))?
        .collect();
    let mut last = unknown(None);
    for address in addresses {
        match query(address) {
            Ok(answered) => return Ok(answered),
            Err(error) => last = BotsError::Query(error),
        }
    }
    Err(last)
}

/// Raises the process's limit of open files as far as it may, when it is too low.
fn allow_files(needed: u64) -> Result<(), BotsError> {
    let failed = |errno: nix::Error| BotsError::Io(errno.into());
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(failed)?;
    if soft >= needed {
        return Ok(());
    }
    if hard < needed {
        return Err(BotsError::Files {
            needed,
            allowed: hard,
        });
    }
    setrlimit(Resource::RLIMIT_NOFILE, needed, hard).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_an_address_is_named() {
        let error = find("no port here").unwrap_err();
        assert!(error.to_string().contains("no port here"), "{error}");
    }
}
