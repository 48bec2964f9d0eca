//! A loop with a plain table of peers that relays state frames: everybody's newest is kept, and every 100 ms each
//! peer gets those of a fixed view that are new, as many in a datagram as fit.

use std::{
    collections::HashMap,
    net::{SocketAddr, UdpSocket},
    time::{Duration, Instant},
};

use decitick_protocol::{MAX_REMOTE_FRAMES, PacketId, PlayerStreamIn, ServerLaneEvent, SpawnPlayer, Vec3};

use super::{
    Behaviour,
    batch::Sender,
    hello::{Door, token_of},
};
use crate::support::scene::Scene;

const BEAT: Duration = Duration::from_millis(100);
/// Bytes of a record, of them id and generation before the frame's own.
const RECORD: usize = 46;
const BEFORE_FRAME: usize = 8;
/// Bytes of a frame's packet, of them id and token before the frame.
const FRAME: usize = 46;
const BEFORE_FRAME_IN_PACKET: usize = 9;
const FULL: usize = 2 + MAX_REMOTE_FRAMES * RECORD;

struct Peer {
    address: SocketAddr,
    token: u64,
    seq: u32,
    record: [u8; RECORD],
    changed: bool,
    view: Vec<usize>,
}

/// Lets in, shows the scene, relays.
pub(crate) struct Relay {
    scene: Scene,
    door: Door,
    peers: Vec<Peer>,
    numbers: HashMap<SocketAddr, usize>,
    next_beat: Instant,
    out: Vec<u8>,
}

impl Relay {
    pub(crate) fn new(scene: Scene) -> Self {
        Self {
            scene,
            door: Door::new(),
            peers: Vec::new(),
            numbers: HashMap::new(),
            next_beat: Instant::now() + BEAT,
            out: Vec::new(),
        }
    }

    fn hello(&mut self, socket: &UdpSocket, sender: &mut Sender, from: SocketAddr, datagram: &[u8]) {
        let number = self.numbers.get(&from).copied().unwrap_or(self.peers.len());
        let answer = self.door.answer(number, datagram);
        sender.singles(socket, [(from, answer.as_slice())]);
        if Door::is_challenge(datagram) || number < self.peers.len() {
            return;
        }
        let mut record = [0; RECORD];
        record[..4].copy_from_slice(&(number as u32).to_le_bytes());
        record[4..BEFORE_FRAME].copy_from_slice(&(number as u32 + 1).to_le_bytes());
        record[RECORD - 1] = 100;
        self.numbers.insert(from, number);
        self.peers.push(Peer {
            address: from,
            token: Door::token(number),
            seq: 0,
            record,
            changed: false,
            view: self.scene.in_view(number).collect(),
        });
    }

    /// Tells a peer where it is and whom it sees.
    fn spawn(&self, socket: &UdpSocket, sender: &mut Sender, number: usize) {
        let [x, y, z] = self.scene.spawn(number);
        let position = Vec3 { x, y, z };
        let peer = &self.peers[number];
        let spawn = ServerLaneEvent::SpawnPlayer(SpawnPlayer {
            position,
            heading: 0.0,
            area: 0,
            skin: 0,
            variant: 0,
        });
        let arrival = |&other: &usize| {
            ServerLaneEvent::PlayerStreamIn(PlayerStreamIn {
                player_id: other as u32,
                player_token: other as u32 + 1,
                skin: 0,
                variant: 0,
                walking_style: 0,
                position,
                heading: 0.0,
                area: 0,
                health: 100,
                armour: 0,
                weapon: 0,
            })
        };
        let events = std::iter::once(spawn).chain(peer.view.iter().map(arrival));
        for (event, event_id) in events.zip(1..) {
            let mut packet = Vec::new();
            event.encode(event_id, &mut packet);
            sender.singles(socket, [(peer.address, packet.as_slice())]);
        }
    }

    fn frame(&mut self, number: usize, datagram: &[u8]) {
        let peer = &mut self.peers[number];
        let frame = &datagram[BEFORE_FRAME_IN_PACKET..];
        let seq = u32::from_le_bytes(frame[..4].try_into().unwrap());
        if (seq.wrapping_sub(peer.seq) as i32) > 0 {
            peer.seq = seq;
            peer.record[BEFORE_FRAME..RECORD - 1].copy_from_slice(frame);
            peer.changed = true;
        }
    }

    fn relay(&mut self, socket: &UdpSocket, sender: &mut Sender) {
        for peer in &self.peers {
            self.out.clear();
            let mut begun = 0;
            let mut count = 0;
            for record in peer.view.iter().filter_map(|&number| self.peers.get(number)) {
                if !record.changed {
                    continue;
                }
                if count % MAX_REMOTE_FRAMES == 0 {
                    begun = self.out.len();
                    self.out
                        .extend_from_slice(&[PacketId::RemotePlayerSync.byte(), 0]);
                }
                count += 1;
                self.out[begun + 1] += 1;
                self.out.extend_from_slice(&record.record);
            }
            if count > 0 {
                sender.segments(socket, peer.address, &self.out, FULL as u16);
            }
        }
        for peer in &mut self.peers {
            peer.changed = false;
        }
    }
}

impl Behaviour for Relay {
    fn take(&mut self, socket: &UdpSocket, sender: &mut Sender, batch: &[(SocketAddr, &[u8])]) {
        for &(from, bytes) in batch {
            let id = bytes.first().copied().and_then(PacketId::from_byte);
            if id == Some(PacketId::ClientHello) && bytes.len() == 235 {
                self.hello(socket, sender, from, bytes);
                continue;
            }
            let Some(&number) = self.numbers.get(&from) else {
                continue;
            };
            if token_of(bytes) != Some(self.peers[number].token) {
                continue;
            }
            match id {
                Some(PacketId::PlayerSync) if bytes.len() == FRAME => self.frame(number, bytes),
                Some(PacketId::RequestSpawn) => self.spawn(socket, sender, number),
                _ => {}
            }
        }
    }

    fn between(&mut self, socket: &UdpSocket, sender: &mut Sender) {
        let now = Instant::now();
        if now >= self.next_beat {
            // Beats that were missed are not made up for.
            while self.next_beat <= now {
                self.next_beat += BEAT;
            }
            self.relay(socket, sender);
        }
    }
}
