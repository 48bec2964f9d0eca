//! scripts/deathmatch.

use decitick_components::{
    body::Appearance,
    combat::{Weapon, WeaponTable},
    phase::Phase,
    script::ScriptBundle,
};
use decitick_protocol::{ClientLaneEvent, HitReport, Vec3};

use super::{expect_heard, heard, leave, sample, say, stand};
use crate::sim::{Setup, Sim};

/// What both teams hold.
const PISTOL: u8 = 24;
const RED: u32 = 102;
const BLUE: u32 = 105;

fn deathmatch() -> ScriptBundle {
    sample(
        "deathmatch",
        &[
            ("main.rhai", include_str!("../../../scripts/deathmatch/main.rhai")),
            (
                "lib/scores.rhai",
                include_str!("../../../scripts/deathmatch/lib/scores.rhai"),
            ),
            (
                "lib/teams.rhai",
                include_str!("../../../scripts/deathmatch/lib/teams.rhai"),
            ),
        ],
    )
}

/// One shot of the pistol kills.
fn started() -> Sim {
    let weapon = |id, damage, clip| Weapon {
        id,
        name: format!("Weapon {id}"),
        damage,
        range: 35.0,
        interval_ms: 100,
        clip,
        pellets: 1,
    };
    let setup = Setup {
        weapons: WeaponTable::new(vec![
            weapon(0, 5, 0),
            weapon(PISTOL, 200, 7),
            weapon(27, 5, 7),
            weapon(29, 8, 30),
        ]),
        ..Setup::default()
    };
    let mut sim = Sim::with(setup);
    sim.start_bundle(deathmatch());
    sim
}

fn skin(sim: &Sim, index: usize) -> u32 {
    sim.of::<Appearance>(index).skin
}

/// Puts two players 20 m from each other and lets one shoot the other.
fn shoot(sim: &mut Sim, shooter: usize, target: usize) {
    stand(sim, shooter, Vec3::new(0.0, 0.0, 3.0));
    stand(sim, target, Vec3::new(20.0, 0.0, 3.0));
    sim.ticks(12);
    let report = HitReport {
        target_id: u32::from(sim.players[target].id()),
        target_token: sim.players[target].generation(),
        weapon: PISTOL,
        body_part: 0,
        origin: sim.position(shooter),
        hit: sim.position(target),
    };
    let client = &mut sim.players[shooter].client;
    client.send_lane(&ClientLaneEvent::HitReport(report)).unwrap();
    sim.ticks(4);
}

fn respawn(sim: &mut Sim, index: usize) {
    sim.players[index].client.request_spawn();
    sim.expect_within(20, "a body", |sim| sim.phase(index) == Phase::Spawned);
    sim.ticks(2);
}

/// How often a player's client got the scoreboard.
fn scoreboards(sim: &Sim, index: usize) -> usize {
    let events = sim.script_events(index);
    events.iter().filter(|(name, _)| name == "scoreboard").count()
}

#[test]
fn who_joins_goes_to_the_smaller_team_with_its_weapons_and_place() {
    let mut sim = started();
    let players = sim.join_many(5);
    let red: Vec<usize> = players
        .iter()
        .copied()
        .filter(|&index| skin(&sim, index) == RED)
        .collect();
    let blue: Vec<usize> = players
        .iter()
        .copied()
        .filter(|&index| skin(&sim, index) == BLUE)
        .collect();
    assert_eq!((red.len(), blue.len()), (3, 2));
    assert_eq!(sim.position(red[0]).x, -20.0);
    assert_eq!(sim.position(blue[0]).x, 20.0);
    assert_eq!(sim.ammo(red[0], 27), 60);
    assert_eq!(sim.ammo(blue[0], 29), 180);
    leave(&mut sim, blue[0]);
    leave(&mut sim, blue[1]);
    let late = sim.join_now("Late");
    assert_eq!(skin(&sim, late), BLUE);
    sim.expect_no_script_error();
}

#[test]
fn an_enemy_can_be_killed_and_a_friend_cannot() {
    let mut sim = started();
    let (ada, bob, cat) = (sim.join_now("Ada"), sim.join_now("Bob"), sim.join_now("Cat"));
    assert_eq!(
        [skin(&sim, ada), skin(&sim, bob), skin(&sim, cat)],
        [RED, BLUE, RED]
    );
    shoot(&mut sim, ada, cat);
    assert_eq!(sim.vitals(cat).0, 100);
    shoot(&mut sim, ada, bob);
    assert_eq!(sim.phase(bob), Phase::PreSpawn);
    expect_heard(&sim, cat, "Ada killed Bob");
    say(&mut sim, ada, "/score");
    expect_heard(&sim, ada, "You: 1 kills, 0 deaths, best round 1");
    expect_heard(&sim, ada, "Red 1, blue 0");
    respawn(&mut sim, bob);
    assert_eq!(sim.position(bob).x, 20.0);
    assert_eq!(sim.ammo(bob, PISTOL), 70);
    sim.expect_no_script_error();
}

#[test]
fn a_round_lasts_five_minutes_and_the_next_begins_ten_seconds_later_from_nothing() {
    let mut sim = started();
    let (ada, bob) = (sim.join_now("Ada"), sim.join_now("Bob"));
    shoot(&mut sim, ada, bob);
    respawn(&mut sim, bob);
    sim.expect_within(3_000, "the end of the round", |sim| {
        heard(sim, ada, "Round 1 is over")
    });
    assert!(
        (2_980..=3_020).contains(&sim.tick_number()),
        "{}",
        sim.tick_number()
    );
    expect_heard(&sim, ada, "Round 1 is over: red wins, 1 to 0");
    shoot(&mut sim, ada, bob);
    assert_eq!(sim.vitals(bob).0, 100, "there is no fire in the break");
    sim.expect_within(100, "the next round", |sim| heard(sim, ada, "Round 2 begins"));
    sim.ticks(4);
    say(&mut sim, ada, "/score");
    expect_heard(&sim, ada, "You: 0 kills, 0 deaths, best round 1");
    assert_eq!(sim.position(bob).x, 20.0, "everybody begins at the team's place");
    sim.expect_no_script_error();
}

#[test]
fn best_scores_outlive_the_resource() {
    let mut sim = started();
    let (ada, bob) = (sim.join_now("Ada"), sim.join_now("Bob"));
    say(&mut sim, bob, "/top");
    expect_heard(&sim, bob, "Nobody has scored yet");
    for _ in 0..2 {
        shoot(&mut sim, ada, bob);
        respawn(&mut sim, bob);
    }
    assert!(sim.folder.stores["deathmatch"].contains_key("best:Ada"));
    assert!(sim.console("resource stop deathmatch").ok);
    sim.start_bundle(deathmatch());
    sim.ticks(4);
    say(&mut sim, bob, "/top");
    expect_heard(&sim, bob, "1. Ada: 2 kills in a round");
    sim.expect_no_script_error();
}

#[test]
fn the_scoreboard_goes_to_everybody_when_it_changes_and_at_most_once_a_second() {
    let mut sim = started();
    let (ada, bob) = (sim.join_now("Ada"), sim.join_now("Bob"));
    sim.ticks(20);
    let before = scoreboards(&sim, bob);
    assert!(before >= 1);
    sim.ticks(50);
    assert_eq!(scoreboards(&sim, bob), before, "nothing changed");
    shoot(&mut sim, ada, bob);
    sim.ticks(12);
    assert_eq!(scoreboards(&sim, bob), before + 1);
    for n in 0..8 {
        let guest = sim.join(&format!("Guest {n}"));
        sim.ticks(3);
        leave(&mut sim, guest);
    }
    assert!(scoreboards(&sim, bob) <= before + 9, "{}", scoreboards(&sim, bob));
    sim.expect_no_script_error();
}

#[test]
fn who_leaves_the_arena_is_warned_and_after_five_seconds_hurt_until_it_is_back() {
    let mut sim = started();
    let ada = sim.join_now("Ada");
    stand(&mut sim, ada, Vec3::new(0.0, 0.0, 3.0));
    stand(&mut sim, ada, Vec3::new(100.0, 0.0, 3.0));
    expect_heard(&sim, ada, "You left the arena");
    sim.ticks(35);
    assert_eq!(sim.vitals(ada).0, 100, "five seconds are not over");
    sim.ticks(40);
    let hurt = sim.vitals(ada).0;
    assert!(hurt < 100);
    stand(&mut sim, ada, Vec3::new(0.0, 0.0, 3.0));
    let left = sim.vitals(ada).0;
    sim.ticks(50);
    assert_eq!(sim.vitals(ada).0, left, "it is back");
    stand(&mut sim, ada, Vec3::new(100.0, 0.0, 3.0));
    sim.ticks(200);
    assert_eq!(sim.phase(ada), Phase::PreSpawn, "who stays outside dies");
    sim.expect_no_script_error();
}

#[test]
fn it_goes_on_whoever_leaves_whenever_and_with_nobody_at_all() {
    let mut sim = started();
    let (ada, bob, cat) = (sim.join_now("Ada"), sim.join_now("Bob"), sim.join_now("Cat"));
    stand(&mut sim, cat, Vec3::new(100.0, 0.0, 3.0));
    leave(&mut sim, cat);
    shoot(&mut sim, ada, bob);
    leave(&mut sim, ada);
    sim.start_bundle(deathmatch());
    sim.ticks(5);
    respawn(&mut sim, bob);
    leave(&mut sim, bob);
    sim.ticks(3_300);
    let dan = sim.join_now("Dan");
    say(&mut sim, dan, "/score");
    expect_heard(&sim, dan, "You: 0 kills");
    sim.expect_no_script_error();
}
