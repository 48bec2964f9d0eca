//! What systems tell each other: facts in the past tense, and wishes that end in `Request`.

use std::time::Duration;

use bevy_ecs::{entity::Entity, message::Message};
use decitick_protocol::{EventData, HitReport, PlayerSync, ShownText};

use crate::{
    reasons::CloseReason,
    session::{PlayerId, PlayerToken},
    thing::ThingId,
    world::SpawnPoint,
    zone::ZoneId,
};

/// A reason in a KickNotify: at most 64 bytes without control and format characters.
pub type KickReason = ShownText<0, { decitick_protocol::KICK_REASON_LEN }>;

/// A connection joined: it holds a slot, and others may know of it.
#[derive(Message, Clone, Copy, Debug)]
pub struct PlayerJoined {
    /// The connection.
    pub entity: Entity,
}

/// A session is to end in this tick.
#[derive(Message, Clone, Debug)]
pub struct EndSessionRequest {
    /// The connection.
    pub entity: Entity,
    /// Why.
    pub reason: CloseReason,
    /// What its client is told; `None`: nothing.
    pub notice: Option<KickReason>,
}

/// A session ended; its entity is gone.
#[derive(Message, Clone, Debug)]
pub struct SessionEnded {
    /// The id it held.
    pub player: PlayerId,
    /// Its generation.
    pub generation: PlayerToken,
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: CloseReason,
}

/// A player said something.
#[derive(Message, Clone, Debug)]
pub struct ChatReceived {
    /// The connection.
    pub entity: Entity,
    /// What, 1..=128 bytes without control characters.
    pub text: String,
}

/// What a player said, or a command that nobody knew, goes on to be relayed: no gamemode swallowed it.
#[derive(Message, Clone, Debug)]
pub struct ChatPassed {
    /// The connection.
    pub entity: Entity,
    /// What, as in [`ChatReceived`].
    pub text: String,
}

/// The scripts of a client sent an event (docs/protocol.md 2.3, ClientEvent).
#[derive(Message, Clone, Debug)]
pub struct ClientEventReceived {
    /// The connection.
    pub entity: Entity,
    /// Its name, 1..=64 bytes.
    pub name: String,
    /// Its value.
    pub data: EventData,
}

/// A player asks to be spawned.
#[derive(Message, Clone, Copy, Debug)]
pub struct SpawnRequest {
    /// The connection.
    pub entity: Entity,
}

/// A player is to be put into the world, whether it asked or not.
#[derive(Message, Clone, Debug)]
pub struct SpawnOrdered {
    /// The connection.
    pub entity: Entity,
    /// Where; `None`: at the next spawn point.
    pub point: Option<SpawnPoint>,
}

/// A state frame arrived.
#[derive(Message, Clone, Copy, Debug)]
pub struct FrameReceived {
    /// The connection.
    pub entity: Entity,
    /// The frame.
    pub frame: PlayerSync,
    /// When it arrived, since the start.
    pub arrived: Duration,
}

/// A client claims that a shot of its player hit somebody.
#[derive(Message, Clone, Copy, Debug)]
pub struct HitReported {
    /// The attacker's connection.
    pub entity: Entity,
    /// What it claims.
    pub report: HitReport,
    /// When the datagram arrived, since the start.
    pub arrived: Duration,
}

/// A player came into the world.
#[derive(Message, Clone, Copy, Debug)]
pub struct PlayerSpawned {
    /// The connection.
    pub entity: Entity,
}

/// A player's health came to nothing. The body is taken out of the world in the same tick.
#[derive(Message, Clone, Copy, Debug)]
pub struct PlayerDied {
    /// The connection.
    pub entity: Entity,
    /// Who did it; `None`: nobody.
    pub killer: Option<Entity>,
    /// With which weapon; 0 when nobody did it.
    pub weapon: u8,
}

/// A player came within the trigger radius of a thing.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThingTriggered {
    /// The thing.
    pub thing: ThingId,
    /// The player's connection.
    pub player: Entity,
}

/// A player entered a zone.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneEntered {
    /// The zone.
    pub zone: ZoneId,
    /// The player's connection.
    pub player: Entity,
}

/// A player left a zone: it walked out, or its body left the world. Whose session ended is not told of.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneLeft {
    /// The zone.
    pub zone: ZoneId,
    /// The player's connection.
    pub player: Entity,
}

/// A client acknowledged lane events.
#[derive(Message, Clone, Copy, Debug)]
pub struct AcknowledgementReceived {
    /// The connection.
    pub entity: Entity,
    /// The highest contiguous event id it has.
    pub event_id: u32,
    /// When the packet arrived, since the start.
    pub arrived: Duration,
}

/// A client answered a keepalive.
#[derive(Message, Clone, Copy, Debug)]
pub struct PongReceived {
    /// The connection.
    pub entity: Entity,
    /// The nonce it answers.
    pub nonce: u32,
    /// When the packet arrived, since the start.
    pub arrived: Duration,
}
