//! The shell of Decitick: the binary's commands, the assembly of the App, and every edge to the outside.
//!
//! Sockets, files, threads, clocks and randomness are here and nowhere else; the shell decides nothing about the game
//! or the wire. [`build_app`] makes the same App for the program, a test and a Rust developer's own binary.

pub mod access_token;
pub mod asset_files;
pub mod ban_file;
pub mod cli;
pub mod client_files;
pub mod commands;
pub mod console;
pub mod edge_runtime;
pub mod entropy;
pub mod fault;
pub mod http;
pub mod identity_file;
mod leftovers;
pub mod metrics;
pub mod page;
mod private_file;
pub mod pulse;
pub mod remote;
mod ron_file;
mod ron_outline;
pub mod runner;
pub mod scripts;
pub mod service_manager;
pub mod settings_file;
pub mod socket;
pub mod telemetry;
mod tick_thread;
pub mod trouble;
pub mod worker;

use bevy_app::App;
use decitick_components::{
    ComponentsPlugin, bans::BanList, combat::WeaponTable, server::ServerKey, settings::Settings,
    thing::PlacedThings, world::SpawnPoints,
};
use decitick_systems::ServerPlugins;

/// What a server is made of besides its edges.
#[derive(Clone, Debug)]
pub struct ServerParts {
    /// The public key that the edges sign for.
    pub server_key: [u8; 32],
    /// The settings.
    pub settings: Settings,
    /// Where players start.
    pub spawns: SpawnPoints,
    /// What weapons do.
    pub weapons: WeaponTable,
    /// What stands and moves in the world from the start.
    pub things: PlacedThings,
    /// Who may not join.
    pub bans: BanList,
}

/// Makes the App of a server without any edge: what fills its inbox and drains its outbox is the caller's choice. Add
/// your own plugins to it; systems belong into a set of `decitick_systems::tick::TickSystems`.
pub fn build_app(parts: ServerParts) -> App {
    let mut app = App::new();
    app.set_error_handler(trouble::handle)
        .add_plugins((
            ComponentsPlugin {
                settings: parts.settings,
            },
            ServerPlugins::default(),
        ))
        .insert_resource(ServerKey(parts.server_key))
        .insert_resource(parts.spawns)
        .insert_resource(parts.weapons)
        .insert_resource(parts.things)
        .insert_resource(parts.bans);
    app
}
