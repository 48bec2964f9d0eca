//! A loop with a plain table of peers: it lets everybody in with a signed hello, sends each newcomer datagrams of
//! given lengths, and relays every line of chat to all.

use std::{
    collections::BTreeMap,
    net::{SocketAddr, UdpSocket},
};

use decitick_protocol::{PacketId, ServerAck};

use super::{
    Behaviour,
    batch::Sender,
    hello::{Door, token_of},
};

struct Guest {
    token: u64,
    next_event: u32,
}

/// Where a room sends.
struct Out<'a> {
    socket: &'a UdpSocket,
    sender: &'a mut Sender,
}

/// Lets in, greets, relays.
pub(crate) struct Room {
    door: Door,
    guests: BTreeMap<SocketAddr, Guest>,
    /// Lengths of what the n-th newcomer gets after its hello.
    greetings: Vec<Vec<usize>>,
    /// Length of a relayed line.
    relayed: usize,
}

impl Room {
    pub(crate) fn new(greetings: Vec<Vec<usize>>, relayed: usize) -> Self {
        Self {
            door: Door::new(),
            guests: BTreeMap::new(),
            greetings,
            relayed,
        }
    }

    fn hello(&mut self, out: &mut Out<'_>, from: SocketAddr, datagram: &[u8]) {
        let number = self.guests.len();
        let hello = self.door.answer(number, datagram);
        if Door::is_challenge(datagram) {
            out.sender.singles(out.socket, [(from, hello.as_slice())]);
            return;
        }
        let token = Door::token(number);
        let mut guest = Guest { token, next_event: 1 };
        let lengths = self.greetings.get(number).cloned().unwrap_or_default();
        let packets: Vec<Vec<u8>> = lengths.iter().map(|&length| guest.event(length)).collect();
        let all: Vec<&[u8]> = std::iter::once(hello.as_slice())
            .chain(packets.iter().map(Vec::as_slice))
            .collect();
        out.sender.send_to_one(out.socket, from, &all);
        self.guests.insert(from, guest);
    }

    fn chat(&mut self, out: &mut Out<'_>, from: SocketAddr, datagram: &[u8]) {
        let mut ack = Vec::new();
        ServerAck {
            ack: u32::from_le_bytes(datagram[9..13].try_into().unwrap()),
        }
        .encode(&mut ack);
        let mut packets = vec![(from, ack)];
        let length = self.relayed;
        packets.extend(
            self.guests
                .iter_mut()
                .map(|(to, guest)| (*to, guest.event(length))),
        );
        out.sender.singles(
            out.socket,
            packets.iter().map(|(to, packet)| (*to, packet.as_slice())),
        );
    }
}

impl Guest {
    /// A lane packet of this length; short ones stand for packets outside the lane.
    fn event(&mut self, length: usize) -> Vec<u8> {
        let mut packet = vec![0; length];
        if length > 9 {
            packet[0] = PacketId::ChatMessage.byte();
            packet[1..5].copy_from_slice(&self.next_event.to_le_bytes());
            self.next_event += 1;
        }
        packet
    }
}

impl Behaviour for Room {
    fn take(&mut self, socket: &UdpSocket, sender: &mut Sender, batch: &[(SocketAddr, &[u8])]) {
        let mut out = Out { socket, sender };
        for &(from, bytes) in batch {
            match bytes.first().copied().and_then(PacketId::from_byte) {
                Some(PacketId::ClientHello) if bytes.len() == 235 => self.hello(&mut out, from, bytes),
                Some(PacketId::ChatSend) if self.knows(from, bytes) => self.chat(&mut out, from, bytes),
                // An acknowledgement: the token is compared and nothing follows from it.
                _ => _ = self.knows(from, bytes),
            }
        }
    }
}

impl Room {
    fn knows(&self, from: SocketAddr, datagram: &[u8]) -> bool {
        let token = token_of(datagram);
        self.guests
            .get(&from)
            .is_some_and(|guest| Some(guest.token) == token)
    }
}
