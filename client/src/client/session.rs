//! The state of a session that was accepted: what it knows, and what it owes the server and when (docs/protocol.md 1.5,
//! 2.1, 2.6). What arrives is judged in `intake.rs`.

use std::time::Duration;

use decitick_protocol::{
    ClientAck, ClientBye, ClientLaneEvent, ClientPong, PlayerSync, RequestSpawn, ServerHello,
    ServerLaneEvent, SessionPacket,
};

use super::counters::ClientCounters;
use super::lane_in::LaneIn;
use super::lane_out::{LaneFull, LaneOut, Sending};
use super::ledger::LaneLedger;
use super::notices::Welcome;
use super::own::{OwnState, WeaponTable};
use super::pre_auth::PreAuth;
use super::roster::Roster;
use super::things::Things;
use super::views::Views;
use super::world_clock::WorldClock;

/// How long the server may be silent.
pub(super) const SILENCE: Duration = Duration::from_secs(15);
/// How often RequestSpawn is sent until SpawnPlayer arrives.
pub(super) const SPAWN_INTERVAL: Duration = Duration::from_millis(500);
/// Longest time between two PlayerSync of a spawned player.
pub(super) const SYNC_INTERVAL: Duration = Duration::from_millis(100);

/// Whether the player has a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Body {
    /// No, and none was asked for.
    None,
    /// No; RequestSpawn goes out again at this time.
    Asked(Duration),
    /// Yes.
    Spawned,
}

/// The player's own frames: the newest snapshot, and when it went out.
#[derive(Debug, Default)]
pub(super) struct OwnFrames {
    /// What to send; its `seq` is set when it goes out.
    pub(super) snapshot: Option<PlayerSync>,
    /// The snapshot was not sent yet.
    pub(super) fresh: bool,
    /// The last frame sent: its number and when.
    pub(super) last_sent: Option<(u32, Duration)>,
    /// The last frame sent by the body the player has.
    pub(super) sent: Option<PlayerSync>,
}

/// A session, from ServerHello to its end.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) token: u64,
    pub(super) welcome: Welcome,
    pub(super) auth_pending: bool,
    pub(super) pre_auth: PreAuth,
    pub(super) last_heard: Duration,
    pub(super) rtt_ms: Option<u16>,
    pub(super) pong: Option<u32>,
    pub(super) lane_in: LaneIn<ServerLaneEvent>,
    pub(super) lane_out: LaneOut,
    pub(super) body: Body,
    pub(super) frames: OwnFrames,
    pub(super) roster: Roster,
    pub(super) things: Things,
    pub(super) views: Views,
    pub(super) ledger: LaneLedger,
    pub(super) own: OwnState,
    pub(super) weapon_table: WeaponTable,
    pub(super) clock: WorldClock,
}

impl Session {
    /// The session that `hello` opened at `now`.
    pub(super) fn new(hello: &ServerHello, now: Duration) -> Self {
        Self {
            token: hello.session_token,
            welcome: Welcome::from(hello),
            auth_pending: hello.auth_pending,
            pre_auth: PreAuth::default(),
            last_heard: now,
            rtt_ms: None,
            pong: None,
            lane_in: LaneIn::new(),
            lane_out: LaneOut::new(),
            body: Body::None,
            frames: OwnFrames::default(),
            roster: Roster::default(),
            things: Things::default(),
            views: Views::default(),
            ledger: LaneLedger::default(),
            own: OwnState::default(),
            weapon_table: WeaponTable::default(),
            clock: WorldClock::new(hello.hours, hello.minutes, now),
        }
    }

    /// Whether the server was silent for too long.
    pub(super) fn is_silent(&self, now: Duration) -> bool {
        now >= self.last_heard + SILENCE
    }

    /// Puts an event on the client's lane.
    pub(super) fn send_lane(&mut self, event: &ClientLaneEvent) -> Result<u32, LaneFull> {
        let token = self.token;
        self.lane_out.push(|event_id| {
            let mut datagram = Vec::new();
            event.encode(token, event_id, &mut datagram);
            datagram
        })
    }

    /// When something is to be sent or ended next.
    pub(super) fn due(&self) -> Duration {
        let pong = self.pong.map(|_| Duration::ZERO);
        let wishes = [
            pong,
            self.lane_in.ack_due(),
            self.lane_out.due(),
            self.spawn_due(),
            self.sync_due(),
        ];
        wishes
            .into_iter()
            .flatten()
            .fold(self.last_heard + SILENCE, Duration::min)
    }

    /// Writes the most urgent datagram that is due at `now`.
    pub(super) fn poll_transmit(
        &mut self,
        now: Duration,
        counters: &mut ClientCounters,
        out: &mut Vec<u8>,
    ) -> bool {
        if let Some(nonce) = self.pong.take() {
            SessionPacket::Pong(ClientPong { nonce }).encode(self.token, out);
            return true;
        }
        if let Some(ack) = self.lane_in.take_ack(now) {
            counters.acks_sent += 1;
            SessionPacket::Ack(ClientAck { ack }).encode(self.token, out);
            return true;
        }
        if self.sync_due().is_some_and(|due| due <= now)
            && let Some(frame) = self.take_frame(now)
        {
            counters.syncs_sent += 1;
            SessionPacket::PlayerSync(frame).encode(self.token, out);
            return true;
        }
        match self.lane_out.poll(now, out) {
            Some(Sending::First) => counters.lane_sent += 1,
            Some(Sending::Again) => counters.lane_resent += 1,
            None => return self.poll_spawn(now, out),
        }
        true
    }

    /// The datagram of a goodbye.
    pub(super) fn write_bye(&self, out: &mut Vec<u8>) {
        SessionPacket::Bye(ClientBye).encode(self.token, out);
    }

    fn poll_spawn(&mut self, now: Duration, out: &mut Vec<u8>) -> bool {
        if self.spawn_due().is_none_or(|due| due > now) {
            return false;
        }
        self.body = Body::Asked(now + SPAWN_INTERVAL);
        SessionPacket::RequestSpawn(RequestSpawn).encode(self.token, out);
        true
    }

    /// An undecided login is never granted a body, so asking waits for its end.
    fn spawn_due(&self) -> Option<Duration> {
        match self.body {
            Body::Asked(at) if !self.auth_pending => Some(at),
            _ => None,
        }
    }

    fn sync_due(&self) -> Option<Duration> {
        if self.body != Body::Spawned || self.frames.snapshot.is_none() {
            return None;
        }
        match self.frames.last_sent {
            Some((_, last)) if !self.frames.fresh => Some(last + SYNC_INTERVAL),
            _ => Some(Duration::ZERO),
        }
    }

    /// The frame to send, with the next number: numbers never restart within a session.
    fn take_frame(&mut self, now: Duration) -> Option<PlayerSync> {
        let seq = self.frames.last_sent.map_or(1, |(seq, _)| seq.wrapping_add(1));
        let snapshot = self.frames.snapshot.as_mut()?;
        snapshot.seq = seq;
        self.frames.fresh = false;
        self.frames.last_sent = Some((seq, now));
        self.frames.sent = Some(*snapshot);
        Some(*snapshot)
    }
}
