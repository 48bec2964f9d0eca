//! One UDP socket that talks to one server, and the process's clock. It moves bytes and counts what went wrong with
//! them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use decitick_protocol::canonical;
use mio::net::UdpSocket;
use mio::{Interest, Registry, Token};

/// Room for one datagram: more than the longest packet, so that a longer one is seen as too long.
pub(crate) const DATAGRAM_ROOM: usize = 2048;

/// Time since the clock was started; it never runs backwards.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    /// A clock that shows zero now.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "the driver is where time enters the client"
    )]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// A non-blocking UDP socket connected to one server.
#[derive(Debug)]
pub struct Link {
    socket: UdpSocket,
    server: SocketAddr,
    foreign: u64,
    not_sent: u64,
    refused: u64,
}

impl Link {
    /// A socket on a port of the kernel's choice, connected to `server`.
    ///
    /// # Errors
    /// What the kernel says: no file descriptor left, no route, ...
    pub fn open(server: SocketAddr) -> io::Result<Self> {
        let any = match server.ip() {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        let socket = UdpSocket::bind(SocketAddr::new(any, 0))?;
        socket.connect(server)?;
        Ok(Self {
            socket,
            server: canonical(server),
            foreign: 0,
            not_sent: 0,
            refused: 0,
        })
    }

    /// Has `registry` report under `token` when a datagram arrives.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut self.socket, token, Interest::READABLE)
    }

    /// The next datagram of the server, read into `buffer`; `None` when there is none now. Call it until then.
    pub fn receive<'a>(&mut self, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
        let length = loop {
            match self.socket.recv_from(buffer) {
                // The kernel lets only the connected peer through; the check holds on every platform.
                Ok((length, from)) if canonical(from) == self.server => break length,
                Ok(_) => self.foreign += 1,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A report that an earlier datagram met a closed port. Silence decides what it means.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => self.refused += 1,
                Err(_) => return None,
            }
        };
        buffer.get(..length)
    }

    /// Sends one datagram. What the kernel does not take is lost, as on the way it might be: lanes and timers send again.
    pub fn send(&mut self, datagram: &[u8]) {
        for _ in 0..2 {
            match self.socket.send(datagram) {
                Ok(_) => return,
                // The report belongs to an earlier datagram, and this one was not sent: once more.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => self.refused += 1,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.not_sent += 1;
    }

    /// The server's address, an IPv4-mapped one as IPv4.
    #[must_use]
    pub const fn server(&self) -> SocketAddr {
        self.server
    }

    /// Datagrams the kernel did not take.
    #[must_use]
    pub const fn not_sent(&self) -> u64 {
        self.not_sent
    }

    /// Reports that nobody listens at the server's address.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Datagrams that came from another address.
    #[must_use]
    pub const fn foreign(&self) -> u64 {
        self.foreign
    }
}
