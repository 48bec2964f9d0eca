//! Time passes, and datagrams travel in it.

use std::{cmp::Reverse, net::SocketAddr, time::Duration};

use decitick_components::clock::TICK;
use decitick_protocol::PacketId;

use super::{Carried, STEP, Sim};

impl Sim {
    /// Lets 100 ms pass, at the end of which the server makes a tick.
    pub(crate) fn tick(&mut self) {
        for _ in 0..TICK.as_millis() / self.step.as_millis() {
            self.pass(self.step);
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
}
