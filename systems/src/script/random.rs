//! Random numbers for scripts: a keyed function of a counter, keyed anew in every tick from the server's entropy, so that
//! nobody can tell the next number from those before.

use std::hash::Hasher;

use siphasher::sip::SipHasher24;

/// The numbers of one tick.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    key: [u8; 16],
    drawn: u64,
}

impl Random {
    pub(crate) const fn new(key: [u8; 16]) -> Self {
        Self { key, drawn: 0 }
    }

    /// The next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.key);
        hasher.write_u64(self.drawn);
        self.drawn = self.drawn.wrapping_add(1);
        hasher.finish()
    }

    /// A whole number from `least` to `most`, both included; every one is as likely as the others.
    pub(crate) fn between(&mut self, least: i64, most: i64) -> i64 {
        let span = most.abs_diff(least);
        let Some(choices) = span.checked_add(1) else {
            return i64::from_ne_bytes(self.bits().to_ne_bytes());
        };
        // What is left over at the top would make some numbers likelier.
        let fair = u64::MAX - u64::MAX % choices;
        loop {
            let bits = self.bits();
            if bits < fair {
                return least.min(most).wrapping_add_unsigned(bits % choices);
            }
        }
    }

    /// A number from 0 up to, and without, 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a float exactly")]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_within_their_bounds_and_reach_them() {
        let mut random = Random::new([7; 16]);
        let drawn: Vec<i64> = (0..1000).map(|_| random.between(-2, 3)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&-2), Some(&3)));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit())));
        random.between(i64::MIN, i64::MAX);
        assert_eq!(random.between(5, 5), 5);
    }

    #[test]
    fn another_key_gives_other_numbers() {
        assert_ne!(Random::new([1; 16]).bits(), Random::new([2; 16]).bits());
        let mut random = Random::new([1; 16]);
        assert_ne!(random.bits(), random.bits());
    }
}
