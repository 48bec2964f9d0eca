//! Randomness as a resource: a pool of bytes that the shell fills from the operating system's generator before
//! each tick, and a test fills from a seed.

use std::fmt;

use bevy_ecs::resource::Resource;

/// A pool of random bytes. Reading takes bytes out; an empty pool answers `None` and the caller waits a tick.
#[derive(Resource, Default)]
pub struct Entropy {
    bytes: Vec<u8>,
}

impl Entropy {
    /// Bytes the shell keeps in the pool: enough for more draws than one tick can ask for.
    pub const POOL: usize = 32 * 1024;

    /// Bytes left.
    #[must_use]
    pub const fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// Tops the pool up to [`Entropy::POOL`]: `fill` gets the part that is missing.
    ///
    /// # Errors
    /// What `fill` says; the pool then stays as it was.
    pub fn refill<E>(&mut self, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<(), E> {
        let before = self.bytes.len();
        self.bytes.resize(Self::POOL, 0);
        let filled = fill(self.bytes.get_mut(before..).unwrap_or_default());
        if filled.is_err() {
            self.bytes.truncate(before);
        }
        filled
    }

    /// Takes `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let start = self.bytes.len().checked_sub(N)?;
        let drawn = self.bytes.get(start..)?.try_into().ok()?;
        self.bytes.truncate(start);
        Some(drawn)
    }

    /// Takes a `u32`.
    pub fn next_u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Takes a `u64` that is not zero.
    pub fn nonzero_u64(&mut self) -> Option<u64> {
        loop {
            let drawn = self.array().map(u64::from_le_bytes)?;
            if drawn != 0 {
                return Some(drawn);
            }
        }
    }
}

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entropy({} bytes)", self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_handed_out_once_and_an_empty_pool_says_so() {
        let mut entropy = Entropy::default();
        assert_eq!(entropy.next_u32(), None);
        let mut next = 0u8;
        let filled: Result<(), ()> = entropy.refill(|bytes| {
            for byte in bytes {
                next = next.wrapping_add(1);
                *byte = next;
            }
            Ok(())
        });
        assert!(filled.is_ok() && entropy.remaining() == Entropy::POOL);
        let first: [u8; 4] = entropy.array().unwrap();
        let second: [u8; 4] = entropy.array().unwrap();
        assert_ne!(first, second);
        assert_eq!(entropy.remaining(), Entropy::POOL - 8);
    }

    #[test]
    fn a_failed_refill_leaves_no_predictable_bytes() {
        let mut entropy = Entropy::default();
        assert_eq!(entropy.refill(|_| Err("no source")), Err("no source"));
        assert_eq!(entropy.nonzero_u64(), None);
    }
}
