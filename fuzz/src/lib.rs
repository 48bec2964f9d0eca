//! What the fuzz targets share: a few peers and the datagrams they may send.

pub mod bounded;
pub mod mood;
pub mod numbers;
pub mod server_plan;
pub mod server_run;
mod server_tick;
pub mod thing_plan;
pub mod told;
pub mod world_checks;
pub mod world_plan;

use std::{net::SocketAddr, time::Duration};

use arbitrary::Arbitrary;
use bounded::{Bytes, Line};
use decitick_protocol::{
    ChatSend, ClientAck, ClientBye, ClientEvent, ClientHello, ClientLaneEvent, ClientPong, CookieKey,
    EventData, PROTOCOL_VERSION, PasswordKey, PlainText, PlayerSync, QueryRequest, RequestSpawn,
    ServerIdentity, SessionPacket, Text, Vec3, credential,
};

/// Seed of the server's key in every run.
pub const SERVER_SEED: [u8; 32] = [0x42; 32];
/// Key of the cookies in every run.
pub const COOKIE_SEED: [u8; 16] = [0x17; 16];
/// Peers that take part.
pub const PEERS: usize = 8;

/// The address of a peer: two share an IPv4 address, two an IPv6 prefix, two are on the loopback interface.
pub fn address(peer: u8) -> SocketAddr {
    let texts = [
        "192.0.2.1:4000",
        "192.0.2.1:4001",
        "192.0.2.2:4000",
        "[2001:db8::1]:4000",
        "[2001:db8::2]:4000",
        "127.0.0.1:4000",
        "[::1]:4000",
        "198.51.100.9:1",
    ];
    texts[usize::from(peer) % PEERS]
        .parse()
        .expect("a written address")
}

/// A hello in the terms a server cares about.
#[derive(Arbitrary, Debug, Clone)]
pub struct HelloPlan {
    /// Version field, 0 standing for the right one.
    pub version: u8,
    /// The name.
    pub name: NamePlan,
    /// The cookie.
    pub cookie: CookiePlan,
    /// The nonce, of few values so that some come twice.
    pub nonce: u8,
    /// Whether the password proof is right.
    pub password: bool,
    /// The credential: 0 and 1 none, 2 valid, 3 invalid.
    pub credential: u8,
}

/// A name field.
#[derive(Arbitrary, Debug, Clone)]
pub enum NamePlan {
    /// One of a few good names.
    Good(u8),
    /// Anything.
    Bytes(Bytes),
}

/// A cookie field.
#[derive(Arbitrary, Debug, Clone)]
pub enum CookiePlan {
    /// None.
    Zero,
    /// Of now and this address.
    Fresh,
    /// Of this many seconds ago.
    Aged(u8),
    /// Of another address.
    Stolen(u8),
    /// Anything.
    Raw(u64),
}

impl HelloPlan {
    /// The datagram that `from` sends at `now`.
    pub fn datagram(&self, now: Duration, from: SocketAddr, password: Option<&PasswordKey>) -> Vec<u8> {
        let cookies = CookieKey::new(COOKIE_SEED);
        let cookie = match self.cookie {
            CookiePlan::Zero => 0,
            CookiePlan::Fresh => cookies.issue(now, from),
            CookiePlan::Aged(seconds) => {
                cookies.issue(now.saturating_sub(Duration::from_secs(u64::from(seconds))), from)
            }
            CookiePlan::Stolen(peer) => cookies.issue(now, address(peer)),
            CookiePlan::Raw(cookie) => cookie,
        };
        let server_key = ServerIdentity::from_seed(&SERVER_SEED).public_key();
        let nonce = [self.nonce; 32];
        let (credential_key, credential_proof) = self.credential(&server_key, cookie, &nonce);
        let hello = ClientHello {
            protocol_version: if self.version == 0 {
                PROTOCOL_VERSION
            } else {
                u16::from(self.version)
            },
            name: self.name_field(),
            cookie,
            nonce,
            password_proof: password
                .filter(|_| self.password)
                .map_or([0; 32], |key| key.proof(cookie, &nonce)),
            credential_key,
            credential_proof,
        };
        let mut datagram = Vec::new();
        hello.encode(&mut datagram);
        datagram
    }

    fn name_field(&self) -> [u8; 64] {
        let mut field = [0; 64];
        let bytes = match &self.name {
            NamePlan::Good(n) => format!("Player {}", n % 12).into_bytes(),
            NamePlan::Bytes(Bytes(bytes)) => bytes.clone(),
        };
        for (place, byte) in field.iter_mut().zip(bytes) {
            *place = byte;
        }
        field
    }

    fn credential(&self, server_key: &[u8; 32], cookie: u64, nonce: &[u8; 32]) -> ([u8; 32], [u8; 64]) {
        let seed = [0x31; 32];
        match self.credential {
            2 => (
                credential::public_key(&seed),
                credential::sign(&seed, server_key, cookie, nonce),
            ),
            3 => (credential::public_key(&seed), [1; 64]),
            _ => ([0; 32], [0; 64]),
        }
    }
}

/// A query request.
pub fn query(nonce: u8, length: u16) -> Vec<u8> {
    let mut datagram = Vec::new();
    QueryRequest {
        query_version: 1,
        nonce: [nonce; 32],
    }
    .encode(&mut datagram);
    datagram.resize(usize::from(length), 0);
    datagram
}

/// What a session may send, in terms of where the session stands.
#[derive(Arbitrary, Debug, Clone)]
pub enum SessionPlan {
    /// A frame.
    Sync {
        seq: u32,
        place: [i16; 3],
        speed: [i8; 3],
        heading: f32,
        area: u8,
    },
    /// The next frame, near where everybody is.
    Walk { place: [i8; 2], indoors: bool },
    /// A wish to spawn.
    Spawn,
    /// The end.
    Bye,
    /// An acknowledgement so far from the highest event that was sent.
    Ack(i8),
    /// The answer to the newest keepalive, or to none.
    Pong(bool),
    /// Chat, with an event id so far ahead of the next one.
    Chat { ahead: i8, text: Line },
    /// An event for a script.
    Event { ahead: i8, name: Line, data: Bytes },
    /// Any body behind a right token.
    Body { id: u8, rest: Bytes },
    /// A body that is lane-shaped behind a right token and a plausible event id.
    LaneBody { id: u8, ahead: i8, rest: Bytes },
}

/// What a peer knows of its session.
#[derive(Debug, Default, Clone, Copy)]
pub struct Standing {
    /// Its token, 0 while it has none.
    pub token: u64,
    /// The highest event id that came in.
    pub highest_event: u32,
    /// The nonce of the newest keepalive.
    pub keepalive: u32,
    /// The event id it sends next.
    pub next_event: u32,
    /// The sequence number of its last frame.
    pub sequence: u32,
}

impl SessionPlan {
    /// The datagram; `None` when the plan makes none that can be encoded.
    pub fn datagram(&self, standing: &mut Standing) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let token = standing.token;
        match self {
            Self::Sync {
                seq,
                place,
                speed,
                heading,
                area,
            } => {
                let packet = PlayerSync {
                    seq: *seq,
                    position: vector(place.map(f32::from)),
                    velocity: vector(speed.map(f32::from)),
                    heading: *heading,
                    area: *area,
                    keys: 0,
                    weapon: 0,
                    stance: 0,
                };
                standing.sequence = *seq;
                SessionPacket::PlayerSync(packet).encode(token, &mut out);
            }
            Self::Walk { place, indoors } => {
                standing.sequence = standing.sequence.wrapping_add(1);
                let packet = PlayerSync {
                    seq: standing.sequence,
                    position: numbers::meeting_place(*place),
                    velocity: Vec3::ZERO,
                    heading: 0.0,
                    area: u8::from(*indoors),
                    keys: 0,
                    weapon: 0,
                    stance: 0,
                };
                SessionPacket::PlayerSync(packet).encode(token, &mut out);
            }
            Self::Spawn => SessionPacket::RequestSpawn(RequestSpawn).encode(token, &mut out),
            Self::Bye => SessionPacket::Bye(ClientBye).encode(token, &mut out),
            Self::Ack(offset) => {
                let ack = standing.highest_event.wrapping_add_signed(i32::from(*offset));
                SessionPacket::Ack(ClientAck { ack }).encode(token, &mut out);
            }
            Self::Pong(right) => {
                let nonce = if *right {
                    standing.keepalive
                } else {
                    !standing.keepalive
                };
                SessionPacket::Pong(ClientPong { nonce }).encode(token, &mut out);
            }
            Self::Chat { ahead, text } => {
                let event = ClientLaneEvent::ChatSend(ChatSend {
                    text: PlainText::parse(&text.0).ok()?,
                });
                event.encode(token, event_id(standing, *ahead), &mut out);
            }
            Self::Event { ahead, name, data } => {
                let event = ClientEvent {
                    name: Text::parse(&name.0).ok()?,
                    data: EventData::parse(data.0.clone()).ok()?,
                };
                ClientLaneEvent::ClientEvent(event).encode(token, event_id(standing, *ahead), &mut out);
            }
            Self::Body { id, rest } => {
                out.push(*id);
                out.extend_from_slice(&token.to_le_bytes());
                out.extend_from_slice(&rest.0);
            }
            Self::LaneBody { id, ahead, rest } => {
                out.push(*id);
                out.extend_from_slice(&token.to_le_bytes());
                out.extend_from_slice(&event_id(standing, *ahead).to_le_bytes());
                out.extend_from_slice(&rest.0);
            }
        }
        Some(out)
    }
}

/// The next id, which is used up by that; or, one time in two, one that is old or ahead, past the window too.
pub fn event_id(standing: &mut Standing, drawn: i8) -> u32 {
    let next = standing.next_event.max(1);
    let ahead = match i32::from(drawn) {
        drawn @ ..-64 => drawn + 64,
        drawn @ 64.. => (drawn - 63) * 2 - 1,
        _ => 0,
    };
    if ahead == 0 {
        standing.next_event = next + 1;
    }
    next.saturating_add_signed(ahead).max(1)
}

fn vector([x, y, z]: [f32; 3]) -> Vec3 {
    Vec3 { x, y, z }
}
