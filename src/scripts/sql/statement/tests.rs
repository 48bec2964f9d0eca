mod bounds;

use std::sync::{Arc, atomic::AtomicBool};

use decitick_components::script::ResourceName;

use super::{
    super::{
        PARAMETERS_MOST,
        file::{Purpose, open},
    },
    *,
};

/// A database as a script of the resource `mode` has it.
struct Database {
    directory: tempfile::TempDir,
    connection: Connection,
    guard: Guard,
}

impl Database {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (connection, guard) = connect(&directory);
        Self {
            directory,
            connection,
            guard,
        }
    }

    fn ask(&self, kind: SqlKind, sql: &str, parameters: &[SqlValue]) -> Result<SqlAnswer, String> {
        let statement = SqlStatement {
            kind,
            sql: sql.to_owned(),
            parameters: parameters.to_vec(),
        };
        run(&self.connection, &self.guard, &statement)
    }

    fn query(&self, sql: &str) -> Result<SqlAnswer, String> {
        self.ask(SqlKind::Query, sql, &[])
    }

    fn execute(&self, sql: &str) -> Result<SqlAnswer, String> {
        self.ask(SqlKind::Execute, sql, &[])
    }

    /// The statement fails as a query and as an execution, in these words.
    #[track_caller]
    fn refuses(&self, sql: &str, words: &str) {
        for kind in [SqlKind::Query, SqlKind::Execute] {
            let told = self.ask(kind, sql, &[]);
            assert!(
                told.as_ref().is_err_and(|told| told.contains(words)),
                "{kind:?} {sql:?} -> {told:?}"
            );
        }
    }
}

fn connect(directory: &tempfile::TempDir) -> (Connection, Guard) {
    let name = ResourceName::parse("mode").unwrap();
    let mut connection = open(directory.path(), &name, Purpose::Statements).unwrap();
    let guard = Guard::over(&mut connection, Arc::new(AtomicBool::new(false))).unwrap();
    (connection, guard)
}

fn text(text: &str) -> SqlValue {
    SqlValue::Text(text.to_owned())
}

/// Numbers from 1 on.
fn counting(to: u32) -> String {
    format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {to})")
}

#[test]
fn values_of_every_kind_go_in_and_come_out() {
    let database = Database::new();
    database
        .execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c, d, e)")
        .unwrap();
    let values = [
        SqlValue::Null,
        SqlValue::Integer(i64::MIN),
        SqlValue::Real(0.5),
        text("ä'; DROP TABLE t; --"),
        SqlValue::Blob(vec![0, 255]),
    ];
    let insert = "INSERT INTO t(a, b, c, d, e) VALUES (?1, ?2, ?3, ?4, ?5)";
    let answer = database.ask(SqlKind::Execute, insert, &values).unwrap();
    assert_eq!((answer.changes, answer.last_id), (1, 1));
    assert!(answer.columns.is_empty() && answer.rows.is_empty());
    let answer = database.query("SELECT a, b, c, d, e AS last FROM t").unwrap();
    assert_eq!(answer.columns, ["a", "b", "c", "d", "last"]);
    assert_eq!(answer.rows, [values.to_vec()]);
}

#[test]
fn changes_are_those_of_the_statement_itself() {
    let database = Database::new();
    database.execute("CREATE TABLE t(a)").unwrap();
    assert_eq!(
        database
            .execute("INSERT INTO t VALUES (1), (2), (3)")
            .unwrap()
            .changes,
        3
    );
    assert_eq!(database.execute("CREATE TABLE u(a)").unwrap().changes, 0);
    assert_eq!(database.execute("DELETE FROM t WHERE a > 5").unwrap().changes, 0);
    assert_eq!(
        database
            .execute("UPDATE t SET a = 0 WHERE a > 1")
            .unwrap()
            .changes,
        2
    );
}

#[test]
fn a_query_only_reads_and_an_execution_answers_with_no_rows() {
    let database = Database::new();
    database.execute("CREATE TABLE t(a)").unwrap();
    assert_eq!(
        database.query("INSERT INTO t VALUES (1)").unwrap_err(),
        "db::query changes nothing; use db::execute"
    );
    assert!(
        database
            .query("INSERT INTO t VALUES (1) RETURNING a")
            .unwrap_err()
            .contains("db::execute")
    );
    assert!(
        database
            .execute("SELECT 1")
            .unwrap_err()
            .contains("use db::query")
    );
    assert!(
        database
            .execute("INSERT INTO t VALUES (1) RETURNING a")
            .unwrap_err()
            .contains("RETURNING")
    );
    assert_eq!(database.query("SELECT * FROM t").unwrap().rows.len(), 0);
}

#[test]
fn parameters_must_be_as_many_as_the_statement_has() {
    let database = Database::new();
    let told = database
        .ask(SqlKind::Query, "SELECT ?1, ?2", &[SqlValue::Null])
        .unwrap_err();
    assert_eq!(told, "the statement has 2 parameters, but 1 values were given");
    assert!(
        database
            .ask(SqlKind::Query, "SELECT 1", &[SqlValue::Null])
            .is_err()
    );
    assert!(
        database
            .query(&format!("SELECT ?{}", PARAMETERS_MOST + 1))
            .is_err()
    );
    let many = vec![SqlValue::Null; PARAMETERS_MOST];
    assert!(
        database
            .ask(SqlKind::Query, &format!("SELECT ?{PARAMETERS_MOST}"), &many)
            .is_ok()
    );
}

#[test]
fn no_other_file_is_reached() {
    let database = Database::new();
    let other = database.directory.path().join("other.sqlite");
    let path = other.display();
    database.refuses(&format!("ATTACH '{path}' AS other"), "not for scripts");
    database.refuses(
        &format!("/* x */ -- y\n ; AtTaCh '{path}' AS other"),
        "not for scripts",
    );
    database.refuses(&format!("EXPLAIN ATTACH '{path}' AS other"), "not for scripts");
    database.refuses("DETACH main", "not for scripts");
    database.refuses("VACUUM", "not for scripts");
    database.refuses(&format!("VACUUM INTO '{path}'"), "not for scripts");
    database.refuses("SELECT load_extension('x')", "load_extension");
    database.refuses("SELECT fts3_tokenizer('simple')", "fts3_tokenizer");
    database.refuses("SELECT sqlite_log(1, 'x')", "sqlite_log");
    database.refuses("SELECT readfile('/etc/passwd')", "no such function");
    database.refuses("SELECT writefile('x', 'x')", "no such function");
    assert!(!other.exists());
    // What the first word would have told is refused by the authorizer as well.
    let connection = &database.connection;
    for sql in [
        "ATTACH ':memory:' AS x",
        "VACUUM INTO ':memory:'",
        "VACUUM",
        "PRAGMA user_version",
        "BEGIN",
    ] {
        assert!(connection.execute_batch(sql).is_err(), "{sql}");
        assert!(database.guard.take_refusal().is_some(), "{sql}");
    }
}

#[test]
fn how_the_database_is_kept_cannot_be_changed() {
    let database = Database::new();
    database.refuses("PRAGMA journal_mode = OFF", "PRAGMA is not for scripts");
    database.refuses("EXPLAIN PRAGMA synchronous = OFF", "PRAGMA is not for scripts");
    database.refuses("SELECT * FROM pragma_database_list", "not for scripts");
    database.refuses(
        "SELECT * FROM pragma_table_info('decitick_store')",
        "not for scripts",
    );
    for sql in [
        "BEGIN",
        "COMMIT",
        "END",
        "ROLLBACK",
        "SAVEPOINT a",
        "RELEASE a",
        "EXPLAIN BEGIN",
        "EXPLAIN SAVEPOINT a",
    ] {
        database.refuses(sql, "a transaction of its own");
    }
    database.execute("CREATE TABLE t(a)").unwrap();
    for sql in [
        "UPDATE sqlite_master SET sql = 'x'",
        "DELETE FROM sqlite_schema",
        "INSERT INTO sqlite_master VALUES ('table', 'x', 'x', 0, 'x')",
    ] {
        database.refuses(sql, "may not be modified");
    }
    for sql in [
        "CREATE TEMP TABLE x(a)",
        "CREATE TEMP VIEW x AS SELECT 1",
        "CREATE TEMP TRIGGER x INSERT ON t BEGIN SELECT 1; END",
        "CREATE TABLE temp.x(a)",
        "CREATE VIEW temp.x AS SELECT 1",
        "CREATE VIRTUAL TABLE temp.x USING rtree(id, a, b)",
    ] {
        database.refuses(sql, "TEMP is not for scripts");
    }
}

#[test]
fn tables_can_be_made_changed_and_dropped() {
    let database = Database::new();
    for sql in [
        "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT NOT NULL) STRICT",
        "CREATE TABLE child(t INTEGER REFERENCES t(id) ON DELETE CASCADE)",
        "CREATE UNIQUE INDEX i ON t(a)",
        "CREATE VIEW v AS SELECT a FROM t",
        "CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO child VALUES (new.id); END",
        "INSERT INTO t(a) VALUES ('one') ON CONFLICT(a) DO UPDATE SET a = excluded.a",
        "ALTER TABLE t ADD COLUMN b TEXT",
        "ALTER TABLE t RENAME COLUMN b TO c",
        "ALTER TABLE t RENAME TO u",
        "ANALYZE u",
        "REINDEX u",
        "DELETE FROM u",
        "DROP VIEW v",
        "DROP TRIGGER x",
        "DROP INDEX i",
        "DROP TABLE child",
        "DROP TABLE u",
    ] {
        let told = database.execute(sql);
        assert!(told.is_ok(), "{sql}: {told:?}");
    }
}

#[test]
fn the_store_is_out_of_reach_under_every_name() {
    let database = Database::new();
    database.execute("CREATE TABLE t(key)").unwrap();
    database.execute("INSERT INTO t VALUES ('a')").unwrap();
    for sql in [
        "SELECT * FROM decitick_store",
        "SELECT count(*) FROM Decitick_Store",
        "SELECT * FROM main.\"DECITICK_STORE\"",
        "SELECT * FROM t WHERE key IN decitick_store",
        "WITH x AS (SELECT value FROM decitick_store) SELECT * FROM x",
        "INSERT INTO decitick_store VALUES ('a', 1)",
        "INSERT INTO t SELECT key FROM decitick_store",
        "UPDATE decitick_store SET value = 1",
        "DELETE FROM decitick_store",
        "DROP TABLE decitick_store",
        "ALTER TABLE decitick_store RENAME TO mine",
        "ALTER TABLE decitick_store ADD COLUMN x",
        "CREATE INDEX i ON decitick_store(value)",
        "CREATE TRIGGER x AFTER INSERT ON decitick_store BEGIN DELETE FROM t; END",
        "CREATE TABLE copy AS SELECT * FROM decitick_store",
        "ANALYZE decitick_store",
    ] {
        database.refuses(sql, "belongs to the store");
    }
    for sql in [
        "CREATE TABLE decitick_store(a)",
        "ALTER TABLE t RENAME TO decitick_store",
    ] {
        assert!(database.execute(sql).is_err(), "{sql}");
    }
    database
        .execute("CREATE VIEW v AS SELECT * FROM decitick_store")
        .unwrap();
    database.refuses("SELECT * FROM v", "belongs to the store");
    database
        .execute("CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO decitick_store VALUES ('a', 'b'); END")
        .unwrap();
    assert!(
        database
            .execute("INSERT INTO t VALUES (1)")
            .unwrap_err()
            .contains("belongs to the store")
    );
    database.refuses("SELECT * FROM dbstat", "dbstat is not for scripts");
    assert!(database.query("SELECT * FROM sqlite_dbpage").is_err());
}

#[test]
fn full_text_search_and_rectangles_work_and_other_virtual_tables_do_not() {
    let database = Database::new();
    database
        .execute("CREATE VIRTUAL TABLE notes USING fts5(body)")
        .unwrap();
    database
        .execute("INSERT INTO notes VALUES ('a tulip field'), ('a rose')")
        .unwrap();
    let found = database
        .query("SELECT body FROM notes WHERE notes MATCH 'tulip'")
        .unwrap();
    assert_eq!(found.rows, [[text("a tulip field")]]);
    database
        .execute("CREATE VIRTUAL TABLE areas USING rtree(id, x0, x1)")
        .unwrap();
    database.execute("INSERT INTO areas VALUES (1, 0, 10)").unwrap();
    assert_eq!(
        database
            .query("SELECT id FROM areas WHERE x0 < 5 AND x1 > 5")
            .unwrap()
            .rows
            .len(),
        1
    );
    database.execute("DROP TABLE notes").unwrap();
    for module in [
        "fts3(x)",
        "fts4(x)",
        "fts5vocab('notes', 'row')",
        "dbstat",
        "csv(filename='/etc/passwd')",
    ] {
        let told = database
            .execute(&format!("CREATE VIRTUAL TABLE v USING {module}"))
            .unwrap_err();
        assert!(told.contains("not for scripts"), "{module}: {told}");
    }
    // A search over the store's table would read it.
    let peek = "CREATE VIRTUAL TABLE peek USING fts5(value, content='decitick_store', content_rowid='key')";
    if database.execute(peek).is_ok() {
        assert!(database.query("SELECT * FROM peek").is_err());
        assert!(
            database
                .execute("INSERT INTO peek(peek) VALUES ('rebuild')")
                .is_err()
        );
    }
}

#[test]
fn a_text_holds_exactly_one_statement() {
    let database = Database::new();
    database.execute("CREATE TABLE t(a);").unwrap();
    database.refuses("SELECT 1; SELECT 2", "several statements");
    database.refuses("DELETE FROM t; DELETE FROM t", "several statements");
    for nothing in ["", " ;; ", "-- SELECT 1", "/* SELECT 1"] {
        database.refuses(nothing, "no statement");
    }
    database.refuses("SELECT 1\0 FROM t", "zero character");
    assert!(database.query("SELECT 1; -- and that is all").is_ok());
}

#[test]
fn errors_are_those_of_the_statement() {
    let database = Database::new();
    for (sql, words) in [
        ("SELEC 1", "near \"SELEC\": syntax error"),
        ("SELECT * FROM absent", "no such table: absent"),
        ("SELECT \"text\"", "no such column"),
        ("SELECT CAST(x'ff' AS TEXT) AS name", "\"name\" is not UTF-8"),
    ] {
        let told = database.query(sql).unwrap_err();
        assert!(told.contains(words), "{sql}: {told}");
    }
    database.execute("CREATE TABLE t(a UNIQUE)").unwrap();
    database.execute("INSERT INTO t VALUES (1)").unwrap();
    assert!(
        database
            .execute("INSERT INTO t VALUES (1)")
            .unwrap_err()
            .contains("UNIQUE constraint failed: t.a")
    );
}

#[test]
fn what_was_executed_is_there_when_the_process_never_closed_the_file() {
    let database = Database::new();
    database.execute("CREATE TABLE t(a)").unwrap();
    database.execute("INSERT INTO t VALUES (7)").unwrap();
    let copy = tempfile::tempdir().unwrap();
    std::fs::create_dir(copy.path().join("store")).unwrap();
    for file in ["store/mode.sqlite", "store/mode.sqlite-wal"] {
        std::fs::copy(database.directory.path().join(file), copy.path().join(file)).unwrap();
    }
    let (connection, guard) = connect(&copy);
    let copied = Database {
        directory: copy,
        connection,
        guard,
    };
    assert_eq!(
        copied.query("SELECT a FROM t").unwrap().rows,
        [[SqlValue::Integer(7)]]
    );
}
