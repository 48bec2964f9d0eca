//! A bad network, simulated on the server's own traffic: how bad it is. Who loses and delays what is for the systems
//! and the shell.

use bevy_ecs::resource::Resource;

/// How bad the network is, each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Impairment {
    /// Datagrams that are lost, 0 to 100 of 100.
    pub loss_percent: u16,
    /// Milliseconds that each datagram is held back, at most [`Impairment::MAX_MS`].
    pub delay_ms: u16,
    /// Up to so many milliseconds more, at random, at most [`Impairment::MAX_MS`]. Datagrams may overtake each other.
    pub jitter_ms: u16,
    /// Datagrams that come twice, 0 to 100 of 100.
    pub duplicate_percent: u16,
}

impl Impairment {
    /// The most that a delay or a jitter may be.
    pub const MAX_MS: u16 = 2_000;
}

/// What the console asked for; none: the network is as it is.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Netsim(pub Option<Impairment>);
