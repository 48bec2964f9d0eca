//! `log`: lines for the operator.

use rhai::Dynamic;

use super::{Call, Native, Outcome, Owner, param};
use crate::script::desk::Desk;

/// Lines that one resource may log in a tick.
const MOST_LINES: u32 = 20;
/// Characters of a line that are shown.
const SHOWN: usize = 500;

const TEXT: &[super::Param] = &[param("text", "any")];

const fn native(
    name: &'static str,
    doc: &'static str,
    example: &'static str,
    run: fn(&mut Call<'_, '_>) -> Outcome,
) -> Native {
    Native {
        owner: Owner::Module("log"),
        name,
        params: TEXT,
        optional: 0,
        returns: "",
        doc,
        example,
        run,
    }
}

pub(super) const NATIVES: &[Native] = &[
    native(
        "info",
        "Writes a line to the server's log, with the resource's name. `print` does the same. At most 20 lines a tick and 500 characters a line.",
        "log::info(\"the round begins\");",
        |call| line(call, Level::Info),
    ),
    native(
        "warn",
        "The same, as a warning.",
        "log::warn(\"nobody took the flag for an hour\");",
        |call| line(call, Level::Warn),
    ),
    native(
        "error",
        "The same, as an error.",
        "log::error(\"the map has no goal\");",
        |call| line(call, Level::Error),
    ),
];

/// How grave a line is.
#[derive(Clone, Copy)]
pub(crate) enum Level {
    Info,
    Warn,
    Error,
}

fn line(call: &mut Call<'_, '_>, level: Level) -> Outcome {
    let value = call.any(0);
    let text = match value.clone().into_immutable_string() {
        Ok(text) => text.to_string(),
        Err(_) => crate::script::standard::shown(&value),
    };
    write(call.desk, level, &text);
    Ok(Dynamic::UNIT)
}

/// Writes a line of whoever runs now, unless it wrote too many in this tick.
pub(crate) fn write(desk: &mut Desk, level: Level, text: &str) {
    let Ok(office) = desk.office() else { return };
    office.log_lines = office.log_lines.saturating_add(1);
    let resource = office.name.as_str();
    if office.log_lines > MOST_LINES {
        if office.log_lines == MOST_LINES.saturating_add(1) {
            tracing::warn!(
                resource,
                reason = "script_log",
                "too many lines of this resource in one tick; the others are not shown"
            );
        }
        return;
    }
    let text = decitick_protocol::escape_for_display(text, SHOWN);
    match level {
        Level::Info => tracing::info!(resource, "{text}"),
        Level::Warn => tracing::warn!(resource, "{text}"),
        Level::Error => tracing::error!(resource, "{text}"),
    }
}
