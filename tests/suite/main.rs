//! The server from its door to its outbox in virtual time, and the real binary over real sockets.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test by panicking"
)]

mod sim;

mod allocations;
mod bans;
mod broken_wishes;
mod chat;
mod client_files;
mod clocks;
mod combat;
mod console;
mod death_and_spawn;
mod departures;
mod determinism;
mod diagnosis;
mod door_floods;
mod ends;
mod flicker;
mod handshake_checks;
mod handshake_limits;
mod hit_refusals;
mod hit_reports;
// The example site is a part of the suite: its own tests run here, and logins go through it.
#[expect(dead_code, reason = "its main is that of a program of its own")]
#[path = "../../examples/identity_site/main.rs"]
mod identity_site;
mod inspection;
mod keepalive;
mod lanes;
mod live;
mod log_lines;
mod logins;
mod loopback;
mod loss;
mod memory;
mod metrics;
mod motion;
mod order;
mod packaging;
mod passwords;
mod remote;
mod requests;
mod resends;
mod samples;
mod script_api;
mod script_limits;
mod script_reference;
mod script_resources;
mod sessions;
mod sim_itself;
mod streaming;
mod things;
mod tokens;
mod triggers;
mod world_clock;
mod world_requests;
mod world_soak;
