//! The deeds of the Decitick server: what it does each tick, and the door in front of it.
//!
//! Systems read and write the words of `decitick-components`; they know no clock, no socket, no file and no
//! thread. The order of a tick is written in [`tick`] and nowhere else. One behaviour module does not call
//! another: they meet in components, resources, messages and the order of sets.

pub mod acknowledge;
pub mod anatomy;
pub mod auth;
pub mod ban_changes;
pub mod chat;
pub mod combat;
pub mod console;
pub mod death;
pub mod decode;
pub mod door;
pub mod encode;
pub mod expire;
pub mod handshake;
pub mod inspect;
pub mod lane;
pub mod liveness;
mod lookup;
pub mod metrics;
pub mod motion;
pub mod netsim;
pub mod pages;
pub mod receive;
pub mod recent_drops;
pub mod remote;
pub mod requests;
pub mod script;
mod sight;
pub mod spawn;
pub mod streaming;
mod teleport;
pub mod things;
pub mod tick;
pub mod trace;
pub mod world_clock;

use bevy_app::{App, Plugin};

/// Everything the UDP door's server does in a tick.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerPlugins {
    /// Leaves the inspector out; only benchmarks set it.
    pub blind: bool,
    /// Reruns the schedule's constraints in another order where they leave one open; only tests set it.
    pub shuffle_seed: Option<u64>,
}

impl Plugin for ServerPlugins {
    fn build(&self, app: &mut App) {
        app.add_plugins((
            tick::TickPlugin {
                shuffle_seed: self.shuffle_seed,
            },
            receive::ReceivePlugin,
            decode::DecodePlugin,
            acknowledge::AcknowledgePlugin,
            handshake::HandshakePlugin,
            ban_changes::BanChangesPlugin,
            console::ConsolePlugin,
            liveness::LivenessPlugin,
            expire::ExpirePlugin,
            lane::LanePlugin,
            encode::EncodePlugin,
        ))
        .add_plugins((
            auth::AuthPlugin,
            pages::PagesPlugin,
            world_clock::WorldClockPlugin,
            requests::RequestsPlugin,
            motion::MotionPlugin,
            combat::CombatPlugin,
            death::DeathPlugin,
            spawn::SpawnPlugin,
            chat::ChatPlugin,
            things::ThingsPlugin,
            streaming::StreamingPlugin,
            script::ScriptPlugin,
            anatomy::AnatomyPlugin,
        ))
        .add_plugins((
            netsim::NetsimPlugin,
            trace::TracePlugin,
            recent_drops::RecentDropsPlugin,
            metrics::MetricsPlugin,
            remote::RemotePlugin,
        ));
        if !self.blind {
            app.add_plugins(inspect::InspectPlugin);
        }
    }
}
