//! Binding the configured addresses.

use std::{
    error::Error,
    fmt, io,
    net::{SocketAddr, UdpSocket},
};

use socket2::{Domain, Protocol, Socket, Type};

use super::platform;

/// The receive buffer that is asked for: a 60-byte datagram takes 832 bytes of it, and the kernel's default holds
/// 256 of them.
const RECEIVE_BUFFER: usize = 4 * 1024 * 1024;
/// The send buffer that is asked for.
const SEND_BUFFER: usize = 4 * 1024 * 1024;

/// One bound address.
#[derive(Debug)]
pub struct Listener {
    /// The socket; it is read by one thread and written by two.
    pub socket: UdpSocket,
    /// Where it is bound.
    pub address: SocketAddr,
    /// Whether it stands for every address of the host, so that answers must name theirs.
    pub wildcard: bool,
}

/// Binds every address.
///
/// # Errors
/// The first address that cannot be bound, with the mend.
pub fn bind_all(addresses: &[SocketAddr]) -> Result<Vec<Listener>, BindError> {
    addresses
        .iter()
        .map(|&address| bind(address).map_err(|error| BindError { address, error }))
        .collect()
}

fn bind(address: SocketAddr) -> io::Result<Listener> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        // An IPv6 wildcard never takes the IPv4 traffic of its port: who listens where stays as configured.
        socket.set_only_v6(true)?;
    }
    grow_buffers(&socket, address);
    socket.bind(&address.into())?;
    let socket: UdpSocket = socket.into();
    platform::prepare(&socket, address)?;
    let bound = socket.local_addr()?;
    Ok(Listener {
        wildcard: bound.ip().is_unspecified(),
        address: bound,
        socket,
    })
}

/// Asks for large buffers; what is granted is the kernel's business and is logged.
fn grow_buffers(socket: &Socket, address: SocketAddr) {
    if platform::force_receive_buffer(socket, RECEIVE_BUFFER).is_err()
        && let Err(error) = socket.set_recv_buffer_size(RECEIVE_BUFFER)
    {
        tracing::warn!(%address, %error, "the receive buffer could not be enlarged");
    }
    if let Err(error) = socket.set_send_buffer_size(SEND_BUFFER) {
        tracing::warn!(%address, %error, "the send buffer could not be enlarged");
    }
    // Linux reports twice what may be used, for its own bookkeeping.
    let granted = socket.recv_buffer_size().unwrap_or(0) / if cfg!(target_os = "linux") { 2 } else { 1 };
    if granted < RECEIVE_BUFFER {
        tracing::warn!(
            %address,
            granted_bytes = granted,
            wanted_bytes = RECEIVE_BUFFER,
            "a small receive buffer loses datagrams when the server is busy; raise net.core.rmem_max"
        );
    } else {
        tracing::debug!(%address, granted_bytes = granted, "receive buffer");
    }
}

/// An address that cannot be bound.
#[derive(Debug)]
pub struct BindError {
    /// The address.
    pub address: SocketAddr,
    /// Why.
    pub error: io::Error,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mend = match self.error.kind() {
            io::ErrorKind::AddrInUse => {
                "another program uses it; stop that, or set `listen` in assets/server.ron or --listen"
            }
            io::ErrorKind::AddrNotAvailable => {
                "this machine does not have that address; correct `listen` in assets/server.ron"
            }
            io::ErrorKind::PermissionDenied => "this user may not; choose a port above 1023 in `listen`",
            _ => "correct `listen` in assets/server.ron",
        };
        write!(f, "cannot listen on UDP {}: {}; {mend}", self.address, self.error)
    }
}

impl Error for BindError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}
