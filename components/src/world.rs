//! The world that everybody shares: time of day, weather, doors, intervals, and where players start.

use bevy_ecs::resource::Resource;
use decitick_protocol::{Vec3, WeaponProperty};

/// The shared state of the world, as a newcomer is told of it.
#[derive(Resource, Clone, Debug, PartialEq, Eq)]
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
}

/// A place where players start.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    pub fn nth(&self, n: usize) -> SpawnPoint {
        match n % (self.others.len() + 1) {
            0 => self.first,
            later => self.others.get(later - 1).copied().unwrap_or(self.first),
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
            },
            Vec::new(),
        )
    }
}

/// The weapon table of assets/weapons.ron, as clients are told of it.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
pub struct WeaponTable(pub Vec<WeaponProperty>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spawn_points_are_handed_out_in_turn() {
        let first = SpawnPoints::default().nth(0);
        let second = SpawnPoint { area: 7, ..first };
        let points = SpawnPoints::new(first, vec![second]);
        assert_eq!(
            [points.nth(0).area, points.nth(1).area, points.nth(2).area],
            [0, 7, 0]
        );
    }
}
