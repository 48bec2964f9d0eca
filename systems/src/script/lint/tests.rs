use rhai::{Engine, Scope};

use super::{super::fault::Names, *};

fn api() -> Api {
    let arities = |list: &[(&str, &[usize])]| -> Arities {
        list.iter()
            .map(|(name, counts)| ((*name).to_owned(), counts.iter().copied().collect()))
            .collect()
    };
    let mut api = Api {
        functions: arities(&[("max", &[2]), ("round", &[1])]),
        methods: arities(&[
            ("kick", &[1]),
            ("message", &[1, 2]),
            ("push", &[1]),
            ("map", &[1]),
        ]),
        properties: ["position", "name", "health"].map(str::to_owned).into(),
        ..Api::default()
    };
    api.modules
        .insert("chat".to_owned(), arities(&[("broadcast", &[1, 2])]));
    api.modules
        .insert("timers".to_owned(), arities(&[("after", &[2])]));
    for (name, parameters) in [
        ("player_connected", &["player"][..]),
        ("player_chat", &["player", "text"]),
        ("tick", &["dt"]),
        ("resource_start", &[]),
    ] {
        let parameters = parameters.iter().map(|&name| name.to_owned()).collect();
        api.handlers.insert(name.to_owned(), parameters);
    }
    api
}

fn engine() -> Engine {
    let mut engine = Engine::new();
    engine.set_optimization_level(rhai::OptimizationLevel::None);
    engine
}

/// Lints the first file, which is the main one, beside the others.
fn findings_of(files: &[(&str, &str)]) -> Vec<String> {
    let mut resource = Resource::default();
    let asts: Vec<AST> = files
        .iter()
        .map(|(path, source)| {
            let ast = engine().compile(source).unwrap();
            resource.add(path, &ast);
            ast
        })
        .collect();
    let script = Script {
        file: "f",
        path: files[0].0,
        source: files[0].1,
        ast: &asts[0],
    };
    lint(&script, &api(), &resource)
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn findings(source: &str) -> Vec<String> {
    findings_of(&[(MAIN_FILE, source)])
}

#[test]
fn every_unknown_name_is_found_at_its_place() {
    assert_eq!(
        findings(
            "fn tick(dt) {\n  let p = mx(1, 2);\n  p.mesage(\"hi\");\n  chat::brodcast(\"x\");\n  chta::broadcast(\"x\");\n  \
             broadcast(p.postion);\n}"
        ),
        [
            "f:2:11: there is no function `mx`; did you mean `max`?",
            "f:3:5: there is no method `mesage`; did you mean `message`?",
            "f:4:3: there is no function `chat::brodcast`; did you mean `chat::broadcast`?",
            "f:5:3: there is no module `chta`; did you mean `chat`?",
            "f:6:3: there is no function `broadcast`; did you mean `chat::broadcast`?",
            "f:6:15: there is no property `postion`; did you mean `position`? (For the key of a map that comes from \
             elsewhere, write `[\"postion\"]`)",
        ]
    );
}

#[test]
fn a_wrong_number_of_arguments_is_found() {
    assert_eq!(
        findings(
            "fn tick(dt) {\n  max(1);\n  dt.message();\n  timers::after(5);\n  help(1);\n  dt.kick();\n}\nfn help() { }"
        ),
        [
            "f:2:3: `max` takes 2 arguments, not 1",
            "f:3:6: `message` takes 1 or 2 arguments, not 0",
            "f:4:3: `timers::after` takes 2 arguments, not 1",
            "f:5:3: `help` takes 0 arguments, not 1",
            "f:6:6: `kick` takes 1 argument, not 0",
        ]
    );
}

#[test]
fn nothing_that_may_be_right_is_reported() {
    assert_eq!(
        findings(
            r#"
            const LIMIT = 5;
            fn helper(x) { x + 1 }
            fn method_of_ours(a) { this + a }
            fn ticks(dt) { dt }
            private fn player_connecte(x) { x }
            fn resource_start() {
                let f = |x, y| x + y + LIMIT_OF();
                f.call(1, 2); f.curry(1).call(2);
                let g = Fn("helper"); g.call(1); f(1, 2);
                let m = #{postion: 1, run: |x| x, "nme": 2};
                m.postion; m.run(1); m.nme; m.healt = 1; m["nam"] = 2; m.healt; m.nam;
                timers::after(5, ticks);
                1.helper(); 1.method_of_ours(2); helper(1).max(2); message(m, "x");
                let row = db_row("select positio from scores"); row.positio; row.anything_else;
                try { throw 1 } catch (e) { e.nothing_known; }
                for (item, i) in [1, 2].map(|x| x * 2) { print(item + i); debug(i); type_of(i); is_def_var("x"); }
                state.score = 5; state += #{a: 1};
                switch m.run { 1 => max(1, 2), _ => () }
                global::helper(1);
                `${max(1, 2)} ${m?.postion}`
            }
            fn LIMIT_OF() { global::LIMIT }
            fn db_row(x) { x }
            "#
        ),
        Vec::<String>::new()
    );
}

#[test]
fn a_slip_in_a_handlers_name_or_parameters_is_found() {
    assert_eq!(
        findings(
            "fn player_conected(player) { }\nfn player_chat(player) { }\n  fn tik(dt) { }\nfn tick() { tik(1); }"
        ),
        [
            "f:1:4: nothing calls `player_conected`; did you mean the handler `player_connected`?",
            "f:2:4: the handler is `player_chat(player, text)`, with 2 parameters",
            "f:4:4: the handler is `tick(dt)`, with 1 parameter",
        ]
    );
    assert_eq!(
        findings_of(&[("lib/a.rhai", "fn player_chat(x) { x }"), (MAIN_FILE, "")]),
        Vec::<String>::new(),
        "a library has no handlers"
    );
}

#[test]
fn what_would_run_while_loading_is_found() {
    assert_eq!(
        findings(
            "const A = 1;\nlet score = 0;\nprint(\"hi\");\nif A == 1 { print(2); }\nexport const B = 2;\nfn tick(dt) {\n  state = #{};\n}"
        ),
        [
            "f:2:1: functions cannot see `let score` here: use `state.score` for what changes, `const score` for what \
             does not",
            "f:3:1: this would run while the file is loaded: put it into a function, such as `fn resource_start()`",
            "f:4:1: this would run while the file is loaded: put it into a function, such as `fn resource_start()`",
            "f:7:3: `state` itself cannot be replaced: set its keys, `state.score = 0`, or `state.clear()`",
        ]
    );
    assert_eq!(
        findings("fn tick(dt) { let state = 1; state = dt; }"),
        Vec::<String>::new()
    );
}

#[test]
fn imports_stay_inside_and_their_functions_are_known() {
    let library = ("lib/laps.rhai", "fn start(n) { n }\nprivate fn inner() { }");
    let main = "import \"lib/laps\" as laps;\nimport \"lib/lap\" as other;\nimport \"../x\" as up;\nimport \"lib/\" + \"laps\" as computed;\n\
                fn tick(dt) {\n  laps::start(1);\n  laps::start();\n  laps::strat(1);\n  other::anything();\n}";
    assert_eq!(
        findings_of(&[(MAIN_FILE, main), library]),
        [
            "f:2:8: there is no file `lib/lap.rhai` in this resource, or it does not parse; did you mean \
             `lib/laps.rhai`?",
            "f:3:8: an import names a file inside the resource's folder, such as `import \"lib/teams\" as teams;`, not \
             \"../x\"",
            "f:4:15: the path of an import must be a plain string",
            "f:7:3: `laps::start` takes 1 argument, not 0",
            "f:8:3: there is no function `laps::strat`; did you mean `laps::start`?",
        ]
    );
    for path in ["/etc/x", "a\\b", "c:x", "", "a//b", "./a", "a/..", "a\0"] {
        assert!(import_target(path).is_err(), "{path:?}");
    }
    assert_eq!(import_target("a/b.rhai"), Ok("a/b.rhai".to_owned()));
}

fn parse_faults(source: &str) -> Vec<String> {
    let mut engine = engine();
    engine.set_strict_variables(true);
    let mut scope = Scope::new();
    scope.push("state", rhai::Map::new());
    parse_all(&engine, source, &scope, "f", &Names::default())
        .unwrap_err()
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn every_fault_of_a_text_is_found_in_one_go() {
    assert_eq!(
        parse_faults(
            "import \"lib/x\" as x\nfn a() {\n  let b = 1\n  b\n}\n/// About c.\nfn c() {\n  stat.x = 1;\n  stat.y = 2;\n  oops + \
             hmm;\n}\nfn h() { x::begin(); }\nfn d() {\n  if state.x {\n}\nfn e() {\n  state.fine = 1;\n}\nfn f() {\n  \"open\n}\n"
        ),
        [
            "f:1:20: a `;` is missing here, at the end of the statement",
            "f:3:12: a `;` is missing here, at the end of the statement",
            "f:8:3: there is no variable or constant `stat`",
            "f:10:3: there is no variable or constant `oops`",
            "f:10:10: there is no variable or constant `hmm`",
            "f:16:1: the function before this, at line 13, is not closed: a `}` is missing",
            "f:20:3: the string is not closed: its closing quote is missing on this line",
        ]
    );
}

#[test]
fn a_text_that_parses_keeps_its_lines_and_its_name() {
    let ast = parse_all(&engine(), "fn a() { 1 }", &Scope::new(), "f", &Names::default()).unwrap();
    assert_eq!(ast.source(), Some("f"));
    assert_eq!(ast.iter_functions().count(), 1);
}

#[test]
fn faults_of_one_text_are_bounded() {
    let source: String = (0..200).map(|n| format!("fn f{n}() {{ x{n} }}\n")).collect();
    assert_eq!(parse_faults(&source).len(), 20);
    for source in [
        "}",
        "`",
        "fn",
        "let",
        "\u{1F600}",
        "fn a() { \u{e4}\u{e4}b }",
        "import",
    ] {
        assert!(!parse_faults(source).is_empty(), "{source}");
    }
}
