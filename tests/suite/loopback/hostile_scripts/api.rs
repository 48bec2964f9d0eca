//! Against the functions of the server: messages, timers, entities, questions, the console, the log.

use super::{
    Comes::{ToAPause, ToCalls, ToErrors, ToRefusals},
    Hostile, hostile,
};

/// Burns all it may in every handler.
pub(super) const BURNER: Hostile = hostile!(
    "burner",
    ToCalls(1),
    "fn burn() { let i = 0; while i < 40_000 { i += 1; } }
    fn tick(dt) { burn() }
    fn player_connected(p) { burn() }
    fn player_disconnected(p, r) { burn() }
    fn player_request_spawn(p) { burn(); }
    fn player_spawned(p) { burn() }
    fn player_chat(p, t) { burn(); }
    fn player_command(p, c, a) { burn(); }
    fn client_event(p, n, d) { burn() }
    fn resource_start() { for i in 0..50 { timers::every(100, || burn()); } }"
);

pub(super) const CASES: &[Hostile] = &[
    hostile!(
        "timer_maker",
        ToErrors("1000 timers"),
        "fn more() { for i in 0..100 { timers::after(0, || more()); } } fn resource_start() { more() }"
    ),
    hostile!(
        "timer_canceller",
        ToCalls(20),
        "fn resource_start() {
            let own = 0;
            own = timers::every(100, || { timers::cancel(own); timers::cancel(own); });
            timers::after(0, || { for i in 0..5000 { timers::cancel(i); } });
            for i in 0..900 { timers::after(0, || { for i in 0..5000 { timers::cancel(i); } }); }
        }
        fn tick(dt) { }"
    ),
    hostile!(
        "timer_burner",
        ToAPause("stopped: over"),
        "fn resource_start() { for i in 0..1000 { timers::every(100, || { loop {} }); } }"
    ),
    hostile!(
        "echo",
        ToErrors(""),
        "fn player_chat(p, t) { loop { chat::broadcast(t); } } fn client_event(p, n, d) { loop { chat::broadcast(n); } }"
    ),
    hostile!(
        "flooder",
        ToErrors(""),
        "fn tick(dt) { for p in players::all() { for i in 0..5_000 { p.send(\"flood\", [i], true); } } }
        fn player_disconnected(p, r) { throw `left by ${r}`; }"
    ),
    hostile!(
        "speaker",
        ToErrors("at most 512"),
        "fn tick(dt) { chat::broadcast(\"\\x1b[2J\\r\\n\\u2066\"); }
        fn player_chat(p, t) { let long = \"x\"; long.pad(1_000_000, \"x\"); chat::broadcast(long); }"
    ),
    hostile!(
        "entities",
        ToErrors("2000 entities"),
        "fn tick(dt) { for i in 0..100_000 { entities::create(#{kind: \"object\", model: 1, x: i % 1000, y: 0, z: 0}); } }"
    ),
    hostile!(
        "churner",
        ToCalls(30),
        "fn tick(dt) { for i in 0..200 { entities::create(#{kind: \"object\", model: 1, x: i, y: 0, z: 0}).destroy(); zones::sphere(#{x: i, y: 0, z: 0}, 5).destroy(); } }"
    ),
    hostile!(
        "zones",
        ToErrors("1000 zones"),
        "fn tick(dt) { for i in 0..100_000 { zones::sphere(#{x: 0, y: 0, z: 10}, 20_000); } }
        fn zone_entered(p, z) { z.destroy(); throw z; }"
    ),
    hostile!(
        "mover",
        ToErrors(""),
        "fn tick(dt) { for p in players::all() { for i in 0..100_000 { p.teleport(#{x: i, y: 0, z: 10}); p.health = i % 100; } } throw \"no player\"; }"
    ),
    Hostile {
        name: "commander",
        comes: ToErrors("console::run"),
        files: &[
            ("resource.ron", "(console: [\"say\", \"status\", \"kick\"])"),
            (
                "main.rhai",
                "fn tick(dt) {
                    let refused = 0;
                    for c in [\"eval loop {}\", \"shutdown\", \"password\", \"resource stop commander\", \"set 1 x 1\", \"ban 127.0.0.1\", \"  eval 1\", \"EVAL 1\", \"\\teval 1\", \"help eval\"] {
                        try { console::run(c); } catch { refused += 1; }
                    }
                    if refused != 10 { throw `only ${refused} were refused`; }
                    for i in 0..50 { console::run(\"kick 99999 x\", |a| { console::run(\"status --json\", |b| json::parse(b.text)); }); }
                    console::run(\"say \" + \"x\".to_upper());
                    console::run(\"garbage \\x1b[2J\");
                }",
            ),
        ],
    },
    Hostile {
        name: "reporter",
        comes: ToErrors("wait for 1000 answers"),
        files: &[
            ("resource.ron", "(console: [\"status\"])"),
            (
                "main.rhai",
                "fn tick(dt) { for i in 0..100_000 { console::run(\"status\", |a| { }); } }",
            ),
        ],
    },
    hostile!(
        "logger",
        ToCalls(20),
        "fn tick(dt) { for i in 0..1_000 { log::error(\"\\x1b[2J\\r\\nfake \\u2066 line\" + i); print(\"\\x1b]0;title\\x07\"); debug(\"\\u202e\"); } }"
    ),
    hostile!(
        "long_thrower",
        ToErrors("\\u"),
        "fn tick(dt) { let s = \"\\x1b[2J\\r\\n\\u2066\"; for i in 0..16 { s += s; } throw s; }"
    ),
    hostile!("refuser_thrower", ToRefusals(""), "fn player_connecting(n, i) { throw n; }"),
    hostile!("refuser_endless", ToRefusals(""), "fn player_connecting(n, i) { loop {} }"),
    hostile!(
        "refuser_hog",
        ToRefusals(""),
        "fn player_connecting(n, i) { let s = \"x\"; for i in 0..30 { s += s; } s }"
    ),
    hostile!("refuser_long", ToRefusals(""), "fn player_connecting(n, i) { \"123456789012345678901\" }"),
    hostile!("refuser_control", ToRefusals(""), "fn player_connecting(n, i) { \"a\\x1b[2J\\r\\n\" }"),
    hostile!("refuser_bidi", ToRefusals(""), "fn player_connecting(n, i) { \"a\\u2066b\" }"),
    hostile!("refuser", ToRefusals("not today"), "fn player_connecting(n, i) { \"not today\" }"),
    hostile!("connect_number", ToCalls(1), "fn player_connecting(n, i) { 7 }"),
    hostile!(
        "connect_nest",
        ToCalls(1),
        "fn player_connecting(n, i) { let a = []; for i in 0..200 { a = [a]; } a }"
    ),
    hostile!(
        "huge_answers",
        ToErrors(""),
        "fn big() { let a = []; a.pad(60_000, #{x: 1, y: []}); a }
        fn tick(dt) { big() }
        fn player_connected(p) { big() }
        fn player_request_spawn(p) { #{x: big(), y: 0, z: 0} }
        fn player_chat(p, t) { big() }
        fn player_command(p, c, a) { big() }"
    ),
    hostile!(
        "spawner",
        ToErrors("player_request_spawn"),
        "fn player_request_spawn(p) { #{x: 1.0 / 0.0, y: 1e300, z: -1e300, heading: 0.0 / 0.0, weapons: [1]} }"
    ),
    hostile!(
        "banner",
        ToErrors(""),
        "fn tick(dt) { for i in 0..100_000 { server::ban_ip(`10.${i / 65536}.${i / 256 % 256}.${i % 256}`, 60, \"x\"); server::set_mode_text(\"x\"); server::set_password(\"\"); } }"
    ),
    hostile!(
        "hasher",
        ToErrors("wait for 1000 answers"),
        "fn tick(dt) { for i in 0..100_000 { password::hash(\"x\", |a| { }); } }"
    ),
    hostile!(
        "note_keeper",
        ToErrors("64 keys"),
        "fn keep(p) { let a = []; a.pad(60_000, 1); for i in 0..64 { p.set(`k${i}`, a); } p.set(\"one more\", 1); }
        fn player_connected(p) { keep(p); }"
    ),
    hostile!(
        "note_hog",
        ToErrors("64 keys"),
        "fn tick(dt) { for p in players::all() { let a = blob(1_000_000); for i in 0..20 { p.set(`k${state.len()}`, a); state[`n${state.len()}`] = 1; } } }
        fn player_disconnected(p, r) { }"
    ),
    hostile!(
        "curry_hog",
        ToErrors("stopped: "),
        "fn f(a) { } fn tick(dt) { let a = blob(1_000_000); for i in 0..100 { store::delete(\"none\", Fn(\"f\").curry(a)); } }"
    ),
];
