//! Clients come in.

use std::net::SocketAddr;

use decitick_client::client::{Client, ClientConfig, PinnedServer};
use decitick_protocol::PlayerName;

use super::{Player, Sim};

impl Sim {
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
}
