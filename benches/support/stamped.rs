//! Receiving with the moment at which the kernel had the datagram, so that what a busy reader adds does not count.

use std::{
    io::IoSliceMut,
    net::UdpSocket,
    os::fd::AsRawFd,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use nix::{
    cmsg_space,
    sys::{
        socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt::ReceiveTimestampns},
        time::TimeSpec,
    },
};

/// What receiving needs again and again.
pub(crate) struct Stamped {
    control: Vec<u8>,
}

impl Stamped {
    pub(crate) fn new() -> Self {
        Self {
            control: cmsg_space!(TimeSpec),
        }
    }

    /// Asks for the moments of what comes to this socket from now on.
    pub(crate) fn enable(socket: &UdpSocket) {
        setsockopt(socket, ReceiveTimestampns, &true).expect("the kernel stamps datagrams");
    }

    /// One datagram: its length, and when it came, since 1970.
    pub(crate) fn receive(&mut self, socket: &UdpSocket, buffer: &mut [u8]) -> Option<(usize, Duration)> {
        let mut slices = [IoSliceMut::new(buffer)];
        let message = recvmsg::<()>(
            socket.as_raw_fd(),
            &mut slices,
            Some(&mut self.control),
            MsgFlags::empty(),
        )
        .ok()?;
        let stamp = message.cmsgs().ok()?.find_map(|control| match control {
            ControlMessageOwned::ScmTimestampns(time) => Some(Duration::from(time)),
            _ => None,
        });
        Some((message.bytes, stamp.unwrap_or_else(since_1970)))
    }
}

/// The time of the clock that stamps datagrams.
pub(crate) fn since_1970() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("it is later than 1970")
}
