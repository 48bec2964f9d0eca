//! The numbers both sides of the wire agree on (docs/protocol.md 1.1 and 1.3).
//!
//! Only what a packet's bytes depend on stands here. Limits that a server enforces over time (buckets, timeouts)
//! are not the codec's business.

use std::time::Duration;

/// Revision of the wire format; a ClientHello with another one gets no answer.
pub const PROTOCOL_VERSION: u16 = 1;
/// Revision of the query request and answer.
pub const QUERY_VERSION: u8 = 1;
/// Longest datagram of either way, in bytes.
pub const MAX_PACKET: usize = 1200;
/// Player ids are `0..MAX_PLAYERS`.
pub const MAX_PLAYERS: u16 = 1000;
/// Highest player id there is.
pub const MAX_PLAYER_ID: u32 = 999;
/// Bytes of the name field of a ClientHello, and the most a player's name takes.
pub const NAME_LEN: usize = 64;
/// Bytes of the reason field of a KickNotify.
pub const KICK_REASON_LEN: usize = 64;
/// Bytes of the text field of a ConnectReject.
pub const REJECT_TEXT_LEN: usize = 20;
/// Bytes of a ClientHello.
pub const CLIENT_HELLO_LEN: usize = 235;
/// Bytes of a ServerHello, its signature included.
pub const SERVER_HELLO_LEN: usize = 153;
/// Bytes of a ConnectReject, its signature included.
pub const CONNECT_REJECT_LEN: usize = 122;
/// Shortest query request that is answered, in bytes, so that an answer is never longer than its question.
pub const QUERY_REQUEST_MIN: usize = 512;
/// Shortest query answer: four empty texts and no flags.
pub const QUERY_ANSWER_MIN: usize = 112;
/// Longest query answer, in bytes.
pub const QUERY_ANSWER_MAX: usize = 273;
/// Most player records in one RemotePlayerSync.
pub const MAX_REMOTE_FRAMES: usize = 26;
/// Bytes of one player record of a RemotePlayerSync.
pub const REMOTE_FRAME_LEN: usize = 46;
/// Most entity records in one EntitySync.
pub const MAX_ENTITY_FRAMES: usize = 33;
/// Bytes of one entity record of an EntitySync.
pub const ENTITY_FRAME_LEN: usize = 36;
/// Longest text of a ChatSend, in bytes.
pub const MAX_CHAT_SEND: usize = 128;
/// Longest text of a ChatMessage, in bytes.
pub const MAX_CHAT_MESSAGE: usize = 512;
/// Longest name of a ClientEvent or ServerEvent, in bytes.
pub const MAX_EVENT_NAME: usize = 64;
/// Most bytes of the value of a ClientEvent, ServerEvent, ViewAction or ViewData.
pub const MAX_EVENT_DATA: usize = 1024;
/// Most bytes of the value of an EntitySpawn or EntityData.
pub const MAX_ENTITY_DATA: usize = 512;
/// Longest token of an AuthAssertion, in bytes; its field has this width too.
pub const MAX_JWT: usize = 1024;
/// Most weapons in one SetWeapons.
pub const MAX_WEAPON_SLOTS: usize = 13;
/// Most rows in one WeaponProperties.
pub const MAX_WEAPON_PROPERTIES: usize = 47;
/// Highest body part of a HitReport.
pub const MAX_BODY_PART: u8 = 6;
/// Highest health and armour.
pub const MAX_VITAL: u8 = 200;
/// Highest value of a skill.
pub const MAX_SKILL: u16 = 1000;
/// Deepest nesting of arrays and maps in a MessagePack value.
pub const MAX_NESTING: usize = 64;
/// Largest size of a position component of a player's frame, in metres, itself allowed.
pub const POSITION_LIMIT: f32 = 20_000.0;
/// `killer_id` of a death that nobody caused.
pub const NO_KILLER: u32 = 0xFFFF_FFFF;
/// `rtt_ms` of a ServerKeepalive when no round trip has been measured.
pub const RTT_NOT_MEASURED: u16 = 65_535;
/// Bit of a query answer's flags: the server asks for a password.
pub const FLAG_PASSWORD_REQUIRED: u8 = 1;
/// Length of one cookie window. A cookie of a window is taken in that window and in the next.
pub const COOKIE_WINDOW: Duration = Duration::from_secs(10);
/// Rounds of PBKDF2 between a password and its key.
pub const PBKDF2_ITERATIONS: u32 = 600_000;
/// Longest password, in bytes.
pub const MAX_PASSWORD: usize = 64;
