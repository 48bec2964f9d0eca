//! Wishes about the world: what gamemodes, the console and plugins ask for. They take effect in the set Apply of the
//! tick, in the order they were written, and whoever must know is told.

use std::sync::Arc;

use bevy_ecs::{entity::Entity, message::Message};
use decitick_protocol::{EntityPayload, PlayerName, Vec3};

use crate::{
    body::SKILL_CLASSES,
    combat::Weapon,
    thing::{ThingId, ThingMotion, ThingSpec},
    world::SpawnPoint,
    zone::{Zone, ZoneId},
};

/// A wish about one player. It has no effect when the session is gone.
#[derive(Message, Clone, Debug)]
pub struct PlayerRequest {
    /// The connection.
    pub entity: Entity,
    /// What is to happen.
    pub wish: PlayerWish,
}

/// What can be done to a player.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayerWish {
    /// Give it a body, or put its body there as if it came into the world anew; `None`: at the next spawn point.
    Spawn(Option<SpawnPoint>),
    /// Put its body elsewhere. Without a body it has no effect.
    Teleport {
        /// Where to, in metres.
        position: Vec3,
        /// Facing, in [-pi, pi); `None`: as it is.
        heading: Option<f32>,
        /// Area; `None`: as it is.
        area: Option<u8>,
    },
    /// Move it to another dimension.
    Dimension(u32),
    /// Health, 0..=200; 0 kills.
    Health(u8),
    /// Armour, 0..=200.
    Armour(u8),
    /// Money.
    Money(i64),
    /// Skin and its variant.
    Skin(u32, u8),
    /// Walking style.
    WalkingStyle(u8),
    /// Skills, each 0..=1000.
    Skills([u16; SKILL_CLASSES]),
    /// A weapon with ammunition, or more ammunition.
    GiveWeapon {
        /// Weapon id.
        weapon: u8,
        /// Rounds.
        ammo: u16,
    },
    /// Take all weapons.
    TakeWeapons,
    /// Another name. It has no effect when the name is held or the policy refuses it.
    Rename(PlayerName),
}

/// A wish about what everybody shares.
#[derive(Message, Clone, Debug, PartialEq)]
pub enum WorldRequest {
    /// The time of day.
    Time {
        /// 0..=23.
        hours: u8,
        /// 0..=59.
        minutes: u8,
    },
    /// Let the clock run: a minute of the world lasts this many milliseconds, at least 1.
    RunClock(u16),
    /// Stop the clock.
    FreezeClock,
    /// The weather.
    Weather(u8),
    /// Open garage doors, a bit each.
    GarageDoors(u64),
    /// Drive-by intervals of weapons 22..=33.
    DriveByIntervals([u16; 12]),
    /// Another row of the weapon table.
    Weapon(Arc<Weapon>),
}

/// A wish about a thing.
#[derive(Message, Clone, Debug, PartialEq)]
pub enum ThingRequest {
    /// Make it, with a number reserved in the [`ThingBook`](crate::thing::ThingBook).
    Create(ThingId, Box<ThingSpec>),
    /// Remove it.
    Destroy(ThingId),
    /// Let it move so from now on.
    Move(ThingId, ThingMotion),
    /// Put it elsewhere.
    Place {
        /// The thing.
        thing: ThingId,
        /// Where to, in metres.
        position: Vec3,
        /// Facing, in [-pi, pi).
        heading: f32,
        /// Area.
        area: u8,
        /// Dimension.
        dimension: u32,
    },
    /// Say something else about it.
    Data(ThingId, EntityPayload),
}

/// A wish about a zone.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub enum ZoneRequest {
    /// Make it, with a number reserved in the [`ZoneBook`](crate::zone::ZoneBook).
    Create(ZoneId, Zone),
    /// Remove it. Nobody is told to have left it.
    Destroy(ZoneId),
}
