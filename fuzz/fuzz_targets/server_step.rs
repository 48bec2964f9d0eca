//! A whole server without its edges, stepped: datagrams come through a real door from peers that know their
//! tokens, console lines are executed, workers answer or fail, time stands still or jumps. Every packet that leaves
//! must decode as strictly as a client decodes it, and the ledger must balance after every tick.
#![no_main]

use std::{net::SocketAddr, sync::LazyLock, time::Duration};

use bevy_app::App;
use bevy_ecs::world::World;
use decitick_components::{
    ComponentsPlugin,
    clock::{Clock, TICK},
    console::{ConsoleInbox, ConsoleOutbox, ConsoleRequest},
    entropy::Entropy,
    lane::{InboundLane, OutboundLane},
    mailbox::{DoorNotices, Inbox, Outbox, Route, Seal, SentReport},
    reasons::DropReason,
    server::{Lifecycle, ServerKey},
    session::{PlayerId, SlotTable},
    settings::{NamePolicy, Settings},
    tally::Tally,
    worker::{WorkerAnswer, WorkerInbox, WorkerOutbox, WorkerRequest},
};
use decitick_fuzz::{
    COOKIE_SEED, HelloPlan, PEERS, SERVER_SEED, SessionPlan, Standing, address,
    server_plan::{Plan, Step},
};
use decitick_protocol::{
    CookieKey, MAX_PACKET, PasswordKey, ServerIdentity, ServerLaneEvent, ServerPacket, verify_hello,
    verify_reject,
};
use decitick_systems::{
    ServerPlugins,
    door::{Door, DoorVerdict, count},
    encode::query_body,
};
use libfuzzer_sys::fuzz_target;

const MAX_PLAYERS: u16 = 5;
/// Ticks of one run: more only makes it slower.
const MOST_TICKS: usize = 150;

static IDENTITY: LazyLock<ServerIdentity> = LazyLock::new(|| ServerIdentity::from_seed(&SERVER_SEED));

struct Run {
    app: App,
    door: Door,
    now: Duration,
    wall: Duration,
    standings: [Standing; PEERS],
    nonces: Vec<[u8; 32]>,
    password: Option<PasswordKey>,
    reports: Vec<SentReport>,
    ticks: usize,
    pool_is_empty: bool,
}

fuzz_target!(|plan: Plan| {
    let mut run = Run::new(&plan);
    run.tick();
    for step in &plan.steps {
        if run.ticks > MOST_TICKS || run.app.world().resource::<Lifecycle>().stopping {
            break;
        }
        run.take(step);
    }
    run.tick();
});

impl Run {
    fn new(plan: &Plan) -> Self {
        let mut settings = Settings {
            max_players: MAX_PLAYERS,
            ..Settings::default()
        };
        settings.limits.loopback_exempt = plan.loopback_exempt;
        settings.limits.resends_per_tick = u32::from(plan.resends_per_tick).max(1);
        settings.world.max_speed = f32::from(plan.max_speed);
        settings.names.policy = if plan.strict_names {
            NamePolicy::Strict
        } else {
            NamePolicy::Core
        };
        let limits = settings.limits.clone();
        let mut app = App::new();
        app.set_error_handler(bevy_ecs::error::panic)
            .add_plugins((
                ComponentsPlugin {
                    settings: settings.clone(),
                },
                ServerPlugins::default(),
            ))
            .insert_resource(ServerKey(IDENTITY.public_key()));
        app.finish();
        app.cleanup();
        let query = query_body(&settings, app.world().resource(), 0, false);
        Self {
            door: Door::new(IDENTITY.clone(), CookieKey::new(COOKIE_SEED), limits, query),
            app,
            now: Duration::ZERO,
            wall: Duration::from_secs(1_700_000_000),
            standings: [Standing::default(); PEERS],
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
            Step::Ticks(count) => (0..count % 32).for_each(|_| self.tick()),
            Step::Jump { seconds } => self.now += Duration::from_secs(u64::from(*seconds)),
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
            Step::Raw { peer, bytes } => self.send(address(*peer), bytes),
            Step::Console { line } => self.console(line.clone()),
            Step::Command(command) => self.console(command.line()),
            Step::Workers { fail } => self.work(*fail),
            Step::ForgedReports { player, event } => self.forge(*player, *event),
            Step::EmptyPool => self.pool_is_empty = true,
        }
    }

    fn world(&mut self) -> &mut World {
        self.app.world_mut()
    }

    fn join(&mut self, peer: u8, credential: u8) {
        let plan = HelloPlan {
            version: 0,
            name: decitick_fuzz::NamePlan::Good(peer),
            cookie: decitick_fuzz::CookiePlan::Fresh,
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

    fn session(&mut self, peer: u8, plan: &SessionPlan) {
        let standing = &mut self.standings[usize::from(peer) % PEERS];
        if let Some(datagram) = plan.datagram(standing) {
            self.send(address(peer), &datagram);
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
        use decitick_components::{
            mailbox::{Stamp, Stamped},
            session::PlayerToken,
        };
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

    fn tick(&mut self) {
        self.ticks += 1;
        self.now += TICK;
        let (now, wall, ticks) = (self.now, self.wall, self.ticks);
        let world = self.app.world_mut();
        world.resource_mut::<Clock>().advance(now, wall);
        let empty = std::mem::take(&mut self.pool_is_empty);
        if empty {
            *world.resource_mut::<Entropy>() = Entropy::default();
        }
        let filled: Result<(), ()> = world.resource_mut::<Entropy>().refill(|bytes| {
            if empty {
                return Err(());
            }
            for (index, byte) in bytes.iter_mut().enumerate() {
                *byte = (index * 31 + ticks * 17 + (index >> 8)) as u8;
            }
            Ok(())
        });
        assert!(filled.is_ok() || empty);
        let reports = std::mem::take(&mut self.reports);
        let mut inbox = world.resource_mut::<Inbox>();
        inbox.sent.extend(reports);
        self.door.take_flooding(&mut inbox.flooding);
        self.app.update();
        self.hand_out();
        self.check();
    }

    /// What the transmit thread and the peers do with what a tick sends.
    fn hand_out(&mut self) {
        let now = self.now;
        let notices = std::mem::take(&mut self.world().resource_mut::<DoorNotices>().0);
        for notice in notices {
            self.door.learn(notice, now);
        }
        let mut outbox = std::mem::take(&mut *self.world().resource_mut::<Outbox>());
        for packet in outbox.packets().to_vec() {
            let datagram = outbox.bytes_mut(&packet);
            assert!(
                !datagram.is_empty() && datagram.len() <= MAX_PACKET,
                "{} bytes",
                datagram.len()
            );
            match packet.seal {
                Some(Seal::Hello(nonce)) => {
                    IDENTITY.seal_hello(&nonce, datagram).expect("a hello is sealed");
                    assert!(self.nonces.contains(&nonce) && verify_hello(datagram, &nonce, None));
                }
                Some(Seal::Reject(nonce)) => {
                    IDENTITY
                        .seal_reject(&nonce, datagram)
                        .expect("a refusal is sealed");
                    assert!(self.nonces.contains(&nonce) && verify_reject(datagram, &nonce, None));
                }
                None => {}
            }
            self.reports
                .extend(packet.stamp.map(|stamp| SentReport { stamp, at: now }));
            let received = match ServerPacket::decode(datagram) {
                Ok(received) => received,
                Err(error) => panic!("the server sent what no client takes: {error}: {datagram:02x?}"),
            };
            self.peer_takes(packet.route.peer, &received);
        }
        outbox.clear();
        *self.world().resource_mut::<Outbox>() = outbox;
        self.world().resource_mut::<ConsoleOutbox>().0.clear();
    }

    fn peer_takes(&mut self, peer: SocketAddr, packet: &ServerPacket) {
        let position = (0..PEERS as u8).position(|index| address(index) == peer);
        let Some(index) = position else {
            panic!("a packet to {peer}, who never wrote")
        };
        let standing = &mut self.standings[index];
        match packet {
            ServerPacket::Hello(hello) => {
                assert!(hello.player_id < u32::from(MAX_PLAYERS) && hello.session_token != 0);
                if hello.session_token != standing.token {
                    *standing = Standing {
                        token: hello.session_token,
                        ..Standing::default()
                    };
                }
            }
            ServerPacket::Keepalive(keepalive) => standing.keepalive = keepalive.nonce,
            ServerPacket::Lane { event_id, event } => {
                assert!(
                    *event_id <= standing.highest_event + 1,
                    "event {event_id} after {}",
                    standing.highest_event
                );
                standing.highest_event = standing.highest_event.max(*event_id);
                if let ServerLaneEvent::PlayerJoin(joined) = event {
                    assert!(
                        joined
                            .players
                            .iter()
                            .all(|row| row.player_id < u32::from(MAX_PLAYERS))
                    );
                }
            }
            _ => {}
        }
    }

    fn check(&mut self) {
        let world = self.app.world_mut();
        let inbox = world.resource::<Inbox>();
        assert!(
            inbox.sessions.is_empty() && inbox.hellos.is_empty(),
            "every datagram is judged in its tick"
        );
        let tally = world.resource::<Tally>();
        assert!(
            tally.balanced() && tally.queued() == 0,
            "after the tick: {tally:?}"
        );
        let mut lanes = world.query::<(&PlayerId, &InboundLane, &OutboundLane)>();
        let mut connections = 0;
        for (player, inbound, outbound) in lanes.iter(world) {
            connections += 1;
            assert!(player.0 < MAX_PLAYERS);
            assert!(inbound.waiting() <= InboundLane::WINDOW as usize);
            let most = OutboundLane::IN_FLIGHT + OutboundLane::CRITICAL + OutboundLane::DROPPABLE;
            assert!(outbound.depth() <= most);
        }
        assert_eq!(
            connections,
            world.resource::<SlotTable>().taken(),
            "a slot for each connection"
        );
    }
}
