//! What an operator may set: the keys of `assets/server.ron` (docs/operations.md), their defaults
//! and their bounds.
//!
//! Field names and nesting are those of the file, so that serde reads it straight into these types.
//! What a type alone cannot refuse, [`Settings::faults`] finds, all of it at once. Nothing here knows
//! where the settings come from: files, positions and overrides belong to the shell.

use bevy_ecs::reflect::ReflectResource;
use bevy_reflect::Reflect;
use std::net::{Ipv4Addr, SocketAddr};

use bevy_ecs::resource::Resource;
use decitick_protocol::MAX_PLAYERS;
use serde::Deserialize;

use crate::secret::Secret;

mod faults;
mod reading;

pub use faults::SettingFault;
pub use reading::parse_key;

/// Everything that can be configured. The default is what a server without a file uses.
#[derive(Resource, Clone, Debug, PartialEq, Deserialize, Reflect)]
#[reflect(Resource)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What the query shows: 1..=64 bytes without control or format characters.
    pub name: String,
    /// UDP addresses to listen on, at least one, no two alike. Port 0 lets the system choose.
    pub listen: Vec<SocketAddr>,
    /// Slots, 1..=1000.
    pub max_players: u16,
    /// What a ClientHello must prove (1..=64 bytes, no control characters); in the file an empty text means none.
    #[serde(deserialize_with = "reading::optional_password")]
    #[reflect(ignore)]
    pub password: Option<Secret<String>>,
    /// What the query asks of clients: empty, or a semantic version of at most 32 bytes.
    pub minimum_client_version: String,
    /// Gamemode resources, started in this order: names of folders under `scripts/`.
    pub resources: Vec<String>,
    /// The HTTP listener for client files.
    pub client_files: ClientFilesSettings,
    /// An auth resource that judges who joins; `None` admits whoever passes the handshake.
    pub auth: Option<AuthSettings>,
    /// The world as it is when the server starts, and what motion is believed.
    pub world: WorldSettings,
    /// What a player sees of the others.
    pub streaming: StreamingSettings,
    /// Limits per address and per connection.
    pub limits: LimitSettings,
    /// What player names may be.
    pub names: NameSettings,
    /// What a gamemode may use.
    pub scripts: ScriptSettings,
    /// The debug console.
    pub console: ConsoleSettings,
    /// Where the read-only Bevy Remote Protocol listens (TCP); loopback addresses only.
    pub remote: Option<SocketAddr>,
    /// The live page.
    pub page: Option<PageSettings>,
    /// The voxel door. Taken as it stands until that door exists.
    pub voxel: Option<OpaqueSettings>,
    /// The gateway door. Taken as it stands until that door exists.
    pub gateway: Option<OpaqueSettings>,
    /// Where Prometheus metrics and the health check are served (TCP).
    pub metrics: Option<SocketAddr>,
    /// What is logged, and how.
    pub log: LogSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: "Decitick server".to_owned(),
            listen: vec![SocketAddr::from((Ipv4Addr::UNSPECIFIED, 7777))],
            max_players: MAX_PLAYERS,
            password: None,
            minimum_client_version: String::new(),
            resources: vec!["freeroam".to_owned()],
            client_files: ClientFilesSettings::default(),
            auth: None,
            world: WorldSettings::default(),
            streaming: StreamingSettings::default(),
            limits: LimitSettings::default(),
            names: NameSettings::default(),
            scripts: ScriptSettings::default(),
            console: ConsoleSettings::default(),
            remote: None,
            page: None,
            voxel: None,
            gateway: None,
            metrics: None,
            log: LogSettings::default(),
        }
    }
}

/// Where client files are served (docs/protocol.md 2.7).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Reflect)]
#[serde(default, deny_unknown_fields)]
pub struct ClientFilesSettings {
    /// TCP address to listen on; port 0 stands for one that the system chooses.
    pub listen: SocketAddr,
    /// The port that ServerHello names when it is another one, as behind a proxy; not 0.
    pub public_port: Option<u16>,
}

impl ClientFilesSettings {
    /// What ServerHello says in `client_files_port`; never 0 once `listen` is the address that was bound.
    pub fn announced_port(&self) -> u16 {
        self.public_port.unwrap_or_else(|| self.listen.port())
    }
}

impl Default for ClientFilesSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 7778)),
            public_port: None,
        }
    }
}

/// The auth resource and whose assertions it may take (docs/protocol.md 1.5).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Reflect)]
#[serde(deny_unknown_fields)]
pub struct AuthSettings {
    /// The resource that decides. No default: whoever writes `auth` must name it.
    pub resource: String,
    /// Seconds a connection may stay in PreAuth, at least 1.
    #[serde(default = "default_auth_timeout")]
    pub timeout_seconds: u32,
    /// Who may sign assertions; their ids differ.
    #[serde(default)]
    pub providers: Vec<AuthProvider>,
}

const fn default_auth_timeout() -> u32 {
    120
}

/// One signer of assertions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Reflect)]
#[serde(deny_unknown_fields)]
pub struct AuthProvider {
    /// What the assertion's `iss` says: 1..=128 bytes without control or format characters.
    pub id: String,
    /// Its Ed25519 public key.
    pub key: ProviderKey,
}

/// An Ed25519 public key, written as 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Reflect)]
pub struct ProviderKey(pub [u8; 32]);

/// The world at start, and the bounds of motion.
#[derive(Clone, Debug, PartialEq, Deserialize, Reflect)]
#[serde(default, deny_unknown_fields)]
pub struct WorldSettings {
    /// Time of day at start: hours 0..=23, minutes 0..=59.
    pub time: (u8, u8),
    /// Whether the time of day moves.
    pub clock: ClockSetting,
    /// The weather at start.
    pub weather: u8,
    /// One bit a garage door at start.
    pub garage_doors: u64,
    /// The intervals ServerHello and DriveByIntervals carry.
    #[serde(deserialize_with = "reading::twelve_intervals")]
    pub driveby_intervals: [u16; 12],
    /// How far from the origin a position component may be, in metres: above 0, at most 20,000.
    pub bounds: f32,
    /// The fastest believed motion over the last second, in metres per second; 0: no check.
    pub max_speed: f32,
    /// How long frames are ignored after the server moved a player, in milliseconds, 0..=60,000.
    pub settle_ms: u32,
}

impl Default for WorldSettings {
    fn default() -> Self {
        Self {
            time: (12, 0),
            clock: ClockSetting::Frozen,
            weather: 1,
            garage_doors: 0,
            driveby_intervals: [0; 12],
            bounds: 20_000.0,
            max_speed: 200.0,
            settle_ms: 2_000,
        }
    }
}

/// `Frozen`, or `Running(1000)`: a minute of the world lasts that many milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Reflect)]
pub enum ClockSetting {
    /// The time stands still until a gamemode or the console moves it.
    #[default]
    Frozen,
    /// The milliseconds that one minute of the world lasts, at least 1.
    Running(u16),
}

/// What a player sees of the others (docs/protocol.md 2.4).
#[derive(Clone, Debug, PartialEq, Deserialize, Reflect)]
#[serde(default, deny_unknown_fields)]
pub struct StreamingSettings {
    /// How far a player sees, in metres: above 0, at most 40,000.
    pub radius: f32,
    /// The most players in one view, 1..=1000.
    pub limit: u16,
    /// The most entities in one view, 1..=10,000.
    pub entity_limit: u16,
}

impl Default for StreamingSettings {
    fn default() -> Self {
        Self {
            radius: 300.0,
            limit: 64,
            entity_limit: 128,
        }
    }
}

/// Limits per address and connection (docs/protocol.md 1.1, 2.1, 2.2).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Reflect)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// Whether 127.0.0.0/8 and ::1 are free of the limits per address. Turn it off behind a proxy.
    pub loopback_exempt: bool,
    /// Connections of one address, at least 1.
    pub connections_per_ip: u32,
    /// How many leading bits of an IPv6 address count as one address, 1..=128.
    pub ipv6_prefix: u8,
    /// Resent datagrams of all connections together in a tick, at least 1.
    pub resends_per_tick: u32,
    /// What one connection may send, at least 1.
    pub packets_per_second: u32,
    /// What one connection may send at once, at least 1.
    pub packet_burst: u32,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            loopback_exempt: true,
            connections_per_ip: 5,
            ipv6_prefix: 64,
            resends_per_tick: 8_000,
            packets_per_second: 200,
            packet_burst: 400,
        }
    }
}

/// What player names may be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Reflect)]
#[serde(default, deny_unknown_fields)]
pub struct NameSettings {
    /// Which rule a name must pass.
    pub policy: NamePolicy,
}

/// Which rule a name must pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Reflect)]
pub enum NamePolicy {
    /// The rule of docs/protocol.md 1.4.
    #[default]
    Core,
    /// Also refuses invisible fillers, look-alikes of a name that is taken, and unnormalised twins.
    Strict,
}

/// What gamemodes may use.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Reflect)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptSettings {
    /// Operations in one call, at least 1.
    pub operations_per_call: u64,
    /// Milliseconds in one call, at least 1.
    pub milliseconds_per_call: u32,
    /// Milliseconds of all resources together in a tick, 1..=100.
    pub milliseconds_per_tick: u32,
    /// Memory of one resource in MiB, at least 1.
    pub memory_mib: u32,
    /// Whether a changed file reloads its resource.
    pub hot_reload: bool,
}

impl Default for ScriptSettings {
    fn default() -> Self {
        Self {
            operations_per_call: 2_000_000,
            milliseconds_per_call: 50,
            milliseconds_per_tick: 40,
            memory_mib: 64,
            hot_reload: true,
        }
    }
}

/// The debug console.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Reflect)]
#[serde(default, deny_unknown_fields)]
pub struct ConsoleSettings {
    /// Whether `console.sock` is offered.
    pub socket: bool,
}

impl Default for ConsoleSettings {
    fn default() -> Self {
        Self { socket: true }
    }
}

/// The live page.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Reflect)]
#[serde(default, deny_unknown_fields)]
pub struct PageSettings {
    /// TCP address to listen on.
    pub listen: SocketAddr,
    /// Whether the page may change anything.
    pub allow_actions: bool,
}

impl Default for PageSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7780)),
            allow_actions: false,
        }
    }
}

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Reflect)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// How a line looks; `--log` overrides it.
    pub format: LogFormat,
    /// Which events are shown, as in `RUST_LOG`, which overrides it.
    pub filter: String,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            format: LogFormat::Pretty,
            filter: "info".to_owned(),
        }
    }
}

/// How a log line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Reflect)]
pub enum LogFormat {
    /// For people, in colour on a terminal.
    #[default]
    Pretty,
    /// For people, short.
    Compact,
    /// For programs: one JSON object a line.
    Json,
}

/// Keys of a door that this version does not have: a struct or a map, not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Reflect)]
pub struct OpaqueSettings;
