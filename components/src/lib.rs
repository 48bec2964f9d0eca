//! The words of the Decitick server: what it knows, as plain data.
//!
//! Components, resources, messages and events with their invariants; methods use only `self` and their
//! arguments. No system lives here, and nothing here knows a clock, a socket, a file or a thread.
//! [`ComponentsPlugin`] registers every message and every default resource, so that any one behaviour plugin of
//! `decitick-systems` together with it makes an App that runs.

pub mod admission;
pub mod anatomy;
pub mod auth;
pub mod ban_changes;
pub mod bans;
pub mod body;
pub mod book;
pub mod client_files;
pub mod clock;
pub mod combat;
pub mod connection;
pub mod console;
pub mod departures;
pub mod entropy;
pub mod gamemode;
pub mod grid;
pub mod inspection;
pub mod lane;
pub mod limits;
pub mod live;
pub mod liveness;
pub mod mailbox;
pub mod messages;
pub mod metrics;
pub mod netsim;
pub mod pages;
pub mod phase;
pub mod profile;
pub mod reasons;
pub mod remote;
pub mod requests;
pub mod script;
pub mod secret;
pub mod server;
pub mod session;
pub mod settings;
pub mod tally;
pub mod thing;
pub mod trace;
pub mod view;
pub mod worker;
pub mod world;
pub mod zone;

use bevy_app::{App, Plugin};

use crate::settings::Settings;

/// Registers the messages and the resources of a server with these settings.
#[derive(Clone, Debug, Default)]
pub struct ComponentsPlugin {
    /// The server's settings.
    pub settings: Settings,
}

impl Plugin for ComponentsPlugin {
    fn build(&self, app: &mut App) {
        register_messages(app);
        register_shared(app);
        self.register_configured(app);
    }
}

impl ComponentsPlugin {
    fn register_configured(&self, app: &mut App) {
        let settings = &self.settings;
        let clock_ms_per_minute = match settings.world.clock {
            settings::ClockSetting::Frozen => None,
            settings::ClockSetting::Running(milliseconds) => Some(milliseconds),
        };
        app.insert_resource(world::WorldState {
            hours: settings.world.time.0,
            minutes: settings.world.time.1,
            weather: settings.world.weather,
            clock_ms_per_minute,
            garage_doors: settings.world.garage_doors,
            driveby_intervals: settings.world.driveby_intervals,
            since_minute: std::time::Duration::ZERO,
        })
        .insert_resource(session::SlotTable::new(settings.max_players))
        .insert_resource(connection::PeerIndex::new(settings.limits.ipv6_prefix))
        .insert_resource(profile::NameBook::new(settings.names.policy))
        .insert_resource(server::PublicFace {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mode: String::new(),
            client_files_port: settings.client_files.announced_port(),
        })
        .insert_resource(settings.clone());
    }
}

fn register_messages(app: &mut App) {
    app.add_message::<messages::PlayerJoined>()
        .add_message::<messages::EndSessionRequest>()
        .add_message::<messages::SessionEnded>()
        .add_message::<messages::ChatReceived>()
        .add_message::<messages::ChatPassed>()
        .add_message::<messages::ClientEventReceived>()
        .add_message::<messages::SpawnRequest>()
        .add_message::<messages::FrameReceived>()
        .add_message::<messages::HitReported>()
        .add_message::<messages::SpawnOrdered>()
        .add_message::<messages::PlayerSpawned>()
        .add_message::<messages::PlayerDied>()
        .add_message::<messages::ThingTriggered>()
        .add_message::<messages::ZoneEntered>()
        .add_message::<messages::ZoneLeft>()
        .add_message::<requests::PlayerRequest>()
        .add_message::<requests::WorldRequest>()
        .add_message::<requests::ThingRequest>()
        .add_message::<requests::ZoneRequest>()
        .add_message::<messages::AcknowledgementReceived>()
        .add_message::<messages::PongReceived>()
        .add_message::<auth::LoginBegan>()
        .add_message::<client_files::FilesRequest>()
        .add_message::<auth::LoginRequest>()
        .add_message::<auth::AssertionJudged>()
        .add_message::<pages::ViewReported>()
        .add_message::<pages::ViewRequest>();
}

fn register_shared(app: &mut App) {
    app.init_resource::<admission::HandshakeLimits>()
        .init_resource::<admission::ServerPassword>()
        .init_resource::<admission::UsedProofs>()
        .init_resource::<auth::AssertionQueue>()
        .init_resource::<auth::AuthResource>()
        .init_resource::<ban_changes::BanChanges>()
        .init_resource::<bans::BanList>()
        .init_resource::<client_files::AnnouncedFiles>()
        .init_resource::<clock::Clock>()
        .init_resource::<console::ConsoleInbox>()
        .init_resource::<console::ConsoleLeft>()
        .init_resource::<console::ConsoleOutbox>()
        .init_resource::<console::ConsoleStreams>()
        .init_resource::<netsim::Netsim>()
        .init_resource::<metrics::MetricsDesk>()
        .init_resource::<remote::RemoteInbox>()
        .init_resource::<remote::RemoteLeft>()
        .init_resource::<remote::RemoteSlow>()
        .init_resource::<live::HealthHistory>()
        .init_resource::<live::ProcessMemory>()
        .init_resource::<live::RecentLog>()
        .init_resource::<remote::RemoteOutbox>()
        .init_resource::<anatomy::TickAnatomy>()
        .init_resource::<trace::Traces>()
        .init_resource::<departures::Departures>()
        .init_resource::<entropy::Entropy>()
        .init_resource::<gamemode::Gamemode>()
        .init_resource::<grid::BodyIndex>()
        .init_resource::<mailbox::DoorNotices>()
        .init_resource::<mailbox::Inbox>()
        .init_resource::<mailbox::Outbox>()
        .init_resource::<script::MemoryGauge>()
        .init_resource::<script::ScriptAnswers>()
        .init_resource::<script::Stopwatch>()
        .init_resource::<server::Lifecycle>()
        .init_resource::<tally::RecentDrops>()
        .init_resource::<tally::SettledTally>()
        .init_resource::<tally::Tally>()
        .init_resource::<tally::TickTimes>()
        .init_resource::<worker::WorkerInbox>()
        .init_resource::<worker::WorkerOutbox>()
        .init_resource::<world::SpawnPoints>()
        .init_resource::<thing::PlacedThings>()
        .init_resource::<thing::ThingBook>()
        .init_resource::<zone::ZoneBook>()
        .init_resource::<combat::HitTally>()
        .init_resource::<combat::WeaponTable>();
}
