//! Changed and random tokens: never a panic, and never accepted.

use proptest::prelude::*;

use super::{Draft, HEADER, ada, judge, sign};
use crate::round_trip::check;
use decitick_protocol::CompactJwt;

/// One change: put a character in, take one out, or put one in the place of another. The position is taken modulo the
/// length.
#[derive(Debug, Clone)]
enum Change {
    Insert(usize, u8),
    Remove(usize),
    Replace(usize, u8),
    Swap(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let character = || proptest::sample::select(b"ABCZabcz019-_.".to_vec());
    prop_oneof![
        (any::<usize>(), character()).prop_map(|(at, byte)| Change::Insert(at, byte)),
        any::<usize>().prop_map(Change::Remove),
        (any::<usize>(), character()).prop_map(|(at, byte)| Change::Replace(at, byte)),
        (any::<usize>(), any::<usize>()).prop_map(|(one, other)| Change::Swap(one, other)),
    ]
}

fn apply(token: &mut Vec<u8>, change: &Change) {
    let length = token.len().max(1);
    match *change {
        Change::Insert(at, byte) => token.insert(at % length, byte),
        Change::Remove(at) => drop(token.remove(at % length)),
        Change::Replace(at, byte) => token[at % length] = byte,
        Change::Swap(one, other) => token.swap(one % length, other % length),
    }
}

#[test]
fn a_changed_token_is_never_accepted() {
    let draft = Draft::good();
    let good = draft.token();
    check(3_000, &proptest::collection::vec(change(), 1..6), |changes| {
        let mut token = good.clone().into_bytes();
        for change in &changes {
            apply(&mut token, change);
        }
        let token = String::from_utf8(token).expect("ASCII");
        if CompactJwt::parse(&token).is_ok() {
            prop_assert_eq!(judge(&token, draft.ticket) == ada(), token == good);
        }
        Ok(())
    });
}

#[test]
fn each_single_bit_of_each_part_matters() {
    let draft = Draft::good();
    let good = draft.token();
    for at in 0..good.len() {
        for bit in 0..7 {
            let mut token = good.clone().into_bytes();
            token[at] ^= 1 << bit;
            let token = String::from_utf8(token).expect("ASCII");
            if CompactJwt::parse(&token).is_ok() {
                assert!(judge(&token, draft.ticket).is_err(), "bit {bit} of byte {at}");
            }
        }
    }
}

#[test]
fn random_bytes_that_were_signed_are_judged_without_a_panic() {
    let signer = Draft::good().signer;
    let bytes = || proptest::collection::vec(any::<u8>(), 0..300);
    check(1_000, &(bytes(), bytes()), |(header, payload)| {
        let _ = judge(&sign(&signer, &header, &payload), None);
        let _ = judge(&sign(&signer, HEADER.as_bytes(), &payload), None);
        Ok(())
    });
}

#[test]
fn random_json_that_was_signed_is_judged_without_a_panic() {
    let draft = Draft::good();
    let text = "[\\[\\]{}:,\"0-9a-eE.+\\\\u -]{0,200}";
    check(400, &text, |text| {
        let _ = judge(
            &sign(&draft.signer, HEADER.as_bytes(), text.as_bytes()),
            draft.ticket,
        );
        for claim in ["iss", "aud", "sub", "exp", "nbf", "nonce"] {
            let _ = Draft::with_raw(claim, &text).judge();
        }
        Ok(())
    });
}
