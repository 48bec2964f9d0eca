//! How a placed thing moves, as the file says it.

use std::f32::consts::TAU;

use decitick_components::thing::ThingMotion;
use decitick_protocol::Vec3;
use serde::Deserialize;

use super::super::{
    checks::{self, Triple},
    list::Problems,
};

/// The most points of one way.
const WAYPOINTS_MAX: usize = 1_000;
/// The slowest a thing may move, in metres per second. At the end of the world the positions a component can name lie
/// 2 mm apart; a slower thing would not reach the next one in a tick and never be seen to move.
const SPEED_MIN: f32 = 0.05;
/// The fastest a thing may move, in metres per second: what is faster is only seen to jump.
const SPEED_MAX: f32 = 1_000.0;
/// How long a turn may take, in seconds, either way round.
const TURN_SECONDS: std::ops::RangeInclusive<f32> = 0.1..=86_400.0;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum MotionEntry {
    #[default]
    Still,
    Straight {
        velocity: Triple,
    },
    Waypoints {
        points: Vec<Triple>,
        speed: f32,
        #[serde(default)]
        looped: bool,
    },
    Orbit {
        centre: Triple,
        radius: f32,
        seconds_per_turn: f32,
    },
}

impl MotionEntry {
    pub(super) fn judge(&self, world_bounds: f32, problems: &mut Problems) {
        match self {
            Self::Still => {}
            Self::Straight { velocity } => judge_velocity(problems, *velocity),
            Self::Waypoints { points, speed, .. } => {
                if !(1..=WAYPOINTS_MAX).contains(&points.len()) {
                    problems.add(
                        "motion.points",
                        format_args!("{} points; a way has 1 to {WAYPOINTS_MAX}", points.len()),
                    );
                }
                for (index, &point) in points.iter().enumerate().take(WAYPOINTS_MAX) {
                    checks::position(
                        problems,
                        format_args!("motion.points.{index}"),
                        point,
                        world_bounds,
                    );
                }
                judge_speed(problems, *speed);
            }
            Self::Orbit {
                centre,
                radius,
                seconds_per_turn,
            } => judge_orbit(problems, *centre, *radius, *seconds_per_turn, world_bounds),
        }
    }

    /// Where a thing that was put at `position` begins, and its motion from there. An orbit begins on its circle, in
    /// the direction of `position` as seen from the middle.
    pub(super) fn start(self, position: Vec3) -> (Vec3, ThingMotion) {
        let motion = match self {
            Self::Still => ThingMotion::Still,
            Self::Straight { velocity } => ThingMotion::Straight {
                velocity: checks::vector(velocity),
            },
            Self::Waypoints {
                points,
                speed,
                looped,
            } => ThingMotion::Waypoints {
                points: points.into_iter().map(checks::vector).collect(),
                speed,
                looped,
                next: 0,
            },
            Self::Orbit {
                centre,
                radius,
                seconds_per_turn,
            } => {
                let centre = checks::vector(centre);
                let mut motion = ThingMotion::Orbit {
                    centre,
                    radius,
                    speed: TAU / seconds_per_turn,
                    angle: (position.y - centre.y).atan2(position.x - centre.x),
                };
                return (motion.advance(position, 0.0, None).position, motion);
            }
        };
        (position, motion)
    }
}

fn judge_orbit(problems: &mut Problems, centre: Triple, radius: f32, seconds_per_turn: f32, bounds: f32) {
    checks::position(problems, "motion.centre", centre, bounds);
    let (x, y, _) = centre;
    let room = bounds - x.abs().max(y.abs());
    if !(radius > 0.0 && radius.is_finite()) {
        problems.add(
            "motion.radius",
            format_args!("{radius} is no radius; metres above 0 are taken"),
        );
    } else if room >= 0.0 && radius > room {
        problems.add(
            "motion.radius",
            format_args!("{radius} leads out of world.bounds, which is {bounds}; around this centre at most {room} m are taken"),
        );
    }
    if !TURN_SECONDS.contains(&seconds_per_turn.abs()) {
        problems.add(
            "motion.seconds_per_turn",
            format_args!(
                "{seconds_per_turn} is out of range; {} to {} seconds are taken, with a minus for clockwise",
                TURN_SECONDS.start(),
                TURN_SECONDS.end()
            ),
        );
    } else if TAU * radius / seconds_per_turn.abs() > SPEED_MAX {
        problems.add(
            "motion.seconds_per_turn",
            format_args!(
                "a thing on this circle would be faster than {SPEED_MAX} m/s; let a turn take longer"
            ),
        );
    }
}

fn judge_velocity(problems: &mut Problems, (x, y, z): Triple) {
    let speed = x.hypot(y).hypot(z);
    if !(0.0..=SPEED_MAX).contains(&speed) {
        problems.add(
            "motion.velocity",
            format_args!("{speed} m/s is out of range; at most {SPEED_MAX} are taken"),
        );
    } else if [x, y, z].iter().all(|part| part.abs() < SPEED_MIN) {
        problems.add(
            "motion.velocity",
            format_args!(
                "({x}, {y}, {z}) is too slow to be seen; let one of the three be at least {SPEED_MIN} m/s in size, or write Still"
            ),
        );
    }
}

fn judge_speed(problems: &mut Problems, speed: f32) {
    if !(SPEED_MIN..=SPEED_MAX).contains(&speed) {
        problems.add(
            "motion.speed",
            format_args!(
                "{speed} m/s is out of range; {SPEED_MIN} to {SPEED_MAX} are taken, and what stands is Still"
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{super::testing::directory_with, load_things},
        *,
    };

    fn entry(motion: &str) -> String {
        format!("[(kind: Vehicle, model: 1, position: (0, 30, 0),\nmotion: {motion})]")
    }

    fn load(motion: &str) -> Result<(Vec3, ThingMotion), String> {
        let directory = directory_with("things.ron", &entry(motion));
        let things = load_things(directory.path(), 1_000.0).map_err(|error| error.to_string())?;
        let thing = things.0.into_iter().next().unwrap();
        Ok((thing.position, thing.motion))
    }

    #[test]
    fn a_way_begins_at_its_first_point_and_ends_at_its_last_unless_it_is_looped() {
        for (more, wanted) in [("", false), (", looped: true", true)] {
            let (position, motion) = load(&format!(
                "Waypoints(points: [(1, 2, 3), (4, 5, 6)], speed: 5{more})"
            ))
            .unwrap();
            assert_eq!(position, Vec3::new(0.0, 30.0, 0.0));
            let points = vec![Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 5.0, 6.0)];
            assert_eq!(
                motion,
                ThingMotion::Waypoints {
                    points,
                    speed: 5.0,
                    looped: wanted,
                    next: 0
                }
            );
        }
    }

    #[test]
    fn an_orbit_begins_on_its_circle_and_a_minus_turns_it_clockwise() {
        let near = |a: Vec3, b: Vec3| (a.x - b.x).abs() + (a.y - b.y).abs() + (a.z - b.z).abs() < 1e-3;
        for (turn, after_a_quarter) in [(40.0, (-10.0, 0.0)), (-40.0, (10.0, 0.0))] {
            let (start, mut motion) = load(&format!(
                "Orbit(centre: (0, 0, 5), radius: 10, seconds_per_turn: {turn})"
            ))
            .unwrap();
            assert!(near(start, Vec3::new(0.0, 10.0, 5.0)), "north of it: {start:?}");
            let place = motion.advance(start, 10.0, None).position;
            let (x, y) = after_a_quarter;
            assert!(near(place, Vec3::new(x, y, 5.0)), "{turn}: {place:?}");
        }
    }

    #[test]
    fn five_centimetres_a_second_can_be_seen() {
        for motion in [
            "Straight(velocity: (0, -0.05, 0))",
            "Straight(velocity: (0.01, 0, 0.05))",
            "Waypoints(points: [(0, 0, 0)], speed: 0.05)",
        ] {
            assert!(load(motion).is_ok(), "{motion}");
        }
    }

    #[test]
    fn each_bound_of_a_motion_is_told_with_its_place() {
        let way = |points: usize| format!("Waypoints(points: [{}], speed: 1)", "(0, 0, 0),".repeat(points));
        assert!(load(&way(1)).is_ok() && load(&way(1_000)).is_ok());
        for (motion, wanted) in [
            (
                "Straight(velocity: (0, 0, 0))",
                ":2:18: motion.velocity: (0, 0, 0) is too slow",
            ),
            ("Straight(velocity: (0.049, -0.049, 0.049))", "is too slow"),
            ("Straight(velocity: (0, NaN, 0))", ": motion.velocity: "),
            ("Straight(velocity: (900, 0, 900))", ": motion.velocity: "),
            (way(0).as_str(), ":2:19: motion.points: 0 points"),
            (way(1_001).as_str(), ":2:19: motion.points: 1001 points"),
            (
                "Waypoints(points: [(0, 0, 0), (0, 0, 1001)], speed: 1)",
                ":2:39: motion.points.1: ",
            ),
            (
                "Waypoints(points: [(0, 0, 0)], speed: 0)",
                ":2:40: motion.speed: ",
            ),
            (
                "Waypoints(points: [(0, 0, 0)], speed: 0.049)",
                ": motion.speed: 0.049 m/s",
            ),
            ("Waypoints(points: [(0, 0, 0)], speed: -1)", ": motion.speed: "),
            ("Waypoints(points: [(0, 0, 0)], speed: inf)", ": motion.speed: "),
            ("Waypoints(points: [(0, 0, 0)])", "\"speed\" is missing"),
            (
                "Waypoints(points: [(0, 0, 0)], speed: 1, loop: true)",
                "unknown key \"loop\"",
            ),
            (
                "Orbit(centre: (1001, 0, 0), radius: 1, seconds_per_turn: 9)",
                ":2:15: motion.centre: ",
            ),
            (
                "Orbit(centre: (0, 0, 0), radius: 0, seconds_per_turn: 9)",
                ": motion.radius: ",
            ),
            (
                "Orbit(centre: (0, 0, 0), radius: NaN, seconds_per_turn: 9)",
                ": motion.radius: ",
            ),
            (
                "Orbit(centre: (0, -990, 0), radius: 11, seconds_per_turn: 9)",
                "at most 10 m",
            ),
            (
                "Orbit(centre: (0, 0, 0), radius: 1, seconds_per_turn: 0)",
                ":2:45: motion.seconds_per_turn: ",
            ),
            (
                "Orbit(centre: (0, 0, 0), radius: 1, seconds_per_turn: NaN)",
                ": motion.seconds_per_turn: ",
            ),
            (
                "Orbit(centre: (0, 0, 0), radius: 500, seconds_per_turn: 1)",
                "faster than 1000 m/s",
            ),
            ("Spin", "unknown word \"Spin\""),
        ] {
            let fault = load(motion).unwrap_err();
            assert!(
                fault.contains("things.ron") && fault.contains(wanted),
                "{motion} -> {fault}"
            );
        }
    }
}
