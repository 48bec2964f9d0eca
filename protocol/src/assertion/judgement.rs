//! Whom a login assertion names, or the first thing that is wrong with it (docs/protocol.md 1.5).
//!
//! The order of the checks is part of the protocol: of two faults at once the earlier one is the outcome. Which
//! providers there are, what time it is and which ticket the connection holds are arguments; that an assertion spends
//! the ticket, and how many may be tried, is not known here.

use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding};
use subtle::ConstantTimeEq;

use super::CompactJwt;
use super::json::{Json, Members, read_object};
use crate::seal::verify_strict;

/// Seconds that an assertion may still be good for when it is judged.
pub const ASSERTION_LIFETIME_MAX: u64 = 600;
/// Bytes of the longest subject.
pub const SUBJECT_MAX: usize = 128;

/// The only algorithm.
const ALGORITHM: &str = "EdDSA";
/// The largest time a claim may hold, 2^53: beyond it not every number is one that other readers see as the same.
const TIME_MAX: u64 = 1 << 53;

/// A configured provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issuer<'a> {
    /// What `iss` says in its assertions.
    pub id: &'a str,
    /// Its Ed25519 public key.
    pub key: &'a [u8; 32],
}

/// The ticket that a connection holds. There is no `Debug`: a ticket is a secret until it is spent.
#[derive(Clone, Copy)]
pub struct ExpectedTicket<'a> {
    /// The id of the provider that it was issued for.
    pub provider: &'a str,
    /// What `nonce` must say.
    pub ticket: &'a str,
}

/// What an assertion is held against.
#[derive(Clone, Copy)]
pub struct Expectations<'a> {
    /// The public key of this server.
    pub server_key: &'a [u8; 32],
    /// The time of the judgement, in seconds since 1970.
    pub unix_seconds: u64,
    /// The ticket of the connection, if it holds one.
    pub ticket: Option<ExpectedTicket<'a>>,
}

/// Why an assertion names nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssertionFault {
    /// It is malformed, of an unknown issuer or not signed by it, is good for too long, or lacks a claim.
    Invalid,
    /// It was signed for another server.
    Audience,
    /// The connection holds no ticket, one for another provider, or not the one in the assertion.
    Ticket,
    /// It is no longer good, or not good yet.
    Expired,
}

impl AssertionFault {
    /// The reason as the auth resource reads it: `invalid`, `audience`, `ticket` or `expired`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Audience => "audience",
            Self::Ticket => "ticket",
            Self::Expired => "expired",
        }
    }
}

impl fmt::Display for AssertionFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl std::error::Error for AssertionFault {}

/// Whom a provider vouches for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The provider's id.
    pub provider: String,
    /// Who that is to the provider: 1 to 128 bytes without control characters.
    pub subject: String,
}

/// Judges an assertion. Times are whole seconds; an assertion is good while `exp` is later than now, and from `nbf` on.
///
/// Whatever the token holds, the work is at most one signature check, and the memory a multiple of its 1,024 bytes.
///
/// # Errors
/// The [`AssertionFault`] that comes first in the order of docs/protocol.md 1.5: form, issuer and signature, audience,
/// subject, times, ticket.
pub fn judge_assertion<'a>(
    jwt: &CompactJwt,
    issuers: impl IntoIterator<Item = Issuer<'a>>,
    expected: &Expectations<'_>,
) -> Result<Identity, AssertionFault> {
    let (issuer, claims) = authentic_claims(jwt, issuers).ok_or(AssertionFault::Invalid)?;
    check_audience(&claims, expected.server_key)?;
    let subject = subject_of(&claims)?;
    check_times(&claims, expected.unix_seconds)?;
    check_ticket(&claims, issuer, expected.ticket)?;
    Ok(Identity {
        provider: issuer.id.to_owned(),
        subject: subject.to_owned(),
    })
}

/// The claims, and the provider that signed them. Every fault up to the signature is the same outcome, so the cheap
/// checks go first.
fn authentic_claims<'a>(
    jwt: &CompactJwt,
    issuers: impl IntoIterator<Item = Issuer<'a>>,
) -> Option<(Issuer<'a>, Members)> {
    let [header, payload, signature] = jwt.parts();
    let signature = <[u8; 64]>::try_from(decode(signature)?).ok()?;
    let header = read_object(&decode(header)?)?;
    if text(&header, "alg") != Some(ALGORITHM) || header.contains_key("crit") {
        return None;
    }
    let claims = read_object(&decode(payload)?)?;
    let id = text(&claims, "iss")?;
    let issuer = issuers.into_iter().find(|issuer| issuer.id == id)?;
    verify_strict(issuer.key, jwt.signed_part().as_bytes(), &signature).then_some((issuer, claims))
}

fn check_audience(claims: &Members, server_key: &[u8; 32]) -> Result<(), AssertionFault> {
    let mut server = String::with_capacity(64);
    for byte in server_key {
        server.extend(char::from_digit(u32::from(byte >> 4), 16));
        server.extend(char::from_digit(u32::from(byte & 0xF), 16));
    }
    let named = match claims.get("aud") {
        Some(Json::Text(audience)) => *audience == server,
        Some(Json::List(audiences)) => {
            let mut named = false;
            for audience in audiences {
                let Json::Text(audience) = audience else {
                    return Err(AssertionFault::Invalid);
                };
                named |= *audience == server;
            }
            named
        }
        _ => return Err(AssertionFault::Invalid),
    };
    if named {
        Ok(())
    } else {
        Err(AssertionFault::Audience)
    }
}

fn subject_of(claims: &Members) -> Result<&str, AssertionFault> {
    let subject = text(claims, "sub").ok_or(AssertionFault::Invalid)?;
    if (1..=SUBJECT_MAX).contains(&subject.len()) && !subject.chars().any(char::is_control) {
        Ok(subject)
    } else {
        Err(AssertionFault::Invalid)
    }
}

fn check_times(claims: &Members, now: u64) -> Result<(), AssertionFault> {
    let expiry = time(claims, "exp").ok_or(AssertionFault::Invalid)?;
    if expiry <= now {
        return Err(AssertionFault::Expired);
    }
    if expiry - now > ASSERTION_LIFETIME_MAX {
        return Err(AssertionFault::Invalid);
    }
    if claims.contains_key("nbf") && time(claims, "nbf").ok_or(AssertionFault::Invalid)? > now {
        return Err(AssertionFault::Expired);
    }
    Ok(())
}

fn check_ticket(
    claims: &Members,
    issuer: Issuer<'_>,
    expected: Option<ExpectedTicket<'_>>,
) -> Result<(), AssertionFault> {
    let nonce = text(claims, "nonce").ok_or(AssertionFault::Invalid)?;
    let matches = expected.is_some_and(|expected| {
        expected.provider == issuer.id && bool::from(expected.ticket.as_bytes().ct_eq(nonce.as_bytes()))
    });
    if matches {
        Ok(())
    } else {
        Err(AssertionFault::Ticket)
    }
}

/// The bytes of one part: base64url without padding, whose unused last bits are zero.
fn decode(part: &str) -> Option<Vec<u8>> {
    Base64UrlUnpadded::decode_vec(part).ok()
}

fn text<'m>(members: &'m Members, name: &str) -> Option<&'m str> {
    match members.get(name) {
        Some(Json::Text(text)) => Some(text),
        _ => None,
    }
}

fn time(members: &Members, name: &str) -> Option<u64> {
    match members.get(name) {
        Some(&Json::Whole(time)) if time <= TIME_MAX => Some(time),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_bits_padding_and_single_characters_are_no_base64url() {
        assert_eq!(decode("_-8"), Some(vec![0xFF, 0xEF]));
        assert_eq!(decode(""), Some(Vec::new()));
        for bad in ["_-9", "_x", "_w==", "_w=", "A", "AAAAA", "+/8", "A A"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_holds_a_ticket_is_named_but_not_shown() {
        let fault: Box<dyn std::error::Error> = Box::new(AssertionFault::Ticket);
        assert_eq!(fault.to_string(), "ticket");
        let names = [
            AssertionFault::Invalid,
            AssertionFault::Audience,
            AssertionFault::Expired,
        ]
        .map(AssertionFault::name);
        assert_eq!(names, ["invalid", "audience", "expired"]);
    }
}
