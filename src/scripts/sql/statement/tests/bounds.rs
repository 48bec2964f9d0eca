//! What a statement may take at most.

use super::*;

#[test]
fn a_statement_that_goes_on_and_on_is_ended() {
    let database = Database::new();
    let started = std::time::Instant::now();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let told = database.query(endless).unwrap_err();
    assert!(told.contains("longer than 1 s"), "{told}");
    assert!(started.elapsed() >= STATEMENT_TIME);
    assert!(
        database.query("SELECT 1").is_ok(),
        "the next one has its own time"
    );
    database.execute("CREATE TABLE t(a)").unwrap();
    let filling = format!("{} INSERT INTO t SELECT i FROM n", counting(2_000_000_000));
    let told = database.execute(&filling).unwrap_err();
    assert!(told.contains("longer than 1 s"), "{told}");
    assert_eq!(
        database.query("SELECT count(*) FROM t").unwrap().rows,
        [[SqlValue::Integer(0)]],
        "nothing of it is kept"
    );
}

#[test]
fn an_answer_has_a_bound_for_rows_and_one_for_bytes() {
    let database = Database::new();
    let rows = |count| database.query(&format!("{} SELECT i FROM n", counting(count)));
    assert_eq!(rows(10_000).unwrap().rows.len(), ROWS_MOST);
    assert!(rows(10_001).unwrap_err().contains("more than 10000 rows"));
    let bytes = |count: usize| database.query(&format!("SELECT zeroblob({count})"));
    assert!(bytes(1_000_000).is_ok());
    let two = "SELECT zeroblob(600000) UNION ALL SELECT zeroblob(600000)";
    assert!(database.query(two).unwrap_err().contains("more than 1024 KiB"));
    let nothings = format!("{} SELECT {}NULL FROM n", counting(10_000), "NULL, ".repeat(19));
    assert!(
        database
            .query(&nothings)
            .unwrap_err()
            .contains("more than 1024 KiB")
    );
}

#[test]
fn nothing_in_a_statement_grows_beyond_its_bound() {
    let database = Database::new();
    database.execute("CREATE TABLE t(a)").unwrap();
    for sql in [
        "SELECT length(zeroblob(1048577))",
        "SELECT length(randomblob(1048577))",
        "SELECT printf('%2000000d', 1)",
        "SELECT length(replace(hex(zeroblob(500000)), '0', '000'))",
        "INSERT INTO t VALUES (zeroblob(1048577))",
    ] {
        let kind = if sql.starts_with("SELECT") {
            SqlKind::Query
        } else {
            SqlKind::Execute
        };
        let told = database.ask(kind, sql, &[]);
        assert!(
            told.as_ref().is_err_and(|told| told.contains("too large")),
            "{sql}: {told:?}"
        );
    }
    let group = format!(
        "{} SELECT length(group_concat(hex(zeroblob(1000)))) FROM n",
        counting(1_000)
    );
    assert!(database.query(&group).unwrap_err().contains("too large"));
    let long = format!("SELECT '{}'", "x".repeat(SQL_BYTES_MOST));
    assert!(database.query(&long).unwrap_err().contains("too large"));
    let large = SqlValue::Blob(vec![0; VALUE_BYTES_MOST + 1]);
    let told = database
        .ask(SqlKind::Query, "SELECT length(?1)", &[large])
        .unwrap_err();
    assert!(told.contains("too large"), "{told}");
    let deep = format!("SELECT {}1{}", "abs(".repeat(101), ")".repeat(101));
    assert!(database.query(&deep).is_err());
    let many = vec!["SELECT 1"; 51].join(" UNION ALL ");
    assert!(database.query(&many).unwrap_err().contains("compound SELECT"));
    let wide = vec!["1"; 257].join(", ");
    assert!(database.query(&format!("SELECT {wide}")).is_err());
    let pattern = format!("SELECT 'x' LIKE '{}'", "%x".repeat(501));
    assert!(
        database
            .query(&pattern)
            .unwrap_err()
            .contains("LIKE or GLOB pattern too complex")
    );
    database.execute("CREATE TABLE r(a)").unwrap();
    database
        .execute("CREATE TRIGGER again AFTER INSERT ON r BEGIN INSERT INTO r VALUES (new.a + 1); END")
        .unwrap();
    assert!(
        database.execute("INSERT INTO r VALUES (1)").is_ok(),
        "a trigger does not call itself"
    );
}

#[test]
fn a_database_has_a_largest_size() {
    let database = Database::new();
    let name = ResourceName::parse("mode").unwrap();
    let mut connection = open(database.directory.path(), &name, Purpose::Statements).unwrap();
    let pages = |connection: &Connection| -> i64 {
        connection
            .pragma_query_value(None, "max_page_count", |row| row.get(0))
            .unwrap()
    };
    assert_eq!(pages(&connection) * 4096, FILE_BYTES_MOST);
    // What happens at the bound is seen with a lower one.
    connection
        .pragma_update_and_check(None, "max_page_count", 1_000, |_| Ok(()))
        .unwrap();
    let guard = Guard::over(&mut connection, Arc::new(AtomicBool::new(false))).unwrap();
    let small = Database {
        directory: tempfile::tempdir().unwrap(),
        connection,
        guard,
    };
    small.execute("CREATE TABLE t(a)").unwrap();
    let told = (0..10).find_map(|_| small.execute("INSERT INTO t VALUES (zeroblob(500000))").err());
    assert!(told.unwrap().contains("the database has reached 256 MiB"));
    assert!(small.query("SELECT count(*) FROM t").is_ok());
}
