//! A renet server that keeps everybody's newest frame and relays those of a fixed view every 100 ms.
//!
//! It is spared what it can be: it reads the network only once a beat, and what one client sees goes out in messages
//! that fill a packet, not in one message for each record.

use std::{error::Error, net::SocketAddr, thread, time::Instant};

use renet::{ConnectionConfig, DefaultChannel, RenetServer};
use renet_netcode::{NetcodeServerTransport, ServerAuthentication, ServerConfig};
use socket2::{Domain, Protocol, Socket, Type};

use crate::{BEAT, PROTOCOL, RECORD, RECORDS_IN_MESSAGE, scene::Scene, since_1970};

/// The bare loop and the real server ask for as much.
const BUFFER: usize = 4 * 1024 * 1024;
/// What a client sends before the frame itself: id and session token.
const BEFORE_FRAME_IN_MESSAGE: usize = 9;
/// What a record has before it: id and generation of the player.
const BEFORE_FRAME: usize = 8;

struct Peer {
    record: [u8; RECORD],
    changed: bool,
    view: Vec<usize>,
}

pub(crate) fn run(address: SocketAddr, scene: Scene) -> Result<(), Box<dyn Error>> {
    let (mut server, mut transport) = open(address, scene.players)?;
    let mut peers: Vec<Peer> = (0..scene.players).map(|number| peer(scene, number)).collect();
    let (started, mut last) = (Instant::now(), Instant::now());
    for beat in 1.. {
        thread::sleep((started + BEAT * beat).saturating_duration_since(Instant::now()));
        let passed = last.elapsed();
        last += passed;
        server.update(passed);
        transport.update(passed, &mut server)?;
        take_frames(&mut server, &mut peers);
        relay(&mut server, &peers);
        for peer in &mut peers {
            peer.changed = false;
        }
        transport.send_packets(&mut server);
    }
    Ok(())
}

fn open(
    address: SocketAddr,
    players: usize,
) -> Result<(RenetServer, NetcodeServerTransport), Box<dyn Error>> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_recv_buffer_size(BUFFER)?;
    socket.set_send_buffer_size(BUFFER)?;
    socket.bind(&address.into())?;
    let configuration = ServerConfig {
        current_time: since_1970()?,
        max_clients: players,
        protocol_id: PROTOCOL,
        public_addresses: vec![address],
        authentication: ServerAuthentication::Unsecure,
    };
    let transport = NetcodeServerTransport::new(configuration, socket.into())?;
    Ok((RenetServer::new(ConnectionConfig::default()), transport))
}

fn peer(scene: Scene, number: usize) -> Peer {
    let mut record = [0; RECORD];
    record[..4].copy_from_slice(&(number as u32).to_le_bytes());
    record[4..BEFORE_FRAME].copy_from_slice(&(number as u32 + 1).to_le_bytes());
    record[RECORD - 1] = 100;
    Peer {
        record,
        changed: false,
        view: scene.in_view(number).collect(),
    }
}

fn take_frames(server: &mut RenetServer, peers: &mut [Peer]) {
    for client in server.clients_id() {
        while let Some(message) = server.receive_message(client, DefaultChannel::Unreliable) {
            let (Some(peer), Some(frame)) = (
                peers.get_mut(client as usize),
                message.get(BEFORE_FRAME_IN_MESSAGE..RECORD),
            ) else {
                continue;
            };
            let seq = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            if (seq(frame).wrapping_sub(seq(&peer.record[BEFORE_FRAME..])) as i32) > 0 {
                peer.record[BEFORE_FRAME..RECORD - 1].copy_from_slice(frame);
                peer.changed = true;
            }
        }
    }
}

fn relay(server: &mut RenetServer, peers: &[Peer]) {
    for client in server.clients_id() {
        let Some(viewer) = peers.get(client as usize) else {
            continue;
        };
        let mut records = viewer
            .view
            .iter()
            .map(|&number| &peers[number])
            .filter(|peer| peer.changed)
            .peekable();
        while records.peek().is_some() {
            let mut message = Vec::with_capacity(RECORDS_IN_MESSAGE * RECORD);
            for peer in records.by_ref().take(RECORDS_IN_MESSAGE) {
                message.extend_from_slice(&peer.record);
            }
            server.send_message(client, DefaultChannel::Unreliable, message);
        }
    }
}
