use decitick_components::script::SqlKind;

use super::*;

struct Place {
    directory: tempfile::TempDir,
    keepers: Keepers,
    answers: Receiver<WorkerAnswer>,
}

fn name(name: &str) -> ResourceName {
    ResourceName::parse(name).unwrap()
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (send, answers) = unbounded();
        let stop = Arc::new(AtomicBool::new(false));
        let keepers = Keepers::new(directory.path().to_owned(), send, stop);
        Self {
            directory,
            keepers,
            answers,
        }
    }

    fn run(&self, request: u64, kind: SqlKind, sql: &str) {
        let statement = SqlStatement {
            kind,
            sql: sql.to_owned(),
            parameters: Vec::new(),
        };
        self.keepers.run(request, &name("a"), statement);
    }

    fn save(&self, request: u64, key: &str) {
        let changes = vec![StoreChange {
            key: key.to_owned(),
            value: Some(vec![1]),
        }];
        self.keepers.save(request, &name("a"), changes);
    }

    /// The next answers: their requests and what went wrong.
    fn answers(&self, count: usize) -> Vec<(u64, Option<String>)> {
        self.answers.iter().take(count).map(told).collect()
    }
}

fn told(answer: WorkerAnswer) -> (u64, Option<String>) {
    let WorkerAnswer::Script(ScriptAnswer { request, outcome }) = answer else {
        panic!("another answer");
    };
    let error = match outcome {
        ScriptOutcome::StoreSaved(result) => result.err(),
        ScriptOutcome::Sql(result) => result.err(),
        other => panic!("{other:?}"),
    };
    (request, error)
}

const SLOW: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

#[test]
fn statements_are_answered_in_the_order_in_which_they_came() {
    let place = Place::new();
    place.run(1, SqlKind::Execute, "CREATE TABLE t(a)");
    for request in 2..100 {
        place.run(request, SqlKind::Execute, "INSERT INTO t SELECT count(*) FROM t");
    }
    place.run(100, SqlKind::Query, "SELECT * FROM nothing");
    let answers = place.answers(100);
    assert!(answers.iter().map(|(request, _)| *request).eq(1..=100));
    let failed: Vec<u64> = answers
        .iter()
        .filter(|(_, error)| error.is_some())
        .map(|(request, _)| *request)
        .collect();
    assert_eq!(failed, [100]);
}

#[test]
fn a_store_is_saved_while_statements_wait() {
    let place = Place::new();
    for request in 0..3 {
        place.run(request, SqlKind::Query, SLOW);
    }
    place.save(9, "k");
    let order: Vec<u64> = place.answers(4).into_iter().map(|(request, _)| request).collect();
    assert!(order == [0, 9, 1, 2] || order == [9, 0, 1, 2], "{order:?}");
}

#[test]
fn no_more_than_a_thousand_statements_wait() {
    let place = Place::new();
    place.run(0, SqlKind::Query, SLOW);
    for request in 1..1_001 {
        place.run(request, SqlKind::Query, "SELECT 1");
    }
    let (request, error) = place.answers(1).remove(0);
    assert_eq!(request, 1_000);
    assert!(error.unwrap().contains("too many statements wait (1000)"));
    assert_eq!(place.answers(1_000).len(), 1_000);
    place.run(1_001, SqlKind::Query, "SELECT 1");
    assert_eq!(place.answers(1), [(1_001, None)]);
}

#[test]
fn what_waits_has_a_bound_in_bytes_too() {
    let place = Place::new();
    place.run(0, SqlKind::Query, SLOW);
    for request in 1..=65 {
        let statement = SqlStatement {
            kind: SqlKind::Query,
            sql: "SELECT length(?1)".to_owned(),
            parameters: vec![SqlValue::Blob(vec![0; 1024 * 1024])],
        };
        place.keepers.run(request, &name("a"), statement);
    }
    let refused: Vec<(u64, Option<String>)> = place.answers(2);
    assert_eq!(refused[0].0, 64, "{refused:?}");
    assert!(refused[0].1.as_ref().unwrap().contains("values are too large"));
    assert_eq!(refused[1].0, 65);
}

#[test]
fn a_store_is_read_after_what_was_saved_before_and_nothing_is_made_for_reading() {
    let place = Place::new();
    assert_eq!(place.keepers.read_store(&name("a")), Ok(BTreeMap::new()));
    assert!(!place.directory.path().join("store").exists());
    for request in 0..100 {
        place.save(request, &format!("key {request}"));
    }
    assert_eq!(place.keepers.read_store(&name("a")).unwrap().len(), 100);
    assert!(place.answers(100).iter().map(|(request, _)| *request).eq(0..100));
}

#[test]
fn a_resource_never_sees_what_another_keeps() {
    let place = Place::new();
    place.save(1, "k");
    place.run(2, SqlKind::Execute, "CREATE TABLE t(a)");
    place.answers(2);
    assert_eq!(place.keepers.read_store(&name("b")), Ok(BTreeMap::new()));
    let statement = SqlStatement {
        kind: SqlKind::Query,
        sql: "SELECT * FROM t".to_owned(),
        parameters: Vec::new(),
    };
    place.keepers.run(3, &name("b"), statement);
    assert!(place.answers(1)[0].1.as_ref().unwrap().contains("no such table"));
}

#[test]
fn a_closed_file_is_whole_and_opens_again() {
    let place = Place::new();
    place.run(1, SqlKind::Execute, "CREATE TABLE t(a)");
    place.save(2, "k");
    place.answers(2);
    let log = place.directory.path().join("store/a.sqlite-wal");
    assert!(log.exists());
    place.keepers.close(&name("a"));
    place.keepers.close(&name("never_opened"));
    place.run(3, SqlKind::Query, "SELECT * FROM t");
    assert_eq!(place.answers(1), [(3, None)]);
    assert_eq!(place.keepers.read_store(&name("a")).unwrap().len(), 1);
}

#[test]
fn at_the_end_everything_that_waits_is_done() {
    let place = Place::new();
    place.run(1, SqlKind::Execute, "CREATE TABLE t(a)");
    for request in 2..50 {
        place.run(request, SqlKind::Execute, "INSERT INTO t VALUES (1)");
        place.save(request + 100, &request.to_string());
    }
    place.keepers.finish(Duration::from_secs(20));
    let answers: Vec<(u64, Option<String>)> = place.answers.try_iter().map(told).collect();
    assert_eq!(answers.len(), 97);
    assert!(answers.iter().all(|(_, error)| error.is_none()), "{answers:?}");
    assert!(
        !place.directory.path().join("store/a.sqlite-wal").exists(),
        "closed in order"
    );
    place.save(500, "late");
    assert_eq!(place.answers(1), [(500, Some("the server stops".to_owned()))]);
}

#[test]
fn an_end_does_not_wait_for_statements_without_end() {
    let place = Place::new();
    for request in 0..5 {
        place.run(request, SqlKind::Query, SLOW);
    }
    place.save(9, "k");
    let started = Instant::now();
    place.keepers.finish(Duration::from_millis(100));
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "{:?}",
        started.elapsed()
    );
    let mut answers = place.answers(6);
    answers.sort_by_key(|(request, _)| *request);
    let (saved, statements) = answers.split_last().unwrap();
    assert_eq!(saved, &(9, None), "the store is written");
    assert!(
        statements
            .iter()
            .all(|(_, error)| error.as_ref().unwrap().contains("the server stops"))
    );
}

#[test]
fn a_store_that_cannot_be_opened_says_so_each_time() {
    let place = Place::new();
    std::fs::write(place.directory.path().join("store"), "").unwrap();
    place.save(1, "k");
    place.run(2, SqlKind::Query, "SELECT 1");
    let mut answers = place.answers(2);
    answers.sort();
    for (answer, request) in answers.iter().zip([1, 2]) {
        assert_eq!(answer.0, request);
        assert!(answer.1.as_ref().unwrap().contains("no folder"), "{answer:?}");
    }
}
