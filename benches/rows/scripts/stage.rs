//! A server without edges for scripts to run in: players who stand there, time that moves when told, resources from
//! text or from the folder of samples.

use std::{collections::BTreeMap, convert::Infallible, net::SocketAddr, path::Path, time::Duration};

use bevy_app::App;
use bevy_ecs::{entity::Entity, error::FallbackErrorHandler};
use decitick::{
    ServerParts, build_app, runner,
    scripts::{folder, gauges, load::compile_folder},
};
use decitick_components::{
    bans::BanList,
    body::{Motion, PositionHistory},
    clock::{Clock, TICK},
    combat::WeaponTable,
    connection::{Connection, Peer},
    entropy::Entropy,
    gamemode::{Gamemode, Hit},
    lane::OutboundLane,
    liveness::LastSeen,
    mailbox::{Outbox, Route},
    phase::Phase,
    profile::DisplayName,
    script::{Manifest, ResourceName, ScriptBundle},
    session::{PlayerId, PlayerToken, SlotTable},
    settings::{ScriptSettings, Settings},
    thing::PlacedThings,
    worker::WorkerOutbox,
    world::SpawnPoints,
};
use decitick_protocol::{PlayerName, Vec3};
use decitick_systems::script::{
    LoadCause, LoadedResource, PreparedResource, Program, ResourceReport, ScriptHost, ScriptInbox, compile,
};

/// The server.
pub(crate) struct Stage {
    pub(crate) app: App,
    pub(crate) players: Vec<Entity>,
    now: Duration,
}

/// Where the n-th of `count` stands, on a square field with so many metres between neighbours.
pub(crate) fn place(n: u16, count: u16, metres: f32) -> Vec3 {
    let side = f32::from(count).sqrt().ceil() as u16;
    Vec3::new(f32::from(n % side) * metres, f32::from(n / side) * metres, 10.0)
}

impl Stage {
    /// A server with so many players in the world, that far apart. They see nobody: what is measured is scripts. Calls have
    /// ten times their time, so that none is cut because something else had the core meanwhile.
    pub(crate) fn new(count: u16, metres: f32) -> Self {
        let usual = ScriptSettings::default();
        let scripts = ScriptSettings {
            milliseconds_per_call: usual.milliseconds_per_call * 10,
            milliseconds_per_tick: usual.milliseconds_per_tick * 10,
            ..usual
        };
        Self::with_limits(count, metres, scripts)
    }

    /// The same with limits of your own.
    pub(crate) fn with_limits(count: u16, metres: f32, scripts: ScriptSettings) -> Self {
        let settings = Settings {
            resources: Vec::new(),
            scripts,
            ..Settings::default()
        };
        let mut app = build_app(ServerParts {
            server_key: [1; 32],
            settings,
            spawns: SpawnPoints::default(),
            weapons: WeaponTable::default(),
            things: PlacedThings::default(),
            bans: BanList::default(),
        });
        app.insert_resource(FallbackErrorHandler(bevy_ecs::error::panic))
            .insert_resource(gauges::stopwatch())
            .insert_resource(gauges::memory_gauge());
        runner::prepare(&mut app);
        let players = (0..count)
            .map(|n| enter(&mut app, n, place(n, count, metres)))
            .collect();
        let mut stage = Self {
            app,
            players,
            now: Duration::ZERO,
        };
        stage.tick();
        stage
    }

    /// The same with one resource of one script, started.
    pub(crate) fn with_script(count: u16, metres: f32, main: &str) -> Self {
        let mut stage = Self::new(count, metres);
        stage.start("measured", main);
        stage.expect_no_error();
        stage
    }

    /// Starts a resource of one script.
    pub(crate) fn start(&mut self, name: &str, main: &str) {
        let bundle = ScriptBundle {
            resource: ResourceName::parse(name).unwrap(),
            manifest: Manifest::default(),
            files: BTreeMap::from([("main.rhai".to_owned(), main.to_owned())]),
        };
        let program = compile(&bundle).unwrap_or_else(|faults| panic!("{faults:#?}"));
        self.start_program(program);
    }

    /// Starts a sample of the folder `scripts/`.
    pub(crate) fn start_sample(&mut self, name: &str) {
        let name = ResourceName::parse(name).unwrap();
        let read = folder::read(Path::new(env!("CARGO_MANIFEST_DIR")), &name);
        self.start_program(compile_folder(&read).unwrap_or_else(|faults| panic!("{faults:#?}")));
    }

    fn start_program(&mut self, program: Program) {
        let loaded = LoadedResource {
            name: program.resource.clone(),
            cause: LoadCause::Asked,
            result: Ok(Box::new(PreparedResource {
                program,
                store: BTreeMap::new(),
                client_files: None,
            })),
        };
        self.app
            .world_mut()
            .resource_mut::<ScriptInbox>()
            .0
            .push_back(loaded);
        self.tick();
        self.tick();
    }

    /// Lets 100 ms pass; how long the tick after them took.
    pub(crate) fn tick(&mut self) -> Duration {
        self.begin_tick();
        let started = std::time::Instant::now();
        self.app.update();
        let took = started.elapsed();
        self.tidy();
        took
    }

    /// What edges do before a tick.
    pub(crate) fn begin_tick(&mut self) {
        self.now += TICK;
        let now = self.now;
        let world = self.app.world_mut();
        world.resource_mut::<Clock>().advance(now, now);
        let _ = world.resource_mut::<Entropy>().refill(|bytes| {
            for (byte, n) in bytes.iter_mut().zip(0u8..=250) {
                *byte = n;
            }
            Ok::<_, Infallible>(())
        });
        for &player in &self.players {
            *world.get_mut::<LastSeen>(player).unwrap() = LastSeen(now);
        }
    }

    /// What edges and clients do after one: all that was sent is gone.
    pub(crate) fn tidy(&mut self) {
        let world = self.app.world_mut();
        world.resource_mut::<Outbox>().clear();
        world.resource_mut::<WorkerOutbox>().0.clear();
        for &player in &self.players {
            *world.get_mut::<OutboundLane>(player).unwrap() = OutboundLane::default();
        }
    }

    /// Everybody takes a step, as after a frame.
    pub(crate) fn step_all(&mut self) {
        let world = self.app.world_mut();
        for &player in &self.players {
            let mut motion = world.get_mut::<Motion>(player).unwrap();
            motion.position.x += 0.01;
            motion.sequence = motion.sequence.wrapping_add(1);
        }
    }

    /// Asks `player_damage`: one call of the handler, from outside the scripts' turn.
    pub(crate) fn ask(&mut self) -> Option<u16> {
        let hit = Hit {
            player: self.players[0],
            attacker: self.players[1],
            weapon: 3,
            amount: 10,
        };
        self.app
            .world_mut()
            .resource_mut::<Gamemode>()
            .0
            .player_damage(&hit)
    }

    /// How the resource that is measured stands.
    pub(crate) fn report(&self) -> ResourceReport {
        let reports = self.app.world().resource::<ScriptHost>().reports();
        reports.into_iter().next().unwrap()
    }

    /// A script that failed was not measured.
    pub(crate) fn expect_no_error(&self) {
        for report in self.app.world().resource::<ScriptHost>().reports() {
            assert_eq!(report.last_error, None, "{}", report.name);
        }
    }
}

fn enter(app: &mut App, n: u16, position: Vec3) -> Entity {
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
