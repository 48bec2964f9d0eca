//! The desk between scripts and the server: what scripts read, what they leave to be done, and what each resource has
//! of its own. The functions of the API work on it; nothing on it can reach the world by itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use bevy_ecs::entity::Entity as Connection;
use decitick_components::{
    auth::LoginRequest,
    ban_changes::BanChange,
    bans::Ban,
    client_files::ClientManifest,
    clock::Clock,
    console::ConsoleRequest,
    lane::LaneEvent,
    messages::EndSessionRequest,
    pages::ViewRequest,
    requests::{PlayerRequest, PlayerWish, ThingRequest, WorldRequest, ZoneRequest},
    script::{Manifest, ResourceName, ScriptWork},
    settings::Settings,
    thing::ThingId,
    zone::ZoneId,
};
use decitick_protocol::Password;
use rhai::{Dynamic, FnPtr, ImmutableString};

use super::{mirror::Mirror, random::Random, state::State, types::Player};

/// The most of each that one resource may have at once.
pub(crate) const MOST_TIMERS: usize = 1_000;
/// Entities of one resource.
pub(crate) const MOST_THINGS: usize = 2_000;
/// Zones of one resource.
pub(crate) const MOST_ZONES: usize = 1_000;
/// Events, chat lines and console lines that one resource may send in a tick, counted by receiver.
pub(crate) const MOST_MESSAGES: u32 = 100_000;
/// Other wishes of one resource in a tick.
pub(crate) const MOST_WISHES: u32 = 10_000;
/// Answers that one resource may wait for; one that has come and was not taken yet counts.
pub(crate) const MOST_WAITING: usize = 1_000;
/// Bytes of the statements of one resource in a tick.
pub(crate) const MOST_ASKED_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of answers that may wait until a resource takes them.
pub(crate) const MOST_ANSWER_BYTES: usize = 16 * 1024 * 1024;
/// Keys that one resource may `set` on a player.
pub(crate) const MOST_NOTES: usize = 64;
/// Bytes of a store: keys and values.
pub(crate) const STORE_BYTES: usize = 16 * 1024 * 1024;

/// Something for one lane or for all.
#[derive(Debug)]
pub(crate) enum Told {
    One(Connection, LaneEvent),
    Everybody(LaneEvent),
}

/// A wish about the server itself.
#[derive(Debug)]
pub(crate) enum ServerWish {
    ModeText(String),
    Password(Option<Password>),
    Bans(BanChange),
}

/// What scripts left to be done.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    pub players: Vec<PlayerRequest>,
    pub world: Vec<WorldRequest>,
    pub things: Vec<ThingRequest>,
    pub zones: Vec<ZoneRequest>,
    pub ends: Vec<EndSessionRequest>,
    pub logins: Vec<LoginRequest>,
    pub views: Vec<ViewRequest>,
    /// Client files that resources have from now on.
    pub files: Vec<(ResourceName, Option<Arc<ClientManifest>>)>,
    pub told: Vec<Told>,
    pub server: Vec<ServerWish>,
    pub console: Vec<ConsoleRequest>,
    pub work: Vec<ScriptWork>,
}

impl Wishes {
    /// Whether nothing was left.
    pub(crate) const fn is_empty(&self) -> bool {
        self.players.is_empty()
            && self.world.is_empty()
            && self.things.is_empty()
            && self.zones.is_empty()
            && self.ends.is_empty()
            && self.logins.is_empty()
            && self.views.is_empty()
            && self.files.is_empty()
            && self.told.is_empty()
            && self.server.is_empty()
            && self.console.is_empty()
            && self.work.is_empty()
    }
}

/// A timer of a resource.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    /// When it is due, since the start of the server.
    pub due: Duration,
    /// How long until it is due again; `None`: it goes off once.
    pub every: Option<Duration>,
    pub callback: Arc<FnPtr>,
    /// Whether it is due and waits for its turn.
    pub waits: bool,
}

/// What waits for an answer, with what is to be made of it.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub callback: Option<Arc<FnPtr>>,
    /// What was asked, for a log line when it fails and nobody listens.
    pub what: ImmutableString,
}

/// What a resource has of its own.
#[derive(Debug)]
pub(crate) struct Office {
    pub name: ResourceName,
    pub manifest: Arc<Manifest>,
    /// Its files for clients.
    pub client_files: Option<Arc<ClientManifest>>,
    /// The map that scripts call `state`.
    pub state: State,
    pub timers: BTreeMap<i64, Timer>,
    /// What was set on players, by generation.
    pub notes: BTreeMap<u32, BTreeMap<ImmutableString, Dynamic>>,
    pub things: BTreeSet<ThingId>,
    pub zones: BTreeSet<ZoneId>,
    /// The store: each value one MessagePack value.
    pub store: BTreeMap<String, Arc<[u8]>>,
    pub store_bytes: usize,
    /// Changes of the store since it was last handed to the worker, and who wants to know when they are durable.
    pub unsaved: BTreeMap<String, Option<Vec<u8>>>,
    pub unsaved_callbacks: Vec<Arc<FnPtr>>,
    /// Answers that it waits for or that wait for their turn.
    pub owed: usize,
    /// Bytes of the answers that wait for their turn.
    pub answer_bytes: usize,
    pub waiting: BTreeMap<u64, Vec<Waiting>>,
    pub messages: u32,
    pub wishes: u32,
    /// Bytes of the statements of this tick.
    pub asked_bytes: usize,
    pub log_lines: u32,
}

impl Office {
    pub(crate) fn new(name: ResourceName, manifest: Arc<Manifest>) -> Self {
        Self {
            name,
            manifest,
            client_files: None,
            state: State::default(),
            timers: BTreeMap::new(),
            notes: BTreeMap::new(),
            things: BTreeSet::new(),
            zones: BTreeSet::new(),
            store: BTreeMap::new(),
            store_bytes: 0,
            unsaved: BTreeMap::new(),
            unsaved_callbacks: Vec::new(),
            owed: 0,
            answer_bytes: 0,
            waiting: BTreeMap::new(),
            messages: 0,
            wishes: 0,
            asked_bytes: 0,
            log_lines: 0,
        }
    }
}

/// What does not change while the server runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub server_name: String,
    pub max_players: u16,
    /// The resource that judges logins, when there is one.
    pub auth: Option<ResourceName>,
    /// Bits of an IPv6 address that limits look at.
    pub ipv6_prefix: u8,
    /// Whose assertions are taken.
    pub providers: Vec<String>,
}

impl Facts {
    pub(crate) fn new(settings: &Settings) -> Self {
        let auth = settings.auth.as_ref();
        Self {
            server_name: settings.name.clone(),
            max_players: settings.max_players,
            ipv6_prefix: settings.limits.ipv6_prefix,
            auth: auth.and_then(|auth| ResourceName::parse(&auth.resource)),
            providers: auth
                .iter()
                .flat_map(|auth| &auth.providers)
                .map(|provider| provider.id.clone())
                .collect(),
        }
    }
}

/// The desk.
#[derive(Debug)]
pub(crate) struct Desk {
    pub mirror: Mirror,
    pub wishes: Wishes,
    pub offices: BTreeMap<ResourceName, Office>,
    /// Whose call runs now.
    pub caller: Option<ResourceName>,
    pub clock: Clock,
    pub random: Random,
    pub facts: Facts,
    /// The bans in force when the tick began, and what was asked for since.
    pub bans: Vec<Ban>,
    /// Whether the copy of the world was kept up with what changed; else all of it is copied anew.
    pub in_step: bool,
    /// Numbers that are reserved in the books for what will be made, highest last.
    pub free_things: Vec<ThingId>,
    pub free_zones: Vec<ZoneId>,
    /// Numbers for tickets, and for nothing else; `None` until there is a key for them.
    pub tickets: Option<Random>,
    /// The server's public key.
    pub server_key: [u8; 32],
    last_timer: i64,
    last_request: u64,
}

impl Desk {
    pub(crate) const fn new(mirror: Mirror, facts: Facts, clock: Clock) -> Self {
        Self {
            mirror,
            wishes: Wishes {
                players: Vec::new(),
                world: Vec::new(),
                things: Vec::new(),
                zones: Vec::new(),
                ends: Vec::new(),
                logins: Vec::new(),
                views: Vec::new(),
                files: Vec::new(),
                told: Vec::new(),
                server: Vec::new(),
                console: Vec::new(),
                work: Vec::new(),
            },
            offices: BTreeMap::new(),
            caller: None,
            clock,
            random: Random::new([0; 16]),
            facts,
            bans: Vec::new(),
            in_step: false,
            free_things: Vec::new(),
            free_zones: Vec::new(),
            tickets: None,
            server_key: [0; 32],
            last_timer: 0,
            last_request: 0,
        }
    }

    /// The office of whoever is being called.
    pub(crate) fn office(&mut self) -> Result<&mut Office, String> {
        self.caller
            .as_ref()
            .and_then(|caller| self.offices.get_mut(caller))
            .ok_or_else(|| "this works only while a resource runs: call it from a handler".to_owned())
    }

    /// The same, for what is kept on disk: the console keeps nothing there.
    pub(crate) fn keeping_office(&mut self) -> Result<&mut Office, String> {
        let office = self.office()?;
        if office.name == ResourceName::of_console() {
            return Err("the console has no store and no database: write `eval @RESOURCE ...` to use those of a resource".to_owned());
        }
        Ok(office)
    }

    /// Whether the one who calls is the resource that judges logins.
    pub(crate) fn judges_logins(&mut self) -> Result<bool, String> {
        let auth = self.facts.auth.clone();
        let office = self.office()?;
        Ok(office.manifest.auth && auth.as_ref() == Some(&office.name))
    }

    /// A number for a timer.
    pub(crate) const fn next_timer(&mut self) -> i64 {
        self.last_timer += 1;
        self.last_timer
    }

    /// A number for a request to a worker.
    pub(crate) const fn next_request(&mut self) -> u64 {
        self.last_request += 1;
        self.last_request
    }

    /// Counts a wish of the caller against its share of the tick.
    pub(crate) fn spend_wish(&mut self) -> Result<(), String> {
        let office = self.office()?;
        if office.wishes >= MOST_WISHES {
            return Err(format!(
                "too much in one tick: a resource may change {MOST_WISHES} things a tick; spread it with timers::after"
            ));
        }
        office.wishes += 1;
        Ok(())
    }

    /// Counts messages of the caller by receiver.
    pub(crate) fn spend_messages(&mut self, receivers: usize) -> Result<(), String> {
        let office = self.office()?;
        let sum = office
            .messages
            .saturating_add(u32::try_from(receivers).unwrap_or(u32::MAX));
        if sum > MOST_MESSAGES {
            return Err(format!(
                "too many messages: a resource may send {MOST_MESSAGES} a tick, each receiver counted"
            ));
        }
        office.messages = sum;
        Ok(())
    }

    /// Counts an answer that the caller will wait for.
    pub(crate) fn owe(&mut self) -> Result<(), String> {
        let office = self.office()?;
        if office.owed >= MOST_WAITING {
            return Err(format!(
                "a resource may wait for {MOST_WAITING} answers; wait until some have come"
            ));
        }
        office.owed += 1;
        Ok(())
    }

    /// Wishes something about a player, who must be on.
    pub(crate) fn wish_player(&mut self, player: Player, wish: PlayerWish) -> Result<(), String> {
        self.spend_wish()?;
        let entity = self.connection_of(player)?;
        let request = PlayerRequest { entity, wish };
        self.mirror.play_player(&request);
        self.wishes.players.push(request);
        Ok(())
    }

    /// Wishes something about the world.
    pub(crate) fn wish_world(&mut self, request: WorldRequest) -> Result<(), String> {
        self.spend_wish()?;
        self.mirror.play_world(&request);
        self.wishes.world.push(request);
        Ok(())
    }

    /// Wishes something about a thing.
    pub(crate) fn wish_thing(&mut self, request: ThingRequest) -> Result<(), String> {
        self.spend_wish()?;
        self.mirror.play_thing(&request);
        self.wishes.things.push(request);
        Ok(())
    }

    /// Wishes something about a zone.
    pub(crate) fn wish_zone(&mut self, request: ZoneRequest) -> Result<(), String> {
        self.spend_wish()?;
        self.mirror.play_zone(&request);
        self.wishes.zones.push(request);
        Ok(())
    }

    /// The connection of a player who is on.
    pub(crate) fn connection_of(&self, player: Player) -> Result<Connection, String> {
        self.mirror
            .player(player.id, player.token)
            .map(|copy| copy.entity)
            .ok_or_else(|| format!("player {} is not on any more; ask player.online first", player.id))
    }
}
