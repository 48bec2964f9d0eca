//! The thin edge to the network: one [`Client`] on one UDP socket, and a blocking server query.
//!
//! Here, and in `bots`, time, randomness and sockets enter the client. Nothing is decided here: the driver moves
//! datagrams between the socket and the sans-IO parts and waits until one of them has something to do.
//! [`download_files`] fetches the files that a server has for its clients.

mod files;
mod link;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use mio::{Events, Poll, Token};

use crate::client::{Client, ClientConfig, ClientNotice};
use crate::query::{ServerInfo, ServerQuery};

pub use self::files::{DownloadLimits, DownloadedFiles, FilesError, download_files};
pub use self::link::{Clock, Link};

pub(crate) use self::link::DATAGRAM_ROOM;

const SOCKET: Token = Token(0);

/// Requests of one query.
const QUERY_TRIES: usize = 3;
/// How long each request waits before the next goes out.
const QUERY_WAIT: Duration = Duration::from_millis(500);

/// 32 bytes of the operating system's generator: a nonce.
///
/// # Errors
/// [`io::Error`] when the system has no randomness to give.
pub fn fresh_nonce() -> io::Result<[u8; 32]> {
    let mut nonce = [0; 32];
    getrandom::fill(&mut nonce).map_err(io::Error::other)?;
    Ok(nonce)
}

/// One client on one socket.
#[derive(Debug)]
pub struct UdpDriver {
    client: Client,
    link: Link,
    waiter: Waiter,
    clock: Clock,
    datagram: Vec<u8>,
}

impl UdpDriver {
    /// Starts an attempt to join the server at `server`.
    ///
    /// # Errors
    /// What the kernel says when it gives no socket or no randomness.
    pub fn connect(server: SocketAddr, config: ClientConfig) -> io::Result<Self> {
        let mut link = Link::open(server)?;
        let waiter = Waiter::new(&mut link)?;
        let clock = Clock::start();
        let client = Client::new(config, fresh_nonce()?, clock.now());
        Ok(Self {
            client,
            link,
            waiter,
            clock,
            datagram: Vec::new(),
        })
    }

    /// The client.
    pub const fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// The socket's side: its address and what went wrong there.
    #[must_use]
    pub const fn link(&self) -> &Link {
        &self.link
    }

    /// The time the client lives by.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.clock.now()
    }

    /// Runs the client until it has a notice, and gives that; `None` when `wait` passed without one. After the notice
    /// [`ClientNotice::Ended`] none follows.
    ///
    /// # Errors
    /// What the kernel says when waiting fails.
    pub fn next_notice(&mut self, wait: Duration) -> io::Result<Option<ClientNotice>> {
        let deadline = self.now() + wait;
        loop {
            self.pump();
            let now = self.now();
            if let Some(notice) = self.client.poll_event() {
                return Ok(Some(notice));
            }
            let Some(due) = self.client.poll_timeout().filter(|_| now < deadline) else {
                return Ok(None);
            };
            self.waiter.wait(due.min(deadline).saturating_sub(now))?;
        }
    }

    /// Runs the client for `wait` whatever it notices, so that the program can act in between; notices stay queued.
    ///
    /// # Errors
    /// What the kernel says when waiting fails.
    pub fn run_for(&mut self, wait: Duration) -> io::Result<()> {
        let deadline = self.now() + wait;
        loop {
            self.pump();
            let now = self.now();
            if now >= deadline {
                return Ok(());
            }
            let due = self.client.poll_timeout().unwrap_or(deadline);
            self.waiter.wait(due.min(deadline).saturating_sub(now))?;
        }
    }

    /// Takes what has arrived and sends what is due, without waiting.
    pub fn pump(&mut self) {
        let mut room = [0; DATAGRAM_ROOM];
        while let Some(datagram) = self.link.receive(&mut room) {
            self.client.handle(self.clock.now(), datagram);
        }
        while self.client.poll_transmit(self.clock.now(), &mut self.datagram) {
            self.link.send(&self.datagram);
        }
    }
}

/// A server that answered a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// Where it answered.
    pub address: SocketAddr,
    /// What it said.
    pub info: ServerInfo,
    /// From the sending of the request to its answer.
    pub round_trip: Duration,
}

/// Why a query has no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum QueryError {
    /// The kernel gave no socket or no randomness.
    Io(io::Error),
    /// No verified answer in time.
    NoAnswer {
        /// Where the requests went.
        address: SocketAddr,
        /// Datagrams that came and were no answer.
        foreign: u64,
        /// Whether the address reported that nobody listens there.
        refused: bool,
    },
}

/// Asks the server at `address` what it is: three requests 500 ms apart, each with a nonce of its own, so that the round
/// trip is that of the request that was answered.
///
/// # Errors
/// [`QueryError`]: no socket, or no verified answer within 1.5 s.
pub fn query(address: SocketAddr) -> Result<Answered, QueryError> {
    let mut link = Link::open(address).map_err(QueryError::Io)?;
    let mut waiter = Waiter::new(&mut link).map_err(QueryError::Io)?;
    let clock = Clock::start();
    let mut asked: Vec<(ServerQuery, Duration)> = Vec::with_capacity(QUERY_TRIES);
    let mut foreign = 0;
    for _ in 0..QUERY_TRIES {
        let request = ServerQuery::new(fresh_nonce().map_err(QueryError::Io)?);
        let mut datagram = Vec::new();
        request.write_request(&mut datagram);
        let sent = clock.now();
        link.send(&datagram);
        asked.push((request, sent));
        let deadline = sent + QUERY_WAIT;
        loop {
            let mut room = [0; DATAGRAM_ROOM];
            while let Some(datagram) = link.receive(&mut room) {
                let arrived = clock.now();
                let judged = asked
                    .iter()
                    .find_map(|(request, sent)| Some((request.judge(datagram).ok()?, *sent)));
                match judged {
                    Some((info, sent)) => {
                        let round_trip = arrived.saturating_sub(sent);
                        return Ok(Answered {
                            address,
                            info,
                            round_trip,
                        });
                    }
                    None => foreign += 1,
                }
            }
            let now = clock.now();
            if now >= deadline {
                break;
            }
            waiter.wait(deadline - now).map_err(QueryError::Io)?;
        }
    }
    Err(QueryError::NoAnswer {
        address,
        foreign,
        refused: link.refused() > 0,
    })
}

impl fmt::Display for QueryError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(out, "the system gave no socket for the query: {error}"),
            Self::NoAnswer {
                address,
                foreign: 0,
                refused: true,
            } => {
                write!(
                    out,
                    "no answer from {address}: nothing listens there. Is the server running?"
                )
            }
            Self::NoAnswer {
                address, foreign: 0, ..
            } => {
                write!(
                    out,
                    "no answer from {address}: is the server running there, and its UDP port reachable?"
                )
            }
            Self::NoAnswer { address, foreign, .. } => write!(
                out,
                "no valid answer from {address}: {foreign} datagrams came, none of them a signed answer"
            ),
        }
    }
}

impl std::error::Error for QueryError {}

/// Waits for datagrams on one link.
#[derive(Debug)]
struct Waiter {
    poll: Poll,
    events: Events,
}

impl Waiter {
    fn new(link: &mut Link) -> io::Result<Self> {
        let poll = Poll::new()?;
        link.register(poll.registry(), SOCKET)?;
        Ok(Self {
            poll,
            events: Events::with_capacity(8),
        })
    }

    fn wait(&mut self, time: Duration) -> io::Result<()> {
        match self.poll.poll(&mut self.events, Some(time)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            other => other,
        }
    }
}
