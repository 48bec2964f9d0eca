//! recvmmsg with receive times, destination addresses and the kernel's count of lost datagrams.

use std::{
    io::{self, IoSliceMut},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket},
    os::fd::AsRawFd,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use nix::{
    cmsg_space, libc,
    sys::socket::{ControlMessageOwned, MsgFlags, MultiHeaders, RecvMsg, SockaddrStorage, recvmmsg},
    sys::time::TimeSpec,
};

use super::super::{BATCH, DATAGRAM_ROOM, Received};

/// The longest time a datagram is believed to have waited in the kernel.
const LONGEST_HELD: Duration = Duration::from_secs(1);

/// Buffers that are reused for every batch.
pub(crate) struct BatchReceiver {
    headers: MultiHeaders<SockaddrStorage>,
    buffers: Box<[[u8; DATAGRAM_ROOM]]>,
    received: Vec<Received>,
    lost: Option<u32>,
    wants_local: bool,
}

/// The datagrams of one system call.
pub(crate) struct ReceivedBatch<'a> {
    received: &'a [Received],
    buffers: &'a [[u8; DATAGRAM_ROOM]],
    newly_lost: u64,
}

impl ReceivedBatch<'_> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Received, &[u8])> {
        self.received
            .iter()
            .zip(self.buffers)
            .map(|(received, buffer)| (received, buffer.get(..received.length).unwrap_or(buffer)))
    }

    pub(crate) fn received(&self, index: usize) -> Option<&Received> {
        self.received.get(index)
    }

    /// Whether more datagrams may be waiting: it holds as many as one system call takes.
    pub(crate) const fn is_full(&self) -> bool {
        self.received.len() >= BATCH
    }

    /// Datagrams the kernel lost since the batch before.
    pub(crate) const fn newly_lost(&self) -> u64 {
        self.newly_lost
    }
}

fn headers() -> MultiHeaders<SockaddrStorage> {
    MultiHeaders::preallocate(BATCH, Some(cmsg_space!(TimeSpec, libc::in6_pktinfo, u32)))
}

impl BatchReceiver {
    pub(crate) fn new(wants_local: bool) -> Self {
        Self {
            headers: headers(),
            buffers: vec![[0; DATAGRAM_ROOM]; BATCH].into_boxed_slice(),
            received: Vec::with_capacity(BATCH),
            lost: None,
            wants_local,
        }
    }

    /// Waits for datagrams, for as long as the socket's read timeout, and takes all that are there.
    pub(crate) fn receive(&mut self, socket: &UdpSocket) -> io::Result<ReceivedBatch<'_>> {
        self.received.clear();
        let mut truncated = false;
        let mut newest_lost = self.lost;
        {
            let mut slices: Vec<[IoSliceMut<'_>; 1]> = self
                .buffers
                .iter_mut()
                .map(|buffer| [IoSliceMut::new(buffer)])
                .collect();
            let messages = recvmmsg(
                socket.as_raw_fd(),
                &mut self.headers,
                slices.iter_mut(),
                MsgFlags::MSG_WAITFORONE,
                None,
            )?;
            let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            for message in messages {
                truncated |= message.flags.contains(MsgFlags::MSG_CTRUNC);
                let (received, lost) = understand(&message, wall, self.wants_local);
                newest_lost = lost.or(newest_lost);
                self.received.push(received);
            }
        }
        if truncated {
            // The kernel shrinks the room for control messages to what it used last; when one more kind comes,
            // it does not fit. With fresh headers the next batch has all.
            self.headers = headers();
        }
        let newly_lost = match (self.lost, newest_lost) {
            (None, Some(first)) => u64::from(first),
            (Some(before), Some(now)) => u64::from(now.wrapping_sub(before)),
            _ => 0,
        };
        self.lost = newest_lost;
        Ok(ReceivedBatch {
            received: &self.received,
            buffers: &self.buffers,
            newly_lost,
        })
    }
}

fn understand(
    message: &RecvMsg<'_, '_, SockaddrStorage>,
    wall: Duration,
    wants_local: bool,
) -> (Received, Option<u32>) {
    let mut received = Received {
        from: message.address.as_ref().map_or(NOWHERE, address),
        // Longer than the room is longer than allowed; the door sees it by its length.
        length: message.bytes.min(DATAGRAM_ROOM),
        held: Duration::ZERO,
        local: None,
    };
    let mut lost = None;
    let Ok(controls) = message.cmsgs() else {
        return (received, lost);
    };
    for control in controls {
        match control {
            ControlMessageOwned::ScmTimestampns(at) => {
                let at = Duration::from(at);
                received.held = wall.saturating_sub(at).min(LONGEST_HELD);
            }
            ControlMessageOwned::Ipv4PacketInfo(info) if wants_local => {
                received.local = Some(IpAddr::V4(Ipv4Addr::from(u32::from_be(info.ipi_spec_dst.s_addr))));
            }
            ControlMessageOwned::Ipv6PacketInfo(info) if wants_local => {
                received.local = Some(IpAddr::V6(Ipv6Addr::from(info.ipi6_addr.s6_addr)));
            }
            ControlMessageOwned::RxqOvfl(count) => lost = Some(count),
            _ => {}
        }
    }
    (received, lost)
}

/// Where a datagram without an address came from: nothing that could hold a slot.
const NOWHERE: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));

fn address(storage: &SockaddrStorage) -> SocketAddr {
    if let Some(v4) = storage.as_sockaddr_in() {
        SocketAddr::V4(SocketAddrV4::from(*v4))
    } else if let Some(v6) = storage.as_sockaddr_in6() {
        SocketAddr::V6(SocketAddrV6::from(*v6))
    } else {
        NOWHERE
    }
}
