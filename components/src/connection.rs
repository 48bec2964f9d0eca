//! A connection is an entity. Its [`Peer`] is immutable and its hooks keep the indexes by address, so that no
//! index can go stale.

use crate::inspection::summary;
use bevy_ecs::reflect::ReflectComponent;
use bevy_reflect::Reflect;
use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
};

use bevy_ecs::{
    component::Component, entity::Entity, lifecycle::HookContext, resource::Resource, world::DeferredWorld,
};

use crate::{
    auth::Login,
    body::{Appearance, Dimension, FrameGate, Money, Motion, PositionHistory, Skills, Vitals},
    combat::{ShotCredit, Weapons},
    lane::{InboundLane, LaneBudgets, OutboundLane},
    limits::limit_key,
    liveness::{Keepalive, LastSeen, SmoothedRtt, Traffic},
    mailbox::Route,
    pages::OpenViews,
    phase::Phase,
    view::View,
};

/// Marks the entity of a connection. Everything a session ever needs comes with it, so that a phase changes
/// values and never the archetype.
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component)]
#[require(
    Phase,
    OutboundLane,
    InboundLane,
    LaneBudgets,
    LastSeen,
    Keepalive,
    SmoothedRtt,
    Traffic,
    Motion,
    Dimension,
    FrameGate,
    PositionHistory,
    Appearance,
    Vitals,
    Money,
    Skills,
    Weapons,
    ShotCredit,
    View,
    OpenViews,
    Login
)]
pub struct Connection;

/// How the client of a connection is reached. Immutable: a connection never moves to another address.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(immutable, on_insert = index_peer, on_discard = forget_peer)]
pub struct Peer(pub Route);

impl Peer {
    /// The client's canonical address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.0.peer
    }
}

/// Which connection an address holds, across all listeners.
#[derive(Resource, Debug, Default)]
pub struct PeerIndex {
    by_address: BTreeMap<SocketAddr, Entity>,
    by_ip: BTreeMap<IpAddr, usize>,
    ipv6_prefix: u8,
}

impl PeerIndex {
    /// An empty index that counts IPv6 addresses by a prefix of that many bits.
    #[must_use]
    pub const fn new(ipv6_prefix: u8) -> Self {
        Self {
            by_address: BTreeMap::new(),
            by_ip: BTreeMap::new(),
            ipv6_prefix,
        }
    }

    /// The connection of an address.
    #[must_use]
    pub fn find(&self, peer: &SocketAddr) -> Option<Entity> {
        self.by_address.get(peer).copied()
    }

    /// Connections that count for the same per-IP limit as `ip`.
    #[must_use]
    pub fn connections_of(&self, ip: IpAddr) -> usize {
        self.by_ip
            .get(&limit_key(ip, self.ipv6_prefix))
            .copied()
            .unwrap_or(0)
    }

    /// Every address with its connection, in order of address.
    pub fn iter(&self) -> impl Iterator<Item = (&SocketAddr, Entity)> {
        self.by_address.iter().map(|(peer, &entity)| (peer, entity))
    }

    /// Bits of an IPv6 address that per-IP limits look at.
    #[must_use]
    pub const fn ipv6_prefix(&self) -> u8 {
        self.ipv6_prefix
    }
}

fn index_peer(mut world: DeferredWorld<'_>, context: HookContext) {
    let Some(&Peer(route)) = world.get::<Peer>(context.entity) else {
        return;
    };
    if let Some(mut index) = world.get_resource_mut::<PeerIndex>() {
        let key = limit_key(route.peer.ip(), index.ipv6_prefix);
        if index.by_address.insert(route.peer, context.entity).is_none() {
            *index.by_ip.entry(key).or_insert(0) += 1;
        }
    }
}

fn forget_peer(mut world: DeferredWorld<'_>, context: HookContext) {
    let Some(&Peer(route)) = world.get::<Peer>(context.entity) else {
        return;
    };
    let Some(mut index) = world.get_resource_mut::<PeerIndex>() else {
        return;
    };
    if index.by_address.get(&route.peer) != Some(&context.entity) {
        return;
    }
    index.by_address.remove(&route.peer);
    let key = limit_key(route.peer.ip(), index.ipv6_prefix);
    if let Some(count) = index.by_ip.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            index.by_ip.remove(&key);
        }
    }
}

summary!(|peer: Peer| {
    address: SocketAddr = peer.0.peer,
    listener: u8 = peer.0.listener,
    local: Option<String> = peer.0.local.map(|ip| ip.to_string()),
});

#[derive(Reflect)]
struct IndexedPeer {
    address: SocketAddr,
    connection: Entity,
}

summary!(|index: PeerIndex| {
    ips: usize = index.by_ip.len(),
    ipv6_prefix: u8 = index.ipv6_prefix,
    connections: Vec<IndexedPeer> = index
        .iter()
        .map(|(&address, connection)| IndexedPeer { address, connection })
        .collect(),
});

#[cfg(test)]
mod tests {
    use bevy_ecs::world::World;

    use super::*;

    fn peer(port: u16) -> Peer {
        Peer(Route {
            peer: SocketAddr::from(([10, 0, 0, 1], port)),
            listener: 0,
            local: None,
        })
    }

    #[test]
    fn the_index_follows_spawn_and_despawn() {
        let mut world = World::new();
        world.insert_resource(PeerIndex::new(64));
        let first = world.spawn((Connection, peer(1))).id();
        let second = world.spawn((Connection, peer(2))).id();
        let ip = peer(1).address().ip();
        assert_eq!(
            world.resource::<PeerIndex>().find(&peer(2).address()),
            Some(second)
        );
        assert_eq!(world.resource::<PeerIndex>().connections_of(ip), 2);
        world.despawn(first);
        assert_eq!(world.resource::<PeerIndex>().find(&peer(1).address()), None);
        assert_eq!(world.resource::<PeerIndex>().connections_of(ip), 1);
        world.despawn(second);
        assert_eq!(world.resource::<PeerIndex>().connections_of(ip), 0);
        assert!(world.resource::<PeerIndex>().by_ip.is_empty());
    }
}
