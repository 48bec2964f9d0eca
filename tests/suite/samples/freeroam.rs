//! scripts/freeroam.

use decitick_components::{requests::PlayerWish, script::ScriptBundle, world::WorldState};
use decitick_protocol::{EntityKind, Vec3};

use super::{expect_heard, heard, leave, sample, say, stand};
use crate::sim::Sim;

const BUS: u32 = 431;

fn freeroam() -> ScriptBundle {
    sample(
        "freeroam",
        &[
            ("main.rhai", include_str!("../../../scripts/freeroam/main.rhai")),
            (
                "lib/places.rhai",
                include_str!("../../../scripts/freeroam/lib/places.rhai"),
            ),
            (
                "lib/words.rhai",
                include_str!("../../../scripts/freeroam/lib/words.rhai"),
            ),
        ],
    )
}

fn started() -> Sim {
    let mut sim = Sim::new();
    sim.start_bundle(freeroam());
    sim
}

/// Models of the things of a kind that a player has in view.
fn models(sim: &Sim, viewer: usize, kind: EntityKind) -> Vec<u32> {
    let things = sim.players[viewer].client.things().unwrap();
    things
        .iter()
        .filter(|(_, thing)| thing.kind == kind)
        .map(|(_, thing)| thing.model)
        .collect()
}

/// The same of vehicles, but for the bus.
fn cars(sim: &Sim, viewer: usize) -> Vec<u32> {
    let mut cars = models(sim, viewer, EntityKind::Vehicle);
    cars.retain(|model| *model != BUS);
    cars
}

#[test]
fn who_joins_is_welcomed_spawns_near_the_others_and_can_ask_for_help() {
    let mut sim = started();
    let (ada, bob) = (sim.join_now("Ada"), sim.join_now("Bob"));
    sim.ticks(4);
    expect_heard(&sim, ada, "Welcome to");
    expect_heard(&sim, ada, "Bob joined");
    for index in [ada, bob] {
        let Vec3 { x, y, .. } = sim.position(index);
        assert!(x.abs() <= 6.0 && y.abs() <= 6.0, "{x} {y}");
    }
    say(&mut sim, ada, "/help");
    expect_heard(&sim, ada, "/pm NAME TEXT");
    assert!(!heard(&sim, ada, "/kick"), "that is for admins");
    assert!(!heard(&sim, bob, "/pm"));
    say(&mut sim, ada, "/nonsense");
    expect_heard(&sim, ada, "unknown command: /nonsense");
    sim.expect_no_script_error();
}

#[test]
fn a_private_message_reaches_its_two_ends_alone_by_the_beginning_of_a_name_or_by_id() {
    let mut sim = started();
    let (ada, bob, eve) = (sim.join_now("Ada"), sim.join_now("Bob 1000"), sim.join_now("Eve"));
    say(&mut sim, ada, "/pm bo the key is under the mat");
    expect_heard(&sim, bob, "From Ada: the key is under the mat");
    expect_heard(&sim, ada, "To Bob 1000: the key is under the mat");
    say(&mut sim, bob, "/pm 0 thanks");
    expect_heard(&sim, ada, "From Bob 1000: thanks");
    assert!(!heard(&sim, eve, "mat") && !heard(&sim, eve, "thanks"));
    say(&mut sim, eve, "/pm nobody hello");
    expect_heard(&sim, eve, "There is no player nobody");
    say(&mut sim, eve, "/pm Ada");
    expect_heard(&sim, eve, "Usage: /pm");
    say(&mut sim, eve, "/me waves");
    expect_heard(&sim, ada, "* Eve waves");
    sim.expect_no_script_error();
}

#[test]
fn one_goes_to_a_player_or_to_a_place_and_nowhere_outside_the_world() {
    let mut sim = started();
    let (ada, bob) = (sim.join_now("Ada"), sim.join_now("Bob"));
    say(&mut sim, ada, "/goto 100 -50.5 7");
    assert_eq!(sim.position(ada), Vec3::new(100.0, -50.5, 7.0));
    sim.ticks(30);
    say(&mut sim, bob, "/tp ada");
    assert_eq!(sim.position(bob), Vec3::new(102.0, -50.5, 7.0));
    for line in ["/goto 1e30 0 0", "/goto 1 2", "/goto a b c", "/tp", "/goto"] {
        say(&mut sim, ada, line);
    }
    assert_eq!(sim.position(ada), Vec3::new(100.0, -50.5, 7.0));
    expect_heard(&sim, ada, "x must be from");
    expect_heard(&sim, ada, "Usage: /goto");
    sim.expect_no_script_error();
}

#[test]
fn a_player_has_one_car_which_is_replaced_and_goes_with_its_owner() {
    let mut sim = started();
    let (ada, bob) = (sim.join_now("Ada"), sim.join_now("Bob"));
    say(&mut sim, ada, "/car");
    sim.ticks(4);
    assert_eq!(cars(&sim, bob), [411]);
    say(&mut sim, ada, "/car 420");
    sim.ticks(4);
    assert_eq!(cars(&sim, bob), [420]);
    say(&mut sim, bob, "/car");
    say(&mut sim, bob, "/car 5000");
    sim.ticks(4);
    assert_eq!(cars(&sim, bob).len(), 2);
    leave(&mut sim, ada);
    sim.ticks(4);
    assert_eq!(cars(&sim, bob), [411]);
    sim.expect_no_script_error();
}

#[test]
fn what_is_for_admins_is_done_for_whom_the_console_granted_it() {
    let mut sim = started();
    let (ada, bob) = (sim.join_now("Ada"), sim.join_now("Bob"));
    let before = sim.app.world().resource::<WorldState>().weather;
    for line in ["/weather 8", "/time 6 30", "/announce hear", "/kick Bob bye"] {
        say(&mut sim, ada, line);
    }
    assert_eq!(sim.app.world().resource::<WorldState>().weather, before);
    expect_heard(&sim, ada, "Only admins do that");
    assert!(sim.console("grant 0 admin").ok);
    for line in [
        "/weather 8",
        "/time 6 30",
        "/announce hear ye",
        "/weather 300",
        "/time 25",
    ] {
        say(&mut sim, ada, line);
    }
    let world = sim.app.world().resource::<WorldState>();
    assert_eq!((world.weather, world.hours, world.minutes), (8, 6, 30));
    expect_heard(&sim, bob, "hear ye");
    say(&mut sim, ada, &format!("/kick Bob {}", "x".repeat(70)));
    assert!(sim.players[bob].end().is_none(), "the reason is too long");
    say(&mut sim, ada, "/kick Bob mind your language");
    sim.ticks(4);
    assert!(sim.players[bob].end().is_some());
    expect_heard(&sim, ada, "Bob was kicked by Ada");
    sim.expect_no_script_error();
}

#[test]
fn health_is_taken_by_the_hurt_alone_and_comes_back_after_thirty_seconds() {
    let mut sim = started();
    let ada = sim.join_now("Ada");
    let place = Vec3::new(15.0, 15.0, 3.0);
    stand(&mut sim, ada, place);
    assert_eq!(
        models(&sim, ada, EntityKind::Pickup).len(),
        3,
        "who is well leaves it"
    );
    stand(&mut sim, ada, Vec3::new(0.0, 0.0, 3.0));
    sim.wish(ada, PlayerWish::Health(30));
    stand(&mut sim, ada, place);
    assert_eq!(sim.vitals(ada).0, 100);
    sim.ticks(4);
    assert_eq!(models(&sim, ada, EntityKind::Pickup).len(), 2);
    sim.ticks(270);
    assert_eq!(models(&sim, ada, EntityKind::Pickup).len(), 2);
    sim.ticks(40);
    assert_eq!(models(&sim, ada, EntityKind::Pickup).len(), 3);
    sim.expect_no_script_error();
}

#[test]
fn the_skin_that_was_chosen_is_worn_and_the_bus_goes_round() {
    let mut sim = started();
    let ada = sim.join_now("Ada");
    say(&mut sim, ada, "/skin 93");
    assert_eq!(sim.of::<decitick_components::body::Appearance>(ada).skin, 93);
    say(&mut sim, ada, "/skin 5");
    say(&mut sim, ada, "/skin");
    expect_heard(&sim, ada, "The skins are");
    let bus = |sim: &Sim| {
        let things = sim.players[ada].client.things().unwrap();
        let mut vehicles = things.iter().filter(|(_, thing)| thing.model == BUS);
        vehicles.next().map(|(_, thing)| thing.position)
    };
    sim.ticks(5);
    let before = bus(&sim).expect("a bus");
    sim.ticks(50);
    assert_ne!(bus(&sim), Some(before));
    sim.expect_no_script_error();
}

#[test]
fn a_reload_leaves_nothing_behind_and_everybody_playing() {
    let mut sim = started();
    let (ada, bob) = (sim.join_now("Ada"), sim.join_now("Bob"));
    say(&mut sim, ada, "/car");
    for _ in 0..3 {
        sim.start_bundle(freeroam());
        sim.ticks(5);
    }
    assert_eq!(cars(&sim, bob), Vec::<u32>::new());
    assert_eq!(models(&sim, bob, EntityKind::Vehicle), [BUS]);
    assert_eq!(models(&sim, bob, EntityKind::Pickup).len(), 3);
    say(&mut sim, ada, "/car");
    sim.ticks(4);
    assert_eq!(cars(&sim, bob), [411]);
    leave(&mut sim, ada);
    leave(&mut sim, bob);
    sim.ticks(400);
    sim.expect_no_script_error();
}
