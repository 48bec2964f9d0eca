//! Chance for walks and schedules: small, fast and seeded. Nothing secret is ever drawn from it.

/// A SplitMix64 generator.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// The generator of one seed: the same seed walks the same way.
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(super) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number in 0..1, evenly spread.
    pub(super) const fn fraction(&mut self) -> f32 {
        (self.next() >> 40) as f32 / 16_777_216.0
    }

    /// A number in `low..high`.
    pub(super) const fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.fraction()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_stay_below_one_and_spread_evenly() {
        let mut random = Random::new(7);
        let drawn: Vec<f32> = (0..10_000).map(|_| random.fraction()).collect();
        assert!(drawn.iter().all(|fraction| (0.0..1.0).contains(fraction)));
        let mean = drawn.iter().sum::<f32>() / 10_000.0;
        assert!((0.48..0.52).contains(&mean), "{mean}");
    }
}
