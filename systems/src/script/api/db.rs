//! `db`: a database of its own for each resource.

use decitick_components::script::{ScriptWork, SqlKind, SqlStatement, SqlValue};
use rhai::{Blob, Dynamic};

use super::{Call, Native, Outcome, Owner, param, type_word};
use crate::script::desk::{Desk, MOST_ASKED_BYTES, Waiting};

/// Longest statement in bytes.
const LONGEST_SQL: usize = 64 * 1024;
/// Most bytes of all parameters of a statement.
const MOST_PARAMETER_BYTES: usize = 1024 * 1024;
/// Most parameters.
const MOST_PARAMETERS: usize = 1_000;

pub(super) const NATIVES: &[Native] = &[
    Native {
        owner: Owner::Module("db"),
        name: "query",
        params: &[
            param("sql", "string"),
            param("params", "array"),
            param("fn", "function"),
        ],
        optional: 0,
        returns: "",
        doc: "Reads from the resource's SQLite database, some ticks later: the function gets `#{ok: true, rows}`, where each row is a map by column name, or `#{ok: false, error}`. Values go into the statement as `?1`, `?2` and so on, never by joining strings. Answers come in the order of the questions; a statement may take a second and answer 10,000 rows or 1 MiB.",
        example: "db::query(\"SELECT name, seconds FROM laps WHERE seconds < ?1 ORDER BY seconds\", [90.0], |answer| {\n    if !answer.ok { log::error(answer.error); return; }\n    for row in answer.rows { log::info(`${row.name}: ${row.seconds}`); }\n});",
        run: |call| ask(call, SqlKind::Query),
    },
    Native {
        owner: Owner::Module("db"),
        name: "execute",
        params: &[
            param("sql", "string"),
            param("params", "array"),
            param("fn", "function"),
        ],
        optional: 1,
        returns: "",
        doc: "Changes the resource's SQLite database, some ticks later: the function gets `#{ok: true, changes, last_id}` once it is safe on disk, or `#{ok: false, error}`. Without a function, an error is logged.",
        example: "fn resource_start() {\n    db::execute(\"CREATE TABLE IF NOT EXISTS laps (name TEXT, seconds REAL)\", []);\n    db::execute(\"INSERT INTO laps VALUES (?1, ?2)\", [\"Ada\", 61.5], |answer| {\n        if answer.ok { log::info(`row ${answer.last_id}`); }\n    });\n}",
        run: |call| ask(call, SqlKind::Execute),
    },
];

fn ask(call: &mut Call<'_, '_>, kind: SqlKind) -> Outcome {
    let sql = call.text_of(0, 1..=LONGEST_SQL)?;
    let parameters = parameters(&call.array(1)?)?;
    let bytes = parameters
        .iter()
        .map(size_of_value)
        .fold(sql.len(), usize::saturating_add);
    let office = call.desk.keeping_office()?;
    if office.asked_bytes.saturating_add(bytes) > MOST_ASKED_BYTES {
        return Err("too much in one tick: statements and their params may have 16 MiB; spread them with timers::after".to_owned());
    }
    office.asked_bytes = office.asked_bytes.saturating_add(bytes);
    let callback = if call.count() > 2 {
        Some(call.callback(2)?)
    } else {
        None
    };
    let waiting = Waiting {
        callback,
        // A copy, since it is let go of outside of a call.
        what: sql.as_str().into(),
    };
    let request = wait(call.desk, waiting)?;
    let resource = call.desk.office()?.name.clone();
    call.desk.wishes.work.push(ScriptWork::Sql {
        request,
        resource,
        statement: SqlStatement {
            kind,
            sql: sql.to_string(),
            parameters,
        },
    });
    Ok(Dynamic::UNIT)
}

/// Numbers a request of the caller and remembers who waits for its answer.
pub(super) fn wait(desk: &mut Desk, waiting: Waiting) -> Result<u64, String> {
    desk.spend_wish()?;
    desk.owe()?;
    let request = desk.next_request();
    desk.office()?.waiting.insert(request, vec![waiting]);
    Ok(request)
}

fn parameters(given: &[Dynamic]) -> Result<Vec<SqlValue>, String> {
    if given.len() > MOST_PARAMETERS {
        return Err(format!(
            "params may have {MOST_PARAMETERS} values, got {}",
            given.len()
        ));
    }
    let mut bytes = 0usize;
    given
        .iter()
        .enumerate()
        .map(|(index, value)| {
            let value = sql_value(value).ok_or_else(|| {
                format!(
                    "params[{index}] must be (), a bool, a number, a string or a blob, got {}",
                    type_word(value)
                )
            })?;
            bytes = bytes.saturating_add(size_of_value(&value));
            if bytes > MOST_PARAMETER_BYTES {
                return Err("params may have 1 MiB in all".to_owned());
            }
            Ok(value)
        })
        .collect()
}

const fn size_of_value(value: &SqlValue) -> usize {
    match value {
        SqlValue::Text(text) => text.len(),
        SqlValue::Blob(blob) => blob.len(),
        SqlValue::Null | SqlValue::Integer(_) | SqlValue::Real(_) => 8,
    }
}

fn sql_value(value: &Dynamic) -> Option<SqlValue> {
    if value.is_unit() {
        return Some(SqlValue::Null);
    }
    if let Ok(number) = value.as_int() {
        return Some(SqlValue::Integer(number));
    }
    if let Ok(number) = value.as_float() {
        return Some(SqlValue::Real(number));
    }
    if let Ok(flag) = value.as_bool() {
        return Some(SqlValue::Integer(flag.into()));
    }
    if let Some(blob) = value.read_lock::<Blob>() {
        return Some(SqlValue::Blob(blob.clone()));
    }
    let text = value.flatten_clone().into_immutable_string().ok()?;
    Some(SqlValue::Text(text.to_string()))
}
