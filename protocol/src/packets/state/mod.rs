//! Movement, unreliable and newest first.

mod entity_sync_s2c;
mod player_sync_c2s;
mod remote_player_sync_s2c;
mod request_spawn_c2s;

pub use entity_sync_s2c::*;
pub use player_sync_c2s::*;
pub use remote_player_sync_s2c::*;
pub use request_spawn_c2s::*;
