use std::time::Duration;

use rhai::{Engine, Scope, module_resolvers::StaticModuleResolver};

use super::*;

fn names() -> Names {
    let mut names = Names::default();
    for (name, signature) in [
        ("teleport", "teleport(player: Player, place: map)"),
        ("message", "message(player: Player, text: string)"),
        ("message", "message(player: Player, text: string, colour: int)"),
        ("chat::broadcast", "chat::broadcast(text: string)"),
    ] {
        names
            .functions
            .entry(name.to_owned())
            .or_default()
            .insert(signature.to_owned());
    }
    names
        .properties
        .insert("Player".to_owned(), ["position", "id"].map(str::to_owned).into());
    names.variables.insert("state".to_owned());
    names.modules.insert("chat".to_owned());
    names
}

#[derive(Clone, Debug)]
struct Player;

fn engine() -> Engine {
    let mut engine = Engine::new();
    engine.register_type_with_name::<Player>("Player");
    engine.register_fn("someone", || Player);
    engine.register_fn("teleport", |_: &mut Player, _: rhai::Map| ());
    engine.register_get("id", |_: &mut Player| 7_i64);
    engine.set_fail_on_invalid_map_property(true);
    engine.set_strict_variables(true);
    engine.set_max_call_levels(20);
    engine
}

const LIMITS: CallLimits = CallLimits {
    operations: 5_000,
    time: Duration::from_millis(50),
    memory: 64 << 20,
};

fn described(engine: &Engine, script: &str) -> Described {
    let mut ast = engine.compile(script).unwrap();
    ast.set_source("scripts/race/main.rhai");
    let error = engine.run_ast(&ast).unwrap_err();
    describe(&error, "race", &names(), &LIMITS)
}

fn words(script: &str) -> String {
    described(&engine(), script).fault.to_string()
}

fn parse_words(script: &str) -> String {
    let error = engine().compile(script).unwrap_err();
    parse_fault(&error, "scripts/race/main.rhai", script, &names()).to_string()
}

#[test]
fn a_misspelt_function_names_the_nearest_and_where_it_is() {
    assert_eq!(
        words("let p = someone();\n  p.teleprt(#{x: 1});"),
        "scripts/race/main.rhai:2:5: there is no function `teleprt` for (Player, map); did you mean `teleport`?"
    );
    assert_eq!(
        words("someone().explode(\"a\", 1.5)"),
        "scripts/race/main.rhai:1:11: there is no function `explode` for (Player, string, float)"
    );
}

#[test]
fn a_known_function_with_other_arguments_shows_how_it_is_called() {
    assert_eq!(
        words("someone().teleport(5)"),
        "scripts/race/main.rhai:1:11: `teleport` does not take (Player, int); it is \
         `teleport(player: Player, place: map)`"
    );
    let fault = words("let p = (); p.message(\"hi\")");
    assert!(
        fault.ends_with("; the first value is `()`, which is nothing: ask `if value != ()` first"),
        "{fault}"
    );
    assert!(fault.contains("colour: int)`"), "{fault}");
}

#[test]
fn an_unknown_property_names_the_nearest() {
    assert_eq!(
        words("let m = #{a: 1}; m.postion"),
        "scripts/race/main.rhai:1:20: there is no property `postion`; did you mean `position`? Use `\"postion\" in \
         map` to ask first"
    );
    assert_eq!(
        words("someone().postion"),
        "scripts/race/main.rhai:1:11: Player has no property `postion`; did you mean `position`?"
    );
    assert_eq!(
        words("let p = someone(); p.id = 5"),
        "scripts/race/main.rhai:1:22: `id` of Player cannot be set to int: it is read-only, or of another type"
    );
    assert_eq!(
        words("let p = (); p.id"),
        "scripts/race/main.rhai:1:15: `()`, which is nothing, has no property `id`: ask `if value != ()` first"
    );
}

#[test]
fn types_are_named_for_authors() {
    for (script, problem) in [
        ("[1] - 5", "`-` does not work between array and int"),
        ("-\"a\"", "`-` does not work on string"),
        ("let x = 5; if x { 1 } else { 2 }", "it must be bool, got int"),
        ("let x = 5; x[\"a\"]", "it must be int, got string"),
        (
            "let x = 5.5; x[\"a\"]",
            "float has no item that is named by string",
        ),
        ("let y = 5.5; for x in y { }", "`for` goes over an array"),
        (
            "[1, 2][2]",
            "there is no item 2 in an array of 2 items: the first has the index 0",
        ),
        ("5 / 0", "arithmetic: division by zero: 5 / 0"),
        (
            "let f = |x| x; f.call()",
            "this closure does not take (): it has another number of parameters",
        ),
    ] {
        let fault = words(script);
        assert!(fault.contains(problem), "{script}: {fault}");
    }
}

#[test]
fn what_a_script_throws_is_shown_and_bounded() {
    assert!(words("throw \"no such car\"").ends_with(": no such car"));
    assert!(words("throw #{code: 4}").ends_with(": thrown: {\"code\":4}"));
    assert!(words("throw").ends_with(": thrown without a reason"));
    assert!(words("throw [[1], |x| x]").ends_with(": thrown: (a value of type array)"));
    let mut scope = Scope::new();
    scope.push("big", "x".repeat(1 << 20));
    let error = engine().run_with_scope(&mut scope, "throw big").unwrap_err();
    assert!(describe(&error, "race", &names(), &LIMITS).fault.problem.len() < 600);
}

#[test]
fn the_chain_names_every_call_from_the_innermost() {
    let mut engine = engine();
    let mut library = engine
        .compile("fn helper(n) {\n  let list = [1];\n  list[n]\n}")
        .unwrap();
    library.set_source("scripts/race/lib/laps.rhai");
    let module = rhai::Module::eval_ast_as_new(Scope::new(), &library, &engine).unwrap();
    let mut resolver = StaticModuleResolver::new();
    resolver.insert("lib/laps", module);
    engine.set_module_resolver(resolver);
    let described = described(
        &engine,
        "import \"lib/laps\" as laps;\nfn outer() {\n  [9].map(|n| laps::helper(n))\n}\nouter();",
    );
    assert_eq!(
        described.fault.to_string(),
        "scripts/race/lib/laps.rhai:3:8: there is no item 9 in an array of 1 item"
    );
    assert_eq!(
        described.chain,
        [
            "in helper (scripts/race/lib/laps.rhai:3:8)",
            "in a closure (scripts/race/main.rhai:3:21)",
            "in map (scripts/race/main.rhai:3:7)",
            "in outer (scripts/race/main.rhai:3:7)",
            "from scripts/race/main.rhai:5:1",
        ]
    );
}

#[test]
fn a_cut_names_the_limit_and_its_setting() {
    let mut engine = engine();
    engine.on_progress(|count| (count > 5_000).then(|| Cut::Operations.token()));
    let described = described(&engine, "fn f() { loop { } } f()");
    assert_eq!(
        described.fault.problem,
        "stopped: over 5000 operations in one call (scripts.operations_per_call)"
    );
    assert_eq!(described.cut, Some(Cut::Operations));
}

#[test]
fn endless_recursion_is_called_what_it_is() {
    assert!(words("fn f() { f() } f()").contains("functions call each other too deeply"));
}

#[test]
fn a_parse_error_says_what_mends_it() {
    for (script, expected) in [
        (
            "let x = 5\nlet y = 6;",
            ":1:10: a `;` is missing here, at the end of the statement",
        ),
        (
            "let x = 5 // five\n\n// six\nlet y = 6;",
            ":1: a `;` is missing here",
        ),
        (
            "const A = 1;\nfn f() { A }",
            ":2:10: inside functions a constant is written `global::A`",
        ),
        (
            "let a = 1;\nfn f() { a }",
            ":2:10: functions do not see `let a` from outside: use `state.a`, or `const`",
        ),
        (
            "fn f() { stat.x }",
            ":1:10: there is no variable or constant `stat`; did you mean `state`?",
        ),
        (
            "fn f() { chta::broadcast(1) }",
            ":1:10: there is no module `chta`; did you mean `chat`?",
        ),
        (
            "fn f() { laps::start() }",
            ":1:10: there is no module `laps`: write `import \"...\" as laps;`",
        ),
        (
            "fn spawn() { }",
            ":1:4: `spawn` is reserved by the language: choose another name",
        ),
        ("fn f() {", ":1:9: a `}` is missing: this block is not closed"),
        ("let x = ", ": the file ends in the middle of something"),
        ("let x = \"abc", "the string is not closed"),
        ("fn f(a) {} fn f(b) {}", "`f` with 1 parameter is defined twice"),
        (
            "fn f() { if 1 = 2 { } }",
            "this must be a boolean expression, not a number",
        ),
        ("1 = 2;", "a constant cannot be assigned to"),
        ("let x = 1; x === 2", "==="),
        ("break;", "only inside a loop"),
    ] {
        let fault = parse_words(script);
        assert!(fault.contains(expected), "{script}: {fault}");
    }
}
