//! Positions, velocities and headings as they stand on the wire.

use std::f32::consts::{PI, TAU};

/// Three `f32`: metres for a position, metres per second for a velocity.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Vec3 {
    /// East.
    pub x: f32,
    /// North.
    pub y: f32,
    /// Up.
    pub z: f32,
}

impl Vec3 {
    /// The origin.
    pub const ZERO: Self = Self::new(0.0, 0.0, 0.0);

    /// A vector of three components.
    #[must_use]
    pub const fn new(x: f32, y: f32, z: f32) -> Self {
        Self { x, y, z }
    }

    /// Whether no component is NaN or infinite. A receiver drops a packet with any other vector.
    #[must_use]
    pub const fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
    }

    /// Whether every component is at most `limit` in size; false when one is NaN.
    #[must_use]
    pub fn is_within(self, limit: f32) -> bool {
        self.x.abs() <= limit && self.y.abs() <= limit && self.z.abs() <= limit
    }
}

impl From<[f32; 3]> for Vec3 {
    fn from([x, y, z]: [f32; 3]) -> Self {
        Self { x, y, z }
    }
}

impl From<Vec3> for [f32; 3] {
    fn from(vector: Vec3) -> Self {
        [vector.x, vector.y, vector.z]
    }
}

/// The same direction as `heading` (radians), in [-pi, pi). A heading that is not finite becomes 0.
///
/// Any finite heading may come in (docs/protocol.md 2.3); what goes out is normalised.
#[must_use]
pub fn normalise_heading(heading: f32) -> f32 {
    if !heading.is_finite() {
        return 0.0;
    }
    if (-PI..PI).contains(&heading) {
        return heading;
    }
    // In f64, so that the remainder of a large heading is still a direction and not rounding noise of f32.
    let turn = std::f64::consts::TAU;
    let wrapped = (f64::from(heading) + std::f64::consts::PI).rem_euclid(turn) - std::f64::consts::PI;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a heading within one turn fits binary32"
    )]
    let narrowed = wrapped as f32;
    // Rounding to f32 can land on pi itself, which is the same direction as -pi.
    if narrowed >= PI {
        narrowed - TAU
    } else {
        narrowed.max(-PI)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_within_the_turn_is_kept_to_the_bit() {
        for heading in [0.0, -0.0, -1.5, 3.0, -PI, f32::from_bits(PI.to_bits() - 1)] {
            assert_eq!(normalise_heading(heading).to_bits(), heading.to_bits());
        }
    }

    #[test]
    fn every_finite_heading_ends_in_the_half_open_turn() {
        for heading in [
            PI,
            -PI,
            TAU,
            -TAU,
            3.0 * PI,
            1e9,
            -1e9,
            f32::MAX,
            f32::MIN,
            3.141_593,
            -3.141_593,
        ] {
            let wrapped = normalise_heading(heading);
            assert!((-PI..PI).contains(&wrapped), "{heading} became {wrapped}");
        }
        assert_eq!(normalise_heading(PI), -PI);
        assert!((normalise_heading(TAU + 1.0) - 1.0).abs() < 1e-5);
        assert_eq!(normalise_heading(f32::NAN), 0.0);
    }
}
