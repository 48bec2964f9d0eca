//! What the words of the API cost, each in a loop of a handler, less the loop itself.

use std::hint::black_box;

use decitick_components::body::distance;
use decitick_protocol::Vec3;
use rhai::{Array, Dynamic, Engine, Map};

use super::{
    bare::{Bare, Somebody, nanoseconds},
    stage::{Stage, place},
};
use crate::support::table::Table;

const TURNS: u32 = 200;

/// A handler that does this many times, after it did something else once.
fn looped(before: &str, body: &str) -> String {
    format!(
        "fn player_damage(player, attacker, weapon, amount) {{ {before} for turn in 0..{TURNS} {{ {body} }} }}"
    )
}

/// Nanoseconds of `body` in a resource; `empty` is what the loop does without it.
fn in_resource(count: u16, metres: f32, before: &str, body: &str, empty: &str) -> f64 {
    let time = |body: &str| {
        let mut stage = Stage::with_script(count, metres, &looped(before, body));
        let between = |stage: &mut Stage| {
            stage.tick();
        };
        let call = |stage: &mut Stage| {
            black_box(stage.ask());
        };
        let time = nanoseconds(&mut stage, 41, 5, between, call);
        stage.expect_no_error();
        time
    };
    (time(body) - time(empty)) / f64::from(TURNS)
}

/// The same in a bare engine.
fn in_bare(engine: impl Fn() -> Engine, before: &str, body: &str, empty: &str) -> f64 {
    let time = |body: &str| {
        let mut bare = Bare::with(engine(), &looped(before, body));
        let call = |bare: &mut Bare| {
            let _ = black_box(bare.ask());
        };
        nanoseconds(&mut bare, 41, 5, |_| {}, call)
    };
    (time(body) - time(empty)) / f64::from(TURNS)
}

fn compare(table: &mut Table, what: &str, ours: f64, bare: f64) {
    let measured = format!("{:.2} / {:.2} us = {:.2}", ours / 1e3, bare / 1e3, ours / bare);
    table.row(what, "", measured, None);
}

fn alone(table: &mut Table, what: &str, ours: f64) {
    table.row(what, "", format!("{:.2} us", ours / 1e3), None);
}

/// `player.position` against a property of a registered type that makes the same map.
pub(crate) fn position(table: &mut Table) {
    let (body, empty) = ("let p = player.position;", "let p = turn;");
    let ours = in_resource(1_000, 5.0, "", body, empty);
    let bare = in_bare(Engine::new, "", body, empty);
    compare(
        table,
        "player.position, 1,000 players on / a bare property",
        ours,
        bare,
    );
}

/// `players::near` with 1,000 on, against a bare function that scans as many places and makes the same array.
pub(crate) fn near(table: &mut Table) {
    let before = "let here = player.position;";
    for (metres, how) in [(30.0, "3 to 9 found"), (0.0, "all in one spot, 1,000 found")] {
        let body = "let found = players::near(here, 50);";
        let time = |body: &str| {
            let script = format!("fn player_damage(player, attacker, weapon, amount) {{ {before} {body} }}");
            let mut stage = Stage::with_script(1_000, metres, &script);
            let between = |stage: &mut Stage| {
                stage.tick();
            };
            let call = |stage: &mut Stage| {
                black_box(stage.ask());
            };
            let time = nanoseconds(&mut stage, 41, 5, between, call);
            stage.expect_no_error();
            time
        };
        let ours = time(body) - time("let found = 0;");
        let time = |body: &str| {
            let script = format!("fn player_damage(player, attacker, weapon, amount) {{ {before} {body} }}");
            let mut bare = Bare::with(with_near(metres), &script);
            let call = |bare: &mut Bare| {
                let _ = black_box(bare.ask());
            };
            nanoseconds(&mut bare, 41, 5, |_| {}, call)
        };
        let bare = time("let found = near(here, 50);") - time("let found = 0;");
        compare(
            table,
            &format!("players::near, 1,000 on, 50 m, {how} / a bare scan"),
            ours,
            bare,
        );
    }
}

fn with_near(metres: f32) -> Engine {
    let places: Vec<Vec3> = (0..1_000).map(|n| place(n, 1_000, metres)).collect();
    let mut engine = Engine::new();
    engine.register_fn("near", move |map: Map, radius: i64| -> Array {
        let part = |key: &str| map[key].as_float().unwrap() as f32;
        let here = Vec3::new(part("x"), part("y"), part("z"));
        let mut found: Vec<(f32, Vec3)> = places
            .iter()
            .map(|&there| (distance(here, there), there))
            .filter(|&(away, _)| away <= radius as f32)
            .collect();
        found.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        found
            .into_iter()
            .map(|(_, Vec3 { x, y, z })| Dynamic::from(Somebody { x, y, z }))
            .collect()
    });
    engine
}

/// `state`, `player.get` and `player.set` against a local map; messages and the store alone.
pub(crate) fn state_and_messages(table: &mut Table) {
    let ours = in_resource(2, 5.0, "state.x = 0;", "state.x += 1;", "turn + 1;");
    let bare = in_bare(Engine::new, "let state = #{x: 0};", "state.x += 1;", "turn + 1;");
    compare(table, "state.x += 1 / a local map", ours, bare);
    let ours = in_resource(2, 5.0, "state.list = [];", "state.list.push(turn);", "turn;");
    let bare = in_bare(
        Engine::new,
        "let state = #{list: []};",
        "state.list.push(turn);",
        "turn;",
    );
    compare(table, "state.list.push(n) / a local map", ours, bare);
    let long = "state.list = []; state.list.pad(1000, 0);";
    let ours = in_resource(2, 5.0, long, "state.list.push(turn);", "turn;");
    alone(table, "state.list.push(n) on a list of 1,000", ours);
    let ours = in_resource(2, 5.0, "", "player.set(\"kills\", turn);", "turn;");
    let bare = in_bare(
        Engine::new,
        "let map = #{kills: 0};",
        "map.set(\"kills\", turn);",
        "turn;",
    );
    compare(table, "player.set(key, n) / a local map", ours, bare);
    let before = "player.set(\"kills\", 1);";
    let ours = in_resource(2, 5.0, before, "player.get(\"kills\", 0);", "turn;");
    let bare = in_bare(
        Engine::new,
        "let map = #{kills: 0};",
        "map.get(\"kills\");",
        "turn;",
    );
    compare(table, "player.get(key, 0) / a local map", ours, bare);
    let small = "let map = #{score: 12, name: \"Ann\", at: [1.5, 2.5]};";
    let ours = in_resource(2, 5.0, small, "store::put(\"best\", map);", "turn;");
    alone(table, "store::put of a small map", ours);
    let ours = in_resource(2, 5.0, small, "player.send(\"score\", map);", "turn;");
    alone(table, "player.send of a small map", ours);
}
