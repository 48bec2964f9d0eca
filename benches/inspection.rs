//! Measures what it costs that a server can be looked into: a tick with 500 who walk, with the inspector and without, with
//! somebody who watches, and with its systems timed and not (docs/benchmarks.md).
//!
//! Everything runs in this process, in the App of the program without any edge; time is virtual. `cargo bench --bench
//! inspection`.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a measurement prints its table, and stops at the first thing that is not as it must be"
)]

#[expect(dead_code, reason = "the other programs of this directory use the rest")]
mod support;

use std::{convert::Infallible, net::SocketAddr, time::Duration};

use bevy_app::App;
use bevy_ecs::{entity::Entity, error::FallbackErrorHandler};
use decitick::scripts::gauges;
use decitick_components::{
    ComponentsPlugin,
    body::{Motion, PositionHistory},
    clock::{Clock, TICK},
    connection::{Connection, Peer},
    console::{ConsoleInbox, ConsoleOutbox, ConsoleRequest},
    entropy::Entropy,
    lane::OutboundLane,
    liveness::LastSeen,
    mailbox::{Outbox, Route},
    phase::Phase,
    profile::DisplayName,
    server::ServerKey,
    session::{PlayerId, PlayerToken, SlotTable},
    settings::Settings,
    worker::WorkerOutbox,
};
use decitick_protocol::{PlayerName, Vec3};
use decitick_systems::{ServerPlugins, anatomy::settle_tick};

use crate::support::table::{Table, median};

/// Who walks.
const PLAYERS: u16 = 500;
/// Ticks that are measured, and those before them that settle what a start began.
const TICKS: usize = 400;
const FIRST: usize = 20;

fn main() {
    support::program::run(&[("looking", looking)]);
}

/// Four servers take turns, so that what else the machine does meets all of them.
fn looking(table: &mut Table) {
    let mut stages = [
        Stage::new(true, true),
        Stage::new(false, true),
        Stage::new(false, true),
        Stage::new(false, false),
    ];
    stages[2].ask("watch 7 Motion 3600");
    let mut times = [const { Vec::new() }; 4];
    for round in 0..FIRST + TICKS {
        for (times, stage) in times.iter_mut().zip(&mut stages) {
            let took = stage.tick();
            if round >= FIRST {
                times.push(took.as_secs_f64() * 1e6);
            }
        }
    }
    assert_eq!(
        stages[0].archetypes() + 1,
        stages[1].archetypes(),
        "looking adds no archetype but that of its own resource"
    );
    let [without, with, watched, untimed] = times.map(median);
    table.ratio(
        "a tick with 500 who walk: inspector / none",
        1.05,
        with,
        without,
        "us",
    );
    table.ratio(
        "the same, one component watched: inspector / none",
        1.10,
        watched,
        without,
        "us",
    );
    table.ratio(
        "the same, nobody watches: each system timed / not timed",
        1.05,
        with,
        untimed,
        "us",
    );
}

/// A server without edges.
struct Stage {
    app: App,
    players: Vec<Entity>,
    now: Duration,
    timed: bool,
}

impl Stage {
    /// Systems are wrapped to be timed in a plugin's cleanup: without it they run as they are.
    fn new(blind: bool, timed: bool) -> Self {
        let settings = Settings {
            resources: Vec::new(),
            ..Settings::default()
        };
        let mut app = App::new();
        app.add_plugins((
            ComponentsPlugin { settings },
            ServerPlugins {
                blind,
                ..ServerPlugins::default()
            },
        ))
        .insert_resource(ServerKey([1; 32]))
        .insert_resource(FallbackErrorHandler(bevy_ecs::error::panic))
        .insert_resource(gauges::stopwatch());
        app.finish();
        if timed {
            app.cleanup();
        }
        let players = (0..PLAYERS).map(|n| enter(&mut app, n)).collect();
        Self {
            app,
            players,
            now: Duration::ZERO,
            timed,
        }
    }

    fn ask(&mut self, line: &str) {
        self.app
            .world_mut()
            .resource_mut::<ConsoleInbox>()
            .0
            .push_back(ConsoleRequest {
                id: 1,
                line: line.to_owned(),
            });
    }

    /// Everybody takes a step and 100 ms pass; how long the tick after them took.
    fn tick(&mut self) -> Duration {
        self.now += TICK;
        let now = self.now;
        let world = self.app.world_mut();
        world.resource_mut::<Clock>().advance(now, now);
        let _ = world.resource_mut::<Entropy>().refill(|bytes| {
            bytes.fill(7);
            Ok::<_, Infallible>(())
        });
        for &player in &self.players {
            *world.get_mut::<LastSeen>(player).unwrap() = LastSeen(now);
            let mut motion = world.get_mut::<Motion>(player).unwrap();
            motion.position.x += 0.01;
            motion.sequence = motion.sequence.wrapping_add(1);
        }
        let started = std::time::Instant::now();
        self.app.update();
        if self.timed {
            settle_tick(self.app.world_mut(), started.elapsed());
        }
        let took = started.elapsed();
        let world = self.app.world_mut();
        world.resource_mut::<Outbox>().clear();
        world.resource_mut::<WorkerOutbox>().0.clear();
        for answer in world.resource_mut::<ConsoleOutbox>().0.drain(..) {
            assert!(answer.ok && answer.more, "{}", answer.text);
        }
        for &player in &self.players {
            *world.get_mut::<OutboundLane>(player).unwrap() = OutboundLane::default();
        }
        took
    }

    fn archetypes(&self) -> usize {
        self.app.world().archetypes().len()
    }
}

/// The n-th player stands on a square field, five metres from its neighbours.
fn enter(app: &mut App, n: u16) -> Entity {
    let side = f32::from(PLAYERS).sqrt().ceil() as u16;
    let position = Vec3::new(f32::from(n % side) * 5.0, f32::from(n / side) * 5.0, 10.0);
    let mut history = PositionHistory::default();
    history.record(Duration::ZERO, position);
    let world = app.world_mut();
    let entity = world
        .spawn((
            Connection,
            Peer(Route {
                peer: SocketAddr::from(([127, 0, 0, 1], 20_000 + n)),
                listener: 0,
                local: None,
            }),
            PlayerId(n),
            PlayerToken(u32::from(n) + 1),
            DisplayName(PlayerName::parse(&format!("Player{n}")).unwrap()),
            Phase::Spawned,
            Motion {
                position,
                ..Motion::default()
            },
            history,
        ))
        .id();
    world.resource_mut::<SlotTable>().occupy(PlayerId(n), entity);
    entity
}
