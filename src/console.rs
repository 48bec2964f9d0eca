//! The edges of the operator's console: standard input, the Unix socket `console.sock`, and the program's own
//! client for that socket.
//!
//! Edges carry lines in and answers out. They know no command: what a line means is decided by the grammar of
//! `decitick_components::console` and done by a system of the tick. docs/console.md describes the framing.

pub mod client;
pub mod complete;
mod conversation;
pub(crate) mod framing;
pub mod history;
pub mod hub;
pub(crate) mod input;
pub(crate) mod line;
mod place;
mod plugin;
pub mod server;
mod socket;
pub mod stdin;
mod terminal;

pub use client::{Attention, ClientError, ConsoleClient, Reply};
pub use hub::{AskError, ConsoleHandle, ConsoleHub};
pub use plugin::{Console, ConsoleEdgePlugin};
pub use server::{ConsoleServer, Limits};
pub use socket::{ConsoleSocket, SOCKET_NAME, SocketError};
pub use terminal::{Look, for_terminal};
