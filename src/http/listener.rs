//! The TCP listener of an edge: binding it, and taking connections as long as there are seats.

use std::{
    error::Error,
    fmt,
    future::Future,
    io,
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpStream;

use super::{HttpLimits, seats::Seats};

/// Connections that the kernel holds until they are taken.
const BACKLOG: i32 = 128;
/// Bytes that the kernel holds for a connection without having sent them: what a slow client costs.
#[cfg(target_os = "linux")]
const UNSENT_BYTES: u32 = 64 * 1024;
/// How long nobody is taken after the system gave no connection, as when there are no file descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// What a listener is for, as errors and logs name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purpose {
    /// What is served, as in "cannot listen for ...".
    pub what: &'static str,
    /// The setting that says where.
    pub key: &'static str,
    /// The `reason` of the warning about connections beyond the limits.
    pub connections_reason: &'static str,
    /// The `reason` of the warning about connections that the system did not give.
    pub accept_reason: &'static str,
}

/// A bound listener.
#[derive(Debug)]
pub struct HttpListener {
    listener: TcpListener,
    address: SocketAddr,
    purpose: Purpose,
}

impl HttpListener {
    /// Binds the address; with port 0 the system chooses one.
    ///
    /// # Errors
    /// It cannot be bound; the error names the key and the mend.
    pub fn bind(address: SocketAddr, purpose: Purpose) -> Result<Self, ListenError> {
        bind(address, purpose).map_err(|error| ListenError {
            purpose,
            address,
            error,
        })
    }

    /// Where it is bound.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it is for.
    #[must_use]
    pub const fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Takes connections for ever and runs each beside the others.
    pub(super) async fn accept<A, F>(self, limits: HttpLimits, run: A)
    where
        A: Fn(TcpStream) -> F,
        F: Future<Output = ()> + Send + 'static,
    {
        let Self {
            listener,
            address,
            purpose,
        } = self;
        let what = purpose.what;
        let listener = match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => listener,
            Err(error) => {
                tracing::error!(%address, %error, what, "nothing can be served");
                return;
            }
        };
        let seats = Seats::new(limits);
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => {
                    let Some(seat) = seats.take(peer.ip()) else {
                        tracing::warn!(
                            reason = purpose.connections_reason,
                            what,
                            "connections were closed: too many in all or of one IP"
                        );
                        continue;
                    };
                    prepare(&stream);
                    let connection = run(stream);
                    tokio::spawn(async move {
                        connection.await;
                        drop(seat);
                    });
                }
                Err(error) => {
                    tracing::warn!(
                        %error,
                        reason = purpose.accept_reason,
                        what,
                        "a connection could not be taken"
                    );
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}

fn bind(address: SocketAddr, purpose: Purpose) -> io::Result<HttpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // A server that is started again must not wait until the connections of the last one are forgotten.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        // There is one listener only, so `[::]` takes both families.
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    let listener = TcpListener::from(socket);
    Ok(HttpListener {
        address: listener.local_addr()?,
        listener,
        purpose,
    })
}

/// What the system refuses here costs speed or memory, not the connection.
fn prepare(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    let _ = socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT_BYTES);
}

/// An address cannot be listened on.
#[derive(Debug)]
pub struct ListenError {
    /// What it is for.
    pub purpose: Purpose,
    /// The address.
    pub address: SocketAddr,
    /// Why.
    pub error: io::Error,
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Purpose { what, key, .. } = self.purpose;
        let mend = match self.error.kind() {
            io::ErrorKind::AddrInUse => {
                format!("another program uses it; stop that, or set `{key}` in assets/server.ron")
            }
            io::ErrorKind::AddrNotAvailable => {
                format!("this machine does not have that address; correct `{key}` in assets/server.ron")
            }
            io::ErrorKind::PermissionDenied => {
                format!("this user may not; choose a port above 1023 in `{key}`")
            }
            _ => format!("correct `{key}` in assets/server.ron"),
        };
        write!(
            f,
            "cannot listen on TCP {} for {what}: {}; {mend}",
            self.address, self.error
        )
    }
}

impl Error for ListenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PURPOSE: Purpose = Purpose {
        what: "a test",
        key: "test.listen",
        connections_reason: "test_connections",
        accept_reason: "test_accept",
    };

    #[test]
    fn an_ipv6_wildcard_takes_ipv4_too() {
        let Ok(listener) = HttpListener::bind("[::]:0".parse().unwrap(), PURPOSE) else {
            // This machine has no IPv6.
            return;
        };
        let port = listener.address().port();
        std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    }
}
