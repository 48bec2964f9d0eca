//! Where the time of ticks goes. The stopwatch of these tests goes on by ten microseconds whenever it is looked at.

use std::{cell::Cell, time::Duration};

use bevy_app::{App, Plugin};
use bevy_ecs::{
    schedule::{IntoScheduleConfigs, Schedules},
    system::System,
};
use decitick::{ServerParts, build_app, runner};
use decitick_components::{
    anatomy::TickAnatomy, bans::BanList, combat::WeaponTable, script::Stopwatch, settings::Settings,
    thing::PlacedThings, world::SpawnPoints,
};
use decitick_systems::{
    anatomy::settle_tick,
    tick::{Tick, TickSystems},
};

use serde_json::Value;

use super::{json, knock_acks, text};
use crate::sim::{Setup, Sim};

thread_local! {
    static TIME: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

const LOOK: Duration = Duration::from_micros(10);

const LOOKED_AT: Stopwatch = Stopwatch {
    exact: || {
        TIME.set(TIME.get() + LOOK);
        TIME.get()
    },
    coarse: || TIME.get(),
};

fn measured() -> Sim {
    Sim::with(Setup {
        stopwatch: LOOKED_AT,
        ..Setup::default()
    })
}

/// A tick that took so long, as the runner tells.
fn tick(sim: &mut Sim, took: Duration) {
    sim.tick();
    settle_tick(sim.app.world_mut(), took);
}

/// The systems of a tick in the order in which the schedule runs them, without the name of our crates.
fn scheduled(sim: &Sim) -> Vec<String> {
    let schedules = sim.app.world().resource::<Schedules>();
    let schedule = schedules.get(Tick).expect("there is a Tick schedule");
    let systems = schedule.systems_with_access().expect("it is built");
    systems
        .map(|(_, system)| system.name().to_string())
        .filter_map(|name| name.strip_prefix("decitick_systems::").map(str::to_owned))
        .collect()
}

#[test]
fn systems_lists_every_system_of_a_tick_in_its_real_order() {
    let mut sim = measured();
    for _ in 0..3 {
        tick(&mut sim, Duration::from_millis(2));
    }
    let answer = json(&mut sim, "systems");
    let rows = answer["systems"].as_array().unwrap();
    let (between, systems) = rows.split_last().unwrap();
    let word = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let shown: Vec<String> = systems.iter().map(|row| word(row, "system")).collect();
    assert_eq!(shown, scheduled(&sim));
    assert!(shown.len() > 50, "{}", shown.len());
    let mut steps: Vec<String> = systems.iter().map(|row| word(row, "step")).collect();
    steps.dedup();
    // The edges, which transmit, are the shell's.
    let in_order = TickSystems::ALL.iter().map(|(_, name)| *name);
    let in_order: Vec<&str> = in_order.filter(|name| *name != "Transmit").collect();
    assert_eq!(steps, in_order);
    assert_eq!(between["system"], "between systems");
    assert_eq!(answer["ticks"], 3);
    assert_eq!(answer["avg_ms"], 2.0);
    // Some run only when there is something for them: nobody watches, asks or scrapes here.
    let idle = ["tell_watches", "answer_questions", "gather_metrics"];
    for row in systems {
        let runs = row["runs"].as_u64().unwrap();
        if idle.iter().any(|name| word(row, "system").ends_with(name)) {
            assert_eq!(runs, 0, "{row}");
            continue;
        }
        assert!(row["avg_ms"].as_f64().unwrap() >= 0.01, "{row}");
        assert!(runs >= 3, "{row}");
    }
    let shares: f64 = rows
        .iter()
        .map(|row| row["share_percent"].as_f64().unwrap())
        .sum();
    assert!((99.0..101.0).contains(&shares), "{shares}");
    assert!(text(&mut sim, "systems").contains("motion::take_frames"));
}

/// A plugin of somebody else that adds a system as late as it can.
struct Foreign;

fn take_long() {
    TIME.set(TIME.get() + Duration::from_millis(60));
}

impl Plugin for Foreign {
    fn build(&self, _: &mut App) {}

    fn finish(&self, app: &mut App) {
        app.add_systems(Tick, take_long.in_set(TickSystems::Transmit));
    }
}

#[test]
fn a_system_of_another_plugin_is_measured_too() {
    let mut app = build_app(ServerParts {
        server_key: [0; 32],
        settings: Settings::default(),
        spawns: SpawnPoints::default(),
        weapons: WeaponTable::default(),
        things: PlacedThings::default(),
        bans: BanList::default(),
    });
    app.insert_resource(LOOKED_AT).add_plugins(Foreign);
    runner::prepare(&mut app);
    app.update();
    settle_tick(app.world_mut(), Duration::from_millis(70));
    let anatomy = app.world().resource::<TickAnatomy>();
    let foreign = anatomy
        .systems
        .iter()
        .find(|system| system.name.ends_with("take_long"))
        .expect("it is listed");
    assert_eq!((foreign.step, foreign.runs), ("Transmit", 1));
    assert_eq!(foreign.total, Duration::from_millis(60) + LOOK);
    let slow = anatomy.slow.back().expect("the tick was slow");
    assert_eq!(slow.system, (foreign.name.clone(), foreign.total));
    assert_eq!((&slow.resource, slow.connection), (&None, None));
}

#[test]
fn a_slow_tick_names_system_gamemode_and_connection() {
    let mut sim = measured();
    assert_eq!(text(&mut sim, "slow"), "no slow tick since the start");
    sim.start_script("idle", "fn tick(dt) { }");
    sim.start_script("busy", "fn tick(dt) { for n in 0..2000 { random::int(1, 6); } }");
    let indices = sim.join_many(3);
    tick(&mut sim, Duration::from_millis(40));
    knock_acks(&mut sim, indices[1], 30);
    tick(&mut sim, Duration::from_millis(51));
    let answer = json(&mut sim, "slow");
    let ticks = answer["ticks"].as_array().unwrap();
    assert_eq!(ticks.len(), 1, "{answer}");
    let slow = &ticks[0];
    assert_eq!(slow["took_ms"], 51.0);
    assert_eq!(
        slow["player"].as_u64(),
        Some(u64::from(sim.players[indices[1]].id()))
    );
    assert!(slow["datagrams"].as_u64().unwrap() >= 30, "{slow}");
    assert!(
        slow["resource"].is_string() && slow["resource_ms"].as_f64().unwrap() > 0.0,
        "{slow}"
    );
    assert!(slow["system"].as_str().unwrap().contains("::"), "{slow}");
    let shown = text(&mut sim, "slow");
    assert!(
        shown.contains("51.0 ms") && shown.contains("datagrams"),
        "{shown}"
    );
}
