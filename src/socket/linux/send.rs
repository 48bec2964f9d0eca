//! sendmmsg for single packets, and one call with segmentation offload for several packets to one client.

use std::{
    io::IoSlice,
    net::{IpAddr, UdpSocket},
    ops::Range,
    os::fd::{AsFd, AsRawFd},
};

use decitick_components::tally::SentTally;
use nix::{
    cmsg_space,
    errno::Errno,
    libc,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::socket::{ControlMessage, MsgFlags, MultiHeaders, SockaddrStorage, sendmmsg, sendmsg},
};

use super::super::Sending;

/// Packets of one sendmmsg.
const MOST_SINGLES: usize = 64;
/// Segments of one offloaded send (the kernel's limit).
const MOST_SEGMENTS: usize = 64;
/// Bytes of one offloaded send: what a UDP datagram can hold.
const MOST_BYTES: usize = 65_000;
/// How long a full send buffer is waited for, in milliseconds.
const BUFFER_PATIENCE: u8 = 20;

/// Headers that are reused for every call.
pub(crate) struct BatchSender {
    bare: MultiHeaders<SockaddrStorage>,
    from_v4: MultiHeaders<SockaddrStorage>,
    from_v6: MultiHeaders<SockaddrStorage>,
    offload: bool,
}

impl BatchSender {
    pub(crate) fn new() -> Self {
        Self {
            bare: MultiHeaders::preallocate(MOST_SINGLES, None),
            from_v4: MultiHeaders::preallocate(MOST_SINGLES, Some(cmsg_space!(libc::in_pktinfo))),
            from_v6: MultiHeaders::preallocate(MOST_SINGLES, Some(cmsg_space!(libc::in6_pktinfo))),
            offload: true,
        }
    }

    /// Sends all. `handing` is told each range of packets just before it is handed to the kernel. An error is one
    /// of its datagrams; the others are sent all the same.
    pub(crate) fn send(
        &mut self,
        socket: &UdpSocket,
        packets: &[Sending<'_>],
        mut handing: impl FnMut(Range<usize>),
    ) -> SentTally {
        let mut tally = SentTally::default();
        let mut start = 0;
        while start < packets.len() {
            let rest = packets.get(start..).unwrap_or_default();
            let segments = if self.offload { segment_run(rest) } else { 1 };
            if segments > 1 {
                let run = rest.get(..segments).unwrap_or_default();
                handing(start..start + segments);
                match send_segments(socket, run) {
                    Ok(()) => {
                        count_sent(&mut tally, run);
                        start += segments;
                    }
                    Err(error @ (Errno::EIO | Errno::EINVAL | Errno::EOPNOTSUPP | Errno::ENOPROTOOPT)) => {
                        tracing::info!(%error, "the network does not take segmented sends; sending one by one");
                        self.offload = false;
                    }
                    Err(error) => {
                        for _ in run {
                            count_error(&mut tally, error);
                        }
                        start += segments;
                    }
                }
            } else {
                let singles = single_run(rest, self.offload);
                let run = rest.get(..singles).unwrap_or_default();
                handing(start..start + singles);
                self.send_singles(socket, run, &mut tally);
                start += singles;
            }
        }
        tally
    }

    fn send_singles(&mut self, socket: &UdpSocket, packets: &[Sending<'_>], tally: &mut SentTally) {
        let mut rest = packets;
        let mut waited = false;
        while let Some(first) = rest.first() {
            match self.send_some(socket, rest) {
                Ok(count) if count > 0 => {
                    let (sent, later) = rest.split_at(count.min(rest.len()));
                    count_sent(tally, sent);
                    rest = later;
                    waited = false;
                }
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN | Errno::ENOBUFS) if !waited => {
                    waited = true;
                    wait_for_room(socket);
                }
                other => {
                    // The error is that of the first packet of the rest; it alone is given up.
                    tracing::debug!(to = %first.to, reason = "send", error = ?other.err(), "a datagram was not sent");
                    count_error(tally, other.err().unwrap_or(Errno::EIO));
                    rest = rest.get(1..).unwrap_or_default();
                }
            }
        }
    }

    fn send_some(&mut self, socket: &UdpSocket, packets: &[Sending<'_>]) -> Result<usize, Errno> {
        let slices: Vec<[IoSlice<'_>; 1]> = packets
            .iter()
            .map(|packet| [IoSlice::new(packet.bytes)])
            .collect();
        let addresses: Vec<Option<SockaddrStorage>> = packets
            .iter()
            .map(|packet| Some(SockaddrStorage::from(packet.to)))
            .collect();
        let local = packets.first().and_then(|packet| packet.local);
        let (v4, v6) = (packet_info_v4(local), packet_info_v6(local));
        let (headers, controls) = match (&v4, &v6) {
            (Some(info), _) => (&mut self.from_v4, Some(ControlMessage::Ipv4PacketInfo(info))),
            (_, Some(info)) => (&mut self.from_v6, Some(ControlMessage::Ipv6PacketInfo(info))),
            _ => (&mut self.bare, None),
        };
        let flags = MsgFlags::MSG_DONTWAIT;
        let sent = sendmmsg(
            socket.as_raw_fd(),
            headers,
            slices.iter(),
            addresses,
            controls.as_slice(),
            flags,
        )?;
        Ok(sent.count())
    }
}

fn count_sent(tally: &mut SentTally, packets: &[Sending<'_>]) {
    tally.datagrams += packets.len() as u64;
    tally.bytes += packets
        .iter()
        .map(|packet| packet.bytes.len() as u64)
        .sum::<u64>();
}

const fn count_error(tally: &mut SentTally, error: Errno) {
    match error {
        Errno::ECONNREFUSED | Errno::EHOSTUNREACH | Errno::ENETUNREACH | Errno::EPERM => {
            tally.unreachable += 1;
        }
        Errno::EAGAIN | Errno::ENOBUFS | Errno::ENOMEM => {
            tally.buffer_full += 1;
        }
        _ => {
            tally.other_errors += 1;
        }
    }
}

fn wait_for_room(socket: &UdpSocket) {
    let mut writable = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
    // Whatever poll says, one more try follows.
    let _ = poll(&mut writable, PollTimeout::from(BUFFER_PATIENCE));
}

/// How many packets from the first on can go in one segmented send: to one client, from one address, all as
/// long as the first but for the last, which may be shorter.
fn segment_run(packets: &[Sending<'_>]) -> usize {
    let Some(first) = packets.first() else { return 0 };
    let size = first.bytes.len();
    if size == 0 {
        return 1;
    }
    let mut count = 0;
    let mut total = 0;
    for packet in packets.iter().take(MOST_SEGMENTS) {
        let together = packet.to == first.to && packet.local == first.local;
        if !together
            || packet.bytes.len() > size
            || packet.bytes.is_empty()
            || total + packet.bytes.len() > MOST_BYTES
        {
            break;
        }
        count += 1;
        total += packet.bytes.len();
        if packet.bytes.len() < size {
            break;
        }
    }
    count.max(1)
}

/// How many packets from the first on go out one by one in one call: those before the next segmented send.
fn single_run(packets: &[Sending<'_>], offload: bool) -> usize {
    let local = packets.first().and_then(|packet| packet.local);
    let mut count = 0;
    while count < MOST_SINGLES.min(packets.len()) {
        let rest = packets.get(count..).unwrap_or_default();
        let same_source = rest.first().is_some_and(|packet| packet.local == local);
        if !same_source || (count > 0 && offload && segment_run(rest) > 1) {
            break;
        }
        count += 1;
    }
    count.max(1)
}

fn send_segments(socket: &UdpSocket, packets: &[Sending<'_>]) -> Result<(), Errno> {
    let Some(first) = packets.first() else {
        return Ok(());
    };
    let size = u16::try_from(first.bytes.len()).map_err(|_| Errno::EINVAL)?;
    let slices: Vec<IoSlice<'_>> = packets.iter().map(|packet| IoSlice::new(packet.bytes)).collect();
    let (v4, v6) = (packet_info_v4(first.local), packet_info_v6(first.local));
    let mut controls = vec![ControlMessage::UdpGsoSegments(&size)];
    controls.extend(v4.iter().map(ControlMessage::Ipv4PacketInfo));
    controls.extend(v6.iter().map(ControlMessage::Ipv6PacketInfo));
    let to = SockaddrStorage::from(first.to);
    let mut waited = false;
    loop {
        match sendmsg(
            socket.as_raw_fd(),
            &slices,
            &controls,
            MsgFlags::MSG_DONTWAIT,
            Some(&to),
        ) {
            Ok(_) => return Ok(()),
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN | Errno::ENOBUFS) if !waited => {
                waited = true;
                wait_for_room(socket);
            }
            Err(error) => return Err(error),
        }
    }
}

fn packet_info_v4(local: Option<IpAddr>) -> Option<libc::in_pktinfo> {
    let Some(IpAddr::V4(ip)) = local else { return None };
    let address = libc::in_addr {
        s_addr: u32::from(ip).to_be(),
    };
    Some(libc::in_pktinfo {
        ipi_ifindex: 0,
        ipi_spec_dst: address,
        ipi_addr: libc::in_addr { s_addr: 0 },
    })
}

const fn packet_info_v6(local: Option<IpAddr>) -> Option<libc::in6_pktinfo> {
    let Some(IpAddr::V6(ip)) = local else { return None };
    Some(libc::in6_pktinfo {
        ipi6_addr: libc::in6_addr { s6_addr: ip.octets() },
        ipi6_ifindex: 0,
    })
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn packets<'a>(bytes: &'a [u8], list: &[(u16, usize)]) -> Vec<Sending<'a>> {
        list.iter()
            .map(|&(port, length)| Sending {
                to: SocketAddr::from(([127, 0, 0, 1], port)),
                local: None,
                bytes: &bytes[..length],
            })
            .collect()
    }

    #[test]
    fn equal_packets_to_one_client_share_a_send_and_a_shorter_one_ends_it() {
        let bytes = [0; 1200];
        assert_eq!(
            segment_run(&packets(&bytes, &[(1, 100), (1, 100), (1, 40), (1, 40)])),
            3
        );
        assert_eq!(segment_run(&packets(&bytes, &[(1, 100), (1, 101)])), 1);
        assert_eq!(segment_run(&packets(&bytes, &[(1, 100), (2, 100)])), 1);
        assert_eq!(segment_run(&packets(&bytes, &[(1, 1200); 80])), 54);
        assert_eq!(segment_run(&packets(&bytes, &[(1, 10); 80])), 64);
    }

    #[test]
    fn single_packets_go_together_up_to_the_next_shared_send() {
        let bytes = [0; 1200];
        assert_eq!(
            single_run(&packets(&bytes, &[(1, 9), (2, 9), (3, 9), (3, 9)]), true),
            2
        );
        assert_eq!(
            single_run(&packets(&bytes, &[(1, 9), (2, 9), (3, 9), (3, 9)]), false),
            4
        );
    }

    #[test]
    fn a_peer_whose_port_is_closed_costs_its_neighbours_nothing() {
        let alive = UdpSocket::bind("127.0.0.1:0").unwrap();
        alive
            .set_read_timeout(Some(std::time::Duration::from_secs(5)))
            .unwrap();
        let dead = UdpSocket::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let bytes = [7; 1200];
        let port = alive.local_addr().unwrap().port();
        let mut batch = BatchSender::new();
        let mut buffer = [0; 2000];
        for _ in 0..20 {
            let list = packets(
                &bytes,
                &[
                    (dead, 40),
                    (port, 10),
                    (dead, 60),
                    (dead, 60),
                    (port, 20),
                    (port, 20),
                ],
            );
            let tally = batch.send(&sender, &list, |_| {});
            assert!(tally.datagrams >= 3, "{tally:?}");
            let lengths: Vec<usize> = (0..3).map(|_| alive.recv(&mut buffer).unwrap()).collect();
            assert_eq!(lengths, [10, 20, 20]);
        }
    }

    #[test]
    fn a_dead_peer_and_an_empty_packet_stop_nobody_elses_datagrams() {
        let alive = UdpSocket::bind("127.0.0.1:0").unwrap();
        alive
            .set_read_timeout(Some(std::time::Duration::from_secs(5)))
            .unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let bytes = [7; 1200];
        let port = alive.local_addr().unwrap().port();
        let unreachable = SocketAddr::from(([255, 255, 255, 255], 9));
        let mut list = packets(
            &bytes,
            &[(port, 10), (port, 20), (port, 30), (port, 30), (port, 30)],
        );
        list.insert(
            1,
            Sending {
                to: unreachable,
                local: None,
                bytes: &bytes[..5],
            },
        );
        list.insert(
            4,
            Sending {
                to: unreachable,
                local: None,
                bytes: &bytes[..5],
            },
        );
        let mut handed = Vec::new();
        let tally = BatchSender::new().send(&sender, &list, |range| handed.extend(range));
        assert_eq!(handed, (0..7).collect::<Vec<_>>());
        assert_eq!((tally.datagrams, tally.unreachable + tally.other_errors), (5, 2));
        let mut buffer = [0; 2000];
        let lengths: Vec<usize> = (0..5).map(|_| alive.recv(&mut buffer).unwrap()).collect();
        assert_eq!(lengths, [10, 20, 30, 30, 30]);
    }
}
