//! What statements of scripts may not do, and how much of anything they may take.
//!
//! SQLite asks the authorizer about every part of a statement while it prepares it; a refusal is kept in words, because
//! SQLite itself only says that it was not authorized.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rusqlite::{
    Connection,
    hooks::{AuthAction, AuthContext, Authorization},
    limits::Limit,
};

use super::{PARAMETERS_MOST, SQL_BYTES_MOST, STORE_TABLE, VALUE_BYTES_MOST};

/// Steps of SQLite between two looks at the clock.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;

/// Virtual tables that scripts may make: both keep what they hold in the file.
const MODULES: [&str; 2] = ["fts5", "rtree"];
/// Built-in tables that show pages or the inside of SQLite.
const INNER_TABLES: [&str; 6] = [
    "dbstat",
    "sqlite_dbpage",
    "sqlite_stmt",
    "bytecode",
    "tables_used",
    "completion",
];
/// What SQLite and its virtual tables ask of their own accord, as when a column is added to a STRICT table. None changes
/// anything or tells what a table holds.
const PRAGMAS: [&str; 3] = ["data_version", "page_size", "quick_check"];
/// Functions that reach out of the database.
const FUNCTIONS: [&str; 3] = ["load_extension", "fts3_tokenizer", "sqlite_log"];

/// Watches over a connection.
#[derive(Debug)]
pub(super) struct Guard {
    refused: Arc<Mutex<Option<String>>>,
    deadline: Arc<Deadline>,
}

#[derive(Debug)]
struct Deadline {
    first: Instant,
    /// Microseconds from `first` on.
    at: AtomicU64,
    stop: Arc<AtomicBool>,
}

impl Deadline {
    fn micros(&self) -> u64 {
        u64::try_from(self.first.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn has_passed(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.micros() >= self.at.load(Ordering::Relaxed)
    }
}

impl Guard {
    /// Puts a connection under guard; once `stop` is set, whatever runs is ended.
    pub(super) fn over(connection: &mut Connection, stop: Arc<AtomicBool>) -> rusqlite::Result<Self> {
        let guard = Self {
            refused: Arc::default(),
            deadline: Arc::new(Deadline {
                first: Instant::now(),
                at: AtomicU64::new(u64::MAX),
                stop,
            }),
        };
        set_limits(connection)?;
        let refused = Arc::clone(&guard.refused);
        connection.authorizer(Some(move |context: AuthContext<'_>| match refusal(&context) {
            None => Authorization::Allow,
            Some(words) => {
                *refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
                Authorization::Deny
            }
        }))?;
        let deadline = Arc::clone(&guard.deadline);
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || deadline.has_passed()))?;
        Ok(guard)
    }

    /// Lets the next statement run for so long.
    pub(super) fn begin(&self, time: Duration) {
        let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let at = self.deadline.micros().saturating_add(time);
        self.deadline.at.store(at, Ordering::Relaxed);
        self.take_refusal();
    }

    /// Why the authorizer said no since the statement began.
    pub(super) fn take_refusal(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether the server ends.
    pub(super) fn stopping(&self) -> bool {
        self.deadline.stop.load(Ordering::Relaxed)
    }
}

fn set_limits(connection: &Connection) -> rusqlite::Result<()> {
    let number = |bound: usize| i32::try_from(bound).unwrap_or(i32::MAX);
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, number(VALUE_BYTES_MOST)),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, number(SQL_BYTES_MOST)),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, number(PARAMETERS_MOST)),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
        (Limit::SQLITE_LIMIT_COLUMN, 256),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 10),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
        (Limit::SQLITE_LIMIT_VDBE_OP, 250_000),
    ] {
        connection.set_limit(limit, most)?;
    }
    Ok(())
}

fn is_asked_within(pragma: &str) -> bool {
    PRAGMAS.iter().any(|asked| asked.eq_ignore_ascii_case(pragma))
}

/// Whether a table is a pragma in the shape of one.
fn is_pragma_table(table: &str) -> bool {
    let table = table.to_ascii_lowercase();
    table
        .strip_prefix("pragma_")
        .is_some_and(|pragma| !is_asked_within(pragma))
}

/// Why an action is refused.
fn refusal(context: &AuthContext<'_>) -> Option<String> {
    let is_store = |table: &str| table.eq_ignore_ascii_case(STORE_TABLE);
    let store = || {
        Some(format!(
            "{STORE_TABLE} belongs to the store; use store::get and store::put"
        ))
    };
    let is_temporary = context.database_name == Some("temp");
    let temporary = || Some("TEMP is not for scripts; make a table of your own".to_owned());
    match context.action {
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => {
            Some("ATTACH, DETACH and VACUUM are not for scripts; a resource has one database".to_owned())
        }
        AuthAction::Pragma { pragma_name, .. } if is_asked_within(pragma_name) => None,
        AuthAction::Pragma { .. } => Some("PRAGMA is not for scripts".to_owned()),
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => Some(
            "BEGIN, COMMIT, ROLLBACK and SAVEPOINT are not for scripts; each statement is a transaction of its own"
                .to_owned(),
        ),
        AuthAction::CreateTempIndex { .. }
        | AuthAction::CreateTempTable { .. }
        | AuthAction::CreateTempTrigger { .. }
        | AuthAction::CreateTempView { .. }
        | AuthAction::DropTempIndex { .. }
        | AuthAction::DropTempTable { .. }
        | AuthAction::DropTempTrigger { .. }
        | AuthAction::DropTempView { .. } => temporary(),
        AuthAction::CreateIndex { .. }
        | AuthAction::CreateTable { .. }
        | AuthAction::CreateTrigger { .. }
        | AuthAction::CreateView { .. }
        | AuthAction::CreateVtable { .. }
            if is_temporary =>
        {
            temporary()
        }
        AuthAction::CreateVtable { module_name, .. } | AuthAction::DropVtable { module_name, .. } => {
            let allowed = MODULES.iter().any(|module| module.eq_ignore_ascii_case(module_name));
            (!allowed).then(|| {
                format!("virtual tables of {module_name} are not for scripts; there are {}", MODULES.join(" and "))
            })
        }
        AuthAction::Function { function_name } => FUNCTIONS
            .iter()
            .any(|function| function.eq_ignore_ascii_case(function_name))
            .then(|| format!("the function {function_name} is not for scripts")),
        AuthAction::Read { table_name, .. }
            if INNER_TABLES.iter().any(|table| table.eq_ignore_ascii_case(table_name))
                || is_pragma_table(table_name) =>
        {
            Some(format!("the table {table_name} is not for scripts"))
        }
        AuthAction::CreateIndex { table_name, .. }
        | AuthAction::CreateTable { table_name }
        | AuthAction::CreateTrigger { table_name, .. }
        | AuthAction::CreateView { view_name: table_name }
        | AuthAction::Delete { table_name }
        | AuthAction::DropIndex { table_name, .. }
        | AuthAction::DropTable { table_name }
        | AuthAction::DropTrigger { table_name, .. }
        | AuthAction::Insert { table_name }
        | AuthAction::Read { table_name, .. }
        | AuthAction::Update { table_name, .. }
        | AuthAction::AlterTable { table_name, .. }
        | AuthAction::Analyze { table_name }
            if is_store(table_name) =>
        {
            store()
        }
        AuthAction::Unknown { .. } => Some("this is not for scripts".to_owned()),
        _ => None,
    }
}
