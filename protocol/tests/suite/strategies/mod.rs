//! Arbitrary packets of every kind, for the property tests.

mod client;
mod lane;
mod server;
mod values;

pub(crate) use client::client_packets;
pub(crate) use server::server_packets;
pub(crate) use values::message_pack;
