//! `json`: data as text for others.

use super::{Native, Owner, param};
use crate::script::data;

/// Largest text in bytes.
const MOST_BYTES: usize = 1024 * 1024;

pub(super) const NATIVES: &[Native] = &[
    Native {
        owner: Owner::Module("json"),
        name: "parse",
        params: &[param("text", "string")],
        optional: 0,
        returns: "data",
        doc: "The data that a JSON text of at most 1 MiB says; `null` becomes `()`. What is no JSON is an error.",
        example: "let data = json::parse(\"{\\\"laps\\\": [61.5, 60.2]}\");\nlog::info(`${data.laps.len()} laps`);",
        run: |call| {
            let text = call.text_of(0, 1..=MOST_BYTES)?;
            data::from_json(&text).map_err(|fault| fault.in_words("value"))
        },
    },
    Native {
        owner: Owner::Module("json"),
        name: "to_string",
        params: &[param("value", "data")],
        optional: 0,
        returns: "string",
        doc: "Data as JSON text of at most 1 MiB.",
        example: "log::info(json::to_string(#{name: \"Ada\", laps: [61.5, 60.2]}));",
        run: |call| {
            data::to_json(&call.any(0), MOST_BYTES)
                .map(Into::into)
                .map_err(|fault| fault.in_words("value"))
        },
    },
];
