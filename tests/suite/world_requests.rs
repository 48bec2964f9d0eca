//! Changes of what everybody shares: each goes to everybody who joined, and who comes later is told the present state
//! (docs/protocol.md 1.5, 2.3).

use std::sync::Arc;

use decitick_components::{combat::WeaponTable, phase::Phase, requests::WorldRequest, world::WorldState};
use decitick_protocol::{
    DriveByIntervals, GarageDoors, RunClock, ServerLaneEvent, SetTime, SetWeather, WeaponProperties,
};

use crate::sim::{
    Setup, Sim,
    duel::{PISTOL, weapon_table},
};

/// A spawned player, one that joined and has no body, and one whose login is undecided.
fn three_phases() -> (Sim, [usize; 3]) {
    let mut sim = Sim::with(Setup {
        weapons: weapon_table(),
        ..Setup::default()
    });
    let spawned = sim.join_now("Spawned");
    let waiting = sim.join("Waiting");
    let undecided = sim.join("Undecided");
    for index in [waiting, undecided] {
        sim.players[index].wants_body = false;
    }
    sim.ticks(10);
    let entity = sim.body(undecided);
    sim.app.world_mut().entity_mut(entity).insert(Phase::PreAuth);
    (sim, [spawned, waiting, undecided])
}

/// The time a server starts with.
const NOON: ServerLaneEvent = ServerLaneEvent::SetTime(SetTime {
    hours: 12,
    minutes: 0,
});

/// The wish is told to both who joined in its tick, and to nobody else.
fn expect_told(wish: WorldRequest, expected: &ServerLaneEvent) {
    expect_all_told(wish, std::slice::from_ref(expected));
}

/// The same for a wish that changes more than one thing.
fn expect_all_told(wish: WorldRequest, expected: &[ServerLaneEvent]) {
    let (mut sim, [spawned, waiting, undecided]) = three_phases();
    sim.wish_world(wish);
    sim.tick();
    for index in [spawned, waiting] {
        assert_eq!(sim.sent_events(index).as_slice(), expected);
    }
    assert!(sim.sent_events(undecided).is_empty(), "{expected:?}");
    let late = sim.join("Late");
    sim.ticks(10);
    for expected in expected {
        expect_greeted(&sim, late, expected);
    }
}

/// A newcomer is told so once.
fn expect_greeted(sim: &Sim, late: usize, expected: &ServerLaneEvent) {
    let greeting: Vec<&ServerLaneEvent> = sim.players[late]
        .events
        .iter()
        .map(|(_, event)| event)
        .filter(|event| std::mem::discriminant(*event) == std::mem::discriminant(expected))
        .collect();
    assert_eq!(greeting.len(), 1, "a newcomer is told once: {greeting:?}");
    match (greeting[0], expected) {
        // A newcomer is told of the whole table, not only of the row that changed.
        (ServerLaneEvent::WeaponProperties(all), ServerLaneEvent::WeaponProperties(one)) => {
            assert_eq!(all.weapons.len(), 5);
            assert!(all.weapons.contains(&one.weapons[0]));
        }
        (told, expected) => assert_eq!(told, expected),
    }
}

#[test]
fn another_time_is_told_to_everybody_who_joined() {
    expect_told(
        WorldRequest::Time {
            hours: 7,
            minutes: 59,
        },
        &ServerLaneEvent::SetTime(SetTime {
            hours: 7,
            minutes: 59,
        }),
    );
}

#[test]
fn another_weather_is_told_to_everybody_who_joined() {
    expect_told(
        WorldRequest::Weather(19),
        &ServerLaneEvent::SetWeather(SetWeather { weather: 19 }),
    );
}

#[test]
fn a_clock_that_begins_to_run_is_told_to_everybody_who_joined() {
    let run = RunClock {
        running: true,
        ms_per_minute: 60_000,
    };
    expect_all_told(
        WorldRequest::RunClock(60_000),
        &[NOON, ServerLaneEvent::RunClock(run)],
    );
}

#[test]
fn a_clock_that_stops_is_told_to_everybody_who_joined() {
    let stopped = RunClock {
        running: false,
        ms_per_minute: 1000,
    };
    expect_all_told(
        WorldRequest::FreezeClock,
        &[ServerLaneEvent::RunClock(stopped), NOON],
    );
}

#[test]
fn garage_doors_are_told_to_everybody_who_joined() {
    let doors = 1 << 63 | 0b101;
    expect_told(
        WorldRequest::GarageDoors(doors),
        &ServerLaneEvent::GarageDoors(GarageDoors { doors }),
    );
}

#[test]
fn drive_by_intervals_are_told_to_everybody_who_joined() {
    let intervals = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, u16::MAX];
    expect_told(
        WorldRequest::DriveByIntervals(intervals),
        &ServerLaneEvent::DriveByIntervals(DriveByIntervals { intervals }),
    );
}

fn stronger_pistol() -> decitick_components::combat::Weapon {
    decitick_components::combat::Weapon {
        damage: 33,
        ..weapon_table().find(PISTOL).unwrap().clone()
    }
}

#[test]
fn another_row_of_the_weapon_table_is_told_to_everybody_who_joined() {
    let weapon = stronger_pistol();
    let weapons = vec![weapon.property()];
    expect_told(
        WorldRequest::Weapon(Arc::new(weapon)),
        &ServerLaneEvent::WeaponProperties(WeaponProperties { weapons }),
    );
}

#[test]
fn after_a_change_of_one_weapon_a_client_still_knows_the_others() {
    let (mut sim, [spawned, ..]) = three_phases();
    sim.wish_world(WorldRequest::Weapon(Arc::new(stronger_pistol())));
    sim.ticks(2);
    let table = sim.players[spawned].client.weapon_table().unwrap();
    let client: Vec<(u8, u16)> = table.iter().map(|row| (row.weapon, row.damage)).collect();
    let server: Vec<(u8, u16)> = sim
        .app
        .world()
        .resource::<WeaponTable>()
        .iter()
        .map(|row| (row.id, row.damage))
        .collect();
    assert_eq!(client, server);
}

#[test]
fn a_welcome_tells_the_present_world_too() {
    let mut sim = Sim::new();
    for wish in [
        WorldRequest::Time { hours: 4, minutes: 5 },
        WorldRequest::Weather(6),
        WorldRequest::GarageDoors(7),
        WorldRequest::DriveByIntervals([8; 12]),
    ] {
        sim.wish_world(wish);
    }
    sim.tick();
    let index = sim.join_now("Guest 0");
    let welcome = sim.players[index].welcome();
    assert_eq!((welcome.hours, welcome.minutes, welcome.weather), (4, 5, 6));
    assert_eq!((welcome.garage_doors, welcome.driveby_interval), (7, [8; 12]));
}

#[test]
fn what_is_no_time_changes_nothing_and_is_told_to_nobody() {
    let (mut sim, [spawned, ..]) = three_phases();
    let before = sim.app.world().resource::<WorldState>().clone();
    for wish in [
        WorldRequest::Time {
            hours: 24,
            minutes: 0,
        },
        WorldRequest::Time {
            hours: 0,
            minutes: 60,
        },
        WorldRequest::RunClock(0),
    ] {
        sim.wish_world(wish);
        sim.tick();
        assert!(sim.sent_events(spawned).is_empty());
        assert_eq!(*sim.app.world().resource::<WorldState>(), before);
    }
}

#[test]
fn wishes_of_one_tick_take_effect_in_their_order() {
    let (mut sim, [spawned, ..]) = three_phases();
    for weather in [1, 2, 3] {
        sim.wish_world(WorldRequest::Weather(weather));
    }
    sim.tick();
    let told: Vec<ServerLaneEvent> = [1, 2, 3]
        .map(|weather| ServerLaneEvent::SetWeather(SetWeather { weather }))
        .to_vec();
    assert_eq!(sim.sent_events(spawned), told);
    assert_eq!(sim.app.world().resource::<WorldState>().weather, 3);
}
