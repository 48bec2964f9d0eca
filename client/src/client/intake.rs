//! What a packet of the server does to a session: each is judged, applied and told to the program, or dropped for one
//! reason (docs/protocol.md 2.6).

use std::collections::VecDeque;
use std::time::Duration;

use decitick_protocol::{
    EntitySync, KickNotify, PlayerJoin, PlayerLeave, PlayerSync, RTT_NOT_MEASURED, RemotePlayerSync,
    ServerKeepalive, ServerLaneEvent, ServerPacket, SetPosition, Vec3,
};

use super::breach::{Breach, Fault};
use super::counters::{ClientCounters, DropReason, RecordDrop};
use super::lane_in::Arrival;
use super::lane_out::AckOutcome;
use super::notices::{ClientNotice, EndReason};
use super::pre_auth;
use super::roster::Leave;
use super::session::{Body, OwnFrames, Session};

/// Most notices that wait for the program. Beyond it frames are dropped and lane events stay undelivered, so that they
/// are not acknowledged and lose nothing.
pub(super) const NOTICES: usize = 4096;

/// What became of a packet.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It had its effect.
    Handled,
    /// It had none.
    Dropped(DropReason),
    /// It ended the session.
    Ended(EndReason),
}

type Notices = VecDeque<ClientNotice>;

impl Session {
    /// Takes a well-formed packet that arrived at `now`.
    pub(super) fn take(
        &mut self,
        now: Duration,
        packet: ServerPacket,
        counters: &mut ClientCounters,
        notices: &mut Notices,
    ) -> Taken {
        if self.auth_pending {
            self.pre_auth.note_packet(now, &packet);
        }
        match packet {
            ServerPacket::Lane { event_id, event } => {
                return self.take_lane(now, event_id, event, counters, notices);
            }
            ServerPacket::RemotePlayerSync(frames) => self.take_frames(now, frames, counters, notices),
            ServerPacket::EntitySync(frames) => self.take_entity_frames(now, frames, counters, notices),
            ServerPacket::Keepalive(keepalive) => self.take_keepalive(keepalive, counters, notices),
            ServerPacket::Ack(ack) => match self.lane_out.acknowledge(ack.ack) {
                AckOutcome::Advanced => {}
                AckOutcome::Stale => return Taken::Dropped(DropReason::StaleAck),
                AckOutcome::Foreign => return Taken::Dropped(DropReason::ForeignAck),
            },
            ServerPacket::PlayerLeave(leave) => return self.take_leave(now, leave, notices),
            ServerPacket::Kick(kick) => return Taken::Ended(self.judge_kick(kick)),
            ServerPacket::Hello(_) | ServerPacket::Reject(_) | ServerPacket::Challenge(_) => {
                return Taken::Dropped(DropReason::AfterHello);
            }
            ServerPacket::QueryAnswer(_) => return Taken::Dropped(DropReason::NotOfSession),
        }
        Taken::Handled
    }

    /// Delivers the lane's events that are in order, as long as there is room for their notices, and tells of what came
    /// too early and stayed unexplained.
    pub(super) fn deliver(&mut self, now: Duration, counters: &mut ClientCounters, notices: &mut Notices) {
        self.deliver_lane(now, counters, notices);
        if self.auth_pending
            && let Some(id) = self.pre_auth.take_leak(now)
        {
            tell_breach(Breach::of_packet(Fault::PreAuthLeak, id), counters, notices);
        }
    }

    fn deliver_lane(&mut self, now: Duration, counters: &mut ClientCounters, notices: &mut Notices) {
        while notices.len() < NOTICES {
            let Some((event_id, event)) = self.lane_in.pop_ready() else {
                return;
            };
            counters.lane_delivered += 1;
            let notice = match self.judge_event(now, event, counters, notices) {
                Some(event) => ClientNotice::Event { event_id, event },
                None => ClientNotice::StaleEvent { event_id },
            };
            notices.push_back(notice);
        }
    }

    fn take_lane(
        &mut self,
        now: Duration,
        event_id: u32,
        event: ServerLaneEvent,
        counters: &mut ClientCounters,
        notices: &mut Notices,
    ) -> Taken {
        match self.lane_in.receive(event_id, event) {
            Arrival::Next => self.deliver(now, counters, notices),
            Arrival::Ahead => counters.lane_ahead += 1,
            Arrival::Duplicate => return Taken::Dropped(DropReason::LaneDuplicate),
            Arrival::TooFar => return Taken::Dropped(DropReason::LaneTooFar),
        }
        Taken::Handled
    }

    /// Applies an event in its turn. `None` when it is about a generation or a view that is gone.
    fn judge_event(
        &mut self,
        now: Duration,
        event: ServerLaneEvent,
        counters: &mut ClientCounters,
        notices: &mut Notices,
    ) -> Option<ServerLaneEvent> {
        for breach in self.ledger.enter(&event) {
            tell_breach(breach, counters, notices);
        }
        // The lane keeps its order, so of an event no network can be the reason.
        if self.auth_pending && !pre_auth::allows(&event) {
            tell_breach(
                Breach::of_packet(Fault::PreAuthLeak, event.id()),
                counters,
                notices,
            );
        }
        let player = match &event {
            ServerLaneEvent::PlayerRename(event) => Some((event.player_id, event.player_token)),
            ServerLaneEvent::PlayerStreamIn(event) => Some((event.player_id, event.player_token)),
            ServerLaneEvent::PlayerStreamOut(event) => Some((event.player_id, event.player_token)),
            ServerLaneEvent::PlayerAppearance(event) => Some((event.player_id, event.player_token)),
            ServerLaneEvent::PlayerDeath(event) => Some((event.player_id, event.player_token)),
            _ => None,
        };
        if let Some((player_id, token)) = player
            && !self.admit(now, player_id, token, counters, notices)
        {
            return None;
        }
        match event {
            ServerLaneEvent::PlayerJoin(join) => {
                return self
                    .take_join(now, join, counters, notices)
                    .map(ServerLaneEvent::PlayerJoin);
            }
            ServerLaneEvent::PlayerRename(ref event) => {
                self.roster.name(event.player_id, event.name.as_str());
            }
            ServerLaneEvent::PlayerStreamIn(ref event) => self.roster.stream_in(event),
            ServerLaneEvent::PlayerStreamOut(ref event) => self.roster.stream_out(event.player_id, now),
            ServerLaneEvent::PlayerDeath(ref event) if self.is_self(event.player_id, event.player_token) => {
                self.take_body(Body::None);
            }
            ServerLaneEvent::PlayerDeath(ref event) => self.roster.fall(event.player_id),
            ServerLaneEvent::SpawnPlayer(_) => {
                self.own.start_anew();
                self.take_body(Body::Spawned);
            }
            ServerLaneEvent::SetPosition(ref moved) => self.take_position(moved),
            ServerLaneEvent::SetVitals(vitals) => self.own.vitals = Some(vitals),
            ServerLaneEvent::SetMoney(ref event) => self.own.money = Some(event.money),
            ServerLaneEvent::SetWeapons(ref event) => self.own.take_weapons(event),
            ServerLaneEvent::WeaponProperties(ref table) => self.weapon_table.take(table),
            ServerLaneEvent::SetTime(ref time) => self.clock.set(time.hours, time.minutes, now),
            ServerLaneEvent::RunClock(run) => self.clock.run(run, now),
            ServerLaneEvent::AuthAccepted(_) => self.auth_pending = false,
            ServerLaneEvent::EntitySpawn(_)
            | ServerLaneEvent::EntityDespawn(_)
            | ServerLaneEvent::EntityData(_) => self.take_thing(now, &event, counters, notices),
            ServerLaneEvent::ViewOpen(_) | ServerLaneEvent::ViewData(_) | ServerLaneEvent::ViewClose(_) => {
                let verdict = self.views.take(&event);
                if let Some((fault, view_id)) = verdict.fault {
                    tell_breach(Breach::of_view(fault, view_id), counters, notices);
                }
                if !verdict.counts {
                    return None;
                }
            }
            _ => {}
        }
        Some(event)
    }

    fn take_thing(
        &mut self,
        now: Duration,
        event: &ServerLaneEvent,
        counters: &mut ClientCounters,
        notices: &mut Notices,
    ) {
        let (entity_id, fault) = match event {
            ServerLaneEvent::EntitySpawn(event) => match self.things.spawn(event) {
                Ok(fault) => (event.entity_id, fault),
                Err(reason) => return counters.drop_record(reason),
            },
            ServerLaneEvent::EntityDespawn(event) => {
                (event.entity_id, self.things.despawn(event.entity_id, now))
            }
            ServerLaneEvent::EntityData(event) => (event.entity_id, self.things.describe(event)),
            _ => return,
        };
        if let Some(fault) = fault {
            tell_breach(Breach::of_entity(fault, entity_id), counters, notices);
        }
    }

    /// Whether a generation counts; the one it replaces is told as gone.
    fn admit(
        &mut self,
        now: Duration,
        player_id: u32,
        token: u32,
        counters: &mut ClientCounters,
        notices: &mut Notices,
    ) -> bool {
        match self.roster.admit(now, player_id, token) {
            Ok(admitted) => {
                tell_left(player_id, admitted.replaced, notices);
                true
            }
            Err(reason) => {
                counters.drop_record(reason);
                false
            }
        }
    }

    /// The players of a join that count; `None` when none does.
    fn take_join(
        &mut self,
        now: Duration,
        mut join: PlayerJoin,
        counters: &mut ClientCounters,
        notices: &mut Notices,
    ) -> Option<PlayerJoin> {
        join.players.retain(|player| {
            let counts = self.admit(now, player.player_id, player.player_token, counters, notices);
            if counts {
                self.roster.name(player.player_id, player.name.as_str());
            }
            counts
        });
        (!join.players.is_empty()).then_some(join)
    }

    fn is_self(&self, player_id: u32, token: u32) -> bool {
        (player_id, token) == (self.welcome.player_id, self.welcome.player_token)
    }

    /// A body, or its end. Nothing is sent of a new one until the program has a first snapshot.
    const fn take_body(&mut self, body: Body) {
        self.body = body;
        self.frames.snapshot = None;
        self.frames.sent = None;
    }

    /// Moved by the server: the snapshot that is repeated until the program has a new one must not go on telling the old
    /// place.
    fn take_position(&mut self, moved: &SetPosition) {
        let OwnFrames {
            snapshot: Some(snapshot),
            fresh,
            ..
        } = &mut self.frames
        else {
            return;
        };
        *snapshot = PlayerSync {
            position: moved.position,
            velocity: Vec3::ZERO,
            heading: moved.heading,
            area: moved.area,
            ..*snapshot
        };
        *fresh = true;
    }

    fn take_frames(
        &mut self,
        now: Duration,
        frames: RemotePlayerSync,
        counters: &mut ClientCounters,
        notices: &mut Notices,
    ) {
        for frame in frames.players {
            if notices.len() >= NOTICES {
                counters.drop_record(RecordDrop::NoticesFull);
                continue;
            }
            let verdict = self.roster.frame(now, &frame);
            tell_left(frame.player_id, verdict.replaced, notices);
            if let Some(fault) = verdict.fault {
                let breach = Breach::of_player(fault, frame.player_id, frame.player_token);
                tell_breach(breach, counters, notices);
            }
            match verdict.taken {
                Ok(()) => {
                    counters.frames += 1;
                    notices.push_back(ClientNotice::Frame(frame));
                }
                Err(reason) => counters.drop_record(reason),
            }
        }
    }

    fn take_entity_frames(
        &mut self,
        now: Duration,
        frames: EntitySync,
        counters: &mut ClientCounters,
        notices: &mut Notices,
    ) {
        for frame in frames.entities {
            if notices.len() >= NOTICES {
                counters.drop_record(RecordDrop::NoticesFull);
                continue;
            }
            let verdict = self.things.frame(now, &frame);
            if let Some(fault) = verdict.fault {
                tell_breach(Breach::of_entity(fault, frame.entity_id), counters, notices);
            }
            match verdict.taken {
                Ok(()) => {
                    counters.entity_frames += 1;
                    notices.push_back(ClientNotice::EntityFrame(frame));
                }
                Err(reason) => counters.drop_record(reason),
            }
        }
    }

    /// Only the last keepalive can be answered, so a newer one takes the place of one whose answer is still unsent.
    fn take_keepalive(
        &mut self,
        keepalive: ServerKeepalive,
        counters: &mut ClientCounters,
        notices: &mut Notices,
    ) {
        counters.keepalives += 1;
        self.pong = Some(keepalive.nonce);
        self.rtt_ms = Some(keepalive.rtt_ms).filter(|rtt_ms| *rtt_ms != RTT_NOT_MEASURED);
        if notices.len() < NOTICES {
            notices.push_back(ClientNotice::Ping(self.rtt_ms));
        }
    }

    fn take_leave(&mut self, now: Duration, leave: PlayerLeave, notices: &mut Notices) -> Taken {
        match self.roster.leave(now, leave.player_id, leave.player_token) {
            Leave::Retired(token) => tell_left(leave.player_id, Some(token), notices),
            Leave::Buried => {}
            Leave::Stale => return Taken::Dropped(DropReason::StaleLeave),
        }
        Taken::Handled
    }

    fn judge_kick(&self, kick: KickNotify) -> EndReason {
        let reason = kick.reason.to_text().into_owned();
        if self.auth_pending {
            EndReason::LoginRefused { reason: Some(reason) }
        } else {
            EndReason::Kicked { reason }
        }
    }
}

fn tell_left(player_id: u32, token: Option<u32>, notices: &mut Notices) {
    if let Some(player_token) = token {
        notices.push_back(ClientNotice::PlayerLeft {
            player_id,
            player_token,
        });
    }
}

fn tell_breach(breach: Breach, counters: &mut ClientCounters, notices: &mut Notices) {
    counters.fault(breach.fault);
    notices.push_back(ClientNotice::Breach(breach));
}
