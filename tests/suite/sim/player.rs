//! One sans-IO client inside a Sim, and what it was told.

use std::{net::SocketAddr, time::Duration};

use decitick_client::client::{Client, ClientNotice, EndReason, Fault, Welcome};
use decitick_protocol::{EntityFrame, PacketId, PlayerSync, RemoteFrame, ServerLaneEvent, Vec3};

/// A client with its address. It asks for a body as soon as it joined unless told otherwise.
pub(crate) struct Player {
    pub(crate) client: Client,
    pub(crate) address: SocketAddr,
    /// Ask for a body once joined.
    pub(crate) wants_body: bool,
    /// Packets that never leave this client: a peer that is broken in one way.
    pub(crate) withholds: Vec<PacketId>,
    /// Nothing leaves or reaches the client, and its time stands still: the cable is out.
    pub(crate) unplugged: bool,
    /// Everything its lane delivered, in order.
    pub(crate) events: Vec<(Duration, ServerLaneEvent)>,
    /// Who it was told has left, as (id, generation).
    pub(crate) left: Vec<(u32, u32)>,
    /// Every round trip a keepalive told.
    pub(crate) pings: Vec<Option<u16>>,
    /// The newest frame of each player it sees, kept while `keeps_frames`.
    pub(crate) frames: Vec<RemoteFrame>,
    /// The newest frame of each thing it sees, kept while `keeps_frames`.
    pub(crate) entity_frames: Vec<EntityFrame>,
    /// Whether [`Player::frames`] and [`Player::entity_frames`] are filled.
    pub(crate) keeps_frames: bool,
    /// What the server is not blamed for: a client takes frames for a breach when the lane explains them only after 3 s,
    /// and one in some thousand events is that late where every seventh datagram is lost.
    pub(crate) excuses: Vec<Fault>,
    /// The link to it changes bytes: what it takes for a breach may be none.
    pub(super) hears_lies: bool,
    last_event: u32,
}

impl Player {
    pub(crate) fn new(client: Client, address: SocketAddr) -> Self {
        Self {
            client,
            address,
            wants_body: true,
            withholds: Vec::new(),
            unplugged: false,
            events: Vec::new(),
            left: Vec::new(),
            pings: Vec::new(),
            frames: Vec::new(),
            entity_frames: Vec::new(),
            keeps_frames: false,
            excuses: Vec::new(),
            hears_lies: false,
            last_event: 0,
        }
    }

    /// Takes the notices. The ids of a lane have no gap and none comes twice, whatever the link does, and the server
    /// breaks no rule that a client can see.
    pub(crate) fn collect(&mut self, now: Duration) {
        while let Some(notice) = self.client.poll_event() {
            match notice {
                ClientNotice::Joined(_) if self.wants_body => self.client.request_spawn(),
                ClientNotice::Event { event_id, event } => {
                    self.follows(event_id);
                    self.events.push((now, event));
                }
                ClientNotice::StaleEvent { event_id } => self.follows(event_id),
                ClientNotice::PlayerLeft {
                    player_id,
                    player_token,
                } => self.left.push((player_id, player_token)),
                ClientNotice::Ping(rtt) => self.pings.push(rtt),
                ClientNotice::Frame(frame) if self.keeps_frames => self.frames.push(frame),
                ClientNotice::EntityFrame(frame) if self.keeps_frames => self.entity_frames.push(frame),
                ClientNotice::Breach(breach) if !self.hears_lies && !self.excuses.contains(&breach.fault) => {
                    panic!("the server broke a rule towards {}: {breach:?}", self.address)
                }
                _ => {}
            }
        }
    }

    fn follows(&mut self, event_id: u32) {
        assert_eq!(
            event_id,
            self.last_event + 1,
            "the lane of {} delivers in order and once",
            self.address
        );
        self.last_event = event_id;
    }

    pub(crate) fn welcome(&self) -> &Welcome {
        self.client.welcome().expect("the client is in a session")
    }

    pub(crate) fn id(&self) -> u16 {
        u16::try_from(self.welcome().player_id).unwrap()
    }

    pub(crate) fn end(&self) -> Option<&EndReason> {
        self.client.end_reason()
    }

    /// The texts of the chat it saw, in order.
    pub(crate) fn chat(&self) -> Vec<&str> {
        self.events
            .iter()
            .filter_map(|(_, event)| match event {
                ServerLaneEvent::ChatMessage(chat) => Some(chat.text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Whom its lane streamed in (true) and out (false), in order, as (id, generation).
    pub(crate) fn views(&self) -> Vec<(bool, u32, u32)> {
        self.events
            .iter()
            .filter_map(|(_, event)| match event {
                ServerLaneEvent::PlayerStreamIn(view) => Some((true, view.player_id, view.player_token)),
                ServerLaneEvent::PlayerStreamOut(view) => Some((false, view.player_id, view.player_token)),
                _ => None,
            })
            .collect()
    }

    /// The names its lane told of, in order.
    pub(crate) fn names_joined(&self) -> Vec<&str> {
        self.events
            .iter()
            .filter_map(|(_, event)| match event {
                ServerLaneEvent::PlayerJoin(join) => Some(join.players.iter().map(|row| row.name.as_str())),
                _ => None,
            })
            .flatten()
            .collect()
    }

    /// Moves to a place on the ground and stands there.
    pub(crate) fn stand_at(&mut self, x: f32, y: f32) {
        self.client.sync(frame_at(x, y)).expect("the player has a body");
    }
}

/// A frame of somebody who stands.
pub(crate) fn frame_at(x: f32, y: f32) -> PlayerSync {
    let position = Vec3 { x, y, z: 10.0 };
    let velocity = Vec3 {
        x: 0.0,
        y: 0.0,
        z: 0.0,
    };
    PlayerSync {
        seq: 0,
        position,
        velocity,
        heading: 0.0,
        area: 0,
        keys: 0,
        weapon: 0,
        stance: 0,
    }
}
