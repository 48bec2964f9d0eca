//! How things move by themselves. Plain geometry: a motion and a stretch of time give a place; nothing here knows of
//! entities but the one that is followed, and what that one's position is the caller says.

use crate::inspection::{Place, summary};
use bevy_reflect::Reflect;
use std::f32::consts::TAU;

use bevy_ecs::{component::Component, entity::Entity};
use decitick_protocol::{POSITION_LIMIT, Vec3, normalise_heading};

use crate::body::distance;

/// How a thing moves. Lengths are metres, times seconds.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub enum ThingMotion {
    /// It stands.
    #[default]
    Still,
    /// It keeps this velocity until the end of the world.
    Straight {
        /// Metres per second.
        velocity: Vec3,
    },
    /// It goes from point to point.
    Waypoints {
        /// The points, in order.
        points: Vec<Vec3>,
        /// Metres per second, above 0.
        speed: f32,
        /// Whether the last point is followed by the first; else it stops there.
        looped: bool,
        /// Index of the point it goes to.
        next: usize,
    },
    /// It circles around a point, at its height.
    Orbit {
        /// The middle.
        centre: Vec3,
        /// Distance from the middle.
        radius: f32,
        /// Radians per second; above 0 counter-clockwise as seen from above.
        speed: f32,
        /// Where on the circle it is, in radians from east.
        angle: f32,
    },
    /// It goes after a player, as long as that one has a body in the same space.
    Follow {
        /// The player's connection.
        player: Entity,
        /// How near it comes.
        distance: f32,
        /// Metres per second, above 0.
        speed: f32,
    },
}

/// Where a motion has led.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advance {
    /// The new position.
    pub position: Vec3,
    /// The velocity on the way, in metres per second.
    pub velocity: Vec3,
}

impl ThingMotion {
    /// Straight to one point, and stop there.
    #[must_use]
    pub fn to(target: Vec3, speed: f32) -> Self {
        Self::Waypoints {
            points: vec![target],
            speed,
            looped: false,
            next: 0,
        }
    }

    /// Moves on for `seconds` from `position`. `followed` is where the player that a [`ThingMotion::Follow`] goes after
    /// is, if it can be followed now. Whatever is done for good becomes [`ThingMotion::Still`].
    pub fn advance(&mut self, position: Vec3, seconds: f32, followed: Option<Vec3>) -> Advance {
        let reached = match self {
            Self::Still => position,
            Self::Straight { velocity } => along(position, *velocity, seconds),
            Self::Waypoints {
                points,
                speed,
                looped,
                next,
            } => walk(points, *looped, next, position, *speed * seconds),
            Self::Orbit {
                centre,
                radius,
                speed,
                angle,
            } => {
                *angle = speed.mul_add(seconds, *angle) % TAU;
                Vec3::new(
                    angle.cos().mul_add(*radius, centre.x),
                    angle.sin().mul_add(*radius, centre.y),
                    centre.z,
                )
            }
            Self::Follow { distance, speed, .. } => followed.map_or(position, |target| {
                approach(position, target, *distance, *speed * seconds)
            }),
        };
        let wanted = reached;
        let reached = within_the_world(wanted);
        let ends_here = matches!(self, Self::Straight { .. }) && reached != wanted;
        if ends_here || self.is_over() {
            *self = Self::Still;
        }
        Advance {
            position: reached,
            velocity: velocity(position, reached, seconds),
        }
    }

    /// Whether it never moves again by itself.
    #[must_use]
    pub const fn is_still(&self) -> bool {
        matches!(self, Self::Still)
    }

    const fn is_over(&self) -> bool {
        match self {
            Self::Waypoints { points, next, .. } => *next >= points.len(),
            _ => false,
        }
    }
}

/// The heading of somebody who moves so, or `before` when it stands: 0 looks north and grows counter-clockwise.
#[must_use]
pub fn heading_of(velocity: Vec3, before: f32) -> f32 {
    if velocity.x == 0.0 && velocity.y == 0.0 {
        before
    } else {
        normalise_heading((-velocity.x).atan2(velocity.y))
    }
}

/// Spends `way` metres on the points from `next` on. At most one round is gone in one step: a loop whose points lie in
/// one place must not hold up the tick.
fn walk(points: &[Vec3], looped: bool, next: &mut usize, from: Vec3, mut way: f32) -> Vec3 {
    let mut position = from;
    for _ in 0..=points.len() {
        let Some(&target) = points.get(*next) else {
            break;
        };
        let left = distance(position, target);
        if left > way {
            return towards(position, target, way / left);
        }
        way -= left;
        position = target;
        *next += 1;
        if *next == points.len() && looped {
            *next = 0;
        }
    }
    position
}

/// Goes towards `target`, at most `way` metres and no nearer than `keep`.
fn approach(from: Vec3, target: Vec3, keep: f32, way: f32) -> Vec3 {
    let left = distance(from, target);
    let step = way.min(left - keep);
    if step > 0.0 {
        towards(from, target, step / left)
    } else {
        from
    }
}

fn towards(from: Vec3, to: Vec3, share: f32) -> Vec3 {
    Vec3::new(
        (to.x - from.x).mul_add(share, from.x),
        (to.y - from.y).mul_add(share, from.y),
        (to.z - from.z).mul_add(share, from.z),
    )
}

const fn along(from: Vec3, velocity: Vec3, seconds: f32) -> Vec3 {
    Vec3::new(
        from.x + velocity.x * seconds,
        from.y + velocity.y * seconds,
        from.z + velocity.z * seconds,
    )
}

/// What is not a number, or beyond the world, comes back to its border: nothing else may go on the wire.
const fn within_the_world(place: Vec3) -> Vec3 {
    const fn component(value: f32) -> f32 {
        if value.is_nan() {
            0.0
        } else {
            value.clamp(-POSITION_LIMIT, POSITION_LIMIT)
        }
    }
    Vec3::new(component(place.x), component(place.y), component(place.z))
}

fn velocity(from: Vec3, to: Vec3, seconds: f32) -> Vec3 {
    if seconds > 0.0 {
        Vec3::new(
            (to.x - from.x) / seconds,
            (to.y - from.y) / seconds,
            (to.z - from.z) / seconds,
        )
    } else {
        Vec3::ZERO
    }
}

#[derive(Reflect)]
enum ShownMotion {
    Still,
    Straight {
        velocity: Place,
    },
    Waypoints {
        points: Vec<Place>,
        speed: f32,
        looped: bool,
        next: usize,
    },
    Orbit {
        centre: Place,
        radius: f32,
        speed: f32,
        angle: f32,
    },
    Follow {
        player: Entity,
        distance: f32,
        speed: f32,
    },
}

summary!(|motion: ThingMotion| { moves: ShownMotion = ShownMotion::of(motion) });

impl ShownMotion {
    fn of(motion: &ThingMotion) -> Self {
        match *motion {
            ThingMotion::Still => Self::Still,
            ThingMotion::Straight { velocity } => Self::Straight {
                velocity: Place(velocity),
            },
            ThingMotion::Waypoints {
                ref points,
                speed,
                looped,
                next,
            } => Self::Waypoints {
                points: points.iter().copied().map(Place).collect(),
                speed,
                looped,
                next,
            },
            ThingMotion::Orbit {
                centre,
                radius,
                speed,
                angle,
            } => Self::Orbit {
                centre: Place(centre),
                radius,
                speed,
                angle,
            },
            ThingMotion::Follow {
                player,
                distance,
                speed,
            } => Self::Follow {
                player,
                distance,
                speed,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(x: f32, y: f32) -> Vec3 {
        Vec3::new(x, y, 5.0)
    }

    fn run(motion: &mut ThingMotion, from: Vec3, steps: usize) -> Vec3 {
        (0..steps).fold(from, |place, _| motion.advance(place, 0.1, None).position)
    }

    fn near(a: Vec3, b: Vec3) -> bool {
        distance(a, b) < 0.01
    }

    #[test]
    fn a_straight_line_ends_at_the_end_of_the_world() {
        let mut motion = ThingMotion::Straight {
            velocity: Vec3::new(10.0, 0.0, 0.0),
        };
        assert!(near(run(&mut motion, at(0.0, 0.0), 10), at(10.0, 0.0)));
        assert!(near(run(&mut motion, at(19_999.5, 0.0), 10), at(20_000.0, 0.0)));
        assert!(motion.is_still());
    }

    #[test]
    fn waypoints_are_passed_without_losing_way_and_the_last_one_is_the_end() {
        let mut motion = ThingMotion::Waypoints {
            points: vec![at(3.0, 0.0), at(3.0, 3.0)],
            speed: 10.0,
            looped: false,
            next: 0,
        };
        let place = motion.advance(at(0.0, 0.0), 0.5, None).position;
        assert!(near(place, at(3.0, 2.0)), "{place:?}");
        let advance = motion.advance(place, 0.5, None);
        assert!(near(advance.position, at(3.0, 3.0)) && motion.is_still());
        assert!((advance.velocity.y - 2.0).abs() < 0.01, "1 m in half a second");
    }

    #[test]
    fn a_loop_goes_round_and_a_loop_of_one_place_holds_up_nobody() {
        let square = vec![at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0), at(0.0, 0.0)];
        let mut motion = ThingMotion::Waypoints {
            points: square,
            speed: 1.0,
            looped: true,
            next: 0,
        };
        assert!(near(run(&mut motion, at(0.0, 0.0), 45), at(0.5, 0.0)));
        let mut motion = ThingMotion::Waypoints {
            points: vec![at(1.0, 1.0); 3],
            speed: 1e9,
            looped: true,
            next: 0,
        };
        assert!(near(run(&mut motion, at(0.0, 0.0), 3), at(1.0, 1.0)));
        let mut nowhere = ThingMotion::Waypoints {
            points: Vec::new(),
            speed: 1.0,
            looped: true,
            next: 0,
        };
        assert!(near(run(&mut nowhere, at(2.0, 0.0), 1), at(2.0, 0.0)) && nowhere.is_still());
    }

    #[test]
    fn an_orbit_keeps_its_distance_and_comes_round() {
        let mut motion = ThingMotion::Orbit {
            centre: at(10.0, 10.0),
            radius: 4.0,
            speed: TAU / 4.0,
            angle: 0.0,
        };
        assert!(near(run(&mut motion, at(14.0, 10.0), 10), at(10.0, 14.0)));
        assert!(near(run(&mut motion, at(10.0, 14.0), 30), at(14.0, 10.0)));
    }

    #[test]
    fn a_follower_stops_short_of_whom_it_follows_and_stands_while_there_is_nobody() {
        let mut motion = ThingMotion::Follow {
            player: Entity::from_raw_u32(1).unwrap(),
            distance: 2.0,
            speed: 5.0,
        };
        assert!(near(
            motion.advance(at(0.0, 0.0), 1.0, None).position,
            at(0.0, 0.0)
        ));
        let target = Some(at(10.0, 0.0));
        assert!(near(
            motion.advance(at(0.0, 0.0), 1.0, target).position,
            at(5.0, 0.0)
        ));
        assert!(near(
            motion.advance(at(5.0, 0.0), 1.0, target).position,
            at(8.0, 0.0)
        ));
        assert!(near(
            motion.advance(at(8.0, 0.0), 1.0, target).position,
            at(8.0, 0.0)
        ));
        assert!(!motion.is_still());
    }

    #[test]
    fn a_broken_number_never_leaves() {
        let mut motion = ThingMotion::Straight {
            velocity: Vec3::new(f32::NAN, f32::INFINITY, f32::NEG_INFINITY),
        };
        let place = motion.advance(at(0.0, 0.0), 0.1, None).position;
        assert!(place.is_finite() && place.is_within(POSITION_LIMIT));
    }

    #[test]
    fn a_heading_is_where_the_way_leads() {
        assert!((heading_of(Vec3::new(0.0, 1.0, 0.0), 1.0)).abs() < 1e-6);
        assert!((heading_of(Vec3::new(-1.0, 0.0, 0.0), 0.0) - TAU / 4.0).abs() < 1e-6);
        assert!((heading_of(Vec3::ZERO, 1.5) - 1.5).abs() < 1e-6);
    }
}
