//! Positions, velocities and headings as they stand on the wire.

use std::f64::consts::{PI, TAU};

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
/// Any finite heading may come in (docs/protocol.md 2.3); what goes out is normalised. The bounds are those of pi itself:
/// the binary32 nearest to it is larger, so neither it nor its negative is ever a result.
#[must_use]
pub fn normalise_heading(heading: f32) -> f32 {
    if !heading.is_finite() {
        return 0.0;
    }
    // In f64, so that the remainder of a large heading is still a direction and not the rounding noise of f32.
    let wide = f64::from(heading);
    if (-PI..PI).contains(&wide) {
        return heading;
    }
    let wrapped = (wide + PI).rem_euclid(TAU) - PI;
    (wrapped as f32).clamp(-LARGEST_HEADING, LARGEST_HEADING)
}

/// The largest binary32 below pi.
const LARGEST_HEADING: f32 = f32::from_bits(std::f32::consts::PI.to_bits() - 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_within_the_turn_is_kept_to_the_bit() {
        for heading in [
            0.0,
            -0.0,
            -1.5,
            3.0,
            LARGEST_HEADING,
            -LARGEST_HEADING,
            f32::MIN_POSITIVE,
        ] {
            assert_eq!(normalise_heading(heading).to_bits(), heading.to_bits());
        }
    }

    #[test]
    fn every_finite_heading_ends_in_the_half_open_turn() {
        let pi = std::f32::consts::PI;
        for heading in [
            pi,
            -pi,
            2.0 * pi,
            -2.0 * pi,
            3.0 * pi,
            4.0,
            -4.0,
            1e9,
            -1e9,
            f32::MAX,
            f32::MIN,
        ] {
            let normalised = normalise_heading(heading);
            assert!(
                (-PI..PI).contains(&f64::from(normalised)),
                "{heading} became {normalised}"
            );
            assert!((-pi..pi).contains(&normalised), "{heading} became {normalised}");
            assert_eq!(normalise_heading(normalised).to_bits(), normalised.to_bits());
            if heading.abs() > 1e10 {
                // Its neighbours are many turns away, so that no direction is the right one.
                continue;
            }
            let (sine, cosine) = (f64::from(heading).sin(), f64::from(heading).cos());
            assert!(
                (f64::from(normalised).sin() - sine).abs() < 1e-5,
                "{heading} became {normalised}"
            );
            assert!(
                (f64::from(normalised).cos() - cosine).abs() < 1e-5,
                "{heading} became {normalised}"
            );
        }
    }

    #[test]
    fn what_is_no_direction_becomes_zero() {
        for heading in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(normalise_heading(heading).to_bits(), 0);
        }
    }
}
