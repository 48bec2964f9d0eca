//! What a player is in the world: where it stands, how it moves, how it looks and how well it is.

mod frame_gate;
mod history;

use crate::inspection::Place;
use bevy_ecs::component::Component;
use bevy_ecs::reflect::ReflectComponent;
use bevy_reflect::Reflect;
use decitick_protocol::{POSITION_LIMIT, Vec3};

pub use frame_gate::FrameGate;
pub use history::PositionHistory;

/// Where a body is and how it moves, as last taken from its client.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Component)]
pub struct Motion {
    /// Position in metres.
    #[reflect(remote = Place)]
    pub position: Vec3,
    /// Velocity in metres per second.
    #[reflect(remote = Place)]
    pub velocity: Vec3,
    /// Heading in radians, in [-pi, pi).
    pub heading: f32,
    /// Area (interior) number.
    pub area: u8,
    /// Keys held, a bit each.
    pub keys: u16,
    /// Weapon in hand.
    pub weapon: u8,
    /// Stance.
    pub stance: u8,
    /// Sequence number of the frame this came from.
    pub sequence: u32,
}

/// Which of the worlds beside each other somebody is in: the gamemode sets it, clients are not told. Who is in another
/// dimension is not there.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Reflect)]
#[reflect(Component)]
pub struct Dimension(pub u32);

/// What two must have in common to meet at all: the dimension and the area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Reflect)]
pub struct Space {
    /// The dimension.
    pub dimension: u32,
    /// The area (interior) number; 0 is outside.
    pub area: u8,
}

impl Space {
    /// The space of a body.
    #[must_use]
    pub const fn of(motion: &Motion, dimension: Dimension) -> Self {
        Self {
            dimension: dimension.0,
            area: motion.area,
        }
    }
}

/// Whether a body or a thing can be put there: what is no number, or beyond the world, cannot be told to anybody.
#[must_use]
pub fn is_place(position: Vec3, heading: f32) -> bool {
    position.is_within(POSITION_LIMIT) && heading.is_finite()
}

/// Distance in metres.
#[must_use]
pub fn distance(a: Vec3, b: Vec3) -> f32 {
    distance_squared(a, b).sqrt()
}

/// Square of the distance, for comparisons.
#[must_use]
pub fn distance_squared(a: Vec3, b: Vec3) -> f32 {
    let (x, y, z) = (a.x - b.x, a.y - b.y, a.z - b.z);
    // Not `mul_add`: without the processor's own instruction, which a portable build must not assume, it is a call.
    x * x + y * y + z * z
}

/// How a player looks.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component)]
pub struct Appearance {
    /// Model number.
    pub skin: u32,
    /// Variant of the model.
    pub variant: u8,
    /// Walking style.
    pub walking_style: u8,
}

/// Health and armour, owned by the server.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component)]
pub struct Vitals {
    /// Health, 0..=200; 0 is dead.
    pub health: u8,
    /// Armour, 0..=200.
    pub armour: u8,
}

impl Vitals {
    /// The most of either.
    pub const MOST: u8 = decitick_protocol::MAX_VITAL;

    /// Takes damage: armour is used up first (docs/protocol.md 2.5).
    pub fn hurt(&mut self, amount: u16) {
        let armour = u16::from(self.armour);
        self.armour = self.armour.saturating_sub(low_byte(amount));
        self.health = self
            .health
            .saturating_sub(low_byte(amount.saturating_sub(armour)));
    }
}

/// The amount as a byte, or the largest: more than that takes everything anyway.
fn low_byte(amount: u16) -> u8 {
    u8::try_from(amount).unwrap_or(u8::MAX)
}

impl Default for Vitals {
    fn default() -> Self {
        Self {
            health: 100,
            armour: 0,
        }
    }
}

/// Money, owned by the server.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component)]
pub struct Money(pub i64);

/// Weapon classes that have a skill each (docs/protocol.md 2.3, PlayerSkills).
pub const SKILL_CLASSES: usize = 11;

/// Skill in each weapon class, 0..=1000.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component)]
pub struct Skills(pub [u16; SKILL_CLASSES]);

impl Skills {
    /// The highest skill.
    pub const MOST: u16 = decitick_protocol::MAX_SKILL;
}

impl Default for Skills {
    fn default() -> Self {
        Self([Self::MOST; SKILL_CLASSES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn armour_is_used_up_before_health_and_neither_falls_below_nothing() {
        let mut vitals = Vitals {
            health: 100,
            armour: 30,
        };
        vitals.hurt(20);
        assert_eq!((vitals.health, vitals.armour), (100, 10));
        vitals.hurt(25);
        assert_eq!((vitals.health, vitals.armour), (85, 0));
        vitals.hurt(u16::MAX);
        assert_eq!((vitals.health, vitals.armour), (0, 0));
    }
}
