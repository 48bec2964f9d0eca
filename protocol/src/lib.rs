//! The bytes and proofs of the Decitick wire protocol, revision 1, as docs/protocol.md describes it.
//!
//! Every packet is a struct with a strict decoder and an encoder that appends to a buffer of the caller; what signs and
//! proves is here too. This crate knows no clock, no randomness, no socket and no state: time, keys and nonces are
//! arguments, and the same input gives the same output.
//!
//! - [`ClientPacket`] and [`ServerPacket`] hold whatever one side may send.
//! - [`PacketId::length_bounds`] and [`session_token_of`] are for the cheap checks before any decoding.
//! - [`ServerIdentity`], [`CookieKey`], [`PasswordKey`] and [`credential`] make and verify proofs; [`judge_assertion`]
//!   judges those of login sites.
//! - [`PlayerName`], [`Text`] and [`MessagePack`] are values that were checked once and need no second look.

pub mod assertion;
mod client_packet;
mod constants;
pub mod cookie;
pub mod credential;
mod error;
mod message_pack;
mod packet;
mod packet_id;
pub mod packets;
pub mod password;
mod player_name;
mod reader;
pub mod seal;
mod server_packet;
pub mod text;
mod vector;
mod writer;

pub use assertion::{
    ASSERTION_LIFETIME_MAX, AssertionFault, CompactJwt, Expectations, ExpectedTicket, Identity, Issuer,
    SUBJECT_MAX, judge_assertion,
};
pub use client_packet::{ClientLaneEvent, ClientPacket, SessionPacket};
pub use constants::*;
pub use cookie::{CookieKey, canonical};
pub use error::{DecodeError, MessagePackFault};
pub use message_pack::{EntityPayload, EventData, MessagePack, validate_one};
pub use packet::{Body, client_event_id_of, session_token_of, write_event_id};
pub use packet_id::{Direction, PacketId};
pub use packets::*;
pub use password::{Password, PasswordFault, PasswordKey};
pub use player_name::{NAME_MAX_CHARS, NAME_MIN_CHARS, NameFault, NameText, PlayerName};
pub use reader::Reader;
pub use seal::{
    SealError, ServerIdentity, is_usable_key, verify_hello, verify_query_answer, verify_reject, verify_strict,
};
pub use server_packet::{ServerLaneEvent, ServerPacket};
pub use text::{KickReason, PlainText, ShownText, Text, TextFault, escape_for_display, is_control_or_format};
pub use vector::{Vec3, normalise_heading};
pub use writer::Writer;
