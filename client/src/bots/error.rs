//! Why a run of bots could not be made.

use std::fmt;
use std::io;

use crate::driver::QueryError;

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
