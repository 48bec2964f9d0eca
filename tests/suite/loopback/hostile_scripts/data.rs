//! Against what is kept, and the files it is kept in.

use super::{
    Comes::{ToAPause, ToCalls, ToErrors, ToNoStart},
    Hostile, hostile,
};

/// Makes and lets go of a little of everything, all the time.
pub(super) const TIDY: Hostile = hostile!(
    "tidy",
    ToCalls(1),
    "fn resource_start() { db::execute(\"CREATE TABLE IF NOT EXISTS t (x TEXT)\", []); for i in 0..5 { timers::every(100, || work()); } }
    fn client_event(p, n, d) { state.last = d; }
    fn work() {
        let thing = entities::create(#{kind: \"object\", model: 1, x: 0, y: 0, z: 0, data: [1, 2, 3]});
        thing.destroy();
        let zone = zones::sphere(#{x: 0, y: 0, z: 0}, 5);
        zone.destroy();
        let carried = [1, 2, 3, \"four\"];
        let cancelled = timers::after(1_000, || carried.len());
        timers::cancel(cancelled);
        timers::after(0, || { let n = carried.len(); throw `thrown with ${n} items`; });
        timers::after(0, Fn(\"taken\").curry(carried));
        store::put(\"k\", carried, || carried.len());
        db::query(`SELECT 'a row of text, ${timers::after(0, || 1)}' AS x`, [], |a| { state.rows = a.rows; });
        for p in players::all() { p.set(\"k\", carried); p.set(\"k\", ()); p.message(\"x\"); }
        try { chat::broadcast(5) } catch { }
    }
    fn taken(list) { state.list = list; }"
);

/// Lets functions that wait carry more than it may hold.
pub(super) const GREEDY: Hostile = hostile!(
    "greedy",
    ToAPause("stopped: "),
    "fn f(a) { }
    fn tick(dt) {
        let a = blob(1_000_000);
        for i in 0..40 { timers::after(600_000, Fn(\"f\").curry(a)); }
        for i in 0..40 { store::delete(\"none\", Fn(\"f\").curry(a)); }
    }"
);

pub(super) const CASES: &[Hostile] = &[
    Hostile {
        name: "keeper",
        comes: ToCalls(3),
        files: &[(
            "main.rhai",
            "fn resource_start() { store::put(\"secret\", 7); db::execute(\"CREATE TABLE secrets (x)\", []); } fn tick(dt) { }",
        )],
    },
    hostile!(
        "reader",
        ToErrors("nothing of keeper"),
        "fn tick(dt) {
            for key in [\"secret\", \"../keeper/secret\", \"keeper.secret\"] { if store::get(key) != () { return; } }
            state.refused = 0;
            for sql in [\"SELECT * FROM secrets\", \"SELECT * FROM keeper.secrets\", \"ATTACH 'store/keeper.sqlite' AS k\", \"ATTACH DATABASE 'file:../keeper.sqlite?mode=ro' AS k\"] {
                db::query(sql, [], |a| {
                    if !a.ok { state.refused += 1; }
                    if state.refused == 4 { throw \"nothing of keeper\"; }
                });
            }
        }"
    ),
    hostile!(
        "breaker",
        ToErrors("all refused"),
        "const TRIES = [
            \"ATTACH '/etc/passwd' AS x\", \"ATTACH ':memory:' AS x\", \"PRAGMA journal_mode = OFF\", \"PRAGMA writable_schema = 1\",
            \"SELECT load_extension('/lib/x.so')\", \"INSERT INTO sqlite_master VALUES (1, 2, 3, 4, 5)\",
            \"UPDATE sqlite_schema SET sql = 'x'\", \"DELETE FROM sqlite_master\", \"VACUUM INTO '/tmp/stolen.sqlite'\",
            \"DETACH main\", \"SELECT writefile('/tmp/stolen', 'x')\", \"SELECT readfile('/etc/passwd')\",
            \"CREATE VIRTUAL TABLE t USING csv(filename='/etc/passwd')\", \"SELECT 1; SELECT 2\", \"BEGIN\", \"garbage\", \"\\u2066\",
            \"SELECT * FROM pragma_database_list\", \"SELECT randomblob(1000000000)\", \"SELECT zeroblob(2000000000)\",
            \"SELECT printf('%1000000000d', 1)\"
        ];
        fn resource_start() {
            state.left = global::TRIES.len();
            for sql in global::TRIES {
                let tried = sql;
                db::execute(tried, [], |a| {
                    if a.ok { state.done = tried; }
                    state.left -= 1;
                    if state.left == 0 { throw if \"done\" in state { state.done } else { \"all refused\" }; }
                });
            }
        }"
    ),
    hostile!(
        "counter",
        ToErrors("1 s"),
        "fn resource_start() { db::query(\"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c\", [], |a| { throw a.error; }); }"
    ),
    hostile!(
        "many_rows",
        ToErrors("10000 rows"),
        "fn resource_start() { db::query(\"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c\", [], |a| { throw a.error; }); }"
    ),
    hostile!(
        "asker",
        ToErrors("1000 answers"),
        "fn tick(dt) { for i in 0..100_000 { db::query(\"SELECT 1\", [], |a| { }); } }"
    ),
    hostile!("large_answers", ToErrors(""), LARGE_ANSWERS),
    hostile!(
        "large_questions",
        ToErrors(""),
        "fn tick(dt) { let s = \"x\"; for i in 0..20 { s += s; } for i in 0..1000 { db::execute(\"SELECT ?1\", [s]); } }"
    ),
    hostile!(
        "hoarder",
        ToErrors(""),
        "fn tick(dt) { let s = \"x\"; for i in 0..19 { s += s; } for i in 0..100 { store::put(`k${i}`, s); } }"
    ),
    hostile!(
        "rewriter",
        ToErrors(""),
        "fn tick(dt) { let s = \"x\"; for i in 0..19 { s += s; } for i in 0..20_000 { store::put(\"k\", s); } }"
    ),
    hostile!(
        "fat_keys",
        ToErrors("key must have"),
        "fn tick(dt) { let k = \"k\"; k.pad(1_000_000, \"x\"); store::put(k, 1); }"
    ),
    hostile!(
        "call_me_back",
        ToErrors("1000 answers"),
        "fn work() { let i = 0; while i < 2_000 { i += 1; } }
        fn tick(dt) { for i in 0..5_000 { store::delete(\"none\", || work()); } }"
    ),
    Hostile {
        name: "climber",
        comes: ToNoStart("main.rhai:1:"),
        files: &[("main.rhai", "import \"../keeper/main\" as k;\nfn tick(dt) { }")],
    },
    Hostile {
        name: "absolute",
        comes: ToNoStart("main.rhai:1:"),
        files: &[("main.rhai", "import \"/etc/passwd\" as k;\nfn tick(dt) { }")],
    },
    Hostile {
        name: "computed",
        comes: ToNoStart("main.rhai:1:"),
        files: &[("main.rhai", "fn tick(dt) { import \"..\" + \"/keeper/main\" as k; }")],
    },
    Hostile {
        name: "linked_file",
        comes: ToNoStart("symbolic link"),
        files: &[("main.rhai", "import \"link\" as k;\nfn tick(dt) { k::secret() }")],
    },
    Hostile {
        name: "cycle",
        comes: ToNoStart("import cycle"),
        files: &[
            ("main.rhai", "import \"a\" as a;\nfn tick(dt) { }"),
            ("a.rhai", "import \"b\" as b;\nfn a() { }"),
            ("b.rhai", "import \"a\" as a;\nfn b() { }"),
        ],
    },
    Hostile {
        name: "self_import",
        comes: ToNoStart("import cycle"),
        files: &[("main.rhai", "import \"main\" as m;\nfn tick(dt) { }")],
    },
    Hostile {
        name: "nester",
        comes: ToNoStart("main.rhai:"),
        files: &[("main.rhai", NESTED)],
    },
    Hostile {
        name: "other",
        comes: ToNoStart("main.rhai:1:"),
        files: &[("main.rhai", "import \"keeper\" as k;\nfn tick(dt) { }")],
    },
    Hostile {
        name: "constant_burner",
        comes: ToNoStart("stopped: over"),
        files: &[("main.rhai", "const X = { let i = 0; loop { i += 1; } };\nfn tick(dt) { }")],
    },
];

/// Answers of 10,000 rows, faster than they are taken.
const LARGE_ANSWERS: &str = "
fn slow(a) { if !a.ok { throw a.error; } let i = 0; while i < 2_000 { i += 1; } state[`rows${state.len()}`] = a.rows; }
fn tick(dt) {
    for i in 0..900 {
        try { db::query(\"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 9999) SELECT x FROM c\", [], |a| slow(a)); } catch { break; }
    }
}
";

/// Deeper than any parser likes.
const NESTED: &str = concat!(
    "fn tick(dt) { let a = ",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "; }"
);
