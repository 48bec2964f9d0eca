//! Packet ids, and what is known of a packet by its id alone: name, direction, lane and length.

use crate::constants::{
    CLIENT_HELLO_LEN, CONNECT_REJECT_LEN, ENTITY_FRAME_LEN, MAX_CHAT_MESSAGE, MAX_CHAT_SEND, MAX_ENTITY_DATA,
    MAX_ENTITY_FRAMES, MAX_EVENT_DATA, MAX_EVENT_NAME, MAX_JWT, MAX_PACKET, MAX_REMOTE_FRAMES,
    MAX_WEAPON_PROPERTIES, MAX_WEAPON_SLOTS, NAME_LEN, QUERY_REQUEST_MIN, REMOTE_FRAME_LEN, SERVER_HELLO_LEN,
};
use crate::packet::{CLIENT_LANE_HEADER, SERVER_LANE_HEADER};

/// Which way a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From a client to the server.
    ClientToServer,
    /// From the server to a client.
    ServerToClient,
    /// Both ways, with a layout for each: only the query.
    Both,
}

macro_rules! packet_ids {
    ($($name:ident = $byte:literal),+ $(,)?) => {
        /// First byte of a packet (docs/protocol.md 1.3 and 2.3).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum PacketId {
            $(
                #[doc = concat!("`", stringify!($byte), "`")]
                $name = $byte,
            )+
        }

        impl PacketId {
            /// Every id there is, in the order of docs/protocol.md.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The packet of an id byte, or none when no packet has it.
            #[must_use]
            pub const fn from_byte(byte: u8) -> Option<Self> {
                match byte {
                    $($byte => Some(Self::$name),)+
                    _ => None,
                }
            }

            /// The name of the packet in docs/protocol.md.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }
        }
    };
}

packet_ids! {
    ClientHello = 0x01,
    ServerHello = 0x02,
    PlayerSync = 0x03,
    RemotePlayerSync = 0x04,
    ClientBye = 0x05,
    PlayerLeave = 0x06,
    RequestSpawn = 0x08,
    SpawnPlayer = 0x09,
    ClientAck = 0x0E,
    ServerAck = 0x0F,
    KickNotify = 0x14,
    ChatSend = 0x30,
    ClientEvent = 0x31,
    HitReport = 0x32,
    PlayerJoin = 0x40,
    PlayerRename = 0x41,
    PlayerStreamIn = 0x42,
    PlayerStreamOut = 0x43,
    PlayerAppearance = 0x44,
    PlayerDeath = 0x45,
    SetVitals = 0x50,
    SetMoney = 0x51,
    SetPosition = 0x52,
    SetWeapons = 0x53,
    SetTime = 0x54,
    SetWeather = 0x55,
    RunClock = 0x56,
    DriveByIntervals = 0x57,
    GarageDoors = 0x58,
    SetWalkingStyle = 0x59,
    PlayerSkills = 0x5A,
    WeaponProperties = 0x5B,
    EntitySpawn = 0x60,
    EntityDespawn = 0x61,
    EntitySync = 0x62,
    EntityData = 0x63,
    ChatMessage = 0x70,
    ServerEvent = 0x71,
    ConnectReject = 0x76,
    ConnectChallenge = 0x8B,
    ServerKeepalive = 0x8C,
    ClientPong = 0x9F,
    AuthAccepted = 0xA1,
    AuthAssertion = 0xA2,
    ViewOpen = 0xA3,
    ViewData = 0xA4,
    ViewStatus = 0xA5,
    ViewAction = 0xA6,
    ViewClose = 0xA7,
    FilesManifest = 0xA8,
    Query = 0xFF,
}

impl PacketId {
    /// The id as it stands on the wire.
    #[must_use]
    pub const fn byte(self) -> u8 {
        self as u8
    }

    /// Which way the packet goes.
    #[must_use]
    pub const fn direction(self) -> Direction {
        match self {
            Self::ClientHello => Direction::ClientToServer,
            Self::Query => Direction::Both,
            id if id.is_session() || id.is_client_lane() => Direction::ClientToServer,
            _ => Direction::ServerToClient,
        }
    }

    /// Whether a client may send it.
    #[must_use]
    pub const fn is_from_client(self) -> bool {
        matches!(self.direction(), Direction::ClientToServer | Direction::Both)
    }

    /// Whether a server may send it.
    #[must_use]
    pub const fn is_from_server(self) -> bool {
        matches!(self.direction(), Direction::ServerToClient | Direction::Both)
    }

    /// Whether it is a C>S packet with a session token and without an event id.
    #[must_use]
    pub const fn is_session(self) -> bool {
        matches!(
            self,
            Self::PlayerSync | Self::ClientBye | Self::RequestSpawn | Self::ClientAck | Self::ClientPong
        )
    }

    /// Whether it is an event of the reliable lane from the client to the server.
    #[must_use]
    pub const fn is_client_lane(self) -> bool {
        matches!(
            self,
            Self::ChatSend
                | Self::ClientEvent
                | Self::HitReport
                | Self::AuthAssertion
                | Self::ViewStatus
                | Self::ViewAction
        )
    }

    /// Whether it is an event of the reliable lane from the server to the client.
    #[must_use]
    pub const fn is_server_lane(self) -> bool {
        matches!(
            self,
            Self::SpawnPlayer
                | Self::PlayerJoin
                | Self::PlayerRename
                | Self::PlayerStreamIn
                | Self::PlayerStreamOut
                | Self::PlayerAppearance
                | Self::PlayerDeath
                | Self::SetVitals
                | Self::SetMoney
                | Self::SetPosition
                | Self::SetWeapons
                | Self::SetTime
                | Self::SetWeather
                | Self::RunClock
                | Self::DriveByIntervals
                | Self::GarageDoors
                | Self::SetWalkingStyle
                | Self::PlayerSkills
                | Self::WeaponProperties
                | Self::EntitySpawn
                | Self::EntityDespawn
                | Self::EntityData
                | Self::ChatMessage
                | Self::ServerEvent
                | Self::AuthAccepted
                | Self::ViewOpen
                | Self::ViewData
                | Self::ViewClose
                | Self::FilesManifest
        )
    }

    /// Fewest and most bytes of a whole datagram with this id, both allowed: the cheap check before any decoding.
    ///
    /// For [`PacketId::Query`] these are the bounds of the request; an answer has
    /// [`QUERY_ANSWER_MIN`](crate::QUERY_ANSWER_MIN) to [`QUERY_ANSWER_MAX`](crate::QUERY_ANSWER_MAX) bytes.
    #[must_use]
    pub const fn length_bounds(self) -> (usize, usize) {
        match self {
            Self::ClientHello => exactly(CLIENT_HELLO_LEN),
            Self::ServerHello => exactly(SERVER_HELLO_LEN),
            Self::ConnectReject => exactly(CONNECT_REJECT_LEN),
            Self::Query => (QUERY_REQUEST_MIN, MAX_PACKET),

            Self::ClientBye
            | Self::RequestSpawn
            | Self::PlayerLeave
            | Self::ConnectChallenge
            | Self::EntityDespawn => exactly(9),
            Self::ClientAck
            | Self::ClientPong
            | Self::PlayerStreamOut
            | Self::SetMoney
            | Self::GarageDoors => exactly(13),
            Self::PlayerSync => exactly(46),
            Self::ServerAck | Self::AuthAccepted => exactly(5),
            Self::KickNotify => exactly(65),
            Self::ServerKeepalive | Self::SetVitals | Self::SetTime | Self::ViewClose => exactly(7),
            Self::RemotePlayerSync => (2 + REMOTE_FRAME_LEN, 2 + MAX_REMOTE_FRAMES * REMOTE_FRAME_LEN),
            Self::EntitySync => (2 + ENTITY_FRAME_LEN, 2 + MAX_ENTITY_FRAMES * ENTITY_FRAME_LEN),

            Self::ChatSend => (CLIENT_LANE_HEADER + 2, CLIENT_LANE_HEADER + 1 + MAX_CHAT_SEND),
            Self::ClientEvent => (
                CLIENT_LANE_HEADER + 5,
                CLIENT_LANE_HEADER + 3 + MAX_EVENT_NAME + MAX_EVENT_DATA,
            ),
            Self::HitReport => exactly(CLIENT_LANE_HEADER + 34),
            Self::AuthAssertion => exactly(CLIENT_LANE_HEADER + 2 + MAX_JWT),
            Self::ViewStatus => exactly(CLIENT_LANE_HEADER + 3),
            Self::ViewAction => (CLIENT_LANE_HEADER + 5, CLIENT_LANE_HEADER + 4 + MAX_EVENT_DATA),

            Self::SpawnPlayer | Self::PlayerSkills => exactly(27),
            Self::PlayerJoin => (SERVER_LANE_HEADER + 11, MAX_PACKET),
            Self::PlayerRename => (SERVER_LANE_HEADER + 10, SERVER_LANE_HEADER + 9 + NAME_LEN),
            Self::PlayerStreamIn => exactly(39),
            Self::PlayerAppearance => exactly(19),
            Self::PlayerDeath | Self::SetPosition => exactly(22),
            Self::SetWeapons => (
                SERVER_LANE_HEADER + 1,
                SERVER_LANE_HEADER + 1 + 3 * MAX_WEAPON_SLOTS,
            ),
            Self::SetWeather | Self::SetWalkingStyle => exactly(6),
            Self::RunClock => exactly(8),
            Self::DriveByIntervals => exactly(29),
            Self::WeaponProperties => (
                SERVER_LANE_HEADER + 10,
                SERVER_LANE_HEADER + 1 + 9 * MAX_WEAPON_PROPERTIES,
            ),
            Self::EntitySpawn => (SERVER_LANE_HEADER + 29, SERVER_LANE_HEADER + 28 + MAX_ENTITY_DATA),
            Self::EntityData => (SERVER_LANE_HEADER + 7, SERVER_LANE_HEADER + 6 + MAX_ENTITY_DATA),
            Self::ChatMessage => (SERVER_LANE_HEADER + 7, SERVER_LANE_HEADER + 6 + MAX_CHAT_MESSAGE),
            Self::ServerEvent => (
                SERVER_LANE_HEADER + 5,
                SERVER_LANE_HEADER + 3 + MAX_EVENT_NAME + MAX_EVENT_DATA,
            ),
            Self::ViewOpen => (SERVER_LANE_HEADER + 6, SERVER_LANE_HEADER + 2 + 2 * 256),
            Self::ViewData => (SERVER_LANE_HEADER + 5, SERVER_LANE_HEADER + 4 + MAX_EVENT_DATA),
            Self::FilesManifest => (SERVER_LANE_HEADER + 34, SERVER_LANE_HEADER + 33 + 255),
        }
    }
}

const fn exactly(length: usize) -> (usize, usize) {
    (length, length)
}
