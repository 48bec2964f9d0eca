//! How a player logs in.

mod auth_accepted_s2c;
mod auth_assertion_c2s;

pub use auth_accepted_s2c::*;
pub use auth_assertion_c2s::*;
