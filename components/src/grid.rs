//! A spatial index: who is near a place, without asking everybody.
//!
//! It is filled anew each tick. Entries are sorted by space and cell, so that a row of neighbouring cells is one
//! stretch of a list that is found by bisection; there is no table to keep and no allocation once it has its size.
//! Height is not part of the cells: bodies spread over ground, and the distance is measured in three dimensions
//! anyway.

use crate::inspection::summary;
use bevy_ecs::{entity::Entity, resource::Resource};
use decitick_protocol::Vec3;

use crate::body::{Space, distance_squared};

/// Where every body in the world is in this tick: filled in Simulate after all motion.
#[derive(Resource, Clone, Debug, Default)]
pub struct BodyIndex {
    grid: Grid,
    bodies: Vec<Entity>,
}

impl BodyIndex {
    /// Empties it; see [`Grid::restart`].
    pub fn restart(&mut self, cell: f32) {
        self.grid.restart(cell);
        self.bodies.clear();
    }

    /// Adds the body of a connection. The n-th one added is item n of the grid.
    pub fn add(&mut self, space: Space, position: Vec3, connection: Entity) {
        let item = u32::try_from(self.bodies.len()).unwrap_or(u32::MAX);
        self.grid.add(space, position, item);
        self.bodies.push(connection);
    }

    /// Sorts what was added.
    pub fn finish(&mut self) {
        self.grid.finish();
    }

    /// The grid; its items count the bodies in the order they were added.
    #[must_use]
    pub const fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Appends every connection whose body is within `radius` of `centre`; returns how many bodies were looked at.
    pub fn near(&self, space: Space, centre: Vec3, radius: f32, found: &mut Vec<Entity>) -> usize {
        self.grid
            .near(space, centre, radius, |item, _| found.extend(self.body(item)))
    }

    /// Appends every connection whose body is in the box between two corners; returns how many bodies were looked at.
    pub fn within(&self, space: Space, least: Vec3, most: Vec3, found: &mut Vec<Entity>) -> usize {
        self.grid
            .within(space, least, most, |item| found.extend(self.body(item)))
    }

    fn body(&self, item: u32) -> Option<Entity> {
        self.bodies.get(item as usize).copied()
    }
}

/// Something at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridEntry {
    key: u64,
    /// What the caller knows it by.
    pub item: u32,
    /// Where it is.
    pub position: Vec3,
}

/// The index.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    cell: f32,
    entries: Vec<GridEntry>,
}

/// Cells on either side of the origin; positions beyond them count for the outermost cell.
const HALF: i32 = 2048;
/// No cell is smaller: the world of 40 km has 4,096 of them on a side.
const SMALLEST_CELL: f32 = 10.0;

impl Grid {
    /// Empties it. `cell` is the edge of a cell in metres: the usual radius of a question makes nine cells of it.
    pub fn restart(&mut self, cell: f32) {
        self.entries.clear();
        self.cell = cell.max(SMALLEST_CELL);
    }

    /// Adds something. Ask only after [`Grid::finish`].
    pub fn add(&mut self, space: Space, position: Vec3, item: u32) {
        let key = key(space, self.column(position.y), self.column(position.x));
        self.entries.push(GridEntry { key, item, position });
    }

    /// Sorts what was added.
    pub fn finish(&mut self) {
        // By item too, so that the order does not hang on how entries were added.
        self.entries.sort_unstable_by_key(|entry| (entry.key, entry.item));
    }

    /// Entries held.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it holds nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Visits everything of `space` within `radius` of `centre`, with the square of its distance; returns how many entries
    /// were looked at.
    pub fn near(&self, space: Space, centre: Vec3, radius: f32, mut visit: impl FnMut(u32, f32)) -> usize {
        let reach = Vec3::new(radius, radius, radius);
        let most = radius * radius;
        self.stretches(space, minus(centre, reach), plus(centre, reach), |entry| {
            let distance = distance_squared(entry.position, centre);
            if distance <= most {
                visit(entry.item, distance);
            }
        })
    }

    /// Visits everything of `space` in the box between two corners, borders included; returns how many entries were looked
    /// at.
    pub fn within(&self, space: Space, least: Vec3, most: Vec3, mut visit: impl FnMut(u32)) -> usize {
        self.stretches(space, least, most, |entry| {
            let place = entry.position;
            let inside = (least.x..=most.x).contains(&place.x)
                && (least.y..=most.y).contains(&place.y)
                && (least.z..=most.z).contains(&place.z);
            if inside {
                visit(entry.item);
            }
        })
    }

    /// Visits the entries of every cell that the box touches; returns how many there were.
    fn stretches(&self, space: Space, least: Vec3, most: Vec3, mut visit: impl FnMut(&GridEntry)) -> usize {
        let mut count = 0;
        let (first, last) = (self.column(least.x), self.column(most.x));
        let (bottom, top) = (self.column(least.y), self.column(most.y));
        let mut rest = self.from(key(space, bottom, first));
        let end = key(space, top, last);
        // Row by row; rows without anybody are jumped over, so that a large box costs no more than its contents.
        while let Some(next) = rest.first().filter(|entry| entry.key <= end) {
            let row = next.key & !COLUMN_BITS;
            let (from, to) = (row | first, row | last);
            let start = rest.partition_point(|entry| entry.key < from);
            let after = rest.get(start..).unwrap_or_default();
            let stop = after.partition_point(|entry| entry.key <= to);
            let (stretch, later) = after.split_at(stop.min(after.len()));
            count += stretch.len();
            stretch.iter().for_each(&mut visit);
            // On to the first entry of a later row.
            let skip = later.partition_point(|entry| entry.key & !COLUMN_BITS == row);
            rest = later.get(skip..).unwrap_or_default();
        }
        count
    }

    fn from(&self, key: u64) -> &[GridEntry] {
        let start = self.entries.partition_point(|entry| entry.key < key);
        self.entries.get(start..).unwrap_or_default()
    }

    fn column(&self, component: f32) -> u64 {
        // A float that is too large or not a number becomes the nearest whole number there is, or 0.
        let column = (component / self.cell).floor() as i32;
        let shifted = column.clamp(-HALF, HALF - 1).saturating_add(HALF);
        u64::try_from(shifted).unwrap_or(0)
    }
}

/// Twelve bits each for the column and the row, eight for the area, thirty-two for the dimension.
const COLUMN_BITS: u64 = 0xFFF;

fn key(space: Space, row: u64, column: u64) -> u64 {
    u64::from(space.dimension) << 32 | u64::from(space.area) << 24 | row << 12 | column
}

const fn plus(a: Vec3, b: Vec3) -> Vec3 {
    Vec3::new(a.x + b.x, a.y + b.y, a.z + b.z)
}

const fn minus(a: Vec3, b: Vec3) -> Vec3 {
    Vec3::new(a.x - b.x, a.y - b.y, a.z - b.z)
}

summary!(|index: BodyIndex| {
    bodies: usize = index.bodies.len(),
    cell: f32 = index.grid.cell,
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OUTSIDE: Space = Space {
        dimension: 0,
        area: 0,
    };

    fn grid(cell: f32, places: &[(Space, Vec3)]) -> Grid {
        let mut grid = Grid::default();
        grid.restart(cell);
        for (item, (space, place)) in (0u32..).zip(places) {
            grid.add(*space, *place, item);
        }
        grid.finish();
        grid
    }

    fn near(grid: &Grid, space: Space, centre: Vec3, radius: f32) -> Vec<u32> {
        let mut found = Vec::new();
        grid.near(space, centre, radius, |item, _| found.push(item));
        found.sort_unstable();
        found
    }

    #[test]
    fn other_areas_and_dimensions_are_never_found() {
        let here = Vec3::ZERO;
        let inside = Space { area: 1, ..OUTSIDE };
        let elsewhere = Space {
            dimension: 1,
            ..OUTSIDE
        };
        let grid = grid(300.0, &[(OUTSIDE, here), (inside, here), (elsewhere, here)]);
        assert_eq!(near(&grid, OUTSIDE, here, 1e6), [0]);
        assert_eq!(near(&grid, inside, here, 1.0), [1]);
        assert_eq!(near(&grid, elsewhere, here, 1.0), [2]);
    }

    #[test]
    fn an_empty_grid_and_an_empty_box_find_nothing() {
        let mut grid = Grid::default();
        grid.restart(300.0);
        grid.finish();
        assert!(near(&grid, OUTSIDE, Vec3::ZERO, 300.0).is_empty());
        let mut found = 0;
        let one = self::grid(300.0, &[(OUTSIDE, Vec3::ZERO)]);
        one.within(
            OUTSIDE,
            Vec3::new(1.0, 1.0, 1.0),
            Vec3::new(-1.0, -1.0, -1.0),
            |_| found += 1,
        );
        assert_eq!(found, 0);
    }

    fn place() -> impl Strategy<Value = Vec3> {
        let component = || prop_oneof![-20_000.0..20_000.0f32, -400.0..400.0f32];
        (component(), component(), -100.0..1000.0f32).prop_map(|(x, y, z)| Vec3::new(x, y, z))
    }

    proptest! {
        #[test]
        fn a_grid_finds_what_asking_everybody_finds(
            places in prop::collection::vec((0..2u8, place()), 0..60),
            centre in place(),
            radius in prop_oneof![0.0..50_000.0f32, 0.0..500.0f32],
            cell in prop_oneof![Just(0.0f32), 1.0..2_000.0f32],
        ) {
            let places: Vec<(Space, Vec3)> = places
                .into_iter()
                .map(|(area, place)| (Space { dimension: 0, area }, place))
                .collect();
            let grid = grid(cell, &places);
            let expected: Vec<u32> = (0u32..)
                .zip(&places)
                .filter(|(_, (space, place))| {
                    *space == OUTSIDE && distance_squared(*place, centre) <= radius * radius
                })
                .map(|(item, _)| item)
                .collect();
            prop_assert_eq!(near(&grid, OUTSIDE, centre, radius), expected);
        }

        #[test]
        fn a_box_finds_what_lies_in_it(
            places in prop::collection::vec(place(), 0..60),
            one in place(),
            other in place(),
        ) {
            let least = Vec3::new(one.x.min(other.x), one.y.min(other.y), one.z.min(other.z));
            let most = Vec3::new(one.x.max(other.x), one.y.max(other.y), one.z.max(other.z));
            let places: Vec<(Space, Vec3)> = places.into_iter().map(|place| (OUTSIDE, place)).collect();
            let mut found = Vec::new();
            grid(300.0, &places).within(OUTSIDE, least, most, |item| found.push(item));
            found.sort_unstable();
            let inside = |place: &Vec3| {
                place.x >= least.x && place.x <= most.x && place.y >= least.y && place.y <= most.y
                    && place.z >= least.z && place.z <= most.z
            };
            let expected: Vec<u32> = (0u32..)
                .zip(&places)
                .filter(|(_, (_, place))| inside(place))
                .map(|(item, _)| item)
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
