//! A whole server in virtual time: the App of the program, the door in front of it, and n clients, in one thread.
//!
//! ```text
//! Player (sans-IO client) -> up link -> Door::answer -> Inbox -> one tick -> seal -> down link -> Player
//! ```
//!
//! One seed decides every nonce, token and lost datagram, so a run repeats byte for byte. Time moves in steps of
//! 10 ms between ticks of 100 ms; a datagram is handled at the very moment it arrives. What the threads of the
//! program do (sign on the way out, report when something was sent, derive keys, write the ban list) is done here
//! in the simplest way, and can be told to be slow or to fail.
//!
//! After every tick a Sim checks by itself that the drop ledger balances and that the slots, the addresses and the
//! names agree; every player checks that its lane delivers in order and once. Start with [`Sim::new`],
//! [`Sim::join`] and [`Sim::expect_within`]; [`Visitor`] makes a hello by hand.

mod clients;
pub(crate) mod duel;
mod edges;
mod inspect;
mod link;
mod player;
mod random;
pub(crate) mod scripts;
mod time;
mod visitor;
mod world;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    net::SocketAddr,
    time::Duration,
};

use bevy_app::App;
use bevy_ecs::error::FallbackErrorHandler;
use decitick::{ServerParts, build_app, runner};
use decitick_components::{
    ComponentsPlugin,
    bans::BanList,
    combat::WeaponTable,
    mailbox::SentReport,
    reasons::CloseReason,
    script::Stopwatch,
    server::{PublicFace, ServerKey},
    settings::Settings,
    tally::DoorTally,
    thing::PlacedThings,
    worker::WorkerAnswer,
    world::SpawnPoints,
};
use decitick_protocol::{CookieKey, PasswordKey, ServerIdentity};
use decitick_systems::{ServerPlugins, door::Door, encode::query_body};

pub(crate) use link::LossyLink;
pub(crate) use player::{Player, frame_at};
pub(crate) use random::Random;
pub(crate) use visitor::{Reply, Visitor};
pub(crate) use world::{ground, spawn_point, spawns};

/// How far time moves at once between two ticks.
const STEP: Duration = Duration::from_millis(10);
/// The wall clock when a Sim starts: some day in 2026.
pub(crate) const UNIX_START: Duration = Duration::from_secs(1_790_000_000);

/// One server and its clients.
pub(crate) struct Sim {
    pub(crate) app: App,
    pub(crate) door: Door,
    pub(crate) random: Random,
    /// Monotonic time since the server started; the clients live by it too.
    pub(crate) now: Duration,
    /// The wall clock of the server.
    pub(crate) unix: Duration,
    pub(crate) players: Vec<Player>,
    /// From the clients to the server.
    pub(crate) up: LossyLink,
    /// From the server to the clients.
    pub(crate) down: LossyLink,
    /// How long the worker takes for a key or a ban list.
    pub(crate) worker_delay: Duration,
    /// What every write of the ban list fails with.
    pub(crate) ban_writes_fail: Option<String>,
    /// Ban lists that were written, oldest first.
    pub(crate) written_bans: Vec<BanList>,
    /// Gamemodes and what they keep.
    pub(crate) folder: scripts::Folder,
    /// Key derivations that were asked for.
    pub(crate) derivations: usize,
    /// Every session that ended, as (id, generation, why).
    pub(crate) ended: Vec<(u16, u32, CloseReason)>,
    /// Everything the server sent, as (tick, to, bytes), kept while `recording`.
    pub(crate) log: Vec<(u64, SocketAddr, Vec<u8>)>,
    pub(crate) recording: bool,
    /// Allocations that the last tick made, inside the App.
    pub(crate) allocations: u64,
    /// How far time moves at once between two ticks; a tick is a whole number of steps.
    pub(crate) step: Duration,
    identity: ServerIdentity,
    door_tally: DoorTally,
    sent_this_tick: Vec<(SocketAddr, Vec<u8>)>,
    on_the_wire: BinaryHeap<Reverse<(Duration, u64, Carried)>>,
    carried: u64,
    reports: Vec<SentReport>,
    worker_answers: Vec<(Duration, WorkerAnswer)>,
    console_requests: u64,
    by_address: BTreeMap<SocketAddr, usize>,
}

/// A datagram between the two ends.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Carried {
    ToServer { from: SocketAddr, bytes: Vec<u8> },
    ToClient { to: SocketAddr, bytes: Vec<u8> },
}

/// How a Sim is set up.
pub(crate) struct Setup {
    pub(crate) seed: u64,
    pub(crate) settings: Settings,
    pub(crate) bans: BanList,
    pub(crate) spawns: SpawnPoints,
    pub(crate) weapons: WeaponTable,
    pub(crate) shuffle_seed: Option<u64>,
    /// What script calls are timed with; it stands still unless a test says otherwise.
    pub(crate) stopwatch: Stopwatch,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            seed: 1,
            settings: Settings::default(),
            bans: BanList::default(),
            spawns: SpawnPoints::default(),
            weapons: WeaponTable::default(),
            shuffle_seed: None,
            stopwatch: Stopwatch::default(),
        }
    }
}

impl Sim {
    /// A server with the default settings.
    pub(crate) fn new() -> Self {
        Self::with(Setup::default())
    }

    /// A server with default settings but for what `change` changes.
    pub(crate) fn with_settings(change: impl FnOnce(&mut Settings)) -> Self {
        let mut setup = Setup::default();
        change(&mut setup.settings);
        Self::with(setup)
    }

    pub(crate) fn with(setup: Setup) -> Self {
        let Setup {
            seed,
            settings,
            bans,
            spawns,
            weapons,
            shuffle_seed,
            stopwatch,
        } = setup;
        let mut random = Random::new(seed);
        let identity = ServerIdentity::from_seed(&[0x42; 32]);
        let mut cookie_key = [0; 16];
        random.fill(&mut cookie_key);
        let query = query_body(&settings, &PublicFace::default(), 0, settings.password.is_some());
        let door = Door::new(
            identity.clone(),
            CookieKey::new(cookie_key),
            settings.limits.clone(),
            query,
        );
        let parts = ServerParts {
            server_key: identity.public_key(),
            settings,
            spawns,
            weapons,
            things: PlacedThings::default(),
            bans,
        };
        let mut app = assemble(parts, shuffle_seed);
        // A failure inside a system fails the test that met it.
        app.insert_resource(FallbackErrorHandler(bevy_ecs::error::panic));
        app.insert_resource(stopwatch);
        runner::prepare(&mut app);
        Self {
            app,
            door,
            random,
            now: Duration::ZERO,
            unix: UNIX_START,
            players: Vec::new(),
            up: LossyLink::default(),
            down: LossyLink::default(),
            worker_delay: Duration::ZERO,
            ban_writes_fail: None,
            written_bans: Vec::new(),
            folder: scripts::Folder::default(),
            derivations: 0,
            ended: Vec::new(),
            log: Vec::new(),
            recording: false,
            allocations: 0,
            step: STEP,
            identity,
            door_tally: DoorTally::default(),
            sent_this_tick: Vec::new(),
            on_the_wire: BinaryHeap::new(),
            carried: 0,
            reports: Vec::new(),
            worker_answers: Vec::new(),
            console_requests: 0,
            by_address: BTreeMap::new(),
        }
    }

    pub(crate) fn server_key(&self) -> [u8; 32] {
        self.identity.public_key()
    }

    /// The key the Sim's worker derives from a password. A real derivation takes a tenth of a second, and what it
    /// computes is tested where it is written; here any function of the password will do.
    pub(crate) fn password_key(&self, password: &str) -> PasswordKey {
        let mut key = [0x50; 32];
        for (place, byte) in key.iter_mut().zip(password.bytes()) {
            *place = byte;
        }
        PasswordKey::from_bytes(key, self.server_key())
    }
}

/// The App of the program; with a shuffle seed, the same App with another order where the constraints leave one
/// open.
fn assemble(parts: ServerParts, shuffle_seed: Option<u64>) -> App {
    if shuffle_seed.is_none() {
        return build_app(parts);
    }
    let mut app = App::new();
    app.add_plugins((
        ComponentsPlugin {
            settings: parts.settings,
        },
        ServerPlugins {
            shuffle_seed,
            ..ServerPlugins::default()
        },
    ))
    .insert_resource(ServerKey(parts.server_key))
    .insert_resource(parts.spawns)
    .insert_resource(parts.weapons)
    .insert_resource(parts.things)
    .insert_resource(parts.bans);
    app
}
