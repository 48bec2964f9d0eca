//! Of two faults at once, the one that comes first in the order of the checks is the outcome.

use decitick_protocol::AssertionFault::{self, Audience, Expired, Invalid, Ticket};
use ed25519_dalek::SigningKey;
use serde_json::json;

use super::{Draft, NOW, OTHER_PROVIDER, PROVIDER, TICKET, ada, hex};

struct Fault {
    name: &'static str,
    /// What it changes; two faults in the same place cannot be there at once.
    place: &'static str,
    outcome: AssertionFault,
    apply: fn(&mut Draft),
}

const fn fault(
    name: &'static str,
    place: &'static str,
    outcome: AssertionFault,
    apply: fn(&mut Draft),
) -> Fault {
    Fault {
        name,
        place,
        outcome,
        apply,
    }
}

/// Every fault, in the order of the checks.
const FAULTS: &[Fault] = &[
    fault("header is no JSON", "header", Invalid, |draft| {
        draft.header.push('x');
    }),
    fault("alg none", "header", Invalid, |draft| {
        draft.header = r#"{"alg":"none"}"#.into();
    }),
    fault("crit", "header", Invalid, |draft| {
        draft.header = r#"{"alg":"EdDSA","crit":["exp"]}"#.into();
    }),
    fault("a member twice", "twice", Invalid, |draft| {
        draft.payload = Some("twice".into());
    }),
    fault("unknown issuer", "iss", Invalid, |draft| {
        draft.claims.insert("iss".into(), json!("nobody"));
    }),
    fault("another provider's name", "iss", Invalid, |draft| {
        draft.claims.insert("iss".into(), json!(OTHER_PROVIDER));
    }),
    fault("another signer", "signer", Invalid, |draft| {
        draft.signer = SigningKey::from_bytes(&[0x99; 32]);
    }),
    fault("no aud", "aud", Invalid, |draft| {
        draft.claims.remove("aud");
    }),
    fault("aud of a wrong type", "aud", Invalid, |draft| {
        draft.claims.insert("aud".into(), json!([hex(&super::SERVER), 1]));
    }),
    fault("another server", "aud", Audience, |draft| {
        draft.claims.insert("aud".into(), json!(hex(&[0xAC; 32])));
    }),
    fault("no sub", "sub", Invalid, |draft| {
        draft.claims.remove("sub");
    }),
    fault("empty sub", "sub", Invalid, |draft| {
        draft.claims.insert("sub".into(), json!(""));
    }),
    fault("no exp", "exp", Invalid, |draft| {
        draft.claims.remove("exp");
    }),
    fault("exp as a string", "exp", Invalid, |draft| {
        draft.claims.insert("exp".into(), json!((NOW + 1).to_string()));
    }),
    fault("exp passed", "exp", Expired, |draft| {
        draft.claims.insert("exp".into(), json!(NOW));
    }),
    fault("exp too far ahead", "exp", Invalid, |draft| {
        draft.claims.insert("exp".into(), json!(NOW + 601));
    }),
    fault("nbf of a wrong type", "nbf", Invalid, |draft| {
        draft.claims.insert("nbf".into(), json!(null));
    }),
    fault("nbf not reached", "nbf", Expired, |draft| {
        draft.claims.insert("nbf".into(), json!(NOW + 1));
    }),
    fault("no nonce", "nonce", Invalid, |draft| {
        draft.claims.remove("nonce");
    }),
    fault("nonce of a wrong type", "nonce", Invalid, |draft| {
        draft.claims.insert("nonce".into(), json!([TICKET]));
    }),
    fault("another nonce", "nonce", Ticket, |draft| {
        draft.claims.insert("nonce".into(), json!("ticket-02"));
    }),
    fault("no ticket", "ticket", Ticket, |draft| draft.ticket = None),
    fault("another ticket", "ticket", Ticket, |draft| {
        draft.ticket = Some((PROVIDER, "ticket-03"));
    }),
    fault("a ticket of another provider", "ticket", Ticket, |draft| {
        draft.ticket = Some((OTHER_PROVIDER, TICKET));
    }),
];

fn judge(faults: &[&Fault]) -> Result<decitick_protocol::Identity, AssertionFault> {
    let mut draft = Draft::good();
    for fault in faults {
        (fault.apply)(&mut draft);
    }
    if draft.payload.is_some() {
        // The claims as the other faults left them, and one more.
        let claims = draft.claims_text();
        draft.payload = Some(format!("{},\"x\":1,\"x\":1}}", claims.trim_end_matches('}')));
    }
    draft.judge()
}

#[test]
fn without_a_fault_the_identity_is_the_outcome() {
    assert_eq!(Draft::good().judge(), ada());
}

#[test]
fn each_fault_alone_has_its_outcome() {
    for fault in FAULTS {
        assert_eq!(judge(&[fault]), Err(fault.outcome), "{}", fault.name);
    }
}

#[test]
fn of_two_faults_the_first_in_the_order_is_the_outcome() {
    let mut pairs = 0;
    for (index, first) in FAULTS.iter().enumerate() {
        for second in FAULTS[index + 1..]
            .iter()
            .filter(|second| second.place != first.place)
        {
            let names = format!("{} and {}", first.name, second.name);
            assert_eq!(judge(&[first, second]), Err(first.outcome), "{names}");
            assert_eq!(judge(&[second, first]), Err(first.outcome), "{names}, reversed");
            pairs += 1;
        }
    }
    assert_eq!(pairs, 255, "as many as the table has");
}
