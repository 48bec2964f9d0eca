//! A resource whose every handler takes all the time it gets, with 500 players who keep it busy.
//!
//! The time is the real one: what is measured is whether the budget of a tick holds.

use std::time::{Duration, Instant};

use decitick_components::{
    messages::{ChatReceived, ClientEventReceived},
    settings::ScriptSettings,
};
use decitick_protocol::EventData;

use super::stage::Stage;
use crate::support::table::Table;

const PLAYERS: u16 = 500;
const TICKS: u32 = 600;
const HANDLERS: [&str; 5] = [
    "tick(dt)",
    "player_chat(player, text)",
    "client_event(player, name, data)",
    "player_damage(player, attacker, weapon, amount)",
    "player_connecting(name, ip)",
];

/// Sixty seconds of it, with handlers that are cut, and with handlers that end by themselves just before.
pub(crate) fn every_handler(table: &mut Table) {
    measure(table, "loop for ever, until cut", "loop {}");
    let turns = turns_of(Duration::from_millis(24));
    measure(
        table,
        "end by themselves after 24 ms",
        &format!("let n = 0; while n < {turns} {{ n += 1; }} false"),
    );
}

/// How many turns of the loop take so long.
fn turns_of(time: Duration) -> u64 {
    const TURNS: u64 = 20_000;
    let script = format!(
        "fn player_damage(player, attacker, weapon, amount) {{ let n = 0; while n < {TURNS} {{ n += 1; }} }}"
    );
    let mut stage = Stage::with_script(2, 5.0, &script);
    let took = (0..15)
        .map(|_| {
            stage.tick();
            let started = Instant::now();
            stage.ask();
            started.elapsed()
        })
        .min()
        .unwrap();
    (TURNS as f64 * time.as_secs_f64() / took.as_secs_f64()) as u64
}

fn measure(table: &mut Table, how: &str, body: &str) {
    let script: String = HANDLERS
        .iter()
        .map(|handler| format!("fn {handler} {{ {body} }}\n"))
        .collect();
    let mut stage = Stage::with_limits(PLAYERS, 5.0, ScriptSettings::default());
    stage.start("measured", &script);
    let mut times: Vec<Duration> = (0..TICKS).map(|tick| busy_tick(&mut stage, tick)).collect();
    times.sort();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let report = stage.report();
    table.row(
        &format!("500 players, every handler burns its budget ({how}), 60 s"),
        "under 100 ms",
        format!(
            "longest tick {:.1} ms, p50 {:.1} ms ({} calls, longest {:.1} ms, {})",
            milliseconds(times[times.len() - 1]),
            milliseconds(times[times.len() / 2]),
            report.figures.calls,
            milliseconds(report.figures.longest),
            report.state.name(),
        ),
        Some(times[times.len() - 1] < Duration::from_millis(100)),
    );
}

/// Everybody sends as much as the limits let through for long: two lines of chat and ten events a second. The simulation
/// asks about a hundred hits.
fn busy_tick(stage: &mut Stage, tick: u32) -> Duration {
    stage.begin_tick();
    let players = stage.players.clone();
    let world = stage.app.world_mut();
    for (n, entity) in (0u32..).zip(players) {
        if n % 5 == tick % 5 {
            world.write_message(ChatReceived {
                entity,
                text: "hello".to_owned(),
            });
        }
        world.write_message(ClientEventReceived {
            entity,
            name: "event".to_owned(),
            data: EventData::nil(),
        });
    }
    let started = Instant::now();
    stage.app.update();
    for _ in 0..100 {
        stage.ask();
    }
    let took = started.elapsed();
    stage.tidy();
    took
}
