//! recvmmsg and sendmmsg with buffers that are used again, and one send for equal packets to one address.

use std::{
    io::{IoSlice, IoSliceMut},
    net::{SocketAddr, SocketAddrV4, UdpSocket},
    os::fd::AsRawFd,
};

use nix::sys::socket::{
    ControlMessage, MsgFlags, MultiHeaders, SockaddrIn, SockaddrStorage, recvmmsg, sendmmsg, sendmsg,
};

/// Datagrams of one call.
const BATCH: usize = 64;
const ROOM: usize = 2048;

/// Receives.
pub(crate) struct Receiver {
    headers: MultiHeaders<SockaddrIn>,
    buffers: Box<[[u8; ROOM]]>,
}

impl Receiver {
    pub(crate) fn new() -> Self {
        Self {
            headers: MultiHeaders::preallocate(BATCH, None),
            buffers: vec![[0; ROOM]; BATCH].into_boxed_slice(),
        }
    }

    /// Waits for datagrams, at most for the socket's time-out, and hands all that came to `take`.
    pub(crate) fn receive(&mut self, socket: &UdpSocket, mut take: impl FnMut(&[(SocketAddr, &[u8])])) {
        let mut came: Vec<(SocketAddr, usize)> = Vec::with_capacity(BATCH);
        {
            let mut slices: Vec<[IoSliceMut<'_>; 1]> = self
                .buffers
                .iter_mut()
                .map(|buffer| [IoSliceMut::new(buffer)])
                .collect();
            let flags = MsgFlags::MSG_WAITFORONE;
            let Ok(messages) = recvmmsg(
                socket.as_raw_fd(),
                &mut self.headers,
                slices.iter_mut(),
                flags,
                None,
            ) else {
                return;
            };
            came.extend(messages.filter_map(|message| {
                let from = SocketAddr::V4(SocketAddrV4::from(message.address?));
                Some((from, message.bytes.min(ROOM)))
            }));
        }
        let batch: Vec<(SocketAddr, &[u8])> = came
            .iter()
            .zip(&self.buffers)
            .map(|(&(from, length), buffer)| (from, &buffer[..length]))
            .collect();
        take(&batch);
    }
}

/// Sends.
pub(crate) struct Sender {
    headers: MultiHeaders<SockaddrStorage>,
}

impl Sender {
    pub(crate) fn new() -> Self {
        Self {
            headers: MultiHeaders::preallocate(BATCH, None),
        }
    }

    /// Single datagrams, 64 in a call.
    pub(crate) fn singles<'a>(
        &mut self,
        socket: &UdpSocket,
        packets: impl IntoIterator<Item = (SocketAddr, &'a [u8])>,
    ) {
        let all: Vec<(SocketAddr, &[u8])> = packets.into_iter().collect();
        for chunk in all.chunks(BATCH) {
            let slices: Vec<[IoSlice<'_>; 1]> =
                chunk.iter().map(|(_, bytes)| [IoSlice::new(bytes)]).collect();
            let addresses: Vec<_> = chunk
                .iter()
                .map(|(to, _)| Some(SockaddrStorage::from(*to)))
                .collect();
            let flags = MsgFlags::empty();
            let _ = sendmmsg(
                socket.as_raw_fd(),
                &mut self.headers,
                slices.iter(),
                addresses,
                [],
                flags,
            );
        }
    }

    /// Several datagrams to one address: neighbours of one length share a call.
    pub(crate) fn send_to_one(&mut self, socket: &UdpSocket, to: SocketAddr, packets: &[&[u8]]) {
        for run in packets.chunk_by(|a, b| a.len() == b.len()) {
            for part in run.chunks((65_000 / run[0].len().max(1)).clamp(1, BATCH)) {
                if part.len() == 1 {
                    self.singles(socket, [(to, part[0])]);
                    continue;
                }
                let size = u16::try_from(part[0].len()).unwrap();
                let slices: Vec<IoSlice<'_>> = part.iter().map(|bytes| IoSlice::new(bytes)).collect();
                let control = [ControlMessage::UdpGsoSegments(&size)];
                let to = SockaddrStorage::from(to);
                let _ = sendmsg(
                    socket.as_raw_fd(),
                    &slices,
                    &control,
                    MsgFlags::empty(),
                    Some(&to),
                );
            }
        }
    }

    /// One send for bytes that the kernel cuts into datagrams of `size`, the last of which may be shorter.
    pub(crate) fn segments(&mut self, socket: &UdpSocket, to: SocketAddr, bytes: &[u8], size: u16) {
        let to = SockaddrStorage::from(to);
        let control = [ControlMessage::UdpGsoSegments(&size)];
        // What fits one datagram needs no cutting.
        let control = if bytes.len() > usize::from(size) {
            &control[..]
        } else {
            &[]
        };
        let _ = sendmsg(
            socket.as_raw_fd(),
            &[IoSlice::new(bytes)],
            control,
            MsgFlags::empty(),
            Some(&to),
        );
    }
}
