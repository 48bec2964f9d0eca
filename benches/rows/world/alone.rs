//! Parts of the world by themselves, in this process: the grid, streaming, combat. They show where a tick's time goes
//! and how it grows.

use std::{
    hint::black_box,
    net::SocketAddr,
    time::{Duration, Instant},
};

use bevy_app::{App, Plugin};
use bevy_ecs::{entity::Entity, world::World};
use decitick_components::{
    ComponentsPlugin,
    body::{Motion, PositionHistory, Space, distance_squared},
    clock::Clock,
    combat::{HitTally, ShotCredit, Weapon, WeaponTable},
    connection::{Connection, Peer},
    grid::Grid,
    lane::OutboundLane,
    mailbox::{Outbox, Route},
    messages::HitReported,
    phase::Phase,
    session::{PlayerId, PlayerToken, SlotTable},
    view::View,
};
use decitick_protocol::{HitReport, Vec3};
use decitick_systems::{combat::CombatPlugin, streaming::StreamingPlugin, tick::TickPlugin};

use crate::support::table::{Table, median};

const COUNTS: [u16; 4] = [100, 200, 500, 1000];
const TICKS: u64 = 200;
/// How the players stand: metres between two neighbours.
const PLACES: [(&str, f32); 2] = [("spread", 60.0), ("crowded", 0.5)];

/// Where the n-th of `count` stands, on a square field.
fn place(n: u16, count: u16, metres: f32) -> Vec3 {
    let side = f32::from(count).sqrt().ceil() as u16;
    Vec3::new(f32::from(n % side) * metres, f32::from(n / side) * metres, 10.0)
}

/// The grid filled and asked once for everybody, against everybody asked about everybody.
pub(crate) fn grid(table: &mut Table) {
    for (how, metres) in PLACES {
        let places: Vec<Vec3> = (0..1000).map(|n| place(n, 1000, metres)).collect();
        let mut grid = Grid::default();
        let mut with_grid = Vec::new();
        let mut without = Vec::new();
        for _ in 0..20 {
            let started = Instant::now();
            grid.restart(300.0);
            for (item, &place) in (0..).zip(&places) {
                grid.add(Space::default(), place, item);
            }
            grid.finish();
            let mut found = 0u32;
            for &place in &places {
                grid.near(Space::default(), place, 300.0, |_, _| found += 1);
            }
            with_grid.push(milliseconds(started));
            let started = Instant::now();
            let mut scanned = 0u32;
            for &one in &places {
                for &other in &places {
                    scanned += u32::from(distance_squared(one, other) <= 90_000.0);
                }
            }
            without.push(milliseconds(started));
            assert_eq!(black_box(found), black_box(scanned));
        }
        let (ours, plain) = (median(with_grid), median(without));
        table.row(
            &format!("grid, 1,000 {how}: filled and asked by all"),
            "",
            format!("{ours:.2} ms; plain scan {plain:.2} ms"),
            None,
        );
    }
}

/// A tick of streaming with everybody moving, nothing else in the App.
pub(crate) fn streaming(table: &mut Table) {
    for (how, metres) in PLACES {
        for count in COUNTS {
            let (mut app, players) = world_of(count, metres, StreamingPlugin);
            let mut times = Vec::new();
            for tick in 0..TICKS {
                advance(app.world_mut(), tick);
                move_all(app.world_mut(), &players, count, metres, tick);
                let started = Instant::now();
                app.update();
                // The first ticks fill the views.
                if tick >= TICKS / 2 {
                    times.push(milliseconds(started));
                }
                empty(app.world_mut(), &players);
            }
            table.row(
                &format!("streaming alone, {count} {how}"),
                "",
                format!("{:.3} ms a tick", median(times)),
                None,
            );
        }
    }
}

/// Everybody hits its neighbour in every tick.
pub(crate) fn combat(table: &mut Table) {
    let (mut app, players) = world_of(1000, 0.5, CombatPlugin);
    app.insert_resource(WeaponTable::new(vec![Weapon {
        id: 0,
        name: "Fist".to_owned(),
        damage: 0,
        range: 5.0,
        interval_ms: 1,
        clip: 0,
        pellets: 1,
    }]));
    let mut times = Vec::new();
    for tick in 0..TICKS {
        advance(app.world_mut(), tick);
        let now = app.world().resource::<Clock>().since_start;
        for (n, &entity) in (0u16..).zip(&players) {
            let target = (n + 1) % 1000;
            let report = HitReport {
                target_id: u32::from(target),
                target_token: u32::from(target) + 1,
                weapon: 0,
                body_part: 0,
                origin: place(n, 1000, 0.5),
                hit: place(n, 1000, 0.5),
            };
            app.world_mut().write_message(HitReported {
                entity,
                report,
                arrived: now,
            });
            *app.world_mut().get_mut::<ShotCredit>(entity).unwrap() = ShotCredit::default();
        }
        let started = Instant::now();
        app.update();
        times.push(milliseconds(started));
    }
    let tally = app.world().resource::<HitTally>().clone();
    table.row(
        "combat alone, 1,000 reports a tick",
        "",
        format!(
            "{:.2} us a report ({} counted, {} refused)",
            median(times),
            tally.counted,
            tally.nonzero().map(|(_, count)| count).sum::<u64>()
        ),
        None,
    );
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// An App with one plugin and so many players, each with a body.
fn world_of(count: u16, metres: f32, plugin: impl Plugin) -> (App, Vec<Entity>) {
    let mut app = App::new();
    app.add_plugins((ComponentsPlugin::default(), TickPlugin::default(), plugin));
    let world = app.world_mut();
    let players: Vec<Entity> = (0..count)
        .map(|n| {
            let position = place(n, count, metres);
            let mut history = PositionHistory::default();
            history.record(Duration::ZERO, position);
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
                    Phase::Spawned,
                    View {
                        open: true,
                        ..View::default()
                    },
                    Motion {
                        position,
                        ..Motion::default()
                    },
                    history,
                ))
                .id();
            world.resource_mut::<SlotTable>().occupy(PlayerId(n), entity);
            entity
        })
        .collect();
    app.finish();
    app.cleanup();
    (app, players)
}

fn advance(world: &mut World, tick: u64) {
    let now = Duration::from_millis(100) * (tick as u32 + 1);
    world.resource_mut::<Clock>().advance(now, now);
}

/// Everybody walks around its place, 5 m/s.
fn move_all(world: &mut World, players: &[Entity], count: u16, metres: f32, tick: u64) {
    for (n, &entity) in (0u16..).zip(players) {
        let turn = tick as f32 * 0.1 + f32::from(n);
        let home = place(n, count, metres);
        let mut motion = world.get_mut::<Motion>(entity).unwrap();
        motion.position = Vec3::new(home.x + 5.0 * turn.cos(), home.y + 5.0 * turn.sin(), home.z);
        motion.sequence += 1;
    }
}

/// What a tick sent is gone before the next.
fn empty(world: &mut World, players: &[Entity]) {
    world.resource_mut::<Outbox>().clear();
    for &entity in players {
        *world.get_mut::<OutboundLane>(entity).unwrap() = OutboundLane::default();
    }
}
