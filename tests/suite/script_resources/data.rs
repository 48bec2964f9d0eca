//! What a resource keeps: its store and its database.

use super::*;

#[test]
fn a_store_is_on_disk_before_its_callback_runs_and_comes_back_after_a_restart() {
    let mut sim = Sim::new();
    let ada = sim.join_now("Ada");
    let script = r#"
    fn resource_start() { chat::broadcast(`best ${store::get("best", 0)}`); }
    fn player_chat(player, text) {
        store::put("best", text.len(), || chat::broadcast("safe"));
        chat::broadcast(`now ${store::get("best")}`);
        false
    }
    "#;
    sim.start_script("game", script);
    sim.players[ada].client.send_chat("12345").unwrap();
    sim.expect_within(20, "the answer", |sim| sim.players[ada].chat().contains(&"safe"));
    assert_eq!(sim.folder.stores["game"]["best"], [5]);
    sim.start_script("game", script);
    assert!(sim.console("resource stop game").ok);
    sim.ticks(2);
    let id = sim.console_later("resource start game");
    sim.ticks(5);
    assert!(sim.console_answer(id).unwrap().ok);
    assert_eq!(
        sim.players[ada].chat(),
        ["best 0", "now 5", "safe", "best 5", "best 5"]
    );
}

#[test]
fn a_store_that_cannot_be_written_says_so() {
    let mut sim = Sim::new();
    sim.folder.store_writes_fail = Some("disk full".to_owned());
    sim.start_script("game", "fn resource_start() { store::put(\"a\", 1); }");
    sim.ticks(5);
    assert!(
        sim.script_error("game").contains("disk full"),
        "{}",
        sim.script_error("game")
    );
}

#[test]
fn statements_are_answered_to_the_instance_that_asked_and_to_no_other() {
    let mut sim = Sim::new();
    let ada = sim.join_now("Ada");
    let script = r#"
    fn resource_start() {
        db::query("SELECT name, n FROM t WHERE n > ?1", [5, 1.5, "x", true, ()], |answer| {
            if answer.ok { for row in answer.rows { chat::broadcast(`${row.name} ${row.n}`); } } else { chat::broadcast(answer.error); }
        });
        db::execute("DELETE FROM t", []);
    }
    "#;
    sim.start_script("game", script);
    sim.ticks(2);
    let asked = std::mem::take(&mut sim.folder.statements);
    let requests: Vec<u64> = asked
        .iter()
        .map(|work| match work {
            ScriptWork::Sql { request, .. } => *request,
            _ => 0,
        })
        .collect();
    let ScriptWork::Sql { statement, .. } = &asked[0] else {
        panic!()
    };
    assert_eq!(statement.kind, SqlKind::Query);
    assert_eq!(
        statement.parameters,
        [
            SqlValue::Integer(5),
            SqlValue::Real(1.5),
            SqlValue::Text("x".to_owned()),
            SqlValue::Integer(1),
            SqlValue::Null
        ]
    );
    let answer = SqlAnswer {
        columns: vec!["name".to_owned(), "n".to_owned()],
        rows: vec![
            vec![SqlValue::Text("Ada".to_owned()), SqlValue::Integer(7)],
            vec![SqlValue::Null, SqlValue::Real(0.5)],
        ],
        changes: 0,
        last_id: 0,
    };
    sim.answer_script(requests[0], ScriptOutcome::Sql(Ok(answer.clone())));
    sim.answer_script(
        requests[1],
        ScriptOutcome::Sql(Err("no such table: t".to_owned())),
    );
    sim.ticks(4);
    assert_eq!(sim.players[ada].chat(), ["Ada 7", " 0.5"]);
    assert!(
        sim.script_error("game").contains("DELETE FROM t: no such table"),
        "an error that nobody listens to is told: {}",
        sim.script_error("game")
    );
    sim.start_script("game", script);
    sim.ticks(2);
    let asked = std::mem::take(&mut sim.folder.statements);
    let ScriptWork::Sql { request, .. } = asked[0] else {
        panic!()
    };
    sim.start_script("game", "fn resource_start() { }");
    sim.answer_script(request, ScriptOutcome::Sql(Ok(answer)));
    sim.ticks(4);
    assert_eq!(
        sim.players[ada].chat().len(),
        2,
        "the next version does not get the answer"
    );
}
