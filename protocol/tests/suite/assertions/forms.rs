//! Tokens whose form is an attack: algorithms, criticality, doubled members, depth, size, encodings, keys.

use base64ct::{Base64UrlUnpadded, Encoding};
use decitick_protocol::AssertionFault::{Audience, Expired, Invalid};
use decitick_protocol::{CompactJwt, Expectations, ExpectedTicket, Issuer, judge_assertion};
use ed25519_dalek::{Signature, Verifier, VerifyingKey};
use serde_json::json;

use super::{Draft, HEADER, NOW, PROVIDER, SERVER, TICKET, ada, hex, judge, sign};
use crate::{unhex, unhex_array};

#[test]
fn no_other_algorithm_is_taken() {
    for header in [
        "{}",
        r#"{"typ":"JWT"}"#,
        r#"{"alg":"none"}"#,
        r#"{"alg":"None"}"#,
        r#"{"alg":""}"#,
        r#"{"alg":"HS256"}"#,
        r#"{"alg":"ES256"}"#,
        r#"{"alg":"Ed25519"}"#,
        r#"{"alg":"eddsa"}"#,
        r#"{"alg":"EdDSA "}"#,
        r#"{"alg":null}"#,
        r#"{"alg":["EdDSA"]}"#,
        r#"{"ALG":"EdDSA"}"#,
    ] {
        assert_eq!(Draft::with_header(header).judge(), Err(Invalid), "{header}");
    }
    assert_eq!(
        Draft::with_header(r#"{"\u0061lg":"Ed\u0044SA"}"#).judge(),
        ada(),
        "the same text in JSON"
    );
}

#[test]
fn a_token_signed_with_the_public_key_as_a_shared_secret_is_not_taken() {
    use hmac::{Hmac, KeyInit, Mac};

    let draft = Draft::with_header(r#"{"alg":"HS256"}"#);
    let token = draft.token();
    let (signed, _) = token.rsplit_once('.').expect("three parts");
    let mut mac =
        Hmac::<sha2::Sha256>::new_from_slice(draft.signer.verifying_key().as_bytes()).expect("a key");
    mac.update(signed.as_bytes());
    let mac = Base64UrlUnpadded::encode_string(&mac.finalize().into_bytes());
    assert_eq!(judge(&format!("{signed}.{mac}"), draft.ticket), Err(Invalid));
}

#[test]
fn a_critical_member_is_refused_whatever_it_lists() {
    for crit in ["[]", "null", r#"["exp"]"#, r#"["b64"]"#, "false"] {
        let header = format!(r#"{{"alg":"EdDSA","b64":true,"crit":{crit}}}"#);
        assert_eq!(Draft::with_header(header).judge(), Err(Invalid), "{crit}");
    }
}

#[test]
fn a_second_signature_part_does_not_reach_the_judgement() {
    let token = Draft::good().token();
    let (_, signature) = token.rsplit_once('.').expect("three parts");
    assert!(CompactJwt::parse(&format!("{token}.{signature}")).is_err());
    assert!(CompactJwt::parse(&format!("{token}.")).is_err());
    assert_eq!(
        judge(&format!("{token}{signature}"), Draft::good().ticket),
        Err(Invalid)
    );
}

#[test]
fn a_signature_of_another_length_is_refused() {
    let token = Draft::good().token();
    for cut in [1, 2, 3, 4, 85, 86] {
        let shorter = &token[..token.len() - cut];
        assert_eq!(judge(shorter, Draft::good().ticket), Err(Invalid), "{cut} less");
    }
    for more in ["A", "AA", "AAA", "AAAA", "AAAAAA"] {
        assert_eq!(
            judge(&format!("{token}{more}"), Draft::good().ticket),
            Err(Invalid),
            "{more} more"
        );
    }
}

#[test]
fn doubled_members_are_refused_in_header_and_claims_and_below_them() {
    for header in [
        r#"{"alg":"EdDSA","alg":"EdDSA"}"#,
        r#"{"alg":"none","alg":"EdDSA"}"#,
        r#"{"alg":"EdDSA","a\u006cg":"none"}"#,
        r#"{"alg":"EdDSA","kid":"1","kid":"2"}"#,
        r#"{"alg":"EdDSA","jwk":{"x":1,"x":2}}"#,
    ] {
        assert_eq!(Draft::with_header(header).judge(), Err(Invalid), "{header}");
    }
    let claims = Draft::good().claims_text();
    let claims = claims.trim_end_matches('}');
    for more in [
        r#""sub":"ada""#.to_owned(),
        r#""sub":"eve""#.to_owned(),
        r#""s\u0075b":"eve""#.to_owned(),
        format!(r#""exp":{}"#, NOW + 300),
        r#""x":1,"x":1"#.to_owned(),
        r#""x":[{"y":{"z":1,"z":1}}]"#.to_owned(),
    ] {
        assert_eq!(
            Draft::with_payload(format!("{claims},{more}}}")).judge(),
            Err(Invalid),
            "{more}"
        );
    }
    assert_eq!(
        Draft::with_payload(format!("{claims},\"x\":{{\"sub\":1}}}}")).judge(),
        ada()
    );
}

#[test]
fn deep_json_is_refused_before_it_costs_anything() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(Draft::with_raw("x", &nested(60)).judge(), ada());
    assert_eq!(Draft::with_raw("x", &nested(127)).judge(), Err(Invalid));
    let header = format!("{{\"alg\":\"EdDSA\",\"x\":{}}}", nested(60));
    assert_eq!(Draft::with_header(header).judge(), ada());
    let header = format!("{{\"alg\":\"EdDSA\",\"x\":{}}}", nested(127));
    assert_eq!(Draft::with_header(header).judge(), Err(Invalid));
    let brackets = Base64UrlUnpadded::encode_string("[".repeat(700).as_bytes());
    assert_eq!(
        judge(&format!("{brackets}..{}", "A".repeat(86)), None),
        Err(Invalid)
    );
    let header = Base64UrlUnpadded::encode_string(br#"{"alg":"EdDSA"}"#);
    let brackets = Base64UrlUnpadded::encode_string("[".repeat(680).as_bytes());
    assert_eq!(
        judge(&format!("{header}.{brackets}.{}", "A".repeat(86)), None),
        Err(Invalid)
    );
}

#[test]
fn tokens_of_exactly_1024_bytes_are_judged_like_others() {
    let mut draft = Draft::with_header(r#"{"alg":"EdDSA"}"#);
    let pad = |draft: &mut Draft, length: usize| {
        draft.claims.insert("pad".into(), json!("x".repeat(length)));
        draft.token().len()
    };
    let length = (0..1024).find(|&length| pad(&mut draft, length) == 1024);
    assert_eq!(pad(&mut draft, length.expect("some padding fits")), 1024);
    assert_eq!(draft.judge(), ada());
    draft.claims.insert("aud".into(), json!(hex(&[1; 32])));
    assert_eq!((draft.token().len(), draft.judge()), (1024, Err(Audience)));
    for token in [
        "A".repeat(1022) + "..",
        "..".to_owned() + &"A".repeat(1022),
        format!("{}.{}.", "_".repeat(511), "_".repeat(511)),
    ] {
        assert_eq!((token.len(), judge(&token, None)), (1024, Err(Invalid)));
    }
}

#[test]
fn the_longest_list_of_audiences_is_judged_like_others() {
    // As many entries as 1,024 bytes hold, beside the other claims.
    let entries = |count: usize| json!(vec![""; count]);
    let mut draft = Draft::with_header(r#"{"alg":"EdDSA"}"#);
    let mut fits = |count: usize| {
        draft.claims.insert("aud".into(), entries(count));
        draft.token().len() <= 1024
    };
    let count = (0..1000)
        .take_while(|&count| fits(count))
        .last()
        .expect("some fit");
    assert!(count > 150, "{count}");
    assert_eq!(Draft::with("aud", entries(count - 10)).judge(), Err(Audience));
    let mut with_key = vec![json!(""); count - 30];
    with_key.push(json!(hex(&SERVER)));
    assert_eq!(Draft::with("aud", with_key.clone()).judge(), ada());
    with_key.push(json!(1));
    assert_eq!(Draft::with("aud", with_key).judge(), Err(Invalid));
    // A thousand do not fit a token with everything else; without it they are refused.
    let thousand = format!("[{}1]", "1,".repeat(999));
    let token = format!(
        "e30.{}.",
        Base64UrlUnpadded::encode_string(&thousand.as_bytes()[..760])
    );
    assert_eq!(judge(&token, None), Err(Invalid));
    assert!(CompactJwt::parse(&Draft::with("aud", entries(1000)).token()).is_err());
}

#[test]
fn base64url_has_one_form() {
    let token = Draft::good().token();
    let (signed, signature) = token.rsplit_once('.').expect("three parts");
    // The last character of 86 carries two bits; the other four must be zero.
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let last = alphabet.find(&signature[85..]).expect("of the alphabet");
    for unused in 1..16 {
        let other = &alphabet[last + unused..=last + unused];
        let token = format!("{signed}.{}{other}", &signature[..85]);
        assert_eq!(judge(&token, Draft::good().ticket), Err(Invalid), "{other}");
    }
    for padding in ["=", "=="] {
        assert!(
            CompactJwt::parse(&format!("{token}{padding}")).is_err(),
            "{padding}"
        );
    }
    // Signed with its unused bits set, or with one character too many: still not the one form.
    let draft = Draft::with_header(r#"{"alg": "EdDSA"}"#);
    let payload = Base64UrlUnpadded::encode_string(draft.claims_text().as_bytes());
    for (header, good) in [
        ("eyJhbGciOiAiRWREU0EifQ", true),
        ("eyJhbGciOiAiRWREU0EifR", false),
        ("eyJhbGciOiAiRWREU0EifQA", false),
    ] {
        use ed25519_dalek::Signer;
        let signed = format!("{header}.{payload}");
        let signature = Base64UrlUnpadded::encode_string(&draft.signer.sign(signed.as_bytes()).to_bytes());
        assert_eq!(
            judge(&format!("{signed}.{signature}"), draft.ticket).is_ok(),
            good,
            "{header}"
        );
    }
}

#[test]
fn nothing_but_whitespace_stands_around_the_json() {
    let claims = Draft::good().claims_text();
    assert_eq!(Draft::with_payload(format!(" \r\n\t{claims}\n ")).judge(), ada());
    assert_eq!(Draft::with_header(format!(" {HEADER} ")).judge(), ada());
    for (before, after) in [
        ("\u{feff}", ""),
        ("", "x"),
        ("", "{}"),
        ("", "\0"),
        ("", ","),
        ("\u{a0}", ""),
        ("[", "]"),
    ] {
        let around = |text: &str| format!("{before}{text}{after}");
        assert_eq!(
            Draft::with_payload(around(&claims)).judge(),
            Err(Invalid),
            "{before:?} {after:?}"
        );
        assert_eq!(
            Draft::with_header(around(HEADER)).judge(),
            Err(Invalid),
            "{before:?} {after:?}"
        );
    }
    for nothing in ["", "null", "\"\"", "[]", "7"] {
        assert_eq!(Draft::with_payload(nothing).judge(), Err(Invalid), "{nothing}");
        assert_eq!(Draft::with_header(nothing).judge(), Err(Invalid), "{nothing}");
    }
}

#[test]
fn text_that_is_no_utf_8_is_refused() {
    let draft = Draft::good();
    let claims = draft.claims_text();
    let (before, after) = claims.split_once("ada").expect("the subject");
    for (subject, good) in [
        (b"\xc3\xa9".as_slice(), true),
        (b"\xff", false),
        (b"\xc0\x80", false),
        (b"\xed\xa0\x80", false),
        (b"\xf5\x80\x80\x80", false),
    ] {
        let payload = [before.as_bytes(), subject, after.as_bytes()].concat();
        let token = sign(&draft.signer, HEADER.as_bytes(), &payload);
        assert_eq!(judge(&token, draft.ticket).is_ok(), good, "{subject:02x?}");
    }
    assert_eq!(Draft::with_raw("sub", r#""\ud800""#).judge(), Err(Invalid));
    assert_eq!(
        Draft::with_raw("sub", r#""\ud83d\ude00""#)
            .judge()
            .expect("a pair")
            .subject,
        "😀"
    );
}

#[test]
fn a_weak_key_of_a_provider_signs_nothing() {
    // For the identity as key, R = 2B and S = 2 satisfy the plain equation over any message.
    let key: [u8; 32] = unhex_array("0100000000000000000000000000000000000000000000000000000000000000");
    let mut forged = [0; 64];
    forged[..32].copy_from_slice(&unhex(
        "c9a3f86aae465f0e56513864510f3997561fa2c9e85ea21dc2292309f3cd6022",
    ));
    forged[32] = 2;
    let token = Draft::good().token();
    let (signed, _) = token.rsplit_once('.').expect("three parts");
    let lax = VerifyingKey::from_bytes(&key).expect("a point");
    assert!(
        lax.verify(signed.as_bytes(), &Signature::from_bytes(&forged))
            .is_ok()
    );
    let token = CompactJwt::parse(&format!("{signed}.{}", Base64UrlUnpadded::encode_string(&forged)))
        .expect("a token");
    let expected = Expectations {
        server_key: &SERVER,
        unix_seconds: NOW,
        ticket: Some(ExpectedTicket {
            provider: PROVIDER,
            ticket: TICKET,
        }),
    };
    let judged = judge_assertion(
        &token,
        [Issuer {
            id: PROVIDER,
            key: &key,
        }],
        &expected,
    );
    assert_eq!(judged, Err(Invalid));
}

#[test]
fn without_providers_every_assertion_is_invalid() {
    let token = CompactJwt::parse(&Draft::good().token()).expect("a token");
    let expected = Expectations {
        server_key: &SERVER,
        unix_seconds: NOW,
        ticket: None,
    };
    assert_eq!(judge_assertion(&token, [], &expected), Err(Invalid));
}

#[test]
fn times_at_the_end_of_the_clock_are_judged() {
    let draft = Draft::with("exp", 1_u64 << 53);
    let token = CompactJwt::parse(&draft.token()).expect("a token");
    let key = draft.signer.verifying_key().to_bytes();
    for (unix_seconds, outcome) in [
        (0, Some(Invalid)),
        ((1 << 53) - 600, None),
        ((1 << 53) - 1, None),
        (1 << 53, Some(Expired)),
        (u64::MAX, Some(Expired)),
    ] {
        let expected = Expectations {
            server_key: &SERVER,
            unix_seconds,
            ticket: Some(ExpectedTicket {
                provider: PROVIDER,
                ticket: TICKET,
            }),
        };
        let judged = judge_assertion(
            &token,
            [Issuer {
                id: PROVIDER,
                key: &key,
            }],
            &expected,
        );
        assert_eq!(judged.err(), outcome, "{unix_seconds}");
    }
}
