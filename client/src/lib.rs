//! The other side of the wire: what a player's program knows.
//!
//! [`client::Client`] is a sans-IO session written from docs/protocol.md alone: datagrams and the time go in, datagrams,
//! notices and the next deadline come out. [`query`] asks a server what it is. Neither opens a socket, reads a clock or
//! draws randomness, so a test can step a thousand of them by hand.
//!
//! [`files`] judges what a server says about its files for clients, and the driver fetches them.
//!
//! [`driver`] puts one client or one query on a real UDP socket, and [`bots`] runs many clients in one process and
//! measures what they see. Nothing here knows how the server works inside.

pub mod bots;
pub mod client;
pub mod driver;
pub mod files;
pub mod query;
