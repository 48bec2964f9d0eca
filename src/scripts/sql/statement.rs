//! Runs one statement of a script and gathers its answer within bounds.

use decitick_components::script::{SqlAnswer, SqlKind, SqlStatement, SqlValue};
use rusqlite::{
    Connection, ErrorCode, Statement,
    types::{ToSqlOutput, ValueRef},
};

use super::{
    ANSWER_BYTES_MOST, FILE_BYTES_MOST, ROWS_MOST, SQL_BYTES_MOST, STATEMENT_TIME, VALUE_BYTES_MOST,
    guard::Guard, words,
};

/// What a value counts as at least.
const VALUE_BYTES_LEAST: usize = 8;

/// Runs a statement to its end or to the first limit.
///
/// # Errors
/// In words for the author of the script; nothing of the statement is kept then.
pub(super) fn run(
    connection: &Connection,
    guard: &Guard,
    statement: &SqlStatement,
) -> Result<SqlAnswer, String> {
    if statement.sql.contains('\0') {
        return Err("the statement holds a zero character; take it out".to_owned());
    }
    if let Some(refusal) = refused_by_name(&statement.sql) {
        return Err(refusal);
    }
    guard.begin(STATEMENT_TIME);
    let outcome = run_guarded(connection, statement);
    let refusal = guard.take_refusal();
    outcome.map_err(|failure| match failure {
        Failure::Ours(problem) => problem,
        Failure::Sqlite(error) => refusal.unwrap_or_else(|| explain(&error, guard)),
    })
}

enum Failure {
    Ours(String),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<String> for Failure {
    fn from(problem: String) -> Self {
        Self::Ours(problem)
    }
}

fn run_guarded(connection: &Connection, statement: &SqlStatement) -> Result<SqlAnswer, Failure> {
    let mut prepared = connection.prepare(&statement.sql)?;
    let wanted = prepared.parameter_count();
    if wanted != statement.parameters.len() {
        return Err(Failure::Ours(format!(
            "the statement has {wanted} parameters, but {} values were given",
            statement.parameters.len()
        )));
    }
    for (index, value) in (1..).zip(&statement.parameters) {
        prepared.raw_bind_parameter::<usize, _>(index, bound(value))?;
    }
    match statement.kind {
        SqlKind::Query if prepared.readonly() => query(&mut prepared),
        SqlKind::Query => Err(Failure::Ours(
            "db::query changes nothing; use db::execute".to_owned(),
        )),
        SqlKind::Execute if prepared.column_count() > 0 => Err(Failure::Ours(if prepared.readonly() {
            "db::execute answers with no rows; use db::query".to_owned()
        } else {
            "db::execute answers with no rows; take RETURNING out".to_owned()
        })),
        SqlKind::Execute => {
            let before = connection.total_changes();
            prepared.raw_execute()?;
            let changed = connection.total_changes() != before;
            Ok(SqlAnswer {
                // SQLite goes on telling the number of the last statement that changed something.
                changes: if changed { number(connection.changes()) } else { 0 },
                last_id: connection.last_insert_rowid(),
                ..SqlAnswer::default()
            })
        }
    }
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn bound(value: &SqlValue) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match value {
        SqlValue::Null => ValueRef::Null,
        SqlValue::Integer(value) => ValueRef::Integer(*value),
        SqlValue::Real(value) => ValueRef::Real(*value),
        SqlValue::Text(value) => ValueRef::Text(value.as_bytes()),
        SqlValue::Blob(value) => ValueRef::Blob(value),
    })
}

fn query(prepared: &mut Statement<'_>) -> Result<SqlAnswer, Failure> {
    let columns: Vec<String> = prepared.column_names().map(str::to_owned).collect();
    let mut answer = SqlAnswer {
        columns,
        ..SqlAnswer::default()
    };
    let mut room = ANSWER_BYTES_MOST;
    let mut rows = prepared.raw_query();
    while let Some(row) = rows.next()? {
        if answer.rows.len() == ROWS_MOST {
            return Err(Failure::Ours(format!(
                "the answer has more than {ROWS_MOST} rows; ask for fewer with LIMIT"
            )));
        }
        let mut values = Vec::with_capacity(answer.columns.len());
        for (index, column) in answer.columns.iter().enumerate() {
            let value = row.get_ref(index)?;
            let size = size_of(value).max(VALUE_BYTES_LEAST);
            room = room.checked_sub(size).ok_or_else(|| {
                format!(
                    "the answer has more than {} KiB; ask for fewer rows or columns",
                    ANSWER_BYTES_MOST / 1024
                )
            })?;
            values.push(owned(value, column)?);
        }
        answer.rows.push(values);
    }
    Ok(answer)
}

const fn size_of(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => VALUE_BYTES_LEAST,
    }
}

fn owned(value: ValueRef<'_>, column: &str) -> Result<SqlValue, String> {
    Ok(match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(value) => SqlValue::Integer(value),
        ValueRef::Real(value) => SqlValue::Real(value),
        ValueRef::Blob(value) => SqlValue::Blob(value.to_vec()),
        ValueRef::Text(value) => SqlValue::Text(
            str::from_utf8(value)
                .map_err(|_| {
                    format!("a text in the column {column:?} is not UTF-8; ask for CAST(... AS BLOB)")
                })?
                .to_owned(),
        ),
    })
}

/// What is refused by its first word: SQLite would say less, or ask nobody.
fn refused_by_name(sql: &str) -> Option<String> {
    let word = first_word(sql).to_ascii_uppercase();
    let why = match word.as_str() {
        "ATTACH" | "DETACH" => "a resource has one database",
        "VACUUM" => "the file is kept by the server",
        "PRAGMA" => "the server sets how the database is kept",
        "BEGIN" | "COMMIT" | "END" | "ROLLBACK" | "SAVEPOINT" | "RELEASE" => {
            "each statement is a transaction of its own"
        }
        _ => return None,
    };
    Some(format!("{word} is not for scripts; {why}"))
}

/// The first word after blanks, semicolons and comments.
fn first_word(sql: &str) -> &str {
    let mut rest = sql;
    loop {
        rest = rest.trim_start_matches(|character: char| character.is_whitespace() || character == ';');
        let after = if let Some(comment) = rest.strip_prefix("--") {
            comment.split_once('\n').map(|(_, after)| after)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map(|(_, after)| after)
        } else {
            let end = rest
                .find(|character: char| !character.is_ascii_alphabetic())
                .unwrap_or(rest.len());
            return rest.get(..end).unwrap_or_default();
        };
        let Some(after) = after else {
            return "";
        };
        rest = after;
    }
}

fn explain(error: &rusqlite::Error, guard: &Guard) -> String {
    match error {
        rusqlite::Error::MultipleStatement => {
            return "several statements in one text; run them one by one".to_owned();
        }
        rusqlite::Error::Empty => return "there is no statement in the text".to_owned(),
        _ => {}
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) if guard.stopping() => {
            "the server stops; the statement was ended".to_owned()
        }
        Some(ErrorCode::OperationInterrupted) => format!(
            "the statement took longer than {} s and was ended; let it do less, or make an index",
            STATEMENT_TIME.as_secs()
        ),
        Some(ErrorCode::DiskFull) => format!(
            "the database has reached {} MiB, or the disk is full; delete what is not needed",
            FILE_BYTES_MOST / 1024 / 1024
        ),
        Some(ErrorCode::TooBig) => format!(
            "something is too large: a value may have {} KiB and a statement {} KiB",
            VALUE_BYTES_MOST / 1024,
            SQL_BYTES_MOST / 1024
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program holds the database file; close it there".to_owned()
        }
        _ => words(error),
    }
}

#[cfg(test)]
mod tests;
