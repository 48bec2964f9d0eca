//! A loop with a plain table of peers: it lets everybody in with a signed hello, sends each newcomer datagrams of
//! given lengths, and relays every line of chat to all.

use std::{
    collections::BTreeMap,
    net::{SocketAddr, UdpSocket},
};

use decitick_protocol::{
    ConnectChallenge, PROTOCOL_VERSION, PacketId, ServerAck, ServerHello, ServerIdentity,
};

use super::{Behaviour, batch::Sender};

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
    identity: ServerIdentity,
    guests: BTreeMap<SocketAddr, Guest>,
    /// Lengths of what the n-th newcomer gets after its hello.
    greetings: Vec<Vec<usize>>,
    /// Length of a relayed line.
    relayed: usize,
}

impl Room {
    pub(crate) fn new(greetings: Vec<Vec<usize>>, relayed: usize) -> Self {
        let identity = ServerIdentity::from_seed(&[0x42; 32]);
        Self {
            identity,
            guests: BTreeMap::new(),
            greetings,
            relayed,
        }
    }

    fn hello(&mut self, out: &mut Out<'_>, from: SocketAddr, datagram: &[u8]) {
        if datagram[67..75] == [0; 8] {
            let mut challenge = Vec::new();
            ConnectChallenge { cookie: 1 }.encode(&mut challenge);
            out.sender.singles(out.socket, [(from, challenge.as_slice())]);
            return;
        }
        let number = self.guests.len();
        let token = number as u64 + 1;
        let mut guest = Guest { token, next_event: 1 };
        let nonce: [u8; 32] = datagram[75..107].try_into().unwrap();
        let hello = self.signed_hello(token, &nonce);
        let lengths = self.greetings.get(number).cloned().unwrap_or_default();
        let packets: Vec<Vec<u8>> = lengths.iter().map(|&length| guest.event(length)).collect();
        let all: Vec<&[u8]> = std::iter::once(hello.as_slice())
            .chain(packets.iter().map(Vec::as_slice))
            .collect();
        out.sender.send_to_one(out.socket, from, &all);
        self.guests.insert(from, guest);
    }

    fn signed_hello(&self, token: u64, nonce: &[u8; 32]) -> Vec<u8> {
        let mut hello = Vec::new();
        ServerHello {
            protocol_version: PROTOCOL_VERSION,
            player_id: token as u32 - 1,
            session_token: token,
            player_token: token as u32,
            hours: 12,
            minutes: 0,
            weather: 1,
            driveby_interval: [0; 12],
            garage_doors: 0,
            client_files_port: 7778,
            auth_pending: false,
            server_key: [0; 32],
            signature: [0; 64],
        }
        .encode(&mut hello);
        self.identity.seal_hello(nonce, &mut hello).unwrap();
        hello
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
        let token = datagram
            .get(1..9)
            .and_then(|bytes| bytes.try_into().ok())
            .map(u64::from_le_bytes);
        self.guests
            .get(&from)
            .is_some_and(|guest| Some(guest.token) == token)
    }
}
