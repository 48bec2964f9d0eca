//! A run of the `server_step` target: a server, and the steps of a plan. What happens in a tick is in `server_tick`.

use std::{net::SocketAddr, sync::LazyLock, time::Duration};

use bevy_app::App;
use bevy_ecs::{entity::Entity, world::World};
use decitick_components::{
    ComponentsPlugin,
    combat::WeaponTable,
    connection::PeerIndex,
    console::{ConsoleInbox, ConsoleRequest},
    gamemode::Gamemode,
    mailbox::{Inbox, Route, SentReport, Stamp, Stamped},
    reasons::DropReason,
    requests::PlayerRequest,
    server::{Lifecycle, ServerKey},
    session::{PlayerId, PlayerToken},
    tally::Tally,
    thing::{PlacedThings, ThingBook, ThingSpec},
    worker::{WorkerAnswer, WorkerInbox, WorkerOutbox, WorkerRequest},
    world::SpawnPoints,
    zone::ZoneBook,
};
use decitick_protocol::{ClientLaneEvent, CookieKey, EntityKind, PasswordKey, ServerIdentity, Vec3};
use decitick_systems::{
    ServerPlugins,
    door::{Door, DoorVerdict, count},
    encode::query_body,
};

use crate::{
    COOKIE_SEED, CookiePlan, HelloPlan, NamePlan, PEERS, SERVER_SEED, SessionPlan, Standing, address,
    event_id,
    mood::Mood,
    server_plan::{Plan, Step},
    told::Told,
    world_plan::{Flaw, HitPlan, WishPlan, one_of, spawn_point, weapon_table},
};

/// Slots of the server.
pub(crate) const MAX_PLAYERS: u16 = 5;
/// Ticks of one run: more only makes it slower.
const MOST_TICKS: usize = 150;

pub(crate) static IDENTITY: LazyLock<ServerIdentity> =
    LazyLock::new(|| ServerIdentity::from_seed(&SERVER_SEED));

/// A server and who speaks with it.
pub(crate) struct Run {
    pub(crate) app: App,
    pub(crate) door: Door,
    pub(crate) now: Duration,
    pub(crate) wall: Duration,
    pub(crate) standings: [Standing; PEERS],
    pub(crate) told: [Told; PEERS],
    /// Peers in whose lane nothing waited after the last tick.
    pub(crate) idle: [bool; PEERS],
    /// Connections that there are or were, newest last.
    pub(crate) connections: Vec<Entity>,
    pub(crate) attentive: bool,
    pub(crate) nonces: Vec<[u8; 32]>,
    pub(crate) password: Option<PasswordKey>,
    pub(crate) reports: Vec<SentReport>,
    pub(crate) ticks: usize,
    pub(crate) pool_is_empty: bool,
}

/// Does what a plan says.
pub fn run(plan: &Plan) {
    let mut run = Run::new(plan);
    run.tick();
    for peer in 0..plan.crowd % 6 {
        run.join(peer, 0);
        run.session(peer, &SessionPlan::Spawn);
    }
    for step in &plan.steps.0 {
        if run.ticks > MOST_TICKS || run.app.world().resource::<Lifecycle>().stopping {
            break;
        }
        run.take(step);
    }
    run.tick();
}

impl Run {
    fn new(plan: &Plan) -> Self {
        let settings = plan.settings(MAX_PLAYERS);
        let limits = settings.limits.clone();
        let mut app = App::new();
        app.set_error_handler(bevy_ecs::error::panic)
            .add_plugins((
                ComponentsPlugin {
                    settings: settings.clone(),
                },
                ServerPlugins::default(),
            ))
            .insert_resource(ServerKey(IDENTITY.public_key()))
            .insert_resource(WeaponTable::new(weapon_table()))
            .insert_resource(SpawnPoints::new(
                spawn_point(0),
                vec![spawn_point(1), spawn_point(2)],
            ))
            .insert_resource(PlacedThings(placed(plan.placed)));
        if plan.mood > 0 {
            app.insert_resource(Gamemode(Box::new(Mood(plan.mood))));
        }
        app.finish();
        app.cleanup();
        let query = query_body(&settings, app.world().resource(), 0, false);
        Self {
            door: Door::new(IDENTITY.clone(), CookieKey::new(COOKIE_SEED), limits, query),
            app,
            now: Duration::ZERO,
            wall: Duration::from_secs(1_700_000_000),
            standings: [Standing::default(); PEERS],
            told: Default::default(),
            idle: [false; PEERS],
            connections: Vec::new(),
            attentive: plan.attentive,
            nonces: Vec::new(),
            password: None,
            reports: Vec::new(),
            ticks: 0,
            pool_is_empty: false,
        }
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Tick => self.tick(),
            Step::Ticks(count) => (0..count % 8).for_each(|_| self.tick()),
            Step::Jump { seconds } => {
                // Mostly short: a long one ends every session.
                let seconds = if *seconds < 0xF0 { seconds / 32 } else { *seconds };
                self.now += Duration::from_secs(u64::from(seconds));
            }
            Step::Wall { seconds } => {
                let moved = Duration::from_secs(u64::from(seconds.unsigned_abs()));
                self.wall = if *seconds < 0 {
                    self.wall.saturating_sub(moved)
                } else {
                    self.wall + moved
                };
            }
            Step::Join { peer, credential } => self.join(*peer, *credential),
            Step::Hello { peer, plan } => self.hello(*peer, plan),
            Step::Session { peer, plan } => self.session(*peer, plan),
            Step::All { plan } => (0..PEERS as u8).for_each(|peer| self.session(peer, plan)),
            Step::Many { peer, plan, count } => (0..*count).for_each(|_| self.session(*peer, plan)),
            Step::Raw { peer, bytes } => self.send(address(*peer), &bytes.0),
            Step::Console { line } => self.console(line.0.clone()),
            Step::Command(command) => self.console(command.line()),
            Step::Workers { fail } => self.work(*fail),
            Step::ForgedReports { player, event } => self.forge(*player, *event),
            Step::EmptyPool => self.pool_is_empty = true,
            Step::Scatter(places) => self.scatter(places),
            Step::Regroup(places) => self.regroup(places),
            Step::Brawl(shots) => self.brawl(shots),
            Step::Hit {
                peer,
                ahead,
                shots,
                plan,
            } => (0..=shots % 8).for_each(|_| self.shoot(*peer, *ahead, plan)),
            Step::Wish { player, wish } => {
                let entity = one_of(&self.connections, *player);
                self.wish(entity.unwrap_or(Entity::PLACEHOLDER), wish);
            }
            Step::WishAll { wish } => {
                for entity in self.connections.clone() {
                    self.wish(entity, wish);
                }
            }
            Step::Shared(plan) => {
                self.world().write_message(plan.request());
            }
            Step::Thing(plan) => {
                let connections = self.connections.clone();
                let requests = plan.requests(&mut self.world().resource_mut::<ThingBook>(), &connections);
                self.world().write_message_batch(requests);
            }
            Step::Zone(plan) => {
                let request = plan.request(&mut self.world().resource_mut::<ZoneBook>());
                self.world().write_message_batch(request);
            }
        }
    }

    pub(crate) fn world(&mut self) -> &mut World {
        self.app.world_mut()
    }

    fn join(&mut self, peer: u8, credential: u8) {
        let plan = HelloPlan {
            version: 0,
            name: NamePlan::Good(peer),
            cookie: CookiePlan::Fresh,
            nonce: peer,
            password: true,
            credential,
        };
        self.hello(peer, &plan);
        self.tick();
    }

    fn hello(&mut self, peer: u8, plan: &HelloPlan) {
        let from = address(peer);
        let datagram = plan.datagram(self.now, from, self.password.as_ref());
        self.nonces.push([plan.nonce; 32]);
        self.send(from, &datagram);
    }

    pub(crate) fn session(&mut self, peer: u8, plan: &SessionPlan) {
        let standing = &mut self.standings[usize::from(peer) % PEERS];
        if let Some(datagram) = plan.datagram(standing) {
            self.send(address(peer), &datagram);
        }
    }

    fn scatter(&mut self, places: &[[i8; 2]; 5]) {
        for (peer, &place) in (0..).zip(places) {
            self.session(
                peer,
                &SessionPlan::Walk {
                    place,
                    indoors: false,
                },
            );
        }
    }

    fn regroup(&mut self, places: &[[i8; 2]; 5]) {
        for peer in 0..5 {
            if self
                .app
                .world()
                .resource::<PeerIndex>()
                .find(&address(peer))
                .is_none()
            {
                self.join(peer, 0);
            }
            self.session(peer, &SessionPlan::Spawn);
        }
        self.tick();
        self.scatter(places);
        self.tick();
    }

    fn brawl(&mut self, shots: &[[u8; 4]]) {
        self.scatter(&[[0, 0], [4, 0], [0, 4], [4, 4], [-4, 0]]);
        self.tick();
        for &[peer, target, weapon, body_part] in shots {
            let flaw = Flaw::None;
            let plan = HitPlan {
                target,
                weapon,
                body_part,
                flaw,
            };
            self.shoot(peer % 5, 0, &plan);
        }
        self.tick();
    }

    fn shoot(&mut self, peer: u8, ahead: i8, plan: &HitPlan) {
        let world = self.app.world();
        let shooter = world.resource::<PeerIndex>().find(&address(peer));
        let report = plan.report(world, shooter);
        let standing = &mut self.standings[usize::from(peer) % PEERS];
        let mut datagram = Vec::new();
        let event = event_id(standing, ahead);
        ClientLaneEvent::HitReport(report).encode(standing.token, event, &mut datagram);
        self.send(address(peer), &datagram);
    }

    fn wish(&mut self, entity: Entity, wish: &WishPlan) {
        if let Some(wish) = wish.wish() {
            self.world().write_message(PlayerRequest { entity, wish });
        }
    }

    /// What a reader does with a datagram.
    fn send(&mut self, from: SocketAddr, datagram: &[u8]) {
        let mut reply = Vec::new();
        let verdict = self.door.answer(self.now, from, datagram, &mut reply);
        assert!(reply.len() <= datagram.len());
        let route = Route {
            peer: from,
            listener: 0,
            local: None,
        };
        let now = self.now;
        let mut inbox = self.app.world_mut().resource_mut::<Inbox>();
        let taken = match verdict {
            DoorVerdict::PassSession => inbox.sessions.push(route, now, datagram, None),
            DoorVerdict::PassHello(ticket) => inbox.hellos.push(route, now, datagram, Some(ticket)),
            DoorVerdict::Drop(_) | DoorVerdict::Reply => true,
        };
        let became = if taken {
            verdict
        } else {
            DoorVerdict::Drop(DropReason::QueueFull)
        };
        let mut tally = self.world().resource_mut::<Tally>();
        count(&mut tally.door, became, datagram.len());
        assert!(tally.balanced(), "before the tick: {tally:?}");
    }

    fn console(&mut self, line: String) {
        self.world()
            .resource_mut::<ConsoleInbox>()
            .0
            .push_back(ConsoleRequest { id: 7, line });
    }

    fn work(&mut self, fail: bool) {
        let requests = std::mem::take(&mut self.world().resource_mut::<WorkerOutbox>().0);
        for request in requests {
            let answer = match request {
                WorkerRequest::DerivePassword { request, .. } => {
                    let key = PasswordKey::from_bytes([0x55; 32], IDENTITY.public_key());
                    self.password = Some(key.clone());
                    WorkerAnswer::PasswordDerived { request, key }
                }
                WorkerRequest::SaveBans { request, .. } => {
                    let result = if fail {
                        Err("the disk is full".to_owned())
                    } else {
                        Ok(())
                    };
                    WorkerAnswer::BansSaved { request, result }
                }
            };
            self.world().resource_mut::<WorkerInbox>().0.push_back(answer);
        }
    }

    fn forge(&mut self, player: u16, event: u32) {
        let generation = PlayerToken(event % 7);
        let what = if event % 2 == 0 {
            Stamped::Event(event)
        } else {
            Stamped::Keepalive(event)
        };
        let stamp = Stamp {
            player: PlayerId(player),
            generation,
            what,
        };
        let at = self.now;
        self.world()
            .resource_mut::<Inbox>()
            .sent
            .push(SentReport { stamp, at });
    }
}

fn placed(count: u8) -> Vec<ThingSpec> {
    (0..count % 8)
        .map(|n| ThingSpec::new(EntityKind::Pickup, 9, Vec3::new(f32::from(n), 2.0, 10.0)))
        .collect()
}
