//! What a run of the `server_step` target wishes of players and of what they share: everything that a gamemode or a peer
//! can ask for, with numbers nobody ought to ask for. Things and zones are in [`crate::thing_plan`].

use std::sync::Arc;

use arbitrary::Arbitrary;
use bevy_ecs::{component::Component, entity::Entity, world::World};
use decitick_components::{
    body::{Motion, SKILL_CLASSES},
    combat::{FIST, Weapon, Weapons},
    requests::{PlayerWish, WorldRequest},
    session::{PlayerId, PlayerToken, SlotTable},
    world::SpawnPoint,
};
use decitick_protocol::{HitReport, PlayerName, Vec3, WeaponAmmo};

use crate::{
    bounded::Line,
    numbers::{Number, Place, meeting_place},
};

/// Weapons that are asked for; the last ones are in no table.
const WEAPONS: [u8; 6] = [0, 22, 25, 34, 46, 200];

/// One of [`WEAPONS`].
pub fn weapon(drawn: u8) -> u8 {
    WEAPONS[usize::from(drawn) % WEAPONS.len()]
}

/// The weapon table of a run.
pub fn weapon_table() -> Vec<Weapon> {
    // Id, damage, range, interval, clip, pellets.
    let rows = [
        (0, 5, 4.0, 250, 0, 1),
        (22, 60, 35.0, 250, 17, 1),
        (25, 20, 40.0, 800, 1, 8),
        (34, 200, 320.0, 800, 1, 1),
    ];
    rows.map(|(id, damage, range, interval_ms, clip, pellets)| Weapon {
        id,
        name: format!("Weapon {id}"),
        damage,
        range,
        interval_ms,
        clip,
        pellets,
    })
    .to_vec()
}

/// A spawn point of a run: near the others, one in another area, one with a weapon in each slot.
pub fn spawn_point(n: u8) -> SpawnPoint {
    let held = |ids: std::ops::Range<u8>| ids.map(|weapon| WeaponAmmo { weapon, ammo: 9 }).collect();
    let (x, area, weapons) = match n % 3 {
        0 => (0.0, 0, held(22..26)),
        1 => (3.0, 0, Vec::new()),
        _ => (1.0, 1, held(20..33)),
    };
    SpawnPoint {
        position: Vec3::new(x, 0.0, 10.0),
        heading: 1.0,
        area,
        skin: u32::from(n),
        variant: n,
        weapons,
    }
}

/// A shot, in terms of where its target is.
#[derive(Arbitrary, Debug, Clone)]
pub struct HitPlan {
    pub target: u8,
    /// Which of the weapons that are held.
    pub weapon: u8,
    pub body_part: u8,
    pub flaw: Flaw,
}

/// What is wrong with a shot.
#[derive(Arbitrary, Debug, Clone)]
pub enum Flaw {
    None,
    /// A little beside the shooter and the target, in eighths of a metre.
    Beside([i8; 3]),
    Stale,
    Weapon(u8),
    Origin(Place),
    Hit(Place),
}

impl HitPlan {
    /// The report of a shooter.
    pub fn report(&self, world: &World, shooter: Option<Entity>) -> HitReport {
        let id = u16::from(self.target % 6);
        let target = world.resource::<SlotTable>().holder(PlayerId(id));
        let mut report = HitReport {
            target_id: u32::from(id),
            target_token: component(world, target).map_or(1, |generation: &PlayerToken| generation.0),
            weapon: held_by(world, shooter, self.weapon),
            body_part: self.body_part % 7,
            origin: component(world, shooter).map_or(Vec3::ZERO, |motion: &Motion| motion.position),
            hit: component(world, target).map_or(Vec3::ZERO, |motion: &Motion| motion.position),
        };
        match &self.flaw {
            Flaw::None => {}
            Flaw::Beside(eighths) => {
                let offset = Vec3::from(eighths.map(|n| f32::from(n) / 8.0));
                report.origin = sum(report.origin, offset);
                report.hit = sum(report.hit, offset);
            }
            Flaw::Stale => report.target_token -= 1,
            Flaw::Weapon(drawn) => report.weapon = weapon(*drawn),
            Flaw::Origin(offset) => report.origin = sum(report.origin, offset.vector()),
            Flaw::Hit(offset) => report.hit = sum(report.hit, offset.vector()),
        }
        report
    }
}

fn component<C: Component>(world: &World, who: Option<Entity>) -> Option<&C> {
    world.get(who?)
}

/// A weapon that somebody holds, bare hands among them.
fn held_by(world: &World, who: Option<Entity>, drawn: u8) -> u8 {
    let held = component(world, who).map_or(&[][..], Weapons::held);
    one_of(held, drawn)
        .filter(|_| drawn < 0xE0)
        .map_or(FIST, |held| held.weapon)
}

fn sum(a: Vec3, b: Vec3) -> Vec3 {
    Vec3::new(a.x + b.x, a.y + b.y, a.z + b.z)
}

#[derive(Arbitrary, Debug, Clone)]
pub enum WishPlan {
    Spawn(u8),
    SpawnAt {
        place: Place,
        heading: Number,
        area: u8,
    },
    Teleport {
        place: Place,
        heading: Option<Number>,
        area: Option<u8>,
    },
    /// To where the others are.
    Gather([i8; 2]),
    Dimension(u8),
    Health(u8),
    Armour(u8),
    Money(i64),
    Skin(u32, u8),
    WalkingStyle(u8),
    Skills([u16; SKILL_CLASSES]),
    GiveWeapon(u8, u16),
    TakeWeapons,
    Rename(u8),
    RenameRaw(Line),
}

impl WishPlan {
    /// The wish; `None` when it cannot even be put into words.
    pub fn wish(&self) -> Option<PlayerWish> {
        Some(match self {
            Self::Spawn(n) => PlayerWish::Spawn(n.checked_sub(1).map(spawn_point)),
            Self::SpawnAt { place, heading, area } => PlayerWish::Spawn(Some(SpawnPoint {
                position: place.vector(),
                heading: heading.value(),
                area: *area,
                ..spawn_point(*area)
            })),
            Self::Teleport { place, heading, area } => PlayerWish::Teleport {
                position: place.vector(),
                heading: heading.map(Number::value),
                area: *area,
            },
            Self::Gather(place) => PlayerWish::Teleport {
                position: meeting_place(*place),
                heading: None,
                area: Some(0),
            },
            Self::Dimension(dimension) => PlayerWish::Dimension(u32::from(dimension % 3)),
            Self::Health(health) => PlayerWish::Health(*health),
            Self::Armour(armour) => PlayerWish::Armour(*armour),
            Self::Money(money) => PlayerWish::Money(*money),
            Self::Skin(skin, variant) => PlayerWish::Skin(*skin, *variant),
            Self::WalkingStyle(style) => PlayerWish::WalkingStyle(*style),
            Self::Skills(skills) => PlayerWish::Skills(*skills),
            Self::GiveWeapon(drawn, ammo) => PlayerWish::GiveWeapon {
                weapon: weapon(*drawn),
                ammo: *ammo,
            },
            Self::TakeWeapons => PlayerWish::TakeWeapons,
            Self::Rename(n) => PlayerWish::Rename(PlayerName::parse(&format!("Player {}", n % 12)).ok()?),
            Self::RenameRaw(text) => PlayerWish::Rename(PlayerName::parse(&text.0).ok()?),
        })
    }
}

#[derive(Arbitrary, Debug, Clone)]
pub enum SharedPlan {
    Time(u8, u8),
    RunClock(u16),
    FreezeClock,
    Weather(u8),
    GarageDoors(u64),
    DriveByIntervals([u16; 12]),
    Weapon {
        id: u8,
        damage: u16,
        range: Number,
        interval_ms: u16,
        clip: u16,
        pellets: u8,
    },
}

impl SharedPlan {
    /// The request.
    pub fn request(&self) -> WorldRequest {
        match *self {
            Self::Time(hours, minutes) => WorldRequest::Time { hours, minutes },
            Self::RunClock(minute) => WorldRequest::RunClock(minute),
            Self::FreezeClock => WorldRequest::FreezeClock,
            Self::Weather(weather) => WorldRequest::Weather(weather),
            Self::GarageDoors(doors) => WorldRequest::GarageDoors(doors),
            Self::DriveByIntervals(intervals) => WorldRequest::DriveByIntervals(intervals),
            Self::Weapon {
                id,
                damage,
                range,
                interval_ms,
                clip,
                pellets,
            } => WorldRequest::Weapon(Arc::new(Weapon {
                id,
                name: "Changed".to_owned(),
                damage,
                range: range.value(),
                interval_ms,
                clip,
                pellets,
            })),
        }
    }
}

/// One of a list, or none of an empty one.
pub fn one_of<T: Copy>(all: &[T], drawn: u8) -> Option<T> {
    all.get(usize::from(drawn) % all.len().max(1)).copied()
}
