//! Tokens that a foreign library made: PyJWT, where this machine has it.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use decitick_protocol::AssertionFault::{Audience, Invalid, Ticket};
use serde_json::{Map, Value, json};

use super::{Draft, NOW, SEED, SERVER, TICKET, ada, hex, judge};

/// What the script says where its library is missing.
const LIBRARY_MISSING: i32 = 3;

/// A token with these claims, or none where the means to make it are missing; that is said once for the reader.
/// Where everything is installed, as in the gate, nothing may be left out.
#[expect(
    clippy::print_stdout,
    reason = "whoever reads the output learns what was left out"
)]
fn skip(reason: &str) {
    assert!(
        std::env::var_os("DECITICK_SKIP_NOTHING").is_none(),
        "DECITICK_SKIP_NOTHING is set, and {reason}"
    );
    println!("skipped: {reason}");
}

fn foreign_token(claims: &Map<String, Value>, headers: &Value) -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/foreign/make_token.py");
    let python = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut python) = python else {
        skip("there is no python3");
        return None;
    };
    let wanted = json!({ "seed_hex": hex(&SEED), "claims": claims, "headers": headers });
    // The script may have ended without reading.
    let _ = python
        .stdin
        .take()
        .expect("a pipe")
        .write_all(wanted.to_string().as_bytes());
    let output = python.wait_with_output().expect("the script ends");
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(LIBRARY_MISSING) {
        skip(&errors);
        return None;
    }
    assert!(output.status.success(), "{errors}");
    Some(
        String::from_utf8(output.stdout)
            .expect("ASCII")
            .trim_end()
            .to_owned(),
    )
}

#[test]
fn tokens_of_a_foreign_library_are_accepted() {
    let key = hex(&SERVER);
    for (claim, value) in [
        ("iat", json!(NOW)),
        ("aud", json!(key)),
        ("aud", json!([key])),
        ("aud", json!(["other", key])),
        ("nbf", json!(NOW)),
        ("exp", json!(NOW + 600)),
        ("roles", json!({"a": [1.5, null]})),
    ] {
        let draft = Draft::with(claim, value);
        for headers in [json!({}), json!({"kid": "key-1"})] {
            let Some(token) = foreign_token(&draft.claims, &headers) else {
                return;
            };
            assert_eq!(judge(&token, draft.ticket), ada(), "{claim}, {headers}");
        }
    }
    let subject = Draft::with("sub", "Ада \"<&>\" 😀");
    if let Some(token) = foreign_token(&subject.claims, &json!({})) {
        let identity = judge(&token, subject.ticket).expect("an identity");
        assert_eq!(identity.subject, "Ада \"<&>\" 😀");
    }
}

#[test]
fn faults_in_tokens_of_a_foreign_library_are_found() {
    let other_server = Draft::with("aud", hex(&[1; 32]));
    let Some(token) = foreign_token(&other_server.claims, &json!({})) else {
        return;
    };
    assert_eq!(judge(&token, other_server.ticket), Err(Audience));
    let good = Draft::good();
    let critical = foreign_token(&good.claims, &json!({"crit": ["exp"]})).expect("a token");
    assert_eq!(judge(&critical, good.ticket), Err(Invalid));
    let token = foreign_token(&good.claims, &json!({})).expect("a token");
    assert_eq!(judge(&token, Some(("other", TICKET))), Err(Ticket));
}
