//! What a run of the `server_step` target wishes of the world: players moved and changed, shots, things, zones, the
//! clock. Everything that a gamemode, the console or a peer can ask for, with numbers nobody ought to ask for.

use std::{sync::Arc, time::Duration};

use arbitrary::Arbitrary;
use bevy_ecs::{entity::Entity, world::World};
use decitick_components::{
    body::{Motion, SKILL_CLASSES},
    combat::Weapon,
    requests::{PlayerWish, ThingRequest, WorldRequest, ZoneRequest},
    session::{PlayerId, PlayerToken, SlotTable},
    thing::{ThingBook, ThingId, ThingMotion, ThingSpec},
    world::SpawnPoint,
    zone::{Zone, ZoneBook, ZoneId, ZoneShape},
};
use decitick_protocol::{EntityKind, HitReport, PlayerName, Vec3, WeaponAmmo};

use crate::numbers::{Number, Place, meeting_place, payload};

/// Weapons that are asked for; the last ones are in no table.
const WEAPONS: [u8; 6] = [0, 22, 25, 34, 46, 200];
/// Things and zones made in one run: more only makes it slower.
const MOST_MADE: usize = 60;

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
    pub stale: bool,
    pub weapon: u8,
    pub body_part: u8,
    /// From the shooter; `None`: where it stands.
    pub origin: Option<Place>,
    /// From the target; `None`: where it stands.
    pub hit: Option<Place>,
}

impl HitPlan {
    /// The report of a shooter, who aims well by default.
    pub fn report(&self, world: &World, shooter: Option<Entity>) -> HitReport {
        let id = u16::from(self.target % 7);
        let target = world.resource::<SlotTable>().holder(PlayerId(id));
        let stands = |who: Option<Entity>| {
            who.and_then(|who| world.get::<Motion>(who))
                .map_or(Vec3::ZERO, |motion| motion.position)
        };
        let generation = target
            .and_then(|target| world.get::<PlayerToken>(target))
            .map_or(1, |generation| generation.0);
        HitReport {
            target_id: u32::from(id),
            target_token: generation - u32::from(self.stale),
            weapon: weapon(self.weapon),
            body_part: self.body_part % 7,
            origin: beside(stands(shooter), self.origin),
            hit: beside(stands(target), self.hit),
        }
    }
}

fn beside(place: Vec3, offset: Option<Place>) -> Vec3 {
    let offset = offset.map_or(Vec3::ZERO, Place::vector);
    Vec3::new(place.x + offset.x, place.y + offset.y, place.z + offset.z)
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
    RenameRaw(String),
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
            Self::RenameRaw(text) => PlayerWish::Rename(PlayerName::parse(text).ok()?),
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

#[derive(Arbitrary, Debug, Clone)]
pub enum MotionPlan {
    Still,
    Straight(Place),
    Waypoints {
        points: Vec<Place>,
        speed: Number,
        looped: bool,
        next: u8,
    },
    Orbit {
        centre: Place,
        radius: Number,
        speed: Number,
        angle: Number,
    },
    Follow {
        player: u8,
        distance: Number,
        speed: Number,
    },
}

impl MotionPlan {
    fn motion(&self, players: &[Entity]) -> ThingMotion {
        match self {
            Self::Still => ThingMotion::Still,
            Self::Straight(velocity) => ThingMotion::Straight {
                velocity: velocity.vector(),
            },
            Self::Waypoints {
                points,
                speed,
                looped,
                next,
            } => ThingMotion::Waypoints {
                points: points.iter().take(8).map(|point| point.vector()).collect(),
                speed: speed.value(),
                looped: *looped,
                next: if *next == u8::MAX {
                    usize::MAX
                } else {
                    usize::from(*next)
                },
            },
            Self::Orbit {
                centre,
                radius,
                speed,
                angle,
            } => ThingMotion::Orbit {
                centre: centre.vector(),
                radius: radius.value(),
                speed: speed.value(),
                angle: angle.value(),
            },
            Self::Follow {
                player,
                distance,
                speed,
            } => ThingMotion::Follow {
                player: one_of(players, *player).unwrap_or(Entity::PLACEHOLDER),
                distance: distance.value(),
                speed: speed.value(),
            },
        }
    }
}

/// Where something is to be: where the players meet, or anywhere.
#[derive(Arbitrary, Debug, Clone, Copy)]
pub enum Spot {
    Meeting([i8; 2]),
    Anywhere(Place, Number),
}

impl Spot {
    fn place(self) -> (Vec3, f32) {
        match self {
            Self::Meeting(place) => (meeting_place(place), 0.5),
            Self::Anywhere(place, heading) => (place.vector(), heading.value()),
        }
    }
}

#[derive(Arbitrary, Debug, Clone)]
pub enum ThingPlan {
    Create {
        kind: u8,
        at: Spot,
        area: u8,
        dimension: u8,
        motion: MotionPlan,
        trigger_radius: Option<Number>,
        lifetime_ms: Option<u16>,
        data: u8,
    },
    /// That many that stand in a row.
    Row(u8),
    Destroy(u8),
    Move(u8, MotionPlan),
    Place {
        thing: u8,
        at: Spot,
        area: u8,
        dimension: u8,
    },
    Data(u8, u8),
}

impl ThingPlan {
    /// The requests. `players` are connections that there are or were.
    pub fn requests(&self, book: &mut ThingBook, players: &[Entity]) -> Vec<ThingRequest> {
        match self {
            Self::Row(count) => (0..count % 16)
                .filter_map(|n| {
                    let at = Vec3::new(f32::from(n), 1.0, 10.0);
                    reserved(book, ThingSpec::new(EntityKind::Object, 1, at))
                })
                .collect(),
            Self::Create {
                kind,
                at,
                area,
                dimension,
                motion,
                trigger_radius,
                lifetime_ms,
                data,
            } => {
                let (position, heading) = at.place();
                let spec = ThingSpec {
                    kind: EntityKind::from_byte(kind % 5 + 1).expect("one of five"),
                    model: u32::from(*kind),
                    position,
                    heading,
                    area: area % 3,
                    dimension: u32::from(dimension % 3),
                    motion: motion.motion(players),
                    trigger_radius: trigger_radius.map(Number::value),
                    lifetime: lifetime_ms.map(|time| Duration::from_millis(u64::from(time))),
                    data: payload(*data),
                };
                reserved(book, spec).into_iter().collect()
            }
            Self::Destroy(thing) => vec![ThingRequest::Destroy(number(*thing))],
            Self::Move(thing, motion) => vec![ThingRequest::Move(number(*thing), motion.motion(players))],
            Self::Place {
                thing,
                at,
                area,
                dimension,
            } => {
                let (position, heading) = at.place();
                vec![ThingRequest::Place {
                    thing: number(*thing),
                    position,
                    heading,
                    area: area % 3,
                    dimension: u32::from(dimension % 3),
                }]
            }
            Self::Data(thing, data) => vec![ThingRequest::Data(number(*thing), payload(*data))],
        }
    }
}

fn reserved(book: &mut ThingBook, spec: ThingSpec) -> Option<ThingRequest> {
    if book.len() >= MOST_MADE {
        return None;
    }
    Some(ThingRequest::Create(book.reserve()?, Box::new(spec)))
}

fn number(drawn: u8) -> ThingId {
    ThingId(u32::from(drawn % 32))
}

#[derive(Arbitrary, Debug, Clone)]
pub enum ZonePlan {
    Sphere {
        centre: Place,
        radius: Number,
        area: u8,
    },
    Box {
        one: Place,
        other: Place,
        sorted: bool,
    },
    Destroy(u8),
}

impl ZonePlan {
    /// The request.
    pub fn request(&self, book: &mut ZoneBook) -> Option<ZoneRequest> {
        let (shape, area) = match self {
            Self::Destroy(zone) => return Some(ZoneRequest::Destroy(ZoneId(u32::from(zone % 16)))),
            Self::Sphere { centre, radius, area } => {
                let (centre, radius) = (centre.vector(), radius.value());
                (ZoneShape::Sphere { centre, radius }, area % 3)
            }
            Self::Box { one, other, sorted } => {
                let (least, most) = (one.vector(), other.vector());
                let shape = if *sorted {
                    ZoneShape::between(least, most)
                } else {
                    ZoneShape::Box { least, most }
                };
                (shape, 0)
            }
        };
        if book.len() >= MOST_MADE {
            return None;
        }
        let space = decitick_components::body::Space { dimension: 0, area };
        Some(ZoneRequest::Create(book.reserve()?, Zone { space, shape }))
    }
}

/// One of a list, or none of an empty one.
pub fn one_of<T: Copy>(all: &[T], drawn: u8) -> Option<T> {
    all.get(usize::from(drawn) % all.len().max(1)).copied()
}
