//! Everything a server sends, as one type.

use crate::error::DecodeError;
use crate::packet::{Body, encode_on_server_lane, open, read_event_id, whole};
use crate::packet_id::PacketId;
use crate::packets::*;
use crate::reader::Reader;

/// A packet from the server to a client.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerPacket {
    /// A slot was given.
    Hello(ServerHello),
    /// Frames of other players.
    RemotePlayerSync(RemotePlayerSync),
    /// A player left.
    PlayerLeave(PlayerLeave),
    /// Which events of the client's lane have arrived.
    Ack(ServerAck),
    /// The session was ended by the server.
    Kick(KickNotify),
    /// Frames of entities.
    EntitySync(EntitySync),
    /// No slot was given.
    Reject(ConnectReject),
    /// The cookie to come back with.
    Challenge(ConnectChallenge),
    /// A sign of life, to be answered with a ClientPong.
    Keepalive(ServerKeepalive),
    /// What this server is.
    QueryAnswer(QueryAnswer),
    /// An event of the reliable lane.
    Lane {
        /// Place in the lane, from 1.
        event_id: u32,
        /// What happened.
        event: ServerLaneEvent,
    },
}

impl ServerPacket {
    /// Reads one datagram that came from a server. Signatures are not verified here; see `seal`.
    ///
    /// # Errors
    /// [`DecodeError`]; the whole datagram is dropped.
    pub fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        let (id, mut reader) = open(datagram)?;
        match id {
            PacketId::ServerHello => whole(&mut reader).map(Self::Hello),
            PacketId::RemotePlayerSync => whole(&mut reader).map(Self::RemotePlayerSync),
            PacketId::PlayerLeave => whole(&mut reader).map(Self::PlayerLeave),
            PacketId::ServerAck => whole(&mut reader).map(Self::Ack),
            PacketId::KickNotify => whole(&mut reader).map(Self::Kick),
            PacketId::EntitySync => whole(&mut reader).map(Self::EntitySync),
            PacketId::ConnectReject => whole(&mut reader).map(Self::Reject),
            PacketId::ConnectChallenge => whole(&mut reader).map(Self::Challenge),
            PacketId::ServerKeepalive => whole(&mut reader).map(Self::Keepalive),
            PacketId::Query => QueryAnswer::decode(datagram).map(Self::QueryAnswer),
            id if id.is_server_lane() => {
                let event_id = read_event_id(&mut reader)?;
                let event = ServerLaneEvent::read(id, &mut reader)?;
                Ok(Self::Lane { event_id, event })
            }
            _ => Err(DecodeError::UnknownId { id: id.byte() }),
        }
    }

    /// Appends the datagram.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Hello(packet) => packet.encode(out),
            Self::RemotePlayerSync(packet) => packet.encode(out),
            Self::PlayerLeave(packet) => packet.encode(out),
            Self::Ack(packet) => packet.encode(out),
            Self::Kick(packet) => packet.encode(out),
            Self::EntitySync(packet) => packet.encode(out),
            Self::Reject(packet) => packet.encode(out),
            Self::Challenge(packet) => packet.encode(out),
            Self::Keepalive(packet) => packet.encode(out),
            Self::QueryAnswer(packet) => packet.encode(out),
            Self::Lane { event_id, event } => event.encode(*event_id, out),
        }
    }

    /// The packet's id.
    #[must_use]
    pub const fn id(&self) -> PacketId {
        match self {
            Self::Hello(_) => PacketId::ServerHello,
            Self::RemotePlayerSync(_) => PacketId::RemotePlayerSync,
            Self::PlayerLeave(_) => PacketId::PlayerLeave,
            Self::Ack(_) => PacketId::ServerAck,
            Self::Kick(_) => PacketId::KickNotify,
            Self::EntitySync(_) => PacketId::EntitySync,
            Self::Reject(_) => PacketId::ConnectReject,
            Self::Challenge(_) => PacketId::ConnectChallenge,
            Self::Keepalive(_) => PacketId::ServerKeepalive,
            Self::QueryAnswer(_) => PacketId::Query,
            Self::Lane { event, .. } => event.id(),
        }
    }
}

macro_rules! server_lane_events {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// An event of the server's lane, without its id (docs/protocol.md 2.3).
        #[derive(Debug, Clone, PartialEq)]
        pub enum ServerLaneEvent {
            $($(#[doc = $doc])+ $name($name),)+
        }

        impl ServerLaneEvent {
            /// Appends the datagram.
            pub fn encode(&self, event_id: u32, out: &mut Vec<u8>) {
                match self {
                    $(Self::$name(event) => encode_on_server_lane(event, event_id, out),)+
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
            impl From<$name> for ServerLaneEvent {
                fn from(event: $name) -> Self {
                    Self::$name(event)
                }
            }
        )+
    };
}

server_lane_events! {
    /// The player enters the world.
    SpawnPlayer,
    /// Players are on the server.
    PlayerJoin,
    /// A player has another name.
    PlayerRename,
    /// A player comes into view.
    PlayerStreamIn,
    /// A player leaves the view.
    PlayerStreamOut,
    /// A player looks different.
    PlayerAppearance,
    /// A player died.
    PlayerDeath,
    /// The player's own health and armour.
    SetVitals,
    /// The player's own money.
    SetMoney,
    /// The player is put somewhere else.
    SetPosition,
    /// The player's own weapons.
    SetWeapons,
    /// The time of day.
    SetTime,
    /// The weather.
    SetWeather,
    /// Whether and how fast the clock of the day runs.
    RunClock,
    /// Intervals of drive-by shots.
    DriveByIntervals,
    /// Which garage doors are open.
    GarageDoors,
    /// How the player walks.
    SetWalkingStyle,
    /// The player's own skills.
    PlayerSkills,
    /// What the weapons do.
    WeaponProperties,
    /// An entity comes into view.
    EntitySpawn,
    /// An entity leaves the view.
    EntityDespawn,
    /// The value that belongs to an entity changed.
    EntityData,
    /// A line of chat.
    ChatMessage,
    /// An event of a script.
    ServerEvent,
    /// The login was accepted.
    AuthAccepted,
    /// A page is to be shown.
    ViewOpen,
    /// A value for a page.
    ViewData,
    /// A page is to be closed.
    ViewClose,
    /// Which files a resource has for clients.
    FilesManifest,
}

impl ServerLaneEvent {
    /// Whether this kind of event may be sent as droppable (docs/protocol.md 2.1); all others are critical.
    #[must_use]
    pub const fn droppable_kind(&self) -> bool {
        matches!(self, Self::ChatMessage(_) | Self::ServerEvent(_))
    }
}
