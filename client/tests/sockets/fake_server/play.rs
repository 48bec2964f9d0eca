//! What the stand-in does for a session that is open: bodies, chat, frames, keepalives, resends.

use std::net::SocketAddr;
use std::time::Duration;

use decitick_protocol::*;

use super::Server;

impl Server {
    pub(super) fn take_session(&mut self, now: Duration, from: SocketAddr, packet: SessionPacket) {
        let Some(session) = self.sessions.get_mut(&from) else {
            return;
        };
        if session.pending.is_some()
            && matches!(
                packet,
                SessionPacket::PlayerSync(_) | SessionPacket::RequestSpawn(_)
            )
        {
            self.seen.lock().unwrap().too_early += 1;
            return;
        }
        match packet {
            SessionPacket::Ack(ack) => session.unacked.retain(|event_id, _| *event_id > ack.ack),
            SessionPacket::PlayerSync(frame) => {
                session.frame = Some(frame);
                session.last_frame = Some(frame);
            }
            SessionPacket::Bye(_) => {
                self.sessions.remove(&from);
                self.seen.lock().unwrap().byes += 1;
            }
            SessionPacket::RequestSpawn(_) if !session.spawned => {
                session.spawned = true;
                self.spawn(now, from);
            }
            SessionPacket::Pong(_) | SessionPacket::RequestSpawn(_) => {}
        }
    }

    /// A body for the newcomer, who then sees everybody and is seen by everybody.
    fn spawn(&mut self, now: Duration, from: SocketAddr) {
        let spawn = SpawnPlayer {
            position: Vec3::new(1.0, 2.0, 3.0),
            heading: 0.0,
            area: 0,
            skin: 1,
            variant: 0,
        };
        self.send_event(now, from, spawn);
        if self.equip(now, from) {
            return;
        }
        let newcomer = self.sessions[&from].player;
        let others: Vec<(SocketAddr, (u32, u32))> = self
            .sessions
            .iter()
            .filter(|(address, session)| **address != from && session.spawned)
            .map(|(address, session)| (*address, session.player))
            .collect();
        for (address, player) in others {
            self.show(now, from, player);
            self.show(now, address, newcomer);
        }
    }

    fn show(&mut self, now: Duration, to: SocketAddr, (player_id, player_token): (u32, u32)) {
        let joined = JoinedPlayer {
            player_id,
            player_token,
            name: Text::parse("Bot").unwrap(),
        };
        self.send_event(
            now,
            to,
            PlayerJoin {
                players: vec![joined],
            },
        );
        let stream_in = PlayerStreamIn {
            player_id,
            player_token,
            skin: 0,
            variant: 0,
            walking_style: 0,
            position: Vec3::ZERO,
            heading: 0.0,
            area: 0,
            health: 100,
            armour: 0,
            weapon: 0,
        };
        self.send_event(now, to, stream_in);
        if self.behaviour.streams_in_twice {
            self.send_event(now, to, stream_in);
        }
        if self.behaviour.frames_after_stream_out {
            self.send_event(
                now,
                to,
                PlayerStreamOut {
                    player_id,
                    player_token,
                },
            );
        }
    }

    pub(super) fn take_lane(
        &mut self,
        now: Duration,
        from: SocketAddr,
        event_id: u32,
        event: ClientLaneEvent,
    ) {
        let Some(session) = self.sessions.get_mut(&from) else {
            return;
        };
        let is_next = event_id == session.expected;
        session.expected += u32::from(is_next);
        let ack = session.expected - 1;
        self.send_packet(from, &ServerPacket::Ack(ServerAck { ack }));
        if is_next && self.sessions[&from].pending.is_some() {
            return self.take_login(now, from, event);
        }
        let chat = match event {
            ClientLaneEvent::ChatSend(chat) => chat,
            ClientLaneEvent::HitReport(hit) if is_next => return self.take_hit(now, from, hit),
            _ => return,
        };
        if is_next {
            self.seen
                .lock()
                .unwrap()
                .chats
                .push(chat.text.as_str().to_owned());
            let text = Text::parse(&format!("Bot: {}", chat.text.as_str())).unwrap();
            let listeners: Vec<SocketAddr> = self
                .sessions
                .iter()
                .filter(|(_, session)| session.pending.is_none())
                .map(|(address, _)| *address)
                .collect();
            for address in listeners {
                self.send_event(
                    now,
                    address,
                    ChatMessage {
                        colour: 0xFFFF_FFFF,
                        text: text.clone(),
                    },
                );
            }
        }
    }

    pub(super) fn tick(&mut self, now: Duration) {
        let addresses: Vec<SocketAddr> = self.sessions.keys().copied().collect();
        let frames: Vec<((u32, u32), PlayerSync)> = self
            .sessions
            .values_mut()
            .filter_map(|session| Some((session.player, session.frame.take()?)))
            .collect();
        self.ticks += 1;
        for address in addresses {
            self.watch_pending(now, address);
            if !self.sessions.contains_key(&address) {
                continue;
            }
            self.keep_alive(now, address);
            self.resend(now, address);
            self.relay(address, &frames);
            self.move_thing(address);
            let since = self.sessions[&address].since;
            if self
                .behaviour
                .kick_after
                .is_some_and(|after| now >= since + after)
            {
                self.sessions.remove(&address);
                let reason = KickReason::parse("kicked by the test").unwrap();
                self.send_packet(address, &ServerPacket::Kick(KickNotify { reason }));
            }
        }
    }

    fn keep_alive(&mut self, now: Duration, to: SocketAddr) {
        let Some(session) = self.sessions.get_mut(&to) else {
            return;
        };
        if now >= session.next_keepalive {
            session.next_keepalive += Duration::from_secs(1);
            let rtt_ms = if session.pending.is_some() {
                RTT_NOT_MEASURED
            } else {
                7
            };
            self.send_packet(to, &ServerPacket::Keepalive(ServerKeepalive { nonce: 1, rtt_ms }));
        }
    }

    fn resend(&mut self, now: Duration, to: SocketAddr) {
        let Some(session) = self.sessions.get_mut(&to) else {
            return;
        };
        let mut again = Vec::new();
        for (datagram, sent) in session.unacked.values_mut() {
            if now >= *sent + Duration::from_millis(200) {
                *sent = now;
                again.push(datagram.clone());
            }
        }
        for datagram in again.iter().take(32) {
            self.send(to, datagram);
        }
    }

    fn relay(&mut self, to: SocketAddr, frames: &[((u32, u32), PlayerSync)]) {
        let me = self.sessions[&to].player;
        let players: Vec<RemoteFrame> = frames
            .iter()
            .filter(|(player, _)| *player != me)
            .map(|((player_id, player_token), frame)| RemoteFrame {
                player_id: *player_id,
                player_token: *player_token,
                seq: frame.seq,
                position: frame.position,
                velocity: frame.velocity,
                heading: frame.heading,
                area: frame.area,
                keys: frame.keys,
                weapon: frame.weapon,
                stance: frame.stance,
                health: 100,
            })
            .collect();
        for part in players.chunks(MAX_REMOTE_FRAMES) {
            self.send_packet(
                to,
                &ServerPacket::RemotePlayerSync(RemotePlayerSync {
                    players: part.to_vec(),
                }),
            );
        }
    }
}
