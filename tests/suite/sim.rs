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
//! After every tick a Sim checks by itself that the drop ledger balances, that the slots, the addresses and the
//! names agree, and that a ServerHello never names a session the door does not know. Start with [`Sim::new`],
//! [`Sim::join`] and [`Sim::expect_within`].

mod link;
mod player;
mod random;
mod visitor;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    net::SocketAddr,
    time::Duration,
};

use bevy_app::App;
use bevy_ecs::{entity::Entity, error::FallbackErrorHandler, message::Messages};
use decitick::{ServerParts, build_app, runner};
use decitick_client::client::{Client, ClientConfig, PinnedServer};
use decitick_components::{
    ComponentsPlugin,
    bans::BanList,
    clock::{Clock, TICK},
    connection::PeerIndex,
    console::{ConsoleAnswer, ConsoleInbox, ConsoleOutbox, ConsoleRequest},
    entropy::Entropy,
    lane::{LaneEvent, OutboundLane},
    mailbox::{DoorNotices, Inbox, Outbox, Route, Seal, SentReport},
    messages::SessionEnded,
    profile::NameBook,
    reasons::{CloseReason, DropReason},
    server::{PublicFace, ServerKey},
    session::{PlayerId, SlotTable},
    settings::Settings,
    tally::{DoorTally, Tally},
    worker::{WorkerAnswer, WorkerInbox, WorkerOutbox, WorkerRequest},
    world::{SpawnPoints, WeaponTable},
};
use decitick_protocol::{CookieKey, PacketId, PasswordKey, PlayerName, ServerIdentity, ServerLaneEvent};
use decitick_systems::{
    ServerPlugins,
    door::{Door, DoorVerdict, count},
    encode::query_body,
};

pub(crate) use link::LossyLink;
pub(crate) use player::{Player, frame_at};
pub(crate) use random::Random;
pub(crate) use visitor::{Reply, Visitor};

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
    /// Key derivations that were asked for.
    pub(crate) derivations: usize,
    /// Every session that ended, as (id, generation, why).
    pub(crate) ended: Vec<(u16, u32, CloseReason)>,
    /// Everything the server sent, as (tick, to, bytes), kept while `recording`.
    pub(crate) log: Vec<(u64, SocketAddr, Vec<u8>)>,
    pub(crate) recording: bool,
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
    pub(crate) shuffle_seed: Option<u64>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            seed: 1,
            settings: Settings::default(),
            bans: BanList::default(),
            spawns: SpawnPoints::default(),
            shuffle_seed: None,
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
            shuffle_seed,
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
        let weapons = WeaponTable::default();
        let parts = ServerParts {
            server_key: identity.public_key(),
            settings,
            spawns,
            weapons,
            bans,
        };
        let mut app = assemble(parts, shuffle_seed);
        // A failure inside a system fails the test that met it.
        app.insert_resource(FallbackErrorHandler(bevy_ecs::error::panic));
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
            derivations: 0,
            ended: Vec::new(),
            log: Vec::new(),
            recording: false,
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

    // ---- clients ------------------------------------------------------------------------------------------

    /// Adds a client that starts to join now, from a loopback address of its own. Returns its index.
    pub(crate) fn join(&mut self, name: &str) -> usize {
        let address = SocketAddr::from((
            [127, 0, 0, 1],
            20_000 + u16::try_from(self.players.len()).unwrap(),
        ));
        self.join_from(address, name)
    }

    pub(crate) fn join_from(&mut self, address: SocketAddr, name: &str) -> usize {
        let pinned = PinnedServer::new(self.server_key());
        self.join_with(address, name, pinned)
    }

    pub(crate) fn join_with(&mut self, address: SocketAddr, name: &str, server: PinnedServer) -> usize {
        let config = ClientConfig::new(&PlayerName::parse(name).unwrap()).pinned_to(server);
        let client = Client::new(config, self.random.nonce(), self.now);
        self.players.push(Player::new(client, address));
        let index = self.players.len() - 1;
        // An address may come back with a new client; datagrams go to the newest.
        self.by_address.insert(address, index);
        index
    }

    /// Adds clients named `Bot 1000`, `Bot 1001` ... and waits until all have joined and have a body.
    pub(crate) fn join_many(&mut self, count: usize) -> Vec<usize> {
        let indices: Vec<usize> = (0..count)
            .map(|_| self.join(&format!("Bot {}", 1000 + self.players.len())))
            .collect();
        let waiting = indices.clone();
        self.expect_within(40, "everybody has a body", move |sim| {
            waiting
                .iter()
                .all(|&index| sim.players[index].client.is_spawned())
        });
        indices
    }

    /// A client that joined and has a body.
    pub(crate) fn join_now(&mut self, name: &str) -> usize {
        let index = self.join(name);
        self.expect_within(20, "the client has a body", |sim| {
            sim.players[index].client.is_spawned()
        });
        index
    }

    // ---- time ---------------------------------------------------------------------------------------------

    /// Lets 100 ms pass, at the end of which the server makes a tick.
    pub(crate) fn tick(&mut self) {
        for _ in 0..TICK.as_millis() / STEP.as_millis() {
            self.pass(STEP);
        }
        self.server_tick();
    }

    pub(crate) fn ticks(&mut self, count: usize) {
        for _ in 0..count {
            self.tick();
        }
    }

    /// Ticks until `done`, at most `budget` times.
    pub(crate) fn expect_within(
        &mut self,
        budget: usize,
        what: &str,
        mut done: impl FnMut(&mut Self) -> bool,
    ) {
        for _ in 0..budget {
            if done(self) {
                return;
            }
            self.tick();
        }
        assert!(done(self), "not within {budget} ticks: {what}");
    }

    /// The server process stands still for so long and then makes one tick. Clients go on; what they send waits in
    /// the kernel.
    pub(crate) fn stall(&mut self, length: Duration) {
        let end = self.now + length;
        let mut held = Vec::new();
        while self.now < end {
            self.now += STEP;
            self.step_clients();
            while let Some(carried) = self.next_arrival() {
                match carried {
                    (at, Carried::ToServer { from, bytes }) => held.push((at, from, bytes)),
                    (at, Carried::ToClient { to, bytes }) => self.arrive_at_client(at, to, &bytes),
                }
            }
        }
        // The socket's buffer keeps the oldest of them, and a held time of at most a second is believed.
        held.truncate(8_000);
        for (at, from, bytes) in held {
            self.arrive_at_door(at.max(end.saturating_sub(Duration::from_secs(1))), from, &bytes);
        }
        self.server_tick();
    }

    fn pass(&mut self, length: Duration) {
        self.now += length;
        self.unix += length;
        loop {
            while let Some((at, carried)) = self.next_arrival() {
                match carried {
                    Carried::ToServer { from, bytes } => {
                        self.arrive_at_door(at, from, &bytes);
                    }
                    Carried::ToClient { to, bytes } => self.arrive_at_client(at, to, &bytes),
                }
            }
            self.step_clients();
            if self
                .on_the_wire
                .peek()
                .is_none_or(|Reverse((at, ..))| *at > self.now)
            {
                return;
            }
        }
    }

    fn next_arrival(&mut self) -> Option<(Duration, Carried)> {
        if self
            .on_the_wire
            .peek()
            .is_some_and(|Reverse((at, ..))| *at <= self.now)
        {
            self.on_the_wire
                .pop()
                .map(|Reverse((at, _, carried))| (at, carried))
        } else {
            None
        }
    }

    fn step_clients(&mut self) {
        for index in 0..self.players.len() {
            if self.players[index]
                .client
                .poll_timeout()
                .is_some_and(|due| due <= self.now)
            {
                self.let_client_send(index, self.now);
            }
        }
    }

    fn let_client_send(&mut self, index: usize, now: Duration) {
        let player = &mut self.players[index];
        if player.unplugged {
            return;
        }
        let mut datagram = Vec::new();
        let mut sent = Vec::new();
        while player.client.poll_transmit(now, &mut datagram) {
            let withheld = PacketId::from_byte(datagram[0]).is_some_and(|id| player.withholds.contains(&id));
            if !withheld {
                sent.push(datagram.clone());
            }
        }
        player.collect(now);
        let from = player.address;
        for datagram in sent {
            for (travels, bytes) in self.up.carry(&mut self.random, &datagram) {
                self.carried += 1;
                self.on_the_wire.push(Reverse((
                    now + travels,
                    self.carried,
                    Carried::ToServer { from, bytes },
                )));
            }
        }
    }

    fn arrive_at_client(&mut self, at: Duration, to: SocketAddr, bytes: &[u8]) {
        let Some(&index) = self.by_address.get(&to) else {
            return;
        };
        let player = &mut self.players[index];
        if !player.unplugged {
            player.client.handle(at, bytes);
            player.collect(at);
            self.let_client_send(index, at);
        }
    }

    // ---- the server's edges -------------------------------------------------------------------------------

    /// Hands the door a datagram that arrives now, as a reader thread does, and gives its verdict and its answer.
    /// What it passes is judged in the coming tick.
    pub(crate) fn knock(&mut self, from: SocketAddr, datagram: &[u8]) -> (DoorVerdict, Vec<u8>) {
        self.judge_at_door(self.now, from, datagram)
    }

    fn arrive_at_door(&mut self, at: Duration, from: SocketAddr, datagram: &[u8]) {
        let (_, reply) = self.judge_at_door(at, from, datagram);
        if !reply.is_empty() {
            self.carry_down(at, from, &reply);
        }
    }

    fn judge_at_door(&mut self, at: Duration, from: SocketAddr, datagram: &[u8]) -> (DoorVerdict, Vec<u8>) {
        let mut reply = Vec::new();
        let from = decitick_protocol::canonical(from);
        let verdict = self.door.answer(at, from, datagram, &mut reply);
        let route = Route {
            peer: from,
            listener: 0,
            local: None,
        };
        let mut inbox = self.app.world_mut().resource_mut::<Inbox>();
        let fits = match verdict {
            DoorVerdict::PassSession => inbox.sessions.push(route, at, datagram, None),
            DoorVerdict::PassHello(ticket) => inbox.hellos.push(route, at, datagram, Some(ticket)),
            DoorVerdict::Drop(_) | DoorVerdict::Reply => true,
        };
        self.door.take_flooding(&mut inbox.flooding);
        let verdict = if fits {
            verdict
        } else {
            DoorVerdict::Drop(DropReason::QueueFull)
        };
        count(&mut self.door_tally, verdict, datagram.len());
        (verdict, reply)
    }

    fn carry_down(&mut self, at: Duration, to: SocketAddr, datagram: &[u8]) {
        if !self.by_address.contains_key(&to) {
            return;
        }
        for (travels, bytes) in self.down.carry(&mut self.random, datagram) {
            self.carried += 1;
            self.on_the_wire.push(Reverse((
                at + travels,
                self.carried,
                Carried::ToClient { to, bytes },
            )));
        }
    }

    /// One tick of the server, now.
    pub(crate) fn server_tick(&mut self) {
        let (now, unix) = (self.now, self.unix);
        let random = &mut self.random;
        let ready = self
            .worker_answers
            .extract_if(.., |(at, _)| *at <= now)
            .map(|(_, answer)| answer);
        let world = self.app.world_mut();
        world.resource_mut::<WorkerInbox>().0.extend(ready);
        world.resource_mut::<Clock>().advance(now, unix);
        world.resource_mut::<Inbox>().sent.append(&mut self.reports);
        world.resource_mut::<Tally>().door = self.door_tally.clone();
        let refilled: Result<(), ()> = world.resource_mut::<Entropy>().refill(|bytes| {
            random.fill(bytes);
            Ok(())
        });
        refilled.unwrap();
        self.app.update();
        let ended = self.app.world().resource::<Messages<SessionEnded>>();
        self.ended.extend(
            ended
                .iter_current_update_messages()
                .map(|end| (end.player.0, end.generation.0, end.reason)),
        );
        self.take_outbox();
        self.take_work();
        self.check_invariants();
    }

    /// Notices before packets, as the program does it.
    fn take_outbox(&mut self) {
        let notices = std::mem::take(&mut self.app.world_mut().resource_mut::<DoorNotices>().0);
        for notice in notices {
            self.door.learn(notice, self.now);
        }
        let mut outbox = std::mem::take(&mut *self.app.world_mut().resource_mut::<Outbox>());
        self.sent_this_tick.clear();
        let packets = outbox.packets().to_vec();
        for packet in packets {
            let datagram = outbox.bytes_mut(&packet);
            match packet.seal {
                Some(Seal::Hello(nonce)) => self.identity.seal_hello(&nonce, datagram).unwrap(),
                Some(Seal::Reject(nonce)) => self.identity.seal_reject(&nonce, datagram).unwrap(),
                None => {}
            }
            self.reports
                .extend(packet.stamp.map(|stamp| SentReport { stamp, at: self.now }));
            let (to, bytes) = (packet.route.peer, datagram.to_vec());
            self.carry_down(self.now, to, &bytes);
            if self.recording {
                self.log.push((self.tick_number(), to, bytes.clone()));
            }
            self.sent_this_tick.push((to, bytes));
        }
        outbox.clear();
        *self.app.world_mut().resource_mut::<Outbox>() = outbox;
    }

    fn take_work(&mut self) {
        let requests = std::mem::take(&mut self.app.world_mut().resource_mut::<WorkerOutbox>().0);
        for request in requests {
            let answer = match request {
                WorkerRequest::DerivePassword { request, password } => {
                    self.derivations += 1;
                    WorkerAnswer::PasswordDerived {
                        request,
                        key: self.password_key(password.reveal()),
                    }
                }
                WorkerRequest::SaveBans { request, bans } => {
                    let result = self.ban_writes_fail.clone().map_or(Ok(()), Err);
                    if result.is_ok() {
                        self.written_bans.push(bans);
                    }
                    WorkerAnswer::BansSaved { request, result }
                }
            };
            self.worker_answers.push((self.now + self.worker_delay, answer));
        }
    }

    fn check_invariants(&self) {
        let tally = self.tally();
        assert!(
            tally.balanced(),
            "received = handled + dropped + queued: {tally:?}"
        );
        assert_eq!(
            tally.queued(),
            0,
            "every datagram is judged in its tick: {tally:?}"
        );
        let world = self.app.world();
        let taken = usize::from(world.resource::<SlotTable>().taken());
        assert_eq!(
            world.resource::<PeerIndex>().iter().count(),
            taken,
            "every slot has one address"
        );
        assert_eq!(
            world.resource::<NameBook>().len(),
            taken,
            "every slot has one name"
        );
    }

    // ---- what a test looks at -----------------------------------------------------------------------------

    pub(crate) fn tick_number(&self) -> u64 {
        self.app.world().resource::<Clock>().tick
    }

    pub(crate) fn tally(&self) -> &Tally {
        self.app.world().resource::<Tally>()
    }

    /// How often a datagram was dropped for a reason, at the door and in the tick.
    pub(crate) fn dropped(&self, reason: DropReason) -> u64 {
        self.tally().all_drops().count(reason)
    }

    /// The datagrams the last tick sent to an address, signed.
    pub(crate) fn sent_to(&self, to: SocketAddr) -> Vec<&[u8]> {
        self.sent_this_tick
            .iter()
            .filter(|(peer, _)| *peer == to)
            .map(|(_, bytes)| bytes.as_slice())
            .collect()
    }

    /// Everything the last tick sent.
    pub(crate) fn sent(&self) -> &[(SocketAddr, Vec<u8>)] {
        &self.sent_this_tick
    }

    pub(crate) fn slots_taken(&self) -> u16 {
        self.app.world().resource::<SlotTable>().taken()
    }

    /// The connection that holds an id.
    pub(crate) fn entity(&self, player: u16) -> Option<Entity> {
        self.app.world().resource::<SlotTable>().holder(PlayerId(player))
    }

    /// A component of the connection that holds an id.
    pub(crate) fn component<T: bevy_ecs::component::Component>(&self, player: u16) -> &T {
        let entity = self.entity(player).expect("the id is taken");
        self.app
            .world()
            .get::<T>(entity)
            .expect("every connection has it")
    }

    /// Queues an event on the lane of a connection, as any system may.
    pub(crate) fn push_event(&mut self, player: u16, event: &ServerLaneEvent, droppable: bool) {
        let entity = self.entity(player).expect("the id is taken");
        let mut datagram = Vec::new();
        event.encode(0, &mut datagram);
        let mut lane = self
            .app
            .world_mut()
            .get_mut::<OutboundLane>(entity)
            .expect("every connection has a lane");
        // A full lane remembers that it is.
        let _ = lane.push(LaneEvent {
            datagram: datagram.into(),
            droppable,
        });
    }

    /// Runs a console line; its answer comes within half a second.
    pub(crate) fn console(&mut self, line: &str) -> ConsoleAnswer {
        let id = self.console_later(line);
        for _ in 0..5 {
            self.tick();
            if let Some(answer) = self.console_answer(id) {
                return answer;
            }
        }
        panic!("no answer to the console line {line:?}");
    }

    /// Puts a console line before the coming tick. Returns the id of its answer.
    pub(crate) fn console_later(&mut self, line: &str) -> u64 {
        self.console_requests += 1;
        let request = ConsoleRequest {
            id: self.console_requests,
            line: line.to_owned(),
        };
        self.app
            .world_mut()
            .resource_mut::<ConsoleInbox>()
            .0
            .push_back(request);
        self.console_requests
    }

    /// Takes the answer with this id, if it is there.
    pub(crate) fn console_answer(&mut self, id: u64) -> Option<ConsoleAnswer> {
        let answers = &mut self.app.world_mut().resource_mut::<ConsoleOutbox>().0;
        let place = answers.iter().position(|answer| answer.id == id)?;
        Some(answers.swap_remove(place))
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
        ServerPlugins { shuffle_seed },
    ))
    .insert_resource(ServerKey(parts.server_key))
    .insert_resource(parts.spawns)
    .insert_resource(parts.weapons)
    .insert_resource(parts.bans);
    app
}
