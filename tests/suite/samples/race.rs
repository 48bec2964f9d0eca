//! scripts/race.

use decitick_components::{
    body::Dimension,
    requests::PlayerWish,
    script::{ScriptBundle, ScriptOutcome, ScriptWork, SqlAnswer, SqlValue},
};
use decitick_protocol::Vec3;

use super::{expect_heard, heard, leave, sample, say, stand};
use crate::sim::Sim;

/// The track of scripts/race/lib/track.rhai.
const TRACK: [(f32, f32); 6] = [
    (0.0, 100.0),
    (80.0, 150.0),
    (160.0, 100.0),
    (160.0, 0.0),
    (80.0, -50.0),
    (0.0, 0.0),
];

fn race() -> ScriptBundle {
    sample(
        "race",
        &[
            ("main.rhai", include_str!("../../../scripts/race/main.rhai")),
            (
                "lib/clock.rhai",
                include_str!("../../../scripts/race/lib/clock.rhai"),
            ),
            (
                "lib/track.rhai",
                include_str!("../../../scripts/race/lib/track.rhai"),
            ),
        ],
    )
}

fn started() -> Sim {
    let mut sim = Sim::new();
    sim.start_bundle(race());
    sim
}

fn dimension(sim: &Sim, index: usize) -> u32 {
    sim.of::<Dimension>(index).0
}

/// Types /race and waits until it began.
fn begin(sim: &mut Sim, index: usize) {
    say(sim, index, "/race");
    sim.expect_within(50, "the start", |sim| {
        sim.players[index]
            .chat()
            .last()
            .is_some_and(|line| *line == "Go!")
    });
}

fn drive(sim: &mut Sim, index: usize, (x, y): (f32, f32)) {
    stand(sim, index, Vec3::new(x, y, 3.0));
}

fn lap(sim: &mut Sim, index: usize) {
    for place in TRACK {
        drive(sim, index, place);
    }
}

/// Statements that begin so.
fn statements(sim: &Sim, beginning: &str) -> Vec<(u64, Vec<SqlValue>)> {
    let sql = sim.folder.statements.iter().filter_map(|work| match work {
        ScriptWork::Sql {
            request, statement, ..
        } if statement.sql.starts_with(beginning) => Some((*request, statement.parameters.clone())),
        _ => None,
    });
    sql.collect()
}

#[test]
fn a_race_counts_down_and_goes_two_laps_around_the_track() {
    let mut sim = started();
    let (ada, bob) = (sim.join_now("Ada"), sim.join_now("Bob"));
    begin(&mut sim, ada);
    let counted: Vec<&str> = sim.players[bob]
        .chat()
        .into_iter()
        .filter(|line| ["3", "2", "1", "Go!"].contains(line))
        .collect();
    assert_eq!(counted, ["3", "2", "1", "Go!"]);
    assert_eq!(sim.position(ada).y, -18.0);
    assert_eq!(sim.position(bob).y, -18.0);
    lap(&mut sim, ada);
    expect_heard(&sim, ada, "Lap 1: 0:0");
    assert!(!heard(&sim, bob, "finishes"));
    lap(&mut sim, ada);
    expect_heard(&sim, bob, "Ada finishes as number 1 in 0:");
    lap(&mut sim, bob);
    lap(&mut sim, bob);
    expect_heard(&sim, ada, "Bob finishes as number 2 in 0:");
    sim.ticks(60);
    assert_eq!(
        (dimension(&sim, ada), dimension(&sim, bob)),
        (0, 0),
        "they are back"
    );
    let laps = statements(&sim, "INSERT");
    assert_eq!(laps.len(), 4);
    assert_eq!(laps[0].1[0], SqlValue::Text("Ada".to_owned()));
    sim.expect_no_script_error();
}

#[test]
fn racers_are_alone_with_each_other() {
    let mut sim = started();
    let (ada, bob, far) = (sim.join_now("Ada"), sim.join_now("Bob"), sim.join_now("Far"));
    drive(&mut sim, far, (400.0, 400.0));
    begin(&mut sim, ada);
    assert_eq!(
        [ada, bob, far].map(|index| dimension(&sim, index)),
        [7, 7, 0],
        "who was not near does not race"
    );
    drive(&mut sim, far, (0.0, -10.0));
    assert!(sim.sees(ada, bob) && !sim.sees(ada, far));
    say(&mut sim, far, "/race");
    expect_heard(&sim, far, "There is a race already");
    sim.expect_no_script_error();
}

#[test]
fn a_checkpoint_out_of_order_counts_for_nothing() {
    let mut sim = started();
    let ada = sim.join_now("Ada");
    begin(&mut sim, ada);
    for place in [TRACK[1], TRACK[5], TRACK[0], TRACK[2], TRACK[0]] {
        drive(&mut sim, ada, place);
    }
    assert!(!heard(&sim, ada, "Lap"));
    for place in &TRACK[1..] {
        drive(&mut sim, ada, *place);
    }
    expect_heard(&sim, ada, "Lap 1");
    sim.expect_no_script_error();
}

#[test]
fn who_starts_too_early_is_put_back_and_before_the_start_nothing_counts() {
    let mut sim = started();
    let ada = sim.join_now("Ada");
    say(&mut sim, ada, "/race");
    drive(&mut sim, ada, TRACK[0]);
    sim.ticks(40);
    expect_heard(&sim, ada, "Go!");
    assert_eq!(sim.position(ada).y, -18.0);
    for place in &TRACK[1..] {
        drive(&mut sim, ada, *place);
    }
    assert!(!heard(&sim, ada, "Lap"), "the first one was passed too early");
    sim.expect_no_script_error();
}

#[test]
fn a_race_goes_on_without_who_left_and_ends_without_anybody() {
    let mut sim = started();
    let (ada, bob) = (sim.join_now("Ada"), sim.join_now("Bob"));
    begin(&mut sim, ada);
    drive(&mut sim, ada, TRACK[0]);
    leave(&mut sim, ada);
    lap(&mut sim, bob);
    lap(&mut sim, bob);
    expect_heard(&sim, bob, "Bob finishes as number 1");
    sim.ticks(60);
    say(&mut sim, bob, "/race");
    leave(&mut sim, bob);
    let cat = sim.join_now("Cat");
    begin(&mut sim, cat);
    say(&mut sim, cat, "/leave");
    assert_eq!(dimension(&sim, cat), 0);
    begin_again_after_death(&mut sim, cat);
    sim.expect_no_script_error();
}

fn begin_again_after_death(sim: &mut Sim, index: usize) {
    begin(sim, index);
    sim.wish(index, PlayerWish::Health(0));
    sim.ticks(4);
    sim.players[index].client.request_spawn();
    sim.ticks(20);
    assert_eq!(dimension(sim, index), 0, "who dies is out of the race");
    begin(sim, index);
}

#[test]
fn a_race_in_which_nobody_moves_ends_after_five_minutes() {
    let mut sim = started();
    let ada = sim.join_now("Ada");
    begin(&mut sim, ada);
    sim.ticks(2_950);
    assert_eq!(dimension(&sim, ada), 7);
    sim.ticks(70);
    expect_heard(&sim, ada, "Time is over");
    assert_eq!(dimension(&sim, ada), 0);
    begin(&mut sim, ada);
    sim.expect_no_script_error();
}

#[test]
fn the_best_laps_are_read_from_the_database_for_who_is_still_there() {
    let mut sim = started();
    let (ada, bob) = (sim.join_now("Ada"), sim.join_now("Bob"));
    say(&mut sim, ada, "/best");
    say(&mut sim, bob, "/best");
    let asked = statements(&sim, "SELECT");
    assert_eq!(asked.len(), 2);
    leave(&mut sim, bob);
    for (request, _) in asked {
        let row =
            |name: &str, milliseconds| vec![SqlValue::Text(name.to_owned()), SqlValue::Integer(milliseconds)];
        let answer = SqlAnswer {
            columns: vec!["name".to_owned(), "milliseconds".to_owned()],
            rows: vec![row("Ada", 59_007), row("Eve", 62_345)],
            changes: 0,
            last_id: 0,
        };
        sim.answer_script(request, ScriptOutcome::Sql(Ok(answer)));
    }
    sim.ticks(4);
    expect_heard(&sim, ada, "1. Ada: 0:59.007");
    expect_heard(&sim, ada, "2. Eve: 1:02.345");
    sim.expect_no_script_error();
}

#[test]
fn a_restart_in_the_middle_brings_everybody_back_and_the_next_race_begins() {
    let mut sim = started();
    let (ada, bob) = (sim.join_now("Ada"), sim.join_now("Bob"));
    begin(&mut sim, ada);
    drive(&mut sim, ada, TRACK[0]);
    sim.start_bundle(race());
    sim.ticks(4);
    assert_eq!((dimension(&sim, ada), dimension(&sim, bob)), (0, 0));
    begin(&mut sim, bob);
    lap(&mut sim, bob);
    expect_heard(&sim, bob, "Lap 1");
    assert!(sim.console("resource stop race").ok);
    sim.ticks(4);
    assert_eq!((dimension(&sim, ada), dimension(&sim, bob)), (0, 0));
    sim.expect_no_script_error();
}
