//! What the server is: its public identity, what a query shows of it, and whether it runs on.

use crate::inspection::{Settable, hex, summary};
use bevy_ecs::reflect::ReflectResource;
use bevy_reflect::Reflect;
use std::time::Duration;

use bevy_ecs::resource::Resource;

use crate::messages::KickReason;

/// The server's public key; the private half stays in the shell.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerKey(pub [u8; 32]);

/// What the query shows and can change while the server runs.
#[derive(Resource, Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Resource)]
pub struct PublicFace {
    /// The version of the program.
    pub version: String,
    /// The mode text, at most 32 bytes.
    #[reflect(@Settable::Text { most_bytes: 32 })]
    pub mode: String,
    /// The TCP port that a ServerHello names for client files, 1..=65535.
    pub client_files_port: u16,
}

/// Whether the server runs, and when it is to stop.
#[derive(Resource, Clone, Debug, Default)]
pub struct Lifecycle {
    /// When the stop begins, since the start; `None` while none is wanted.
    pub stop_at: Option<Duration>,
    /// What clients are told.
    pub notice: Option<KickReason>,
    /// The stop has begun: everybody was told, nobody is admitted.
    pub stopping: bool,
}

summary!(|key: ServerKey| { public_key: String = hex(&key.0) });
summary!(|lifecycle: Lifecycle| {
    stop_at: Option<Duration> = lifecycle.stop_at,
    notice: Option<String> = lifecycle.notice.as_ref().map(|notice| notice.as_str().to_owned()),
    stopping: bool = lifecycle.stopping,
});
