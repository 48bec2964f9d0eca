//! What the threads of the program do around the tick: the door, signing and sending, the workers.

use std::{cmp::Reverse, net::SocketAddr, time::Duration};

use bevy_ecs::message::Messages;
use decitick_components::{
    clock::Clock,
    connection::PeerIndex,
    entropy::Entropy,
    mailbox::{DoorNotices, Inbox, Outbox, Route, Seal, SentReport},
    messages::SessionEnded,
    profile::NameBook,
    reasons::DropReason,
    session::SlotTable,
    tally::Tally,
    worker::{WorkerAnswer, WorkerInbox, WorkerOutbox, WorkerRequest},
};
use decitick_systems::door::{DoorVerdict, count};

use super::{Carried, Sim};

impl Sim {
    /// Hands the door a datagram that arrives now, as a reader thread does, and gives its verdict and its answer.
    /// What it passes is judged in the coming tick.
    pub(crate) fn knock(&mut self, from: SocketAddr, datagram: &[u8]) -> (DoorVerdict, Vec<u8>) {
        self.judge_at_door(self.now, from, datagram)
    }

    pub(super) fn arrive_at_door(&mut self, at: Duration, from: SocketAddr, datagram: &[u8]) {
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
        let Some(&index) = self.by_address.get(&to) else {
            return;
        };
        self.players[index].hears_lies |= self.down.corruption > 0;
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
        self.allocations = allocation_counter::measure(|| self.app.update()).count_total;
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
                WorkerRequest::Script(work) => {
                    self.do_script_work(work);
                    continue;
                }
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
            tally.held_back,
            "every datagram that no simulated network holds back is judged in its tick: {tally:?}"
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
}
