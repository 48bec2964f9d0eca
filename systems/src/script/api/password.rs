//! `password`: hashes of passwords, made where they hold up nobody.

use decitick_components::{script::ScriptWork, secret::Secret};
use rhai::Dynamic;

use super::{Call, Native, Outcome, Owner, db::wait, param};
use crate::script::desk::Waiting;

/// Longest password in bytes.
const LONGEST: usize = 1024;

pub(super) const NATIVES: &[Native] = &[
    Native {
        owner: Owner::Module("password"),
        name: "hash",
        params: &[param("text", "string"), param("fn", "function")],
        optional: 0,
        returns: "",
        doc: "Hashes a password with Argon2id, some ticks later: the function gets `#{ok: true, hash}`, a string to store, or `#{ok: false, error}`. Never store a password itself.",
        example: "password::hash(\"correct horse\", |answer| {\n    if answer.ok { store::put(\"owner\", answer.hash); }\n});",
        run: hash,
    },
    Native {
        owner: Owner::Module("password"),
        name: "verify",
        params: &[
            param("text", "string"),
            param("hash", "string"),
            param("fn", "function"),
        ],
        optional: 0,
        returns: "",
        doc: "Compares a password with a hash, some ticks later: the function gets `#{ok: true, matches}` or `#{ok: false, error}`.",
        example: "password::verify(\"guess\", store::get(\"owner\", \"\"), |answer| {\n    if answer.ok && answer.matches { log::info(\"that is the owner\"); }\n});",
        run: verify,
    },
];

fn hash(call: &mut Call<'_, '_>) -> Outcome {
    let password = Secret::new(call.text_of(0, 1..=LONGEST)?.to_string());
    let callback = Some(call.callback(1)?);
    let waiting = Waiting {
        callback,
        what: "password::hash".into(),
    };
    let request = wait(call.desk, waiting)?;
    call.desk
        .wishes
        .work
        .push(ScriptWork::HashPassword { request, password });
    Ok(Dynamic::UNIT)
}

fn verify(call: &mut Call<'_, '_>) -> Outcome {
    let password = Secret::new(call.text_of(0, 1..=LONGEST)?.to_string());
    let hash = Secret::new(call.text_of(1, 0..=LONGEST)?.to_string());
    let callback = Some(call.callback(2)?);
    let waiting = Waiting {
        callback,
        what: "password::verify".into(),
    };
    let request = wait(call.desk, waiting)?;
    call.desk.wishes.work.push(ScriptWork::VerifyPassword {
        request,
        password,
        hash,
    });
    Ok(Dynamic::UNIT)
}
