//! Measures what it costs to time every system of a tick: ticks of the whole App with 500 players who walk and see each
//! other, timed system by system and not, in turn (docs/benchmarks.md).
//!
//! Everything runs in this process, in the App of the program without any edge: time is virtual, the stopwatch is the real
//! one. `cargo bench --bench anatomy`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a measurement prints its table, and stops at the first thing that is not as it must be"
)]

#[expect(dead_code, reason = "the other programs of this directory use the rest")]
#[path = "support/table.rs"]
mod table;

use std::{
    convert::Infallible,
    net::SocketAddr,
    time::{Duration, Instant},
};

use bevy_app::App;
use bevy_ecs::{entity::Entity, error::FallbackErrorHandler};
use decitick::{ServerParts, build_app, scripts::gauges};
use decitick_components::{
    anatomy::TickAnatomy,
    bans::BanList,
    body::{Motion, PositionHistory},
    clock::{Clock, TICK},
    combat::WeaponTable,
    connection::{Connection, Peer},
    entropy::Entropy,
    lane::OutboundLane,
    liveness::LastSeen,
    mailbox::{Outbox, Route},
    phase::Phase,
    profile::DisplayName,
    session::{PlayerId, PlayerToken, SlotTable},
    settings::Settings,
    thing::PlacedThings,
    view::View,
    world::SpawnPoints,
};
use decitick_protocol::{PlayerName, Vec3};
use decitick_systems::anatomy::settle_tick;

use table::{Table, median};

const PLAYERS: u16 = 500;
/// Metres between neighbours: some thirty are within everybody's radius.
const APART: f32 = 90.0;
/// Ticks of one window, and windows of each kind.
const WINDOW: usize = 100;
const WINDOWS: usize = 15;

/// A server without edges.
struct Server {
    app: App,
    players: Vec<Entity>,
    now: Duration,
    measured: bool,
}

impl Server {
    /// Systems are wrapped in a plugin's cleanup: without it they run as they are.
    fn new(measured: bool) -> Self {
        let mut app = build_app(ServerParts {
            server_key: [1; 32],
            settings: Settings {
                resources: Vec::new(),
                ..Settings::default()
            },
            spawns: SpawnPoints::default(),
            weapons: WeaponTable::default(),
            things: PlacedThings::default(),
            bans: BanList::default(),
        });
        app.insert_resource(FallbackErrorHandler(bevy_ecs::error::panic))
            .insert_resource(gauges::stopwatch());
        app.finish();
        if measured {
            app.cleanup();
        }
        let players = (0..PLAYERS).map(|number| enter(&mut app, number)).collect();
        Self {
            app,
            players,
            now: Duration::ZERO,
            measured,
        }
    }

    /// One tick in which everybody takes a step; how many milliseconds it took, what is done after it included.
    fn tick(&mut self) -> f64 {
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
            motion.position.x += 0.1;
            motion.sequence = motion.sequence.wrapping_add(1);
        }
        let started = Instant::now();
        self.app.update();
        if self.measured {
            let took = started.elapsed();
            settle_tick(self.app.world_mut(), took);
        }
        let took = started.elapsed();
        let world = self.app.world_mut();
        world.resource_mut::<Outbox>().clear();
        for &player in &self.players {
            *world.get_mut::<OutboundLane>(player).unwrap() = OutboundLane::default();
        }
        took.as_secs_f64() * 1e3
    }

    /// The tick in the middle of a window.
    fn window(&mut self) -> f64 {
        median((0..WINDOW).map(|_| self.tick()).collect())
    }
}

fn enter(app: &mut App, number: u16) -> Entity {
    let side = f32::from(PLAYERS).sqrt().ceil() as u16;
    let position = Vec3::new(
        f32::from(number % side) * APART,
        f32::from(number / side) * APART,
        10.0,
    );
    let mut history = PositionHistory::default();
    history.record(Duration::ZERO, position);
    let route = Route {
        peer: SocketAddr::from(([127, 0, 0, 1], 20_000 + number)),
        listener: 0,
        local: None,
    };
    let world = app.world_mut();
    let entity = world
        .spawn((
            Connection,
            Peer(route),
            PlayerId(number),
            PlayerToken(u32::from(number) + 1),
            DisplayName(PlayerName::parse(&format!("Player{number}")).unwrap()),
            Phase::Spawned,
            Motion {
                position,
                ..Motion::default()
            },
            history,
        ))
        .id();
    world.get_mut::<View>(entity).unwrap().open = true;
    world.resource_mut::<SlotTable>().occupy(PlayerId(number), entity);
    entity
}

fn main() {
    let mut plain = Server::new(false);
    let mut measured = Server::new(true);
    // The first window fills views and storage.
    plain.window();
    measured.window();
    let (mut without, mut with, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..WINDOWS {
        let (plain, measured) = (plain.window(), measured.window());
        without.push(plain);
        with.push(measured);
        ratios.push(measured / plain);
    }
    let systems = measured.app.world().resource::<TickAnatomy>().systems.len();
    let (with, without, ratio) = (median(with), median(without), median(ratios));
    let mut table = Table::default();
    table.row(
        &format!("a tick of {PLAYERS} players, each of its {systems} systems timed / not timed"),
        "within noise",
        format!("{with:.3} / {without:.3} ms = {ratio:.3}"),
        Some(ratio <= 1.05),
    );
    println!();
    table.print();
}
