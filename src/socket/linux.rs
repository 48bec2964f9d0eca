//! Batched system calls of Linux.

mod receive;
mod send;

pub(crate) use receive::{BatchReceiver, ReceivedBatch};
pub(crate) use send::BatchSender;

use std::{
    io,
    net::{SocketAddr, UdpSocket},
};

use nix::sys::socket::{setsockopt, sockopt};
use socket2::Socket;

use super::reader::READ_PATIENCE;

/// Asks the kernel for receive times, destination addresses and the count of what it lost.
pub(crate) fn prepare(socket: &UdpSocket, address: SocketAddr) -> io::Result<()> {
    setsockopt(socket, sockopt::ReceiveTimestampns, &true)?;
    setsockopt(socket, sockopt::RxqOvfl, &1)?;
    if address.ip().is_unspecified() {
        if address.is_ipv4() {
            setsockopt(socket, sockopt::Ipv4PacketInfo, &true)?;
        } else {
            setsockopt(socket, sockopt::Ipv6RecvPacketInfo, &true)?;
        }
    }
    socket.set_read_timeout(Some(READ_PATIENCE))
}

/// Sets the receive buffer past the system's limit, where the process may.
pub(crate) fn force_receive_buffer(socket: &Socket, bytes: usize) -> io::Result<()> {
    Ok(setsockopt(socket, sockopt::RcvBufForce, &bytes)?)
}
