//! The plain path for platforms without batched system calls: one datagram at a time, no kernel times.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    ops::Range,
    time::Duration,
};

use decitick_components::tally::SentTally;
use socket2::Socket;

use super::{DATAGRAM_ROOM, Received, Sending, reader::READ_PATIENCE};

pub(crate) fn prepare(socket: &UdpSocket, _address: SocketAddr) -> io::Result<()> {
    socket.set_read_timeout(Some(READ_PATIENCE))
}

pub(crate) fn force_receive_buffer(_socket: &Socket, _bytes: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) struct BatchReceiver {
    buffer: [u8; DATAGRAM_ROOM],
}

pub(crate) struct ReceivedBatch<'a> {
    received: Received,
    buffer: &'a [u8],
}

impl ReceivedBatch<'_> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Received, &[u8])> {
        std::iter::once((&self.received, self.buffer))
    }

    pub(crate) fn received(&self, index: usize) -> Option<&Received> {
        (index == 0).then_some(&self.received)
    }

    /// Whether more datagrams may be waiting: one call takes one.
    pub(crate) const fn is_full(&self) -> bool {
        true
    }

    pub(crate) const fn newly_lost(&self) -> u64 {
        0
    }
}

impl BatchReceiver {
    pub(crate) fn new(_wants_local: bool) -> Self {
        Self {
            buffer: [0; DATAGRAM_ROOM],
        }
    }

    pub(crate) fn receive(&mut self, socket: &UdpSocket) -> io::Result<ReceivedBatch<'_>> {
        let (length, from) = socket
            .recv_from(&mut self.buffer)
            .map_err(|error| match error.kind() {
                io::ErrorKind::TimedOut | io::ErrorKind::ConnectionReset => io::ErrorKind::WouldBlock.into(),
                _ => error,
            })?;
        let received = Received {
            from,
            length,
            held: Duration::ZERO,
            local: None,
        };
        Ok(ReceivedBatch {
            received,
            buffer: self.buffer.get(..length).unwrap_or_default(),
        })
    }
}

pub(crate) struct BatchSender;

impl BatchSender {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn send(
        &mut self,
        socket: &UdpSocket,
        packets: &[Sending<'_>],
        mut handing: impl FnMut(Range<usize>),
    ) -> SentTally {
        let mut tally = SentTally::default();
        for (index, packet) in packets.iter().enumerate() {
            handing(index..index + 1);
            match socket.send_to(packet.bytes, packet.to) {
                Ok(_) => {
                    tally.datagrams += 1;
                    tally.bytes += packet.bytes.len() as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => tally.buffer_full += 1,
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => tally.unreachable += 1,
                Err(_) => tally.other_errors += 1,
            }
        }
        tally
    }
}
