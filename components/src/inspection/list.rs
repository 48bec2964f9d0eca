//! The one list of what this crate lets the inspector show, and how.

use bevy_app::App;
use bevy_ecs::message::{Message, Messages};
use bevy_reflect::structs::DynamicStruct;

use super::{InspectApp, Summarise, SummaryField, summary};
use crate::{
    admission, anatomy, auth, ban_changes, bans, body, client_files, clock, combat, connection, console,
    departures, entropy, gamemode, grid, lane, live, liveness, mailbox, messages, metrics, netsim, pages,
    phase, profile, remote, requests, script, server, session, settings, tally, thing, trace, view, worker,
    world, zone,
};

/// Makes every component and resource of this crate known to the inspector.
pub fn register_types(app: &mut App) {
    connections(app);
    bodies(app);
    things(app);
    shared(app);
    counters(app);
    mailboxes(app);
    queues(app);
    secrets(app);
}

fn connections(app: &mut App) {
    app.register_type::<connection::Connection>()
        .register_type::<phase::Phase>()
        .register_type::<session::PlayerId>()
        .register_type::<session::PlayerToken>()
        .register_type::<lane::LaneBudgets>()
        .register_type::<liveness::LastSeen>()
        .register_type::<liveness::SmoothedRtt>()
        .register_type::<liveness::Keepalive>()
        .register_type::<liveness::Traffic>()
        .register_type::<view::View>()
        .summarise::<connection::Peer>()
        .summarise::<connection::PeerIndex>()
        .summarise::<session::SlotTable>()
        .summarise::<lane::OutboundLane>()
        .summarise::<lane::InboundLane>()
        .summarise::<profile::DisplayName>()
        .summarise::<profile::Account>()
        .summarise::<profile::Granted>()
        .summarise::<profile::NameBook>()
        .summarise::<pages::OpenViews>()
        .summarise::<auth::Login>();
}

fn bodies(app: &mut App) {
    app.register_type::<body::Motion>()
        .register_type::<body::Dimension>()
        .register_type::<body::Appearance>()
        .register_type::<body::Vitals>()
        .register_type::<body::Money>()
        .register_type::<body::Skills>()
        .register_type::<combat::ShotCredit>()
        .register_type::<combat::WeaponTable>()
        .summarise::<combat::Weapons>()
        .summarise::<body::PositionHistory>()
        .summarise::<body::FrameGate>()
        .summarise::<grid::BodyIndex>();
}

fn things(app: &mut App) {
    app.register_type::<thing::ThingId>()
        .register_type::<thing::Placement>()
        .register_type::<thing::TriggerRadius>()
        .register_type::<thing::EndsAt>()
        .register_type::<thing::Inside>()
        .register_type::<zone::ZoneId>()
        .register_type::<zone::Zone>()
        .summarise::<thing::ThingKind>()
        .summarise::<thing::ThingMotion>()
        .summarise::<thing::ThingData>()
        .summarise::<thing::PlacedThings>()
        .summarise::<thing::ThingBook>()
        .summarise::<zone::ZoneBook>();
}

fn shared(app: &mut App) {
    app.register_type::<clock::Clock>()
        .register_type::<server::PublicFace>()
        .register_type::<settings::Settings>()
        .register_type::<world::WorldState>()
        .register_type::<auth::AuthResource>()
        .summarise::<super::Sights>()
        .summarise::<world::SpawnPoints>()
        .summarise::<server::ServerKey>()
        .summarise::<server::Lifecycle>()
        .summarise::<bans::BanList>()
        .summarise::<ban_changes::BanChanges>()
        .summarise::<client_files::AnnouncedFiles>()
        .summarise::<departures::Departures>()
        .summarise::<admission::HandshakeLimits>()
        .summarise::<netsim::Netsim>();
}

fn counters(app: &mut App) {
    app.summarise::<tally::Tally>()
        .summarise::<tally::SettledTally>()
        .summarise::<tally::TickTimes>()
        .summarise::<tally::RecentDrops>()
        .summarise::<live::HealthHistory>()
        .summarise::<live::ProcessMemory>()
        .summarise::<live::RecentLog>()
        .summarise::<combat::HitTally>()
        .summarise::<anatomy::TickAnatomy>()
        .keep_inside::<script::Stopwatch>(
            "it is how the shell measures time; `systems` shows what was measured",
        )
        .keep_inside::<script::MemoryGauge>(
            "it is how the shell measures memory; `status` shows what was measured",
        );
}

/// What comes and goes in each tick: never its content.
fn mailboxes(app: &mut App) {
    app.summarise::<mailbox::Inbox>()
        .summarise::<mailbox::Outbox>()
        .summarise::<mailbox::DoorNotices>()
        .summarise::<worker::WorkerInbox>()
        .summarise::<worker::WorkerOutbox>()
        .summarise::<script::ScriptAnswers>()
        .summarise::<auth::AssertionQueue>()
        .summarise::<console::ConsoleInbox>()
        .summarise::<console::ConsoleOutbox>()
        .summarise::<console::ConsoleLeft>()
        .summarise::<console::ConsoleStreams>()
        .summarise::<metrics::MetricsDesk>()
        .summarise::<remote::RemoteInbox>()
        .summarise::<remote::RemoteOutbox>()
        .summarise::<remote::RemoteLeft>()
        .summarise::<remote::RemoteSlow>()
        .summarise::<trace::Traces>();
}

fn queues(app: &mut App) {
    app.summarise::<Messages<messages::PlayerJoined>>()
        .summarise::<Messages<messages::EndSessionRequest>>()
        .summarise::<Messages<messages::SessionEnded>>()
        .summarise::<Messages<messages::ChatReceived>>()
        .summarise::<Messages<messages::ChatPassed>>()
        .summarise::<Messages<messages::ClientEventReceived>>()
        .summarise::<Messages<messages::SpawnRequest>>()
        .summarise::<Messages<messages::FrameReceived>>()
        .summarise::<Messages<messages::HitReported>>()
        .summarise::<Messages<messages::SpawnOrdered>>()
        .summarise::<Messages<messages::PlayerSpawned>>()
        .summarise::<Messages<messages::PlayerDied>>()
        .summarise::<Messages<messages::ThingTriggered>>()
        .summarise::<Messages<messages::ZoneEntered>>()
        .summarise::<Messages<messages::ZoneLeft>>()
        .summarise::<Messages<messages::AcknowledgementReceived>>()
        .summarise::<Messages<messages::PongReceived>>()
        .summarise::<Messages<requests::PlayerRequest>>()
        .summarise::<Messages<requests::WorldRequest>>()
        .summarise::<Messages<requests::ThingRequest>>()
        .summarise::<Messages<requests::ZoneRequest>>()
        .summarise::<Messages<auth::LoginBegan>>()
        .summarise::<Messages<auth::LoginRequest>>()
        .summarise::<Messages<auth::AssertionJudged>>()
        .summarise::<Messages<client_files::FilesRequest>>()
        .summarise::<Messages<pages::ViewReported>>()
        .summarise::<Messages<pages::ViewRequest>>();
}

fn secrets(app: &mut App) {
    app.keep_secret::<session::SessionToken>("whoever knows it can speak for the session")
        .keep_secret::<session::CredentialId>("only the auth resource may know it")
        .keep_secret::<admission::ServerPassword>("`password` says whether one is set")
        .keep_secret::<admission::UsedProofs>("it holds what credential proofs were made of")
        .keep_secret::<entropy::Entropy>("tokens are made of it")
        .keep_secret::<gamemode::Gamemode>("what gamemodes keep is theirs; `resource list` shows what runs");
}

impl<M: Message> Summarise for Messages<M> {
    fn fields() -> &'static [SummaryField] {
        const { &[SummaryField::of::<usize>("waiting")] }
    }

    fn summary(&self) -> DynamicStruct {
        let mut summary = DynamicStruct::default();
        summary.insert("waiting", self.len());
        summary
    }
}

summary!(|netsim: netsim::Netsim| {
    on: bool = netsim.0.is_some(),
    loss_percent: u16 = netsim.0.unwrap_or_default().loss_percent,
    delay_ms: u16 = netsim.0.unwrap_or_default().delay_ms,
    jitter_ms: u16 = netsim.0.unwrap_or_default().jitter_ms,
    duplicate_percent: u16 = netsim.0.unwrap_or_default().duplicate_percent,
});

summary!(|anatomy: anatomy::TickAnatomy| {
    systems: usize = anatomy.systems.len(),
    ticks: u64 = anatomy.ticks.count(),
    slow_ticks: usize = anatomy.slow.len(),
});

summary!(|inbox: console::ConsoleInbox| { waiting: usize = inbox.0.len() });
summary!(|outbox: console::ConsoleOutbox| { waiting: usize = outbox.0.len() });
summary!(|left: console::ConsoleLeft| { waiting: usize = left.0.len() });
summary!(|streams: console::ConsoleStreams| { going_on: usize = streams.0.len() });
summary!(|desk: metrics::MetricsDesk| { wanted: bool = desk.wanted });
summary!(|inbox: remote::RemoteInbox| { waiting: usize = inbox.0.len() });
summary!(|outbox: remote::RemoteOutbox| { waiting: usize = outbox.0.len() });
summary!(|left: remote::RemoteLeft| { waiting: usize = left.0.len() });
summary!(|slow: remote::RemoteSlow| { waiting: usize = slow.0.len() });
summary!(|traces: trace::Traces| { idle: bool = traces.is_idle() });
summary!(|recent: tally::RecentDrops| { last_minute: u64 = recent.last_minute().total() });
