//! One bot: a client, its socket and what it does with its time. It joins, asks for a body, walks, shoots and chats, and
//! hands what it sees to the measurements. When it acts is decided by `fleet.rs`, at whom it shoots by `shoot.rs`.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use decitick_protocol::{ServerLaneEvent, SetVitals, SpawnPlayer, Vec3};

use super::measure::{ChatSeen, Measurements};
use super::shoot::Shooter;
use super::walk::{Walk, WalkKind};
use crate::client::{Breach, Client, ClientConfig, ClientNotice, EndReason, Fault, Roster};
use crate::driver::{DATAGRAM_ROOM, Link};

/// Most frames a second that the server relays of one player (docs/protocol.md 2.3): one a tick.
const RELAYED_HZ: f64 = 10.0;
/// Frames a second that the server relays of a player that stands still (docs/protocol.md 2.4).
const STILL_HZ: f64 = 1.0;

/// What all bots of a run have in common.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) walk: WalkKind,
    /// Time between two frames of a bot.
    pub(super) frame_every: Duration,
    /// Time between two chat lines of a bot; `None`: it says nothing.
    pub(super) chat_every: Option<Duration>,
    /// Mean time between two shots of a bot; `None`: it never shoots.
    pub(super) shot_every: Option<Duration>,
    /// Where the first bot spawned.
    pub(super) meeting: Option<Vec3>,
}

/// How far a bot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Joining,
    Joined,
    Gone,
}

/// One bot.
#[derive(Debug)]
pub(super) struct Bot {
    index: usize,
    seed: u64,
    client: Client,
    link: Link,
    stage: Stage,
    spawned: bool,
    started: Duration,
    joined: Duration,
    me: (u32, u32),
    body: Option<BotBody>,
    fallen: bool,
    vitals: Option<SetVitals>,
    breached: BTreeSet<Fault>,
    next_frame: Duration,
    next_chat: Option<Duration>,
    last_counted: Duration,
    last_seq: Option<u32>,
    keepalives: Keepalives,
    chat_seen: ChatSeen,
    datagram: Vec<u8>,
}

/// What a bot with a body does with it.
#[derive(Debug)]
struct BotBody {
    walk: Walk,
    shooter: Shooter,
}

/// The keepalives of the measured window: how many came between the first and the last.
#[derive(Debug, Default)]
struct Keepalives {
    first: Option<Duration>,
    last: Duration,
    after_first: u64,
}

impl Bot {
    /// A bot that starts its attempt at `now`.
    pub(super) fn start(
        index: usize,
        bots: usize,
        server: SocketAddr,
        config: ClientConfig,
        nonce: [u8; 32],
        seed: u64,
        now: Duration,
    ) -> io::Result<Self> {
        Ok(Self {
            index,
            seed,
            client: Client::new(config, nonce, now),
            link: Link::open(server)?,
            stage: Stage::Joining,
            spawned: false,
            started: now,
            joined: now,
            me: (0, 0),
            body: None,
            fallen: false,
            vitals: None,
            breached: BTreeSet::new(),
            next_frame: now,
            next_chat: None,
            last_counted: now,
            last_seq: None,
            keepalives: Keepalives::default(),
            chat_seen: ChatSeen::new(bots),
            datagram: Vec::new(),
        })
    }

    /// Takes what has arrived.
    pub(super) fn receive(
        &mut self,
        now: impl Fn() -> Duration,
        plan: &mut Plan,
        measured: &mut Measurements,
    ) {
        let mut room = [0; DATAGRAM_ROOM];
        while let Some(datagram) = self.link.receive(&mut room) {
            let arrived = now();
            self.client.handle(arrived, datagram);
            self.take_notices(arrived, plan, measured);
        }
    }

    /// Does what is due at `now` and sends what there is to send.
    pub(super) fn act(&mut self, now: Duration, plan: &mut Plan, measured: &mut Measurements) {
        self.count_expected(now, plan, measured);
        let stepped = self.next_frame <= now;
        if stepped {
            self.step(now, plan);
        }
        if self.next_chat.is_some_and(|at| at <= now) {
            self.chat(now, plan, measured);
        }
        self.transmit(now, measured);
        // Only now has the frame gone out that tells where the shot comes from.
        if stepped && self.shoot(now, measured) {
            self.transmit(now, measured);
        }
        self.take_notices(now, plan, measured);
    }

    /// When [`Bot::act`] is to be called next; `None` when this bot has nothing left to do.
    pub(super) fn due(&self) -> Option<Duration> {
        let client = self.client.poll_timeout()?;
        let frame = self.body.as_ref().map_or(client, |_| self.next_frame);
        Some(client.min(frame).min(self.next_chat.unwrap_or(client)))
    }

    /// Opens the measured window.
    pub(super) fn open_window(&mut self, now: Duration) {
        self.last_counted = now;
        self.keepalives = Keepalives::default();
    }

    /// Says goodbye.
    pub(super) fn finish(&mut self, now: Duration, plan: &Plan, measured: &mut Measurements) {
        self.count_expected(now, plan, measured);
        self.client.bye();
        self.transmit(now, measured);
    }

    pub(super) const fn stage(&self) -> Stage {
        self.stage
    }

    /// Whether the bot ever got a body.
    pub(super) const fn was_spawned(&self) -> bool {
        self.spawned
    }

    pub(super) const fn client(&self) -> &Client {
        &self.client
    }

    pub(super) const fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    /// Datagrams the kernel did not take.
    pub(super) const fn not_sent(&self) -> u64 {
        self.link.not_sent()
    }

    /// Keepalives after the first of the window: how many came, and how many were due in that time.
    pub(super) fn keepalives(&self) -> (u64, u64) {
        let Some(first) = self.keepalives.first else {
            return (0, 0);
        };
        let due = self.keepalives.last.saturating_sub(first).as_secs_f64().round() as u64;
        (self.keepalives.after_first, due.max(self.keepalives.after_first))
    }

    fn take_notices(&mut self, now: Duration, plan: &mut Plan, measured: &mut Measurements) {
        while let Some(notice) = self.client.poll_event() {
            match notice {
                ClientNotice::Joined(welcome) => {
                    self.stage = Stage::Joined;
                    self.joined = now;
                    self.me = (welcome.player_id, welcome.player_token);
                    measured.join.record(now.saturating_sub(self.started));
                    self.client.request_spawn();
                }
                ClientNotice::Frame(frame) => {
                    measured.frame_received(frame.player_id, frame.player_token, frame.seq, now);
                }
                ClientNotice::Event { event, .. } => self.take_event(now, &event, plan, measured),
                ClientNotice::Breach(breach) => self.take_breach(now, &breach, measured),
                ClientNotice::Ping(rtt_ms) => self.take_ping(now, rtt_ms, measured),
                ClientNotice::Ended(reason) => {
                    self.stage = Stage::Gone;
                    self.body = None;
                    self.next_chat = None;
                    if reason != EndReason::Bye {
                        measured.fail(reason.name());
                    }
                }
                _ => {}
            }
        }
    }

    fn take_event(
        &mut self,
        now: Duration,
        event: &ServerLaneEvent,
        plan: &mut Plan,
        measured: &mut Measurements,
    ) {
        match event {
            ServerLaneEvent::SpawnPlayer(spawn) => self.take_spawn(now, spawn, plan, measured),
            ServerLaneEvent::SetPosition(moved) => {
                if let Some(body) = &mut self.body {
                    body.walk.place(moved.position, moved.heading, moved.area);
                }
            }
            ServerLaneEvent::PlayerDeath(death) if (death.player_id, death.player_token) == self.me => {
                measured.combat.deaths += 1;
                self.fallen = true;
                self.body = None;
                self.client.request_spawn();
            }
            ServerLaneEvent::SetVitals(vitals) => {
                let total = |vitals: &SetVitals| u16::from(vitals.health) + u16::from(vitals.armour);
                let hurt = self.vitals.is_some_and(|before| total(vitals) < total(&before));
                measured.combat.times_hurt += u64::from(hurt);
                self.vitals = Some(*vitals);
            }
            ServerLaneEvent::SetWeapons(_) | ServerLaneEvent::WeaponProperties(_) => self.arm(),
            ServerLaneEvent::EntitySpawn(event) => measured.entity_seen(event.entity_id),
            ServerLaneEvent::EntityData(_) => measured.entity_data += 1,
            ServerLaneEvent::ChatMessage(chat) => {
                measured.chat_received(self.index, &mut self.chat_seen, chat.text.as_str(), now);
            }
            _ => {}
        }
    }

    fn take_spawn(
        &mut self,
        now: Duration,
        spawn: &SpawnPlayer,
        plan: &mut Plan,
        measured: &mut Measurements,
    ) {
        if !self.spawned {
            measured.spawn.record(now.saturating_sub(self.joined));
            self.next_chat = plan.chat_every.map(|every| now + spread(every, self.seed));
        }
        self.spawned = true;
        measured.combat.respawns += u64::from(std::mem::take(&mut self.fallen));
        plan.meeting.get_or_insert(spawn.position);
        let (position, heading) = (spawn.position, spawn.heading);
        self.body = Some(BotBody {
            walk: Walk::new(plan.walk, position, heading, spawn.area, self.seed),
            shooter: Shooter::new(plan.shot_every, self.seed, now),
        });
        self.arm();
        self.next_frame = now + spread(plan.frame_every, self.seed);
    }

    /// Takes the best of the weapons that the client knows to be held.
    fn arm(&mut self) {
        if let (Some(body), Some(own), Some(table)) =
            (&mut self.body, self.client.own(), self.client.weapon_table())
        {
            body.shooter.arm(own, table);
        }
    }

    /// A breach of the server fails the bot that saw it, once for each rule.
    fn take_breach(&mut self, now: Duration, breach: &Breach, measured: &mut Measurements) {
        measured.breach(self.index, breach, now);
        if self.breached.insert(breach.fault) {
            measured.fail(breach.fault.name().to_owned());
        }
    }

    fn take_ping(&mut self, now: Duration, rtt_ms: Option<u16>, measured: &mut Measurements) {
        if !measured.open {
            return;
        }
        if let Some(rtt_ms) = rtt_ms {
            measured.rtt.record(Duration::from_millis(u64::from(rtt_ms)));
        }
        match self.keepalives.first {
            None => self.keepalives.first = Some(now),
            Some(_) => self.keepalives.after_first += 1,
        }
        self.keepalives.last = now;
    }

    fn transmit(&mut self, now: Duration, measured: &mut Measurements) {
        while self.client.poll_transmit(now, &mut self.datagram) {
            self.link.send(&self.datagram);
            self.note_frame_sent(measured);
        }
    }

    fn step(&mut self, now: Duration, plan: &Plan) {
        let (Some(BotBody { walk, shooter }), Some(roster)) = (&mut self.body, self.client.roster()) else {
            return;
        };
        let (position, area) = walk.place_now();
        let look = shooter.look(now, position, area, roster);
        let seconds = plan.frame_every.as_secs_f32();
        let frame = walk.step(seconds, plan.meeting, look, shooter.weapon());
        // A frame that cannot be sent, because the body is gone, is one that nobody misses.
        let _ = self.client.sync(frame);
        self.next_frame += plan.frame_every;
        // Frames that were missed are skipped: sent in a burst they would be a leap.
        if self.next_frame <= now {
            self.next_frame = now + plan.frame_every;
        }
    }

    /// Reports a hit, when one is due, and says whether it did.
    fn shoot(&mut self, now: Duration, measured: &mut Measurements) -> bool {
        let (Some(body), Some(frame)) = (&mut self.body, self.client.last_frame()) else {
            return false;
        };
        let Some(hit) = body.shooter.shoot(now, frame.position) else {
            return false;
        };
        let reported = self.client.report_hit(hit).is_ok();
        measured.combat.shots_reported += u64::from(reported);
        reported
    }

    fn chat(&mut self, now: Duration, plan: &Plan, measured: &mut Measurements) {
        self.next_chat = plan.chat_every.map(|every| now + every);
        if self.client.send_chat(&measured.next_chat(self.index)).is_ok() {
            measured.chat_sent(self.index, now);
        }
    }

    fn note_frame_sent(&mut self, measured: &mut Measurements) {
        let Some((seq, at)) = self.client.last_sync() else {
            return;
        };
        if self.last_seq != Some(seq) {
            self.last_seq = Some(seq);
            measured.frame_sent(self.me.0, self.me.1, seq, at);
        }
    }

    /// Adds the frames that were to be expected since the last time: of each player in view at the rate its frames are
    /// relayed.
    fn count_expected(&mut self, now: Duration, plan: &Plan, measured: &mut Measurements) {
        if !measured.open {
            return;
        }
        let hz = match plan.walk {
            WalkKind::Still => STILL_HZ,
            WalkKind::Random | WalkKind::Crowd => (1.0 / plan.frame_every.as_secs_f64()).min(RELAYED_HZ),
        };
        let in_view = self.client.roster().map_or(0, Roster::in_view_count);
        let seconds = now.saturating_sub(self.last_counted).as_secs_f64();
        measured.frames_expected += in_view as f64 * seconds * hz;
        self.last_counted = now;
    }
}

/// A share of `time` that differs from bot to bot, so that not all act at once.
fn spread(time: Duration, seed: u64) -> Duration {
    time.mul_f64((seed % 1000) as f64 / 1000.0)
}
