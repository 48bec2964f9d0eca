//! What keeps a session alive and ends it.

mod client_ack_c2s;
mod client_bye_c2s;
mod client_pong_c2s;
mod kick_notify_s2c;
mod player_leave_s2c;
mod server_ack_s2c;
mod server_keepalive_s2c;

pub use client_ack_c2s::*;
pub use client_bye_c2s::*;
pub use client_pong_c2s::*;
pub use kick_notify_s2c::*;
pub use player_leave_s2c::*;
pub use server_ack_s2c::*;
pub use server_keepalive_s2c::*;
