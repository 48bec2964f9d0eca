//! How a client gets a slot.

mod client_hello_c2s;
mod connect_challenge_s2c;
mod connect_reject_s2c;
mod server_hello_s2c;

pub use client_hello_c2s::*;
pub use connect_challenge_s2c::*;
pub use connect_reject_s2c::*;
pub use server_hello_s2c::*;
