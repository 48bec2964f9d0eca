//! The TCP listener of client files: binding it, and taking connections as long as there are seats.

use std::{
    error::Error,
    fmt, io,
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use socket2::{Domain, Protocol, Socket, Type};

use super::{ClientFiles, ServeLimits, connection, seats::Seats};

/// Connections that the kernel holds until they are taken.
const BACKLOG: i32 = 128;
/// Bytes that the kernel holds for a connection without having sent them: what a slow client costs.
#[cfg(target_os = "linux")]
const UNSENT_BYTES: u32 = 64 * 1024;
/// How long nobody is taken after the system gave no connection, as when there are no file descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// A bound listener.
#[derive(Debug)]
pub struct ClientFilesListener {
    listener: TcpListener,
    address: SocketAddr,
}

impl ClientFilesListener {
    /// Binds the address; with port 0 the system chooses one.
    ///
    /// # Errors
    /// It cannot be bound; the error names the key and the mend.
    pub fn bind(address: SocketAddr) -> Result<Self, ListenError> {
        bind(address).map_err(|error| ListenError { address, error })
    }

    /// Where it is bound.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

fn bind(address: SocketAddr) -> io::Result<ClientFilesListener> {
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
    Ok(ClientFilesListener {
        address: listener.local_addr()?,
        listener,
    })
}

/// Takes connections for ever.
pub(super) async fn accept(listener: ClientFilesListener, files: ClientFiles, limits: ServeLimits) {
    let address = listener.address;
    let listener = match tokio::net::TcpListener::from_std(listener.listener) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::error!(%address, %error, "client files cannot be served");
            return;
        }
    };
    let seats = Seats::new(limits);
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let Some(seat) = seats.take(peer.ip()) else {
                    tracing::warn!(
                        reason = "client_files_connections",
                        "connections for client files were closed: too many in all or of one IP"
                    );
                    continue;
                };
                prepare(&stream);
                let files = files.clone();
                tokio::spawn(async move {
                    connection::run(stream, files, limits).await;
                    drop(seat);
                });
            }
            Err(error) => {
                tracing::warn!(
                    %error,
                    reason = "client_files_accept",
                    "a connection for client files could not be taken"
                );
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// What the system refuses here costs speed or memory, not the connection.
fn prepare(stream: &tokio::net::TcpStream) {
    let _ = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    let _ = socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT_BYTES);
}

/// The address of client files cannot be listened on.
#[derive(Debug)]
pub struct ListenError {
    /// The address.
    pub address: SocketAddr,
    /// Why.
    pub error: io::Error,
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mend = match self.error.kind() {
            io::ErrorKind::AddrInUse => {
                "another program uses it; stop that, or set `client_files.listen` in assets/server.ron"
            }
            io::ErrorKind::AddrNotAvailable => {
                "this machine does not have that address; correct `client_files.listen` in assets/server.ron"
            }
            io::ErrorKind::PermissionDenied => {
                "this user may not; choose a port above 1023 in `client_files.listen`"
            }
            _ => "correct `client_files.listen` in assets/server.ron",
        };
        write!(
            f,
            "cannot listen on TCP {} for client files: {}; {mend}",
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

    #[test]
    fn port_0_becomes_a_real_one_and_a_used_one_is_told_with_its_key() {
        let first = ClientFilesListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        assert_ne!(first.address().port(), 0);
        let error = ClientFilesListener::bind(first.address())
            .unwrap_err()
            .to_string();
        assert!(error.contains(&first.address().to_string()), "{error}");
        assert!(
            error.contains("another program uses it") && error.contains("client_files.listen"),
            "{error}"
        );
    }

    #[test]
    fn an_ipv6_wildcard_takes_ipv4_too() {
        let Ok(listener) = ClientFilesListener::bind("[::]:0".parse().unwrap()) else {
            // This machine has no IPv6.
            return;
        };
        let port = listener.address().port();
        std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    }
}
