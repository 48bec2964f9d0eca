//! Questions that must be answered inside a tick, and who answers them.
//!
//! The modules that ask and the module that runs scripts do not know each other; they meet in this resource. Until
//! something else is put in its place, everything goes its usual way.

use std::{fmt, net::IpAddr};

use bevy_ecs::{entity::Entity, resource::Resource};

pub use decitick_protocol::RejectText;

use crate::world::SpawnPoint;

/// Where a player who asks for a body comes into the world.
#[derive(Clone, Debug, PartialEq)]
pub enum SpawnVerdict {
    /// At the next spawn point of assets/spawns.ron.
    Usual,
    /// There.
    At(SpawnPoint),
    /// Nowhere now: the gamemode spawns the player itself when it is time.
    Wait,
}

/// A hit that passed every check, before it takes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Who is hit.
    pub player: Entity,
    /// Who hits.
    pub attacker: Entity,
    /// With which weapon.
    pub weapon: u8,
    /// Health points by the weapon table and the body part.
    pub amount: u16,
}

/// Somebody who answers. Each answer must be quick: the tick waits.
pub trait Judge: Send + Sync {
    /// May somebody with this name (already judged by the core rules) connect from this canonical address?
    ///
    /// # Errors
    /// No, with a text for the one who asked; it may be empty.
    fn player_connecting(&mut self, name: &str, ip: IpAddr) -> Result<(), RejectText> {
        let _ = (name, ip);
        Ok(())
    }

    /// Where may this player come into the world?
    fn player_requests_spawn(&mut self, player: Entity) -> SpawnVerdict {
        let _ = player;
        SpawnVerdict::Usual
    }

    /// How many health points does this hit take? `None`: it does not happen.
    fn player_damage(&mut self, hit: &Hit) -> Option<u16> {
        Some(hit.amount)
    }
}

/// The one who answers now.
#[derive(Resource)]
pub struct Gamemode(pub Box<dyn Judge>);

impl Default for Gamemode {
    fn default() -> Self {
        Self(Box::new(Agreeable))
    }
}

impl fmt::Debug for Gamemode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gamemode")
    }
}

struct Agreeable;

impl Judge for Agreeable {}
