//! Serial-number arithmetic: which of two 32-bit counters that wrap is the newer one (docs/protocol.md 2.3).

/// Whether `candidate` is newer than `held`: the distance ahead, modulo 2^32, lies in 1..=2^31 - 1.
#[must_use]
pub const fn is_newer(candidate: u32, held: u32) -> bool {
    let ahead = candidate.wrapping_sub(held);
    ahead != 0 && ahead <= 0x7FFF_FFFF
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_is_judged_at_the_exact_edges() {
        assert!(!is_newer(5, 5));
        assert!(is_newer(6, 5));
        assert!(!is_newer(4, 5));
        assert!(is_newer(0x7FFF_FFFF, 0));
        assert!(!is_newer(0x8000_0000, 0), "exactly half way round is not newer");
    }

    #[test]
    fn newer_goes_on_over_the_wrap() {
        assert!(is_newer(0, u32::MAX));
        assert!(is_newer(0x7FFF_FFFE, u32::MAX));
        assert!(!is_newer(0x7FFF_FFFF, u32::MAX));
        assert!(!is_newer(u32::MAX, 0));
    }
}
