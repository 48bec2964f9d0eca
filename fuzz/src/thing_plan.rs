//! What a run of the `server_step` target does with things and zones: every motion, with speeds and places that no
//! gamemode ought to ask for.

use std::time::Duration;

use arbitrary::Arbitrary;
use bevy_ecs::entity::Entity;
use decitick_components::{
    body::Space,
    requests::{ThingRequest, ZoneRequest},
    thing::{ThingBook, ThingId, ThingMotion, ThingSpec},
    zone::{Zone, ZoneBook, ZoneId, ZoneShape},
};
use decitick_protocol::{EntityKind, Vec3};

use crate::{
    numbers::{Number, Place, meeting_place, payload},
    world_plan::one_of,
};

/// Things and zones made in one run: more only makes it slower.
const MOST_MADE: usize = 60;

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
    Sphere { centre: Place, radius: Number, area: u8 },
    Box { one: Place, other: Place, sorted: bool },
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
        let space = Space { dimension: 0, area };
        Some(ZoneRequest::Create(book.reserve()?, Zone { space, shape }))
    }
}
