//! A client against a server of a few lines, stepped by hand.

mod handshake;
mod login;
mod session;
mod view;
mod world;

use std::time::Duration;

use decitick_protocol::{
    ClientPacket, ConnectChallenge, PlayerName, PlayerStreamIn, PlayerSync, ServerHello, ServerIdentity,
    ServerLaneEvent, ServerPacket, SessionPacket, SetWeather, SpawnPlayer, Vec3,
};

use super::*;

pub(super) const NONCE: [u8; 32] = [0x5A; 32];
pub(super) const COOKIE: u64 = 0x1234_5678;
pub(super) const TOKEN: u64 = 0xFEDC_BA98;

pub(super) const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

pub(super) fn identity() -> ServerIdentity {
    ServerIdentity::from_seed(&[0x42; 32])
}

pub(super) fn name() -> PlayerName {
    PlayerName::parse("Ann Bee").unwrap()
}

/// A client whose attempt started at 0, pinned to the server of these tests.
pub(super) fn client() -> Client {
    let pinned = PinnedServer::new(identity().public_key());
    Client::new(ClientConfig::new(&name()).pinned_to(pinned), NONCE, ms(0))
}

/// A stream-in of somebody who stands at 1, 2, 3.
pub(super) fn stream_in(player_id: u32, player_token: u32) -> PlayerStreamIn {
    PlayerStreamIn {
        player_id,
        player_token,
        skin: 0,
        variant: 0,
        walking_style: 0,
        position: Vec3::new(1.0, 2.0, 3.0),
        heading: 0.0,
        area: 0,
        health: 100,
        armour: 0,
        weapon: 0,
    }
}

pub(super) fn welcome() -> ServerHello {
    ServerHello {
        protocol_version: 1,
        player_id: 7,
        session_token: TOKEN,
        player_token: 9,
        hours: 12,
        minutes: 34,
        weather: 1,
        driveby_interval: [0; 12],
        garage_doors: 0,
        client_files_port: 7778,
        auth_pending: false,
        server_key: [0; 32],
        signature: [0; 64],
    }
}

pub(super) fn sealed(hello: &ServerHello, by: &ServerIdentity, nonce: &[u8; 32]) -> Vec<u8> {
    let mut datagram = Vec::new();
    hello.encode(&mut datagram);
    by.seal_hello(nonce, &mut datagram).unwrap();
    datagram
}

pub(super) fn bytes(packet: &ServerPacket) -> Vec<u8> {
    let mut datagram = Vec::new();
    packet.encode(&mut datagram);
    datagram
}

pub(super) fn challenge(cookie: u64) -> Vec<u8> {
    bytes(&ServerPacket::Challenge(ConnectChallenge { cookie }))
}

pub(super) fn lane(event_id: u32, event: impl Into<ServerLaneEvent>) -> Vec<u8> {
    bytes(&ServerPacket::Lane {
        event_id,
        event: event.into(),
    })
}

/// Everything the client sends at `now`, decoded.
pub(super) fn sent(client: &mut Client, now: Duration) -> Vec<ClientPacket> {
    let mut out = Vec::new();
    std::iter::from_fn(|| {
        client
            .poll_transmit(now, &mut out)
            .then(|| ClientPacket::decode(&out).unwrap())
    })
    .collect()
}

/// Everything the client sends at `now` within its session.
pub(super) fn session_packets(client: &mut Client, now: Duration) -> Vec<SessionPacket> {
    sent(client, now)
        .into_iter()
        .filter_map(|packet| match packet {
            ClientPacket::Session {
                session_token: TOKEN,
                packet,
            } => Some(packet),
            _ => None,
        })
        .collect()
}

pub(super) fn notices(client: &mut Client) -> Vec<ClientNotice> {
    std::iter::from_fn(|| client.poll_event()).collect()
}

/// A client that joined at 10 ms, its notices fetched.
pub(super) fn joined() -> Client {
    joined_with(&welcome())
}

pub(super) fn joined_with(hello: &ServerHello) -> Client {
    let mut client = client();
    sent(&mut client, ms(0));
    client.handle(ms(5), &challenge(COOKIE));
    sent(&mut client, ms(5));
    client.handle(ms(10), &sealed(hello, &identity(), &NONCE));
    assert!(matches!(notices(&mut client)[..], [ClientNotice::Joined(_)]));
    client
}

pub(super) fn spawn_at(position: Vec3) -> SpawnPlayer {
    SpawnPlayer {
        position,
        heading: 0.5,
        area: 0,
        skin: 7,
        variant: 0,
    }
}

pub(super) fn frame_at(position: Vec3) -> PlayerSync {
    PlayerSync {
        seq: 77,
        position,
        velocity: Vec3::ZERO,
        heading: 0.0,
        area: 0,
        keys: 0,
        weapon: 0,
        stance: 0,
    }
}

pub(super) fn weather(event_id: u32) -> Vec<u8> {
    lane(event_id, SetWeather { weather: 3 })
}
