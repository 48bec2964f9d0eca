//! What a call of an empty handler costs, from the question or the message to the end, against the bare call.

use std::hint::black_box;

use decitick_components::messages::ChatReceived;

use super::{
    bare::{Bare, nanoseconds},
    stage::Stage,
};
use crate::support::table::{Table, median};

const EMPTY: &str = "fn player_damage(player, attacker, weapon, amount) {}";
/// What a call may cost above the bare one.
const TARGET_NANOSECONDS: f64 = 5_000.0;
const LINES: u32 = 1_000;

/// A question of the simulation, and an event of which a resource is told.
pub(crate) fn handlers(table: &mut Table) {
    let mut stage = Stage::with_script(2, 5.0, EMPTY);
    let mut bare = Bare::new(EMPTY);
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for _ in 0..11 {
        let call = |stage: &mut Stage| {
            black_box(stage.ask());
        };
        ours.push(nanoseconds(&mut stage, 9, 2_000, drop_tick, call));
        let call = |bare: &mut Bare| {
            let _ = black_box(bare.ask());
        };
        theirs.push(nanoseconds(&mut bare, 9, 2_000, |_| {}, call));
    }
    stage.expect_no_error();
    above(
        table,
        "an empty handler that is asked (player_damage)",
        median(ours),
        median(theirs.clone()),
    );
    for count in [2, 1_000] {
        let told = told_a_line(count);
        above(
            table,
            &format!("an empty handler that is told (player_chat), {count} players on, the message included"),
            told,
            median(theirs.clone()),
        );
    }
}

fn drop_tick(stage: &mut Stage) {
    stage.tick();
}

fn above(table: &mut Table, what: &str, ours: f64, bare: f64) {
    let more = ours - bare;
    table.row(
        what,
        "5 us above a bare call",
        format!(
            "{:.2} us, bare {:.2} us: {:.2} us above",
            ours / 1e3,
            bare / 1e3,
            more / 1e3
        ),
        Some(more <= TARGET_NANOSECONDS),
    );
}

/// A tick with so many lines of chat against a tick without, with the lines swallowed so that nothing else is done with
/// them.
fn told_a_line(count: u16) -> f64 {
    let mut stage = Stage::with_script(count, 5.0, "fn player_chat(player, text) { false }");
    let mut quiet = Vec::new();
    let mut busy = Vec::new();
    for _ in 0..40 {
        quiet.push(stage.tick().as_secs_f64());
        let speakers = stage.players.clone();
        let world = stage.app.world_mut();
        for (_, &entity) in (0..LINES).zip(speakers.iter().cycle()) {
            let text = "good evening".to_owned();
            world.write_message(ChatReceived { entity, text });
        }
        busy.push(stage.tick().as_secs_f64());
    }
    stage.expect_no_error();
    let calls = stage.report().figures.calls;
    assert_eq!(calls, 40 * u64::from(LINES), "every line fits into its tick");
    (median(busy) - median(quiet)) * 1e9 / f64::from(LINES)
}
