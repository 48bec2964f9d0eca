//! One bot: a client, its socket and what it does with its time. It joins, asks for a body, walks, shoots and chats, and
//! hands what it sees to the measurements. When it acts is decided by `fleet.rs`, at whom it shoots by `shoot.rs`; how it
//! logs in is in `bot/entry.rs`, what it counts in `bot/watch.rs`.

mod entry;
mod watch;

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use decitick_protocol::{ServerLaneEvent, SetVitals, SpawnPlayer, Vec3};
use mio::{Registry, Token};

use self::entry::Entry;
use self::watch::Keepalives;
use super::browser::Browser;
use super::login::Login;
use super::measure::{ChatSeen, Measurements};
use super::shoot::Shooter;
use super::walk::{Walk, WalkKind};
use crate::client::{Breach, Client, ClientConfig, ClientNotice, EndReason, Fault};
use crate::driver::{DATAGRAM_ROOM, Link, fresh_nonce};

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
    /// How a bot logs in when it is asked to; `None`: it cannot.
    pub(super) login: Option<Login>,
    /// The password of every bot's account.
    pub(super) login_password: String,
    /// Who visits sites for the bots; there when they log in at one.
    pub(super) browser: Option<Browser>,
    /// Where bots register their sockets, each under its index.
    pub(super) registry: Registry,
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
pub(super) struct Bot {
    index: usize,
    seed: u64,
    account: String,
    config: ClientConfig,
    client: Client,
    link: Link,
    /// Datagrams that the kernel did not take of an earlier session.
    not_sent_before: u64,
    entry: Entry,
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

impl Bot {
    /// A bot that starts its attempt at `now`. `name` is what it is called, and in lower case, with `_` for a blank, the name of its
    /// account.
    pub(super) fn start(
        index: usize,
        bots: usize,
        server: SocketAddr,
        name: &str,
        config: ClientConfig,
        seed: u64,
        now: Duration,
        registry: &Registry,
    ) -> io::Result<Self> {
        let mut link = Link::open(server)?;
        link.register(registry, Token(index))?;
        Ok(Self {
            index,
            seed,
            // No login resource has to take blanks.
            account: name.to_lowercase().replace(' ', "_"),
            client: Client::new(config.clone(), fresh_nonce()?, now),
            config,
            link,
            not_sent_before: 0,
            entry: Entry::default(),
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
        self.work_on_entry(now, plan, measured);
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
        let frame = self.body.as_ref().map(|_| self.next_frame);
        let wishes = [
            self.client.poll_timeout(),
            self.entry.due(),
            frame,
            self.next_chat,
        ];
        wishes.into_iter().flatten().min()
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

    /// Datagrams the kernel did not take.
    pub(super) const fn not_sent(&self) -> u64 {
        self.not_sent_before + self.link.not_sent()
    }

    fn take_notices(&mut self, now: Duration, plan: &mut Plan, measured: &mut Measurements) {
        while let Some(notice) = self.client.poll_event() {
            match notice {
                ClientNotice::Joined(welcome) => self.take_hello(now, &welcome, plan, measured),
                ClientNotice::Frame(frame) => {
                    measured.frame_received(frame.player_id, frame.player_token, frame.seq, now);
                }
                ClientNotice::Event { event, .. } => {
                    self.take_login_event(now, &event, plan, measured);
                    self.take_event(now, &event, plan, measured);
                }
                ClientNotice::Breach(breach) => self.take_breach(now, &breach, measured),
                ClientNotice::Ping(rtt_ms) => self.take_ping(now, rtt_ms, measured),
                ClientNotice::Ended(reason) => self.take_end(now, &reason, measured),
                _ => {}
            }
        }
    }

    fn take_end(&mut self, now: Duration, reason: &EndReason, measured: &mut Measurements) {
        self.body = None;
        self.next_chat = None;
        if self.comes_back_after(now, reason) {
            return;
        }
        self.stage = Stage::Gone;
        self.end_entry();
        if *reason != EndReason::Bye {
            measured.fail_with(reason.name(), reason.to_string());
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
}

/// A share of `time` that differs from bot to bot, so that not all act at once.
fn spread(time: Duration, seed: u64) -> Duration {
    time.mul_f64((seed % 1000) as f64 / 1000.0)
}
