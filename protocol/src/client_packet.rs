//! Everything a client sends, as one type.

use crate::error::DecodeError;
use crate::packet::{Body, encode_in_session, encode_on_client_lane, open, read_event_id, whole};
use crate::packet_id::PacketId;
use crate::packets::*;
use crate::reader::Reader;

/// A packet from a client to the server.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientPacket {
    /// Asks for a slot, or for a challenge.
    Hello(ClientHello),
    /// Asks what this server is.
    Query(QueryRequest),
    /// An unreliable packet of a session.
    Session {
        /// The token that the ServerHello brought.
        session_token: u64,
        /// What is said.
        packet: SessionPacket,
    },
    /// An event of the reliable lane.
    Lane {
        /// The token that the ServerHello brought.
        session_token: u64,
        /// Place in the lane, from 1.
        event_id: u32,
        /// What is said.
        event: ClientLaneEvent,
    },
}

/// What a lane packet of a client says before its content (docs/protocol.md 1.5): for a receiver that must not look at the
/// content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneHead {
    /// The packet's id; a packet of the client's lane.
    pub id: PacketId,
    /// The token that the ServerHello brought.
    pub session_token: u64,
    /// Place in the lane, from 1.
    pub event_id: u32,
}

impl LaneHead {
    /// Reads it; the length is held to the bounds of the packet's layout, and nothing after the event id is looked at.
    ///
    /// # Errors
    /// [`DecodeError`]; the whole datagram is dropped.
    pub fn read(datagram: &[u8]) -> Result<Self, DecodeError> {
        let (id, mut reader) = open(datagram)?;
        if !id.is_client_lane() {
            return Err(DecodeError::UnknownId { id: id.byte() });
        }
        let (minimum, maximum) = id.length_bounds();
        if !(minimum..=maximum).contains(&datagram.len()) {
            return Err(DecodeError::BadLength {
                field: id.name(),
                length: datagram.len(),
                minimum,
                maximum,
            });
        }
        Ok(Self {
            id,
            session_token: reader.u64("session_token")?,
            event_id: read_event_id(&mut reader)?,
        })
    }
}

/// An unreliable packet of a session, without its token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SessionPacket {
    /// Where the player is.
    PlayerSync(PlayerSync),
    /// The client leaves.
    Bye(ClientBye),
    /// The player wants to spawn.
    RequestSpawn(RequestSpawn),
    /// Which events of the lane have arrived.
    Ack(ClientAck),
    /// The answer to a keepalive.
    Pong(ClientPong),
}

/// An event of the client's lane, without its token and id.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientLaneEvent {
    /// A line of chat.
    ChatSend(ChatSend),
    /// An event for a script.
    ClientEvent(ClientEvent),
    /// A shot that hit.
    HitReport(HitReport),
    /// The token of a login provider.
    AuthAssertion(AuthAssertion),
    /// What became of a view.
    ViewStatus(ViewStatus),
    /// What the player did in a view.
    ViewAction(ViewAction),
}

impl ClientPacket {
    /// Reads one datagram that came from a client.
    ///
    /// # Errors
    /// [`DecodeError`]; the whole datagram is dropped.
    pub fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        let (id, mut reader) = open(datagram)?;
        match id {
            PacketId::ClientHello => whole(&mut reader).map(Self::Hello),
            PacketId::Query => QueryRequest::decode(datagram).map(Self::Query),
            id if id.is_session() => {
                let session_token = reader.u64("session_token")?;
                let packet = SessionPacket::read(id, &mut reader)?;
                Ok(Self::Session {
                    session_token,
                    packet,
                })
            }
            id if id.is_client_lane() => {
                let session_token = reader.u64("session_token")?;
                let event_id = read_event_id(&mut reader)?;
                let event = ClientLaneEvent::read(id, &mut reader)?;
                Ok(Self::Lane {
                    session_token,
                    event_id,
                    event,
                })
            }
            _ => Err(DecodeError::UnknownId { id: id.byte() }),
        }
    }

    /// Appends the datagram.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Hello(hello) => hello.encode(out),
            Self::Query(request) => request.encode(out),
            Self::Session {
                session_token,
                packet,
            } => packet.encode(*session_token, out),
            Self::Lane {
                session_token,
                event_id,
                event,
            } => event.encode(*session_token, *event_id, out),
        }
    }

    /// The packet's id.
    #[must_use]
    pub const fn id(&self) -> PacketId {
        match self {
            Self::Hello(_) => PacketId::ClientHello,
            Self::Query(_) => PacketId::Query,
            Self::Session { packet, .. } => packet.id(),
            Self::Lane { event, .. } => event.id(),
        }
    }
}

impl SessionPacket {
    /// Appends the datagram.
    pub fn encode(&self, session_token: u64, out: &mut Vec<u8>) {
        match self {
            Self::PlayerSync(packet) => encode_in_session(packet, session_token, out),
            Self::Bye(packet) => encode_in_session(packet, session_token, out),
            Self::RequestSpawn(packet) => encode_in_session(packet, session_token, out),
            Self::Ack(packet) => encode_in_session(packet, session_token, out),
            Self::Pong(packet) => encode_in_session(packet, session_token, out),
        }
    }

    /// The packet's id.
    #[must_use]
    pub const fn id(&self) -> PacketId {
        match self {
            Self::PlayerSync(_) => PacketId::PlayerSync,
            Self::Bye(_) => PacketId::ClientBye,
            Self::RequestSpawn(_) => PacketId::RequestSpawn,
            Self::Ack(_) => PacketId::ClientAck,
            Self::Pong(_) => PacketId::ClientPong,
        }
    }

    fn read(id: PacketId, reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match id {
            PacketId::PlayerSync => whole(reader).map(Self::PlayerSync),
            PacketId::ClientBye => whole(reader).map(Self::Bye),
            PacketId::RequestSpawn => whole(reader).map(Self::RequestSpawn),
            PacketId::ClientAck => whole(reader).map(Self::Ack),
            PacketId::ClientPong => whole(reader).map(Self::Pong),
            _ => Err(DecodeError::UnknownId { id: id.byte() }),
        }
    }
}

macro_rules! client_lane_events {
    ($($name:ident),+ $(,)?) => {
        impl ClientLaneEvent {
            /// Appends the datagram.
            pub fn encode(&self, session_token: u64, event_id: u32, out: &mut Vec<u8>) {
                match self {
                    $(Self::$name(event) => encode_on_client_lane(event, session_token, event_id, out),)+
                }
            }

            /// The packet's id.
            #[must_use]
            pub const fn id(&self) -> PacketId {
                match self {
                    $(Self::$name(_) => <$name as Body>::ID,)+
                }
            }

            fn read(id: PacketId, reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                match id {
                    $(PacketId::$name => whole(reader).map(Self::$name),)+
                    _ => Err(DecodeError::UnknownId { id: id.byte() }),
                }
            }
        }

        $(
            impl From<$name> for ClientLaneEvent {
                fn from(event: $name) -> Self {
                    Self::$name(event)
                }
            }
        )+
    };
}

client_lane_events!(
    ChatSend,
    ClientEvent,
    HitReport,
    AuthAssertion,
    ViewStatus,
    ViewAction
);
