//! Numbers and places as a fuzzer draws them: mostly near each other, sometimes far, sometimes no number at all.

use arbitrary::Arbitrary;
use decitick_protocol::{EntityPayload, Vec3};

/// One number.
#[derive(Arbitrary, Debug, Clone, Copy)]
pub enum Number {
    /// Within 32 of 0, in quarters: where players meet.
    Near(i8),
    /// Any whole number of 16 bits: beyond the world too.
    Far(i16),
    /// Any bits, so NaN, infinities and what is neither large nor small.
    Raw(f32),
}

impl Number {
    /// The number.
    pub fn value(self) -> f32 {
        match self {
            Self::Near(quarters) => f32::from(quarters) / 4.0,
            Self::Far(whole) => f32::from(whole),
            Self::Raw(bits) => bits,
        }
    }
}

/// A place, a velocity, a way.
#[derive(Arbitrary, Debug, Clone, Copy)]
pub struct Place(pub [Number; 3]);

impl Place {
    /// Its vector.
    pub fn vector(self) -> Vec3 {
        Vec3::from(self.0.map(Number::value))
    }
}

/// A place on the ground where players meet, in quarters of a metre.
pub fn meeting_place([x, y]: [i8; 2]) -> Vec3 {
    Vec3::new(f32::from(x) / 4.0, f32::from(y) / 4.0, 10.0)
}

/// A value for a thing: nil, a small number, or the longest there may be.
pub fn payload(drawn: u8) -> EntityPayload {
    let bytes = match drawn {
        0..0x80 => vec![drawn],
        0x80..0xE0 => return EntityPayload::nil(),
        // bin 16 with its two bytes of length.
        _ => [0xC5, 0x01, 0xFD].into_iter().chain([drawn; 509]).collect(),
    };
    EntityPayload::parse(bytes).expect("a written value")
}
