//! The world that everybody shares: time of day, weather, doors, intervals, and where players start.

use crate::inspection::{Place, summary};
use bevy_ecs::reflect::ReflectResource;
use bevy_reflect::Reflect;
use std::time::Duration;

use bevy_ecs::resource::Resource;
use decitick_protocol::{Vec3, WeaponAmmo};

/// The shared state of the world, as a newcomer is told of it.
#[derive(Resource, Clone, Debug, PartialEq, Eq, Reflect)]
#[reflect(Resource)]
pub struct WorldState {
    /// Hour of the day, 0..=23.
    pub hours: u8,
    /// Minute of the hour, 0..=59.
    pub minutes: u8,
    /// Weather id of the game.
    pub weather: u8,
    /// Milliseconds a minute of the world lasts while its clock runs; `None` while it is frozen.
    pub clock_ms_per_minute: Option<u16>,
    /// Open garage doors, a bit each.
    pub garage_doors: u64,
    /// Drive-by intervals of weapons 22..=33.
    pub driveby_intervals: [u16; 12],
    /// Time that passed since the last full minute of the world.
    pub since_minute: Duration,
}

/// What RunClock carries as the length of a minute while the clock is frozen.
pub const FROZEN_MINUTE: u16 = 1000;
/// Minutes of a day.
const DAY: u128 = 24 * 60;

impl WorldState {
    /// A world of which nothing is known yet: midnight, a frozen clock.
    #[must_use]
    pub const fn unknown() -> Self {
        Self {
            hours: 0,
            minutes: 0,
            weather: 0,
            clock_ms_per_minute: None,
            garage_doors: 0,
            driveby_intervals: [0; 12],
            since_minute: Duration::ZERO,
        }
    }

    /// Lets `passed` go by on the world's clock, however long it is; a frozen clock stays.
    pub fn pass(&mut self, passed: Duration) {
        let Some(minute) = self.clock_ms_per_minute else {
            return;
        };
        let minute = Duration::from_millis(u64::from(minute.max(1)));
        let since = self.since_minute + passed;
        let minutes = since.as_nanos() / minute.as_nanos();
        // Less than a minute of the world, so the conversion holds.
        let rest = u64::try_from(since.as_nanos() % minute.as_nanos()).unwrap_or(0);
        self.since_minute = Duration::from_nanos(rest);
        let of_day = (u128::from(self.hours) * 60 + u128::from(self.minutes) + minutes) % DAY;
        self.hours = u8::try_from(of_day / 60).unwrap_or(0);
        self.minutes = u8::try_from(of_day % 60).unwrap_or(0);
    }
}

/// A place where players start, and what they start with.
#[derive(Clone, Debug, PartialEq)]
pub struct SpawnPoint {
    /// Position in metres.
    pub position: Vec3,
    /// Heading in radians, in [-pi, pi).
    pub heading: f32,
    /// Area number.
    pub area: u8,
    /// Model number.
    pub skin: u32,
    /// Variant of the model.
    pub variant: u8,
    /// Weapons in hand at the start, at most 13.
    pub weapons: Vec<WeaponAmmo>,
}

/// The spawn points of assets/spawns.ron; never empty.
#[derive(Resource, Clone, Debug, PartialEq)]
pub struct SpawnPoints {
    first: SpawnPoint,
    others: Vec<SpawnPoint>,
}

impl SpawnPoints {
    /// A list of at least one point.
    #[must_use]
    pub const fn new(first: SpawnPoint, others: Vec<SpawnPoint>) -> Self {
        Self { first, others }
    }

    /// The point for the `n`th spawn: they are handed out in turn.
    #[must_use]
    pub fn nth(&self, n: usize) -> &SpawnPoint {
        match n % (self.others.len() + 1) {
            0 => &self.first,
            later => self.others.get(later - 1).unwrap_or(&self.first),
        }
    }
}

impl Default for SpawnPoints {
    fn default() -> Self {
        let position = Vec3 {
            x: 0.0,
            y: 0.0,
            z: 10.0,
        };
        Self::new(
            SpawnPoint {
                position,
                heading: 0.0,
                area: 0,
                skin: 0,
                variant: 0,
                weapons: Vec::new(),
            },
            Vec::new(),
        )
    }
}

#[derive(Reflect)]
struct ShownPoint {
    position: Place,
    heading: f32,
    area: u8,
    skin: u32,
    variant: u8,
    weapons: usize,
}

impl ShownPoint {
    const fn of(point: &SpawnPoint) -> Self {
        Self {
            position: Place(point.position),
            heading: point.heading,
            area: point.area,
            skin: point.skin,
            variant: point.variant,
            weapons: point.weapons.len(),
        }
    }
}

summary!(|points: SpawnPoints| {
    points: Vec<ShownPoint> = [&points.first]
        .into_iter()
        .chain(&points.others)
        .map(ShownPoint::of)
        .collect(),
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spawn_points_are_handed_out_in_turn() {
        let first = SpawnPoints::default().nth(0).clone();
        let second = SpawnPoint {
            area: 7,
            ..first.clone()
        };
        let points = SpawnPoints::new(first, vec![second]);
        assert_eq!(
            [points.nth(0).area, points.nth(1).area, points.nth(2).area],
            [0, 7, 0]
        );
    }

    fn noon(clock_ms_per_minute: Option<u16>) -> WorldState {
        WorldState {
            hours: 12,
            minutes: 0,
            weather: 0,
            clock_ms_per_minute,
            garage_doors: 0,
            driveby_intervals: [0; 12],
            since_minute: Duration::ZERO,
        }
    }

    #[test]
    fn a_running_clock_loses_nothing_between_two_minutes() {
        let mut world = noon(Some(1000));
        for _ in 0..6_150 {
            world.pass(Duration::from_millis(100));
        }
        assert_eq!((world.hours, world.minutes), (22, 15));
        world.pass(Duration::from_secs(105));
        assert_eq!((world.hours, world.minutes), (0, 0), "a day ends at midnight");
    }

    #[test]
    fn a_long_pause_is_one_step_and_a_frozen_clock_stays() {
        let mut world = noon(Some(1));
        world.pass(Duration::from_secs(u64::MAX / 2));
        assert!(world.hours < 24 && world.minutes < 60);
        let mut frozen = noon(None);
        frozen.pass(Duration::from_secs(86_400));
        assert_eq!(frozen, noon(None));
    }
}
