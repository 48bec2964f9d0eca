//! The edges of every claim.

use decitick_protocol::AssertionFault::{self, Audience, Expired, Invalid, Ticket};
use serde_json::{Value, json};

use super::{Draft, NOW, PROVIDER, SERVER, TICKET, ada, hex};

#[track_caller]
fn expect(claim: &str, value: Value, fault: AssertionFault) {
    assert_eq!(
        Draft::with(claim, value.clone()).judge(),
        Err(fault),
        "{claim}: {value}"
    );
}

/// Whatever is no string, no list and no whole number.
fn other_types() -> [Value; 5] {
    [json!(null), json!(true), json!({}), json!({"a": "b"}), json!(0.5)]
}

#[test]
fn claims_and_header_members_that_nobody_asked_for_change_nothing() {
    let mut draft = Draft::with("roles", json!([{"name": "admin"}, null, 1.5, -3]));
    draft.header = r#"{"kid":"k1","alg":"EdDSA","typ":["any"],"jwk":{"kty":"OKP"}}"#.into();
    assert_eq!(draft.judge(), ada());
    assert_eq!(Draft::with_header(r#"{"alg":"EdDSA"}"#).judge(), ada());
}

#[test]
fn the_issuer_is_the_exact_id_of_a_provider() {
    for bad in ["", "Example", "example ", "example\0", "exampl"] {
        expect("iss", bad.into(), Invalid);
    }
    expect("iss", json!([PROVIDER]), Invalid);
    for bad in other_types() {
        expect("iss", bad, Invalid);
    }
    assert_eq!(Draft::without("iss").judge(), Err(Invalid));
}

#[test]
fn the_audience_is_the_servers_key_in_lower_case_or_a_list_with_it() {
    let key = hex(&SERVER);
    assert_eq!(Draft::with("aud", json!([key])).judge(), ada());
    assert_eq!(Draft::with("aud", json!(["", key, "other", key])).judge(), ada());
    for other in [
        json!(key.to_uppercase()),
        json!(""),
        json!(key[..63]),
        json!(format!("{key}0")),
        json!(format!(" {key}")),
        json!(hex(&[0xAC; 32])),
        json!([]),
        json!([key.to_uppercase(), "x"]),
    ] {
        expect("aud", other, Audience);
    }
    for bad in other_types() {
        expect("aud", json!([key, bad]), Invalid);
        expect("aud", bad, Invalid);
    }
    expect("aud", json!([[key]]), Invalid);
    expect("aud", json!([1, key]), Invalid);
    expect("aud", json!(7), Invalid);
    assert_eq!(Draft::without("aud").judge(), Err(Invalid));
}

#[test]
fn a_subject_has_1_to_128_bytes_and_no_control_character() {
    let long = "é".repeat(64);
    for good in ["a", &long, " a b ", "\u{200b}", "😀"] {
        let identity = Draft::with("sub", good).judge();
        assert_eq!(
            identity.map(|identity| identity.subject),
            Ok(good.to_owned()),
            "{good:?}"
        );
    }
    for bad in [
        "",
        &"a".repeat(129),
        &format!("{long}a"),
        "a\n",
        "\0",
        "a\u{7f}",
        "\u{85}",
    ] {
        expect("sub", bad.into(), Invalid);
    }
    for bad in other_types() {
        expect("sub", bad, Invalid);
    }
    expect("sub", json!(1), Invalid);
    expect("sub", json!(["ada"]), Invalid);
}

#[test]
fn an_assertion_is_good_until_its_end_and_for_600_seconds_at_most() {
    assert_eq!(Draft::with("exp", NOW + 1).judge(), ada());
    assert_eq!(Draft::with("exp", NOW + 600).judge(), ada());
    for (exp, fault) in [
        (0, Expired),
        (NOW - 1, Expired),
        (NOW, Expired),
        (NOW + 601, Invalid),
    ] {
        expect("exp", exp.into(), fault);
    }
    for far in [1 << 53, (1 << 53) + 1, u64::MAX] {
        expect("exp", far.into(), Invalid);
    }
}

#[test]
fn times_are_whole_numbers() {
    let soon = NOW + 60;
    for claim in ["exp", "nbf"] {
        for text in [
            &format!("\"{soon}\""),
            &format!("{soon}.0"),
            &format!("{soon}.5"),
            "1.7e9",
            "1700000060e0",
            "1e9",
            "1E300",
            "-1",
            "-0",
            "18446744073709551616",
            "99999999999999999999999999",
            "null",
            "true",
            "[]",
            &format!("[{soon}]"),
            "{}",
        ] {
            assert_eq!(
                Draft::with_raw(claim, text).judge(),
                Err(Invalid),
                "{claim}: {text}"
            );
        }
    }
    assert_eq!(Draft::with_raw("exp", &soon.to_string()).judge(), ada());
}

#[test]
fn a_start_may_be_now_or_earlier_and_may_be_left_out() {
    for nbf in [0, NOW - 1, NOW] {
        assert_eq!(Draft::with("nbf", nbf).judge(), ada(), "{nbf}");
    }
    for nbf in [NOW + 1, NOW + 300, 1 << 53] {
        expect("nbf", nbf.into(), Expired);
    }
    expect("nbf", ((1_u64 << 53) + 1).into(), Invalid);
}

#[test]
fn the_nonce_is_the_ticket_and_nothing_like_it() {
    for bad in ["", "ticket-0", "ticket-011", "TICKET-01", "ticket-02"] {
        expect("nonce", bad.into(), Ticket);
    }
    for bad in other_types() {
        expect("nonce", bad, Invalid);
    }
    expect("nonce", json!([TICKET]), Invalid);
    assert_eq!(Draft::without("nonce").judge(), Err(Invalid));
    let mut without_a_ticket = Draft::with("nonce", "");
    without_a_ticket.ticket = None;
    assert_eq!(without_a_ticket.judge(), Err(Ticket));
}
