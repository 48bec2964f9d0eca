//! `console`: the operator's commands, as far as the manifest names them.

use decitick_components::{
    console::{ConsoleRequest, MAX_LINE, find},
    script::Manifest,
};
use rhai::Dynamic;

use super::{Call, Native, Outcome, Owner, db::wait, param};
use crate::script::desk::Waiting;

/// Console requests of scripts carry this bit: their answers go to scripts and to no console.
pub(crate) const OF_SCRIPTS: u64 = 1 << 62;

pub(super) const NATIVES: &[Native] = &[Native {
    owner: Owner::Module("console"),
    name: "run",
    params: &[param("text", "string"), param("fn", "function")],
    optional: 1,
    returns: "",
    doc: "Runs a console command that the resource's manifest names under `console`, in the same tick. The function gets `#{ok, text}` in the next one. End the line with ` --json` for an answer that `json::parse` takes.",
    example: "console::run(\"say The server restarts at midnight\");\nconsole::run(\"status --json\", |answer| {\n    if answer.ok { log::info(answer.text); }\n});",
    run,
}];

fn run(call: &mut Call<'_, '_>) -> Outcome {
    let line = call.text_of(0, 1..=MAX_LINE)?;
    let callback = if call.count() > 1 {
        Some(call.callback(1)?)
    } else {
        None
    };
    let word = line.split_whitespace().next().unwrap_or_default();
    if Manifest::NEVER.contains(&word) {
        return Err(format!("text: no gamemode may run the console command `{word}`"));
    }
    if find(word).is_none() {
        return Err(format!("text: there is no console command `{word}`"));
    }
    let office = call.desk.office()?;
    if !office.manifest.console.iter().any(|named| named == word) {
        return Err(format!(
            "text: the manifest does not allow `{word}`; add it to `console: [...]` in scripts/{}/resource.ron",
            office.name
        ));
    }
    let waiting = Waiting {
        callback,
        // A copy, since it is let go of outside of a call.
        what: line.as_str().into(),
    };
    let request = wait(call.desk, waiting)?;
    call.desk.wishes.console.push(ConsoleRequest {
        id: OF_SCRIPTS | request,
        line: line.to_string(),
    });
    Ok(Dynamic::UNIT)
}
