//! Signed tokens (JWT) by which a login site says who somebody is (docs/protocol.md 1.5).
//!
//! [`CompactJwt`] is what the wire judges: alphabet, length and three parts. [`judge_assertion`] judges the rest, once
//! a connection's turn has come. Neither knows connections, limits or what an identity is let in for.

mod json;
mod judgement;

use std::fmt;

pub use judgement::{
    ASSERTION_LIFETIME_MAX, AssertionFault, Expectations, ExpectedTicket, Identity, Issuer, SUBJECT_MAX,
    judge_assertion,
};

use crate::constants::MAX_JWT;
use crate::error::DecodeError;

/// A token of 1 to 1,024 bytes of `A-Z a-z 0-9 - _ .` with exactly two dots. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct CompactJwt(String);

impl CompactJwt {
    /// Takes a token in compact form.
    ///
    /// # Errors
    /// [`DecodeError::BadLength`], [`DecodeError::ForbiddenCharacter`], or [`DecodeError::OutOfRange`] when it does
    /// not have three parts.
    pub fn parse(token: &str) -> Result<Self, DecodeError> {
        Self::from_bytes(token.as_bytes())
    }

    /// The token.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Header, payload and signature, each still in base64url; a part may be empty.
    #[must_use]
    pub fn parts(&self) -> [&str; 3] {
        let (header, rest) = self.0.split_once('.').unwrap_or((&self.0, ""));
        let (payload, signature) = rest.split_once('.').unwrap_or((rest, ""));
        [header, payload, signature]
    }

    /// What the signature covers: header and payload, with the dot between them.
    fn signed_part(&self) -> &str {
        self.0.rsplit_once('.').map_or("", |(signed, _)| signed)
    }

    pub(crate) fn from_bytes(token: &[u8]) -> Result<Self, DecodeError> {
        let length = token.len();
        if length == 0 || length > MAX_JWT {
            return Err(DecodeError::BadLength {
                field: "jwt",
                length,
                minimum: 1,
                maximum: MAX_JWT,
            });
        }
        let mut text = String::with_capacity(length);
        let mut dots = 0;
        for &byte in token {
            match byte {
                b'.' => dots += 1,
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => {}
                _ => return Err(DecodeError::ForbiddenCharacter { field: "jwt" }),
            }
            text.push(char::from(byte));
        }
        if dots == 2 {
            Ok(Self(text))
        } else {
            Err(DecodeError::OutOfRange { field: "jwt" })
        }
    }
}

impl fmt::Debug for CompactJwt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "CompactJwt({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_falls_into_its_three_parts() {
        let token = CompactJwt::parse("aa.b-b.c_c").expect("a token");
        assert_eq!(token.parts(), ["aa", "b-b", "c_c"]);
        assert_eq!(
            CompactJwt::parse("..").expect("empty parts").parts(),
            ["", "", ""]
        );
        assert_eq!(format!("{token:?}"), "CompactJwt(10 bytes)");
    }

    #[test]
    fn other_alphabets_and_other_numbers_of_parts_are_refused() {
        for bad in [
            "", "a.b", "a.b.c.d", "a+.b.c", "a=.b.c", "a/.b.c", "a .b.c", "a.b\0.c", "é.b.c",
        ] {
            assert!(CompactJwt::parse(bad).is_err(), "{bad:?}");
        }
        assert!(CompactJwt::parse(&format!("a.b.{}", "c".repeat(1020))).is_ok());
        assert!(CompactJwt::parse(&format!("a.b.{}", "c".repeat(1021))).is_err());
    }
}
