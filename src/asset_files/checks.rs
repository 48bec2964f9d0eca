//! Bounds that entries of several files share.

use std::{f32::consts::PI, fmt};

use decitick_protocol::Vec3;

use super::list::Problems;

/// Three numbers as a file gives them.
pub(super) type Triple = (f32, f32, f32);

/// The same three numbers.
pub(super) const fn vector((x, y, z): Triple) -> Vec3 {
    Vec3 { x, y, z }
}

/// A place must lie in the world: nobody could get there, and no client could be told of it.
pub(super) fn position(problems: &mut Problems, key: impl fmt::Display, place: Triple, world_bounds: f32) {
    if !vector(place).is_within(world_bounds) {
        let (x, y, z) = place;
        problems.add(
            key,
            format_args!("({x}, {y}, {z}) is outside world.bounds, which is {world_bounds}"),
        );
    }
}

/// A heading is radians in [-pi, pi) (docs/protocol.md 2.3).
pub(super) fn heading(problems: &mut Problems, heading: f32) {
    if !(-PI..PI).contains(&heading) {
        problems.add(
            "heading",
            format_args!("{heading} is no heading; radians from -pi up to pi are taken"),
        );
    }
}
