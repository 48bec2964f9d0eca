//! `Secret<T>`: a value that must not leave the process by accident.
//!
//! It has no `Reflect`, so the inspector cannot see it; its `Debug` shows nothing; and where the
//! value is made of bytes two secrets are compared without a hint of where they differ. It knows
//! nothing of what it holds: what a password or a token may look like is said by their own modules.

use std::fmt;

use subtle::ConstantTimeEq;

/// A value that is never printed, never reflected and never compared byte by byte with an early end.
#[derive(Clone, Copy)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Takes a value under cover.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself. Every call is a place to look at in a review: do not print, log or compare it.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Gives the value up, for whoever keeps it from here on.
    pub fn into_exposed(self) -> T {
        self.0
    }
}

/// Shows only that there is a secret, not its length nor its type's fields.
impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(redacted)")
    }
}

/// Byte-like secrets (texts, arrays, vectors) are equal in constant time for one length; the length
/// itself is not hidden.
impl<T: AsRef<[u8]>> PartialEq for Secret<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_ref().ct_eq(other.0.as_ref()).into()
    }
}

impl<T: AsRef<[u8]>> Eq for Secret<T> {}

impl Secret<u64> {
    /// Whether a number that came from outside is this one, in constant time.
    pub fn matches(&self, candidate: u64) -> bool {
        self.0.ct_eq(&candidate).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_value_is_printed() {
        #[derive(Debug)]
        #[expect(dead_code, reason = "read by the derived Debug only")]
        struct Holder {
            password: Secret<String>,
        }
        let holder = Holder {
            password: Secret::new("tulip field".into()),
        };
        assert_eq!(format!("{holder:?}"), "Holder { password: Secret(redacted) }");
        assert!(!format!("{holder:#?}").contains("tulip"));
    }

    #[test]
    fn equality_looks_at_every_byte_and_at_the_length() {
        assert_eq!(Secret::new([7u8; 32]), Secret::new([7u8; 32]));
        for changed in 0..32 {
            let mut other = [7u8; 32];
            other[changed] ^= 1;
            assert_ne!(Secret::new([7u8; 32]), Secret::new(other), "byte {changed}");
        }
        assert_ne!(Secret::new("ab"), Secret::new("abc"));
    }

    #[test]
    fn a_number_matches_only_itself() {
        let token = Secret::new(u64::MAX);
        assert!(token.matches(u64::MAX));
        assert!(!token.matches(u64::MAX - 1));
        assert!(!token.matches(0));
    }
}
