//! Resources come, are replaced, need each other and go; what they keep and ask for stays theirs.

mod data;

use decitick_components::script::{ScriptOutcome, ScriptWork, SqlAnswer, SqlKind, SqlValue};

use crate::sim::{
    Sim,
    scripts::{bundle, counted},
};

/// Says in the chat what it is and how often it did.
const CLOCKWORK: &str = r#"
fn resource_start() { timers::every(1000, || { state.rings = state.get("rings", 0) + 1; chat::broadcast(`ring ${state.rings}`); }); }
fn resource_stop() { chat::broadcast("stopping"); }
"#;

#[test]
fn a_reload_leaves_no_timer_of_the_version_before() {
    let mut sim = Sim::new();
    let ada = sim.join_now("Ada");
    for _ in 0..6 {
        sim.start_script("clock", CLOCKWORK);
    }
    let before = sim.players[ada].chat().len();
    sim.ticks(52);
    let rings = sim.players[ada].chat()[before..]
        .iter()
        .filter(|line| line.starts_with("ring"))
        .count();
    assert_eq!(rings, 5, "one a second: {:?}", sim.players[ada].chat());
}

#[test]
fn a_version_with_faults_keeps_the_one_that_runs_and_all_of_its_faults_are_told() {
    let mut sim = Sim::new();
    let ada = sim.join_now("Ada");
    sim.start_script(
        "game",
        r#"fn player_chat(player, text) { chat::broadcast("old"); }"#,
    );
    let faults = sim
        .load_bundle(bundle(
            "game",
            "fn player_chat(player, text) {\n    chat::brodcast(\"new\")\n}\nfn a( {\n}\nfn b() { let 5; }\n",
        ))
        .unwrap_err();
    sim.ticks(2);
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults[0].starts_with("scripts/game/main.rhai:4:"), "{faults:?}");
    assert!(faults[1].starts_with("scripts/game/main.rhai:6:"), "{faults:?}");
    sim.players[ada].client.send_chat("hi").unwrap();
    sim.ticks(3);
    assert!(sim.players[ada].chat().contains(&"old"));
    let misspelt = sim
        .load_bundle(bundle(
            "game",
            "fn player_chat(player, text) {\n    chat::brodcast(\"new\")\n}\n",
        ))
        .unwrap_err();
    assert!(
        misspelt[0].to_string().contains("chat::broadcast"),
        "{misspelt:?}"
    );
}

#[test]
fn a_version_whose_constants_fail_keeps_the_one_that_runs() {
    let mut sim = Sim::new();
    let ada = sim.join_now("Ada");
    sim.start_script(
        "game",
        r#"fn player_chat(player, text) { chat::broadcast("old"); }"#,
    );
    sim.load_bundle(bundle("game", "const A = [1, 2][7];\n")).unwrap();
    sim.ticks(2);
    assert!(
        sim.script_error("game").contains("main.rhai:1:"),
        "{}",
        sim.script_error("game")
    );
    sim.players[ada].client.send_chat("hi").unwrap();
    sim.ticks(3);
    assert!(sim.players[ada].chat().contains(&"old"));
}

#[test]
fn whatever_a_resource_made_goes_when_it_stops() {
    let mut sim = Sim::new();
    sim.join_now("Ada");
    sim.start_script(
        "maker",
        r#"
        fn resource_start() {
            for i in 0..10 { entities::create(#{kind: "object", model: 1, x: i, y: 0, z: 10}); }
            state.zone = zones::sphere(#{x: 0, y: 0, z: 10}, 5);
            timers::every(100, || log::info("tick"));
        }
        fn player_chat(player, text) { player.set("said", text); }
        "#,
    );
    sim.ticks(3);
    sim.expect_no_script_error();
    assert_eq!(counted(&sim), (10, 1));
    let answer = sim.console("resource stop maker");
    assert!(answer.ok, "{}", answer.text);
    sim.ticks(3);
    assert_eq!(counted(&sim), (0, 0));
    let list = sim.console("resource list");
    assert!(list.text.contains("no resources"), "{}", list.text);
}

#[test]
fn a_resource_starts_after_those_it_needs_and_stops_before_them() {
    let mut sim = Sim::new();
    let ada = sim.join_now("Ada");
    let says = |name: &str| {
        format!(
            "fn resource_start() {{ chat::broadcast(\"{name} starts\"); }}\nfn resource_stop() {{ chat::broadcast(\"{name} stops\"); }}"
        )
    };
    let mut top = bundle("top", &says("top"));
    top.manifest.needs = vec!["base".to_owned()];
    sim.folder
        .bundles
        .insert("base".to_owned(), bundle("base", &says("base")));
    sim.start_bundle(top);
    sim.ticks(3);
    let answer = sim.console("resource stop base");
    assert!(answer.text.contains("top"), "{}", answer.text);
    sim.ticks(3);
    assert_eq!(
        sim.players[ada].chat(),
        ["base starts", "top starts", "top stops", "base stops"]
    );
}

#[test]
fn a_resource_that_needs_what_is_not_there_waits_and_starts_when_it_comes() {
    let mut sim = Sim::new();
    let mut top = bundle("top", "fn resource_start() { state.on = true; }");
    top.manifest.needs = vec!["base".to_owned()];
    sim.start_bundle(top);
    sim.ticks(3);
    assert_eq!(sim.report("top").state.name(), "waiting");
    assert_eq!(sim.report("base").state.name(), "faulty");
    sim.start_script("base", "fn resource_start() { }");
    sim.ticks(3);
    assert_eq!(sim.report("top").state.name(), "running");
}

#[test]
fn the_console_starts_stops_restarts_and_lists_resources() {
    let mut sim = Sim::new();
    sim.folder.bundles.insert(
        "game".to_owned(),
        bundle("game", "fn resource_start() { throw \"oh no\"; }"),
    );
    let id = sim.console_later("resource start game");
    sim.ticks(5);
    let answer = sim.console_answer(id).unwrap();
    assert!(
        answer.ok && answer.text.contains("game is started"),
        "{}",
        answer.text
    );
    assert!(!sim.console("resource start game").ok);
    let id = sim.console_later("resource restart game");
    sim.ticks(5);
    assert!(sim.console_answer(id).unwrap().text.contains("game is reloaded"));
    let list = sim.console("resource list --json");
    let list: serde_json::Value = serde_json::from_str(&list.text).unwrap();
    assert_eq!(list["resources"][0]["errors"], 1, "{list}");
    assert!(
        list["resources"][0]["last_error"]
            .as_str()
            .unwrap()
            .contains("oh no"),
        "{list}"
    );
    assert!(sim.console("status").text.contains("game: running"));
    let id = sim.console_later("resource start nowhere");
    sim.ticks(5);
    let answer = sim.console_answer(id).unwrap();
    assert!(
        !answer.ok && answer.text.contains("no such folder"),
        "{}",
        answer.text
    );
    assert!(
        sim.console("resource stop nowhere").ok,
        "it is not waited for any more"
    );
    assert!(!sim.console("resource stop nowhere").ok);
}

#[test]
fn an_expression_of_the_operator_reads_and_changes_the_world_and_its_errors_are_told() {
    let mut sim = Sim::with_weapons();
    let ada = sim.join_now("Ada");
    assert_eq!(sim.console("eval players::count()").text, "1");
    assert_eq!(sim.console("eval state.x = 5; state.x + 1").text, "6");
    assert_eq!(sim.console("eval state.x").text, "5");
    assert!(
        sim.console("eval let player = players::get(0); player.health = 42;")
            .ok
    );
    sim.ticks(3);
    assert_eq!(sim.vitals(ada).0, 42);
    let wrong = sim.console("eval players::gett(0)");
    assert!(!wrong.ok && wrong.text.contains("players::get"), "{}", wrong.text);
    let wrong = sim.console("eval loop {}");
    assert!(!wrong.ok && wrong.text.contains("operations"), "{}", wrong.text);
    assert!(!sim.console("eval 1 +").ok);
    assert!(
        sim.console("eval timers::after(100, || chat::broadcast(\"later\"))")
            .ok
    );
    assert!(
        sim.console("eval console::run(\"status\")")
            .text
            .contains("manifest")
    );
    sim.ticks(5);
    assert_eq!(sim.players[ada].chat(), ["later"]);
    let refused = sim.console("eval store::put(\"a\", 1)");
    assert!(
        !refused.ok && refused.text.contains("eval @RESOURCE"),
        "{}",
        refused.text
    );
}

#[test]
fn an_expression_can_be_run_as_a_resource_would() {
    let mut sim = Sim::new();
    sim.start_script(
        "race",
        "fn resource_start() { state.round = 3; store::put(\"best\", 61); }\nfn double(x) { x * 2 }\n",
    );
    assert_eq!(sim.console("eval @race state.round").text, "3");
    assert_eq!(sim.console("eval @race double(store::get(\"best\"))").text, "122");
    let unknown = sim.console("eval @race state.rond");
    assert!(
        !unknown.ok && unknown.text.contains("`round`"),
        "{}",
        unknown.text
    );
    assert!(!sim.console("eval @nobody 1").ok);
}

#[test]
fn what_the_operator_grants_counts_until_it_is_taken_back_or_the_player_leaves() {
    let mut sim = Sim::new();
    let ada = sim.join_now("Ada");
    sim.start_script(
        "game",
        r#"fn player_chat(player, text) { chat::broadcast(`${player.granted("admin")}`); false }"#,
    );
    let says = |line: &str, sim: &mut Sim| {
        if !line.is_empty() {
            assert!(sim.console(line).ok, "{line}");
        }
        sim.ticks(2);
        sim.players[ada].client.send_chat("?").unwrap();
        sim.ticks(8);
        sim.players[ada].chat().last().unwrap().to_string()
    };
    assert_eq!(says("", &mut sim), "false");
    assert_eq!(says("grant 0 admin", &mut sim), "true");
    assert_eq!(says("revoke 0 admin", &mut sim), "false");
    assert!(!sim.console("revoke 0 admin").ok);
    assert!(!sim.console("grant 5 admin").ok);
}

#[test]
fn resources_see_neither_the_state_nor_the_entities_nor_the_notes_of_each_other() {
    let mut sim = Sim::new();
    let ada = sim.join_now("Ada");
    let script = r#"
    fn player_chat(player, text) {
        let seen = `${state.contains("secret")} ${entities::all().len()} ${player.get("note", "none")} ${store::get("key", "none")}`;
        state.secret = 1;
        entities::create(#{kind: "object", model: 1, x: 0, y: 0, z: 10});
        player.set("note", "mine");
        store::put("key", "mine");
        chat::broadcast(seen);
    }
    "#;
    sim.start_script("one", script);
    sim.start_script("two", script);
    sim.players[ada].client.send_chat("a").unwrap();
    sim.ticks(8);
    let chat = sim.players[ada].chat();
    assert_eq!(chat[..2], ["false 0 none none", "false 0 none none"], "{chat:?}");
    sim.expect_no_script_error();
}

#[test]
fn a_resource_runs_only_the_console_commands_that_its_manifest_names() {
    let mut sim = Sim::new();
    let ada = sim.join_now("Ada");
    let mut game = bundle(
        "game",
        r#"
        fn player_chat(player, text) {
            try { console::run(text, |answer| chat::broadcast(`${answer.ok} ${answer.text}`)); }
            catch (problem) { chat::broadcast(problem); }
            false
        }
        "#,
    );
    game.manifest.console = vec!["weather".to_owned(), "mode".to_owned()];
    sim.start_bundle(game);
    for (line, wanted) in [
        ("weather 8", "true the weather is 8 now"),
        ("weather nine", "false "),
        ("kick 0", "the manifest does not allow `kick`"),
        ("eval 1", "no gamemode may run the console command `eval`"),
        ("shutdown", "no gamemode may run"),
        ("nonsense", "there is no console command `nonsense`"),
    ] {
        sim.players[ada].client.send_chat(line).unwrap();
        sim.ticks(10);
        let said = sim.players[ada].chat().last().unwrap().to_string();
        assert!(said.contains(wanted), "{line}: {said}");
    }
    sim.expect_no_script_error();
}

#[test]
fn a_password_is_hashed_and_compared_off_the_tick() {
    let mut sim = Sim::new();
    let ada = sim.join_now("Ada");
    sim.start_script(
        "game",
        r#"
        fn resource_start() {
            password::hash("secret", |answer| {
                state.hash = answer.hash;
                password::verify("secret", state.hash, |answer| chat::broadcast(`${answer.ok} ${answer.matches}`));
                password::verify("guess", state.hash, |answer| chat::broadcast(`${answer.ok} ${answer.matches}`));
            });
        }
        "#,
    );
    sim.ticks(6);
    assert_eq!(sim.players[ada].chat(), ["true true", "true false"]);
}

#[test]
fn closures_of_an_imported_script_run_later_and_imports_reach_the_folder_only() {
    let mut sim = Sim::new();
    let ada = sim.join_now("Ada");
    let mut game = bundle(
        "game",
        r#"
        import "lib/later" as later;
        const N = 7;
        fn helper() { "main" }
        fn resource_start() { state.n = global::N; state.n -= 1; later::soon(`n ${state.n}`); }
        "#,
    );
    game.files.insert(
        "lib/later.rhai".to_owned(),
        "const WAIT = 100;\nfn soon(text) { timers::after(global::WAIT, || chat::broadcast(`${text} ${helper()}`)); }\nfn helper() { \"lib\" }\n"
            .to_owned(),
    );
    sim.start_bundle(game);
    sim.ticks(4);
    sim.expect_no_script_error();
    assert_eq!(sim.players[ada].chat(), ["n 6 lib"]);
    for path in ["../game/main", "/etc/passwd", "lib\\\\later", "", "./lib/later"] {
        let faults = sim
            .load_bundle(bundle("other", &format!("import \"{path}\" as x;\n")))
            .unwrap_err();
        assert_eq!(faults.len(), 1, "{path}: {faults:?}");
    }
    let mut cycle = bundle("cycle", "import \"a\" as a;\n");
    cycle
        .files
        .insert("a.rhai".to_owned(), "import \"b\" as b;\n".to_owned());
    cycle
        .files
        .insert("b.rhai".to_owned(), "import \"a\" as a;\n".to_owned());
    let faults = sim.load_bundle(cycle).unwrap_err();
    assert!(
        faults.iter().any(|fault| fault.problem.contains("import cycle")),
        "{faults:?}"
    );
}

#[test]
fn what_is_printed_goes_to_the_log_as_one_line() {
    let mut sim = Sim::new();
    sim.start_script(
        "game",
        "fn resource_start() { print(#{a: [1, ()], b: \"x\"}); debug(5); }",
    );
    sim.expect_no_script_error();
}
