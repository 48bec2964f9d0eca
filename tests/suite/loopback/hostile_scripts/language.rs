//! Against the language: its loops, its values, its library.

use super::{
    Comes::{ToAPause, ToCalls, ToErrors, ToNoStart},
    Hostile, hostile,
};

pub(super) const CASES: &[Hostile] = &[
    hostile!("endless", ToAPause("stopped: over"), "fn tick(dt) { loop {} }"),
    hostile!(
        "caught_endless",
        ToAPause("stopped: over"),
        "fn tick(dt) { loop { try { loop {} } catch { } } }"
    ),
    hostile!(
        "map_growth",
        ToAPause("stopped: "),
        "fn tick(dt) { let m = #{}; let i = 0; loop { m[\"k\" + i] = i; i += 1; } }"
    ),
    hostile!(
        "array_growth",
        ToAPause("stopped: "),
        "fn tick(dt) { let a = []; loop { a.push(a.len()); } }"
    ),
    hostile!(
        "doublings",
        ToAPause("stopped: "),
        "fn tick(dt) { let s = \"0123456789abcdef\"; for i in 0..23 { s += s; } state.s = s; }"
    ),
    hostile!(
        "kept_doublings",
        ToAPause("stopped: "),
        "fn tick(dt) { let s = \"0123456789abcdef\"; for i in 0..20 { s += s; } state[\"s\" + state.len()] = s; }"
    ),
    hostile!(
        "splits",
        ToErrors("65536"),
        "fn tick(dt) { let s = \"a,\"; for i in 0..19 { s += s; } for i in 0..200 { let p = s.split(\",\"); } }"
    ),
    hostile!(
        "splits_of_few",
        ToAPause("stopped: over"),
        "fn tick(dt) { let s = \"a,\"; for i in 0..19 { s += s; } for i in 0..2000 { let p = s.split(\"zzz\"); } }"
    ),
    hostile!(
        "closure_chain",
        ToCalls(100),
        "fn tick(dt) { let f = state.get(\"f\", || 0); for i in 0..100 { let g = f; f = || g.call() + 1; } state.f = f; }"
    ),
    hostile!(
        "nested_arrays",
        ToAPause("stopped: "),
        "fn tick(dt) { let a = [0]; loop { a.push([a.pop()]); } }"
    ),
    hostile!(
        "nested_and_kept",
        ToErrors(""),
        "fn tick(dt) {
            let a = state.get(\"a\", [0]);
            for i in 0..10_000 { a.push([a.pop()]); }
            state.a = a;
            let b = a == state.a;
            print(a);
            let text = `${a}`;
            switch a { [] => 1, _ => 2 }
            json::to_string(a);
        }"
    ),
    hostile!("deep", ToErrors("too deeply"), "fn down(n) { 1 + down(n + 1) } fn tick(dt) { down(0) }"),
    hostile!(
        "mutual",
        ToErrors("too deeply"),
        "fn ping(n) { let f = Fn(\"pong\"); 1 + f.call(n) } fn pong(n) { [1].map(|x| ping(n + x)) } fn tick(dt) { ping(0) }"
    ),
    hostile!("sleeper", ToErrors("sleep"), "fn tick(dt) { sleep(1.0) }"),
    hostile!("stamper", ToErrors("timestamp"), "fn tick(dt) { timestamp() }"),
    hostile!("evaluator", ToNoStart("eval"), "fn tick(dt) { eval(\"loop {}\") }"),
    hostile!("called_sleep", ToErrors("sleep"), "fn tick(dt) { Fn(\"sleep\").call(1.0) }"),
    hostile!("called_eval", ToErrors("eval"), "fn tick(dt) { let e = \"ev\"; Fn(e + \"al\").call(\"loop {}\") }"),
    hostile!(
        "blowups",
        ToAPause("stopped: "),
        "fn tick(dt) {
            let tried = 0;
            loop {
                try { let s = \"x\"; s.pad(1_000_000_000_000, \"yz\"); } catch { tried += 1; }
                try { let s = \"x\"; s.pad(1_000_000, \"yz\"); s.replace(\"y\", \"z\".to_upper() + s); } catch { tried += 1; }
                try { let b = blob(1_000_000_000_000); } catch { tried += 1; }
                try { let b = blob(100_000_000); } catch { tried += 1; }
                try { let a = []; a.pad(1_000_000_000, [1]); } catch { tried += 1; }
                try { let a = range(0, 1_000_000_000).to_array(); } catch { tried += 1; }
                try { let b = blob(8); b.pad(1_000_000_000_000, 7); } catch { tried += 1; }
                try { let s = \"x\" * 1_000_000_000; } catch { tried += 1; }
                state.tried = tried;
            }
        }"
    ),
    hostile!(
        "iterators",
        ToAPause("stopped: over"),
        "fn tick(dt) {
            for step in [0, -1, 1] { try { for i in range(0, 9223372036854775807, step) {} } catch { } }
            for i in 0..=9223372036854775807 { }
        }"
    ),
    hostile!(
        "liar",
        ToAPause("stopped: over"),
        "fn tick(dt) { let a = []; for i in 0..16384 { a.push(i); } loop { a.sort(|x, y| random::int(-1, 1)); a.sort(|x, y| 1); } }"
    ),
    hostile!(
        "reducer",
        ToAPause("stopped: "),
        "fn tick(dt) {
            let a = []; a.pad(10_000, 1);
            let b = a.reduce(|sum, x| { sum.push(sum.len()); sum }, []);
            let s = a.reduce(|sum, x| sum + sum, \"0123456789abcdef\");
        }"
    ),
    hostile!(
        "references",
        ToErrors(""),
        "fn tick(dt) {
            let s = \"x\"; for i in 0..20 { s += s; }
            let a = []; a.pad(1_000, s);
            let failed = 0;
            try { print(a); } catch { failed += 1; }
            try { log::info(a); } catch { failed += 1; }
            try { json::to_string(a); } catch { failed += 1; }
            try { store::put(\"a\", a); } catch { failed += 1; }
            try { for p in players::all() { p.send(\"a\", a); } } catch { failed += 1; }
            try { state.text = `${a}`; } catch { failed += 1; }
            throw a;
        }"
    ),
    hostile!(
        "race",
        ToAPause("stopped: over"),
        "fn tick(dt) { let x = [1]; let f = || { x.push(1) }; loop { try { x.for_each(|y| f.call()); } catch { } } }"
    ),
    hostile!("race_on_many", ToAPause("stopped: over"), MANY_LOCKS),
    hostile!(
        "state_in_state",
        ToErrors("cannot be kept in itself"),
        "fn tick(dt) { state.list = [state]; print(state); let t = `${state}`; state.me = state; }"
    ),
    hostile!(
        "circle",
        ToAPause("used twice"),
        "fn tick(dt) { let a = []; let f = || a; a.push(f); state.f = f; let copy = a; state.f = f.call(); print(f.call()); }"
    ),
    hostile!("thrower", ToErrors(""), THROWS),
    hostile!(
        "sleeper_in_natives",
        ToErrors(""),
        "fn tick(dt) { for n in [\"sleep\", \"timestamp\", \"run\", \"open_file\", \"import\"] { try { call(Fn(n), 1) } catch (e) { state[n] = `${e}`; } } throw state.keys().len(); }"
    ),
];

/// Fifteen values in use at once, and then a look at all of them: each look at one in use waits.
const MANY_LOCKS: &str = "
fn deeper(n) {
    if n == 15 { let all = state.to_map(); return; }
    state[`k${n}`].for_each(|x| deeper(n + 1));
}
fn tick(dt) {
    for n in 0..15 { state[`k${n}`] = [1]; }
    deeper(0);
    loop {}
}
";

const THROWS: &str = "
fn resource_start() { for i in 0..1000 { timers::every(100, || { throw #{thrown: i}; }); } throw 1; }
fn resource_stop() { throw 2; }
fn tick(dt) { throw [3]; }
fn player_connected(p) { throw p; }
fn player_disconnected(p, r) { throw r; }
fn player_request_spawn(p) { throw state; }
fn player_spawned(p) { throw (); }
fn player_chat(p, t) { throw t; }
fn player_command(p, c, a) { throw a; }
fn player_damage(p, a, w, n) { throw n; }
fn client_event(p, n, d) { throw d; }
fn zone_entered(p, z) { throw z; }
";
