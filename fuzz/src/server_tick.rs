//! A tick of a server in a run of the `server_step` target: what is handed in, what comes out and to whom, and what must
//! hold afterwards.

use std::net::SocketAddr;

use bevy_ecs::{entity::Entity, world::World};
use decitick_components::{
    clock::{Clock, TICK},
    connection::PeerIndex,
    console::ConsoleOutbox,
    entropy::Entropy,
    lane::{InboundLane, OutboundLane},
    mailbox::{DoorNotices, Inbox, Outbox, Seal, SentReport},
    session::{PlayerId, SlotTable},
    tally::Tally,
    view::View,
};
use decitick_protocol::{MAX_PACKET, ServerPacket, verify_hello, verify_reject};

use crate::{
    PEERS, SessionPlan, Standing, address,
    server_run::{IDENTITY, MAX_PLAYERS, Run},
    told::Told,
    world_checks,
};

impl Run {
    pub(crate) fn tick(&mut self) {
        if self.attentive {
            (0..PEERS as u8).for_each(|peer| self.session(peer, &SessionPlan::Ack(0)));
        }
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
        let world = self.app.world();
        let connection = world.resource::<PeerIndex>().find(&peer);
        let caught_up = connection.is_some_and(|entity| !waits(world, entity));
        let (standing, told) = (&mut self.standings[index], &mut self.told[index]);
        match packet {
            ServerPacket::Hello(hello) => {
                assert!(hello.player_id < u32::from(MAX_PLAYERS) && hello.session_token != 0);
                // A token may come again from the pool of a run; a generation never does.
                if hello.player_token != told.generation() {
                    *standing = Standing {
                        token: hello.session_token,
                        ..Standing::default()
                    };
                    *told = Told::begin(hello);
                    self.idle[index] = true;
                    self.connections.extend(connection);
                    let most = self.connections.len().saturating_sub(2 * PEERS);
                    self.connections.drain(..most);
                }
            }
            ServerPacket::Keepalive(keepalive) => standing.keepalive = keepalive.nonce,
            ServerPacket::Lane { event_id, event } => {
                assert!(
                    *event_id <= standing.highest_event + 1,
                    "event {event_id} after {}",
                    standing.highest_event
                );
                if *event_id > standing.highest_event {
                    standing.highest_event = *event_id;
                    told.take(event, self.idle[index], world);
                }
            }
            ServerPacket::RemotePlayerSync(sync) => {
                let view = connection.and_then(|entity| world.get::<View>(entity));
                for frame in &sync.players {
                    let id = PlayerId(u16::try_from(frame.player_id).expect("an id"));
                    assert!(view.is_some_and(|view| view.players.contains(id)), "{frame:?}");
                    told.take_player_frame(frame, caught_up, world);
                }
            }
            ServerPacket::EntitySync(sync) => {
                for frame in &sync.entities {
                    told.take_thing_frame(frame, caught_up, world);
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
        world_checks::check(world);
        self.check_what_was_told();
    }

    fn check_what_was_told(&mut self) {
        let world = self.app.world();
        for (index, peer) in (0..PEERS).zip(0..) {
            let connection = world.resource::<PeerIndex>().find(&address(peer));
            self.idle[index] = connection.is_some_and(|entity| !waits(world, entity));
            if let Some(connection) = connection.filter(|_| self.idle[index]) {
                self.told[index].agree(connection, world);
            }
        }
    }
}

/// Whether events wait in a lane for their turn.
fn waits(world: &World, connection: Entity) -> bool {
    let lane = world.get::<OutboundLane>(connection);
    lane.is_some_and(OutboundLane::has_backlog)
}
