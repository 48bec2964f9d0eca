//! Many real clients in one process, for load and for measurement.
//!
//! One thread and one poll loop run them all, each with a UDP socket of its own. They ask the server for its key, join
//! at a steady pace, ask for a body, walk, look, shoot at whom they reach, chat now and then, and leave with a goodbye.
//! What they see ends in a [`BotsReport`], and what the server must not have done in its failures. They know of the server what docs/protocol.md says, and decide nothing about the wire: that is
//! [`client`](crate::client)'s business.

mod bot;
mod fleet;
mod measure;
mod random;
mod report;
mod shoot;
mod times;
mod totals;
mod walk;

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::ops::ControlFlow;
use std::time::Duration;

use decitick_protocol::{MAX_PLAYERS, Password, PasswordKey};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::driver::{Answered, QueryError, query};

pub use self::report::{
    BotCounts, BotsReport, Combat, Lane, Loss, Percentiles, Relay, ThingCounts, Traffic, WorldClockSeen,
};
pub use self::walk::WalkKind;

use self::fleet::Fleet;

/// File descriptors a run needs besides one socket a bot.
const SPARE_FILES: u64 = 64;

/// Most hits a second that a server takes of one player for long (docs/protocol.md 2.1).
const MAX_SHOTS_PER_SECOND: f64 = 20.0;

/// What a run is to do.
#[derive(Debug, Clone)]
pub struct BotsOptions {
    /// The server, as HOST:PORT.
    pub server: String,
    /// How many bots, 1..=1000.
    pub count: usize,
    /// How long they play once all have joined or failed to.
    pub duration: Duration,
    /// Frames a second that each sends, above 0 and at most 100. The server relays at most ten.
    pub rate_hz: f64,
    /// The server's password.
    pub password: Option<Password>,
    /// How they walk.
    pub walk: WalkKind,
    /// Lines of chat a second, all bots together. Each goes to every player, so it costs the server a packet per player.
    /// 0: they say nothing.
    pub chat_per_second: f64,
    /// Hits a second that each bot reports while it has somebody in reach, 0..=20 and never faster than its weapon. 0: it
    /// never shoots.
    pub shots_per_second: f64,
    /// Attempts started a second, above 0.
    pub joins_per_second: f64,
    /// Attempts under way at once, at least 1.
    pub joins_at_once: usize,
}

impl BotsOptions {
    /// `count` bots at `server` with the usual rest: 30 s, 10 Hz, a random walk, a shot every two seconds, four lines of
    /// chat and 400 joins a second.
    #[must_use]
    pub fn new(server: impl Into<String>, count: usize) -> Self {
        Self {
            server: server.into(),
            count,
            duration: Duration::from_secs(30),
            rate_hz: 10.0,
            password: None,
            walk: WalkKind::default(),
            chat_per_second: 4.0,
            shots_per_second: 0.5,
            joins_per_second: 400.0,
            joins_at_once: 256,
        }
    }

    fn check(&self) -> Result<(), BotsError> {
        let in_range = |value: f64, most: f64| value.is_finite() && value > 0.0 && value <= most;
        let fault = if self.count == 0 || self.count > usize::from(MAX_PLAYERS) {
            "the number of bots must be 1 to 1000"
        } else if !in_range(self.rate_hz, 100.0) {
            "the rate must be above 0 and at most 100 Hz"
        } else if !in_range(self.joins_per_second, 100_000.0) || self.joins_at_once == 0 {
            "the pace of joining must be above 0"
        } else if !(0.0..=1_000.0).contains(&self.chat_per_second) {
            "the lines of chat a second must be 0 to 1000"
        } else if !(0.0..=MAX_SHOTS_PER_SECOND).contains(&self.shots_per_second) {
            "the shots a second must be 0 to 20"
        } else if self.duration > Duration::from_secs(7 * 24 * 3600) {
            "the run must not last longer than a week"
        } else {
            return Ok(());
        };
        Err(BotsError::Options(fault))
    }

    /// Time between two lines of one bot.
    fn chat_every(&self) -> Option<Duration> {
        let seconds = self.count as f64 / self.chat_per_second;
        // A single bot keeps within the two lines a second that a server takes (docs/protocol.md 2.1).
        Duration::try_from_secs_f64(seconds.max(1.0))
            .ok()
            .filter(|_| self.chat_per_second > 0.0)
    }

    /// Mean time between two shots of one bot; `None`: it never shoots. A pace of less than one in a day is none.
    fn shot_every(&self) -> Option<Duration> {
        let seconds = 1.0 / self.shots_per_second;
        (seconds <= 86_400.0).then(|| Duration::from_secs_f64(seconds))
    }
}

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

/// Why a run could not be made. What goes wrong for single bots is in the report instead.
#[derive(Debug)]
#[non_exhaustive]
pub enum BotsError {
    /// An option is out of its range.
    Options(&'static str),
    /// The server's name has no address.
    Resolve {
        /// The server as it was given.
        server: String,
        /// What the resolver says; `None` when it knows no address.
        source: Option<io::Error>,
    },
    /// The server did not tell its key.
    Query(QueryError),
    /// The server asks for a password and none was given.
    PasswordNeeded,
    /// The process may not open a socket per bot.
    Files {
        /// File descriptors needed.
        needed: u64,
        /// File descriptors allowed.
        allowed: u64,
    },
    /// The kernel gave a bot no socket.
    Socket {
        /// The bot, counted from 0.
        bot: usize,
        /// What the kernel says.
        source: io::Error,
    },
    /// The kernel gave no poll or no randomness, or waiting failed.
    Io(io::Error),
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

impl fmt::Display for BotsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Options(fault) => out.write_str(fault),
            Self::Resolve {
                server,
                source: Some(error),
            } => {
                write!(
                    out,
                    "{server} cannot be resolved: {error}. Give HOST:PORT, such as 127.0.0.1:7777"
                )
            }
            Self::Resolve { server, source: None } => write!(out, "{server} has no address"),
            Self::Query(error) => error.fmt(out),
            Self::PasswordNeeded => write!(out, "the server asks for a password: give it with --password"),
            Self::Files { needed, allowed } => write!(
                out,
                "{needed} open files are needed and {allowed} are allowed: raise the hard limit (ulimit -Hn), or run fewer bots"
            ),
            Self::Socket { bot, source } => {
                write!(
                    out,
                    "the system gave bot {bot} no socket: {source}. Run fewer bots"
                )
            }
            Self::Io(error) => write!(out, "the system refused what the bots need: {error}"),
        }
    }
}

impl std::error::Error for BotsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_out_of_range_are_refused_before_anything_is_sent() {
        let good = BotsOptions::new("127.0.0.1:9", 1);
        let bad = [
            BotsOptions {
                count: 0,
                ..good.clone()
            },
            BotsOptions {
                count: 1001,
                ..good.clone()
            },
            BotsOptions {
                rate_hz: 0.0,
                ..good.clone()
            },
            BotsOptions {
                rate_hz: f64::NAN,
                ..good.clone()
            },
            BotsOptions {
                rate_hz: 101.0,
                ..good.clone()
            },
            BotsOptions {
                joins_per_second: 0.0,
                ..good.clone()
            },
            BotsOptions {
                joins_at_once: 0,
                ..good.clone()
            },
            BotsOptions {
                chat_per_second: -1.0,
                ..good.clone()
            },
            BotsOptions {
                shots_per_second: 20.1,
                ..good.clone()
            },
            BotsOptions {
                shots_per_second: f64::NAN,
                ..good.clone()
            },
            BotsOptions {
                duration: Duration::MAX,
                ..good.clone()
            },
        ];
        for options in bad {
            assert!(
                matches!(run_bots(&options, &mut Unwatched), Err(BotsError::Options(_))),
                "{options:?}"
            );
        }
        assert!(good.check().is_ok());
    }

    #[test]
    fn all_bots_together_keep_the_chat_rate_and_a_single_one_its_own_limit() {
        let options = |count, chat_per_second| BotsOptions {
            chat_per_second,
            ..BotsOptions::new("x", count)
        };
        assert_eq!(options(1000, 4.0).chat_every(), Some(Duration::from_secs(250)));
        assert_eq!(options(1, 4.0).chat_every(), Some(Duration::from_secs(1)));
        assert_eq!(options(10, 0.0).chat_every(), None);
    }

    #[test]
    fn a_shot_a_second_is_the_pace_of_one_bot_and_none_is_none() {
        let every = |shots_per_second| {
            BotsOptions {
                shots_per_second,
                ..BotsOptions::new("x", 100)
            }
            .shot_every()
        };
        assert_eq!(every(0.5), Some(Duration::from_secs(2)));
        assert_eq!((every(0.0), every(f64::MIN_POSITIVE)), (None, None));
    }

    #[test]
    fn a_server_without_an_address_is_named() {
        let error = find("no port here").unwrap_err();
        assert!(error.to_string().contains("no port here"), "{error}");
    }
}
