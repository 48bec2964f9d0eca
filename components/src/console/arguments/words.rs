//! How single arguments are read, whatever command they belong to.

use std::{ops::RangeInclusive, str::FromStr};

use decitick_protocol::{MAX_PLAYERS, ShownText};

use super::super::{commands::shown, error::ArgumentFault, grammar::first_word};
use crate::bans::BanRange;

/// How long an answer goes on unless SECONDS are given.
const DEFAULT_SECONDS: u32 = 10;
/// How long an answer may go on.
const MAX_STREAM_SECONDS: u32 = 3_600;
/// Bytes of the longest range that can be written: a full IPv6 address with an IPv4 tail, and a prefix length.
const LONGEST_RANGE: usize = 64;

/// Nothing may follow the last argument.
pub(super) fn nothing_in(rest: &str) -> Result<(), ArgumentFault> {
    if rest.is_empty() {
        Ok(())
    } else {
        Err(ArgumentFault::TooMany)
    }
}

/// The first word, which must be there, and what follows it.
pub(super) fn required<'a>(
    argument: &'static str,
    arguments: &'a str,
) -> Result<(&'a str, &'a str), ArgumentFault> {
    match first_word(arguments) {
        ("", _) => Err(ArgumentFault::Missing { argument }),
        words => Ok(words),
    }
}

/// A text within its bounds, whole.
pub(super) fn text<const MIN: usize, const MAX: usize>(
    argument: &'static str,
    text: &str,
) -> Result<ShownText<MIN, MAX>, ArgumentFault> {
    ShownText::parse(text).map_err(|fault| ArgumentFault::Text { argument, fault })
}

/// Digits only: neither a sign nor a fraction. The number type must hold the whole range.
pub(super) fn whole_number<N>(
    argument: &'static str,
    word: &str,
    range: RangeInclusive<N>,
) -> Result<N, ArgumentFault>
where
    N: FromStr + PartialOrd + Copy + Into<u32>,
{
    let fault = ArgumentFault::NotInRange {
        argument,
        least: (*range.start()).into(),
        greatest: (*range.end()).into(),
    };
    if !word.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(fault);
    }
    word.parse()
        .ok()
        .filter(|number| range.contains(number))
        .ok_or(fault)
}

/// The id of a player, be it held or not.
pub(super) fn player_id(word: &str) -> Result<u16, ArgumentFault> {
    whole_number("ID", word, 0..=MAX_PLAYERS - 1)
}

/// SECONDS at the end of a line, 1 to an hour; 10 when they are left out.
pub(super) fn seconds(rest: &str) -> Result<u32, ArgumentFault> {
    let (word, rest) = first_word(rest);
    nothing_in(rest)?;
    if word.is_empty() {
        return Ok(DEFAULT_SECONDS);
    }
    whole_number("SECONDS", word, 1..=MAX_STREAM_SECONDS)
}

/// Whether the second word of `ban` is meant as SECONDS: anything a person would call a number, so that `-5` or
/// `1.5` is an error and not the reason of a ban for good.
pub(super) fn looks_like_number(word: &str) -> bool {
    let numeric = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.');
    word.bytes().all(numeric) && word.parse::<f64>().is_ok()
}

/// An address or a range of them.
pub(super) fn ban_range(word: &str) -> Result<BanRange, ArgumentFault> {
    // A word longer than any address is not echoed back whole.
    BanRange::parse(word).map_err(|fault| match fault {
        fault if word.len() <= LONGEST_RANGE => ArgumentFault::Ban(fault),
        _ => ArgumentFault::Address { word: shown(word) },
    })
}
