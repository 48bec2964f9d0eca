//! Packets as the readable twins of the fixtures write them (docs/fixtures/README.md).

use decitick_protocol::*;
use serde_json::{Map, Value, json};

use crate::{hex, unhex};

/// A packet's name, the token and event id around it, and its fields.
pub(crate) struct Readable {
    pub(crate) packet: String,
    pub(crate) fields: Value,
}

/// A value of a field.
trait Field: Sized {
    fn to_json(&self) -> Value;
    fn from_json(value: &Value) -> Self;
}

macro_rules! number {
    ($($kind:ty),+) => {$(
        impl Field for $kind {
            fn to_json(&self) -> Value {
                json!(self)
            }
            fn from_json(value: &Value) -> Self {
                value.as_u64().and_then(|value| Self::try_from(value).ok()).expect("a number of the field's width")
            }
        }
    )+};
}
number!(u8, u16, u32);

impl Field for u64 {
    fn to_json(&self) -> Value {
        json!(format!("{self:#x}"))
    }
    fn from_json(value: &Value) -> Self {
        let digits = value
            .as_str()
            .and_then(|text| text.strip_prefix("0x"))
            .expect("0x and digits");
        Self::from_str_radix(digits, 16).expect("hex digits")
    }
}

impl Field for i64 {
    fn to_json(&self) -> Value {
        let sign = if *self < 0 { "-" } else { "" };
        json!(format!("{sign}{:#x}", self.unsigned_abs()))
    }
    fn from_json(value: &Value) -> Self {
        Self::from_str_radix(&value.as_str().expect("a text").replace("0x", ""), 16).expect("hex digits")
    }
}

impl Field for f32 {
    fn to_json(&self) -> Value {
        json!(f64::from(*self))
    }
    fn from_json(value: &Value) -> Self {
        let wide = value.as_f64().expect("a number");
        let narrow = wide as Self;
        assert_eq!(
            f64::from(narrow),
            wide,
            "fixtures hold only numbers that binary32 holds exactly"
        );
        narrow
    }
}

impl Field for bool {
    fn to_json(&self) -> Value {
        json!(self)
    }
    fn from_json(value: &Value) -> Self {
        value.as_bool().expect("true or false")
    }
}

impl Field for Vec3 {
    fn to_json(&self) -> Value {
        json!([self.x.to_json(), self.y.to_json(), self.z.to_json()])
    }
    fn from_json(value: &Value) -> Self {
        Self::new(
            Field::from_json(&value[0]),
            Field::from_json(&value[1]),
            Field::from_json(&value[2]),
        )
    }
}

impl<const N: usize> Field for [u8; N] {
    fn to_json(&self) -> Value {
        json!(hex(self))
    }
    fn from_json(value: &Value) -> Self {
        unhex(value.as_str().expect("hex"))
            .try_into()
            .expect("hex of the field's width")
    }
}

impl<const N: usize> Field for [u16; N] {
    fn to_json(&self) -> Value {
        json!(self.as_slice())
    }
    fn from_json(value: &Value) -> Self {
        let values: Vec<_> = value
            .as_array()
            .expect("an array")
            .iter()
            .map(u16::from_json)
            .collect();
        values.try_into().expect("as many values as the field has")
    }
}

impl<T: Field> Field for Vec<T> {
    fn to_json(&self) -> Value {
        self.iter().map(Field::to_json).collect()
    }
    fn from_json(value: &Value) -> Self {
        value
            .as_array()
            .expect("an array")
            .iter()
            .map(T::from_json)
            .collect()
    }
}

macro_rules! text {
    ($([$($generics:tt)*] $kind:ty),+ $(,)?) => {$(
        impl<$($generics)*> Field for $kind {
            fn to_json(&self) -> Value {
                json!(self.as_str())
            }
            fn from_json(value: &Value) -> Self {
                Self::parse(value.as_str().expect("a text")).expect("a text that fits its field")
            }
        }
    )+};
}
text! {
    [const MIN: usize, const MAX: usize] Text<MIN, MAX>,
    [const MIN: usize, const MAX: usize] PlainText<MIN, MAX>,
    [const MIN: usize, const MAX: usize] ShownText<MIN, MAX>,
    [] CompactJwt,
}

impl Field for KickReason {
    fn to_json(&self) -> Value {
        json!(self.to_text())
    }
    fn from_json(value: &Value) -> Self {
        Self::parse(value.as_str().expect("a text")).expect("a reason that fits its field")
    }
}

impl<const MAX: usize> Field for MessagePack<MAX> {
    fn to_json(&self) -> Value {
        json!(hex(self.as_bytes()))
    }
    fn from_json(value: &Value) -> Self {
        Self::parse(unhex(value.as_str().expect("hex"))).expect("one MessagePack value")
    }
}

macro_rules! byte_enum {
    ($($kind:ty),+) => {$(
        impl Field for $kind {
            fn to_json(&self) -> Value {
                json!(self.byte())
            }
            fn from_json(value: &Value) -> Self {
                Self::from_byte(u8::from_json(value)).expect("a byte with a meaning")
            }
        }
    )+};
}
byte_enum!(RejectReason, ViewState, EntityKind);

macro_rules! record {
    ($($kind:ident { $($field:ident),* })+) => {$(
        impl Field for $kind {
            fn to_json(&self) -> Value {
                #[allow(unused_mut, clippy::allow_attributes, reason = "packets without fields change nothing")]
                let mut map = Map::new();
                $(map.insert(stringify!($field).to_owned(), self.$field.to_json());)*
                Value::Object(map)
            }
            fn from_json(_value: &Value) -> Self {
                Self { $($field: Field::from_json(&_value[stringify!($field)])),* }
            }
        }
    )+};
}
record! {
    ServerHello {
        protocol_version, player_id, session_token, player_token, hours, minutes, weather, driveby_interval,
        garage_doors, client_files_port, auth_pending, server_key, signature
    }
    ConnectReject { reason, text, ban_seconds, server_key, signature }
    ConnectChallenge { cookie }
    ClientBye {}
    PlayerLeave { player_id, player_token }
    ClientAck { ack }
    ServerAck { ack }
    KickNotify { reason }
    ServerKeepalive { nonce, rtt_ms }
    ClientPong { nonce }
    AuthAccepted {}
    AuthAssertion { jwt }
    PlayerSync { seq, position, velocity, heading, area, keys, weapon, stance }
    RequestSpawn {}
    RemotePlayerSync { players }
    RemoteFrame {
        player_id, player_token, seq, position, velocity, heading, area, keys, weapon, stance, health
    }
    EntitySync { entities }
    EntityFrame { entity_id, tick, position, velocity, heading }
    ChatSend { text }
    ClientEvent { name, data }
    HitReport { target_id, target_token, weapon, body_part, origin, hit }
    ViewStatus { view_id, status }
    ViewAction { view_id, data }
    SpawnPlayer { position, heading, area, skin, variant }
    PlayerJoin { players }
    JoinedPlayer { player_id, player_token, name }
    PlayerRename { player_id, player_token, name }
    PlayerStreamIn {
        player_id, player_token, skin, variant, walking_style, position, heading, area, health, armour, weapon
    }
    PlayerStreamOut { player_id, player_token }
    PlayerAppearance { player_id, player_token, skin, variant, walking_style }
    PlayerDeath { player_id, player_token, killer_id, killer_token, weapon }
    SetVitals { health, armour }
    SetMoney { money }
    SetPosition { position, heading, area }
    SetWeapons { weapons }
    WeaponAmmo { weapon, ammo }
    SetTime { hours, minutes }
    SetWeather { weather }
    RunClock { running, ms_per_minute }
    DriveByIntervals { intervals }
    GarageDoors { doors }
    SetWalkingStyle { style }
    PlayerSkills { skills }
    WeaponProperties { weapons }
    WeaponProperty { weapon, damage, range, interval_ms }
    EntitySpawn { entity_id, kind, model, position, heading, area, data }
    EntityDespawn { entity_id }
    EntityData { entity_id, data }
    ChatMessage { colour, text }
    ServerEvent { name, data }
    ViewOpen { view_id, resource, page }
    ViewData { view_id, data }
    ViewClose { view_id }
    FilesManifest { resource, sha256 }
}

impl Field for ClientHello {
    fn to_json(&self) -> Value {
        let name = PlayerName::from_field(&self.name).expect("fixtures hold valid names");
        json!({
            "protocol_version": self.protocol_version,
            "name": name.as_str(),
            "cookie": self.cookie.to_json(),
            "nonce": hex(&self.nonce),
            "password_proof": hex(&self.password_proof),
            "credential_key": hex(&self.credential_key),
            "credential_proof": hex(&self.credential_proof),
        })
    }
    fn from_json(value: &Value) -> Self {
        let name = PlayerName::parse(value["name"].as_str().expect("a text")).expect("a valid name");
        Self {
            protocol_version: Field::from_json(&value["protocol_version"]),
            name: name.to_field(),
            cookie: Field::from_json(&value["cookie"]),
            nonce: Field::from_json(&value["nonce"]),
            password_proof: Field::from_json(&value["password_proof"]),
            credential_key: Field::from_json(&value["credential_key"]),
            credential_proof: Field::from_json(&value["credential_proof"]),
        }
    }
}

impl Field for QueryRequest {
    fn to_json(&self) -> Value {
        json!({ "query_version": self.query_version, "nonce": hex(&self.nonce), "zeros": QUERY_REQUEST_MIN - 38 })
    }
    fn from_json(value: &Value) -> Self {
        Self {
            query_version: Field::from_json(&value["query_version"]),
            nonce: Field::from_json(&value["nonce"]),
        }
    }
}

impl Field for QueryAnswer {
    fn to_json(&self) -> Value {
        let body = &self.body;
        json!({
            "query_version": self.query_version,
            "server_key": hex(&self.server_key),
            "signature": hex(&self.signature),
            "protocol_version": body.protocol_version,
            "server_version": body.server_version.as_str(),
            "minimum_client_version": body.minimum_client_version.as_str(),
            "name": body.name.as_str(),
            "mode": body.mode.as_str(),
            "players": body.players,
            "max_players": body.max_players,
            "flags": body.flags,
        })
    }
    fn from_json(value: &Value) -> Self {
        Self {
            query_version: Field::from_json(&value["query_version"]),
            server_key: Field::from_json(&value["server_key"]),
            signature: Field::from_json(&value["signature"]),
            body: QueryBody {
                protocol_version: Field::from_json(&value["protocol_version"]),
                server_version: Field::from_json(&value["server_version"]),
                minimum_client_version: Field::from_json(&value["minimum_client_version"]),
                name: Field::from_json(&value["name"]),
                mode: Field::from_json(&value["mode"]),
                players: Field::from_json(&value["players"]),
                max_players: Field::from_json(&value["max_players"]),
                flags: Field::from_json(&value["flags"]),
            },
        }
    }
}

macro_rules! packets {
    (
        session: $($in_session:ident $variant:ident),+;
        client lane: $($client_event:ident),+;
        server: $($server:ident $server_variant:ident),+;
        server lane: $($server_event:ident),+;
    ) => {
        /// A client's packet as its fixture writes it.
        pub(crate) fn client_to_json(packet: &ClientPacket) -> Readable {
            let (name, mut fields, token, event_id) = match packet {
                ClientPacket::Hello(packet) => ("ClientHello", packet.to_json(), None, None),
                ClientPacket::Query(packet) => ("QueryRequest", packet.to_json(), None, None),
                ClientPacket::Session { session_token, packet } => match packet {
                    $(SessionPacket::$variant(packet) => {
                        (stringify!($in_session), packet.to_json(), Some(session_token), None)
                    })+
                },
                ClientPacket::Lane { session_token, event_id, event } => match event {
                    $(ClientLaneEvent::$client_event(event) => {
                        (stringify!($client_event), event.to_json(), Some(session_token), Some(event_id))
                    })+
                },
            };
            if let Some(token) = token {
                fields["session_token"] = token.to_json();
            }
            if let Some(event_id) = event_id {
                fields["event_id"] = event_id.to_json();
            }
            Readable { packet: name.to_owned(), fields }
        }

        /// A client's packet from what its fixture writes.
        pub(crate) fn client_from_json(packet: &str, fields: &Value) -> ClientPacket {
            match packet {
                "ClientHello" => ClientPacket::Hello(Field::from_json(fields)),
                "QueryRequest" => ClientPacket::Query(Field::from_json(fields)),
                $(stringify!($in_session) => ClientPacket::Session {
                    session_token: Field::from_json(&fields["session_token"]),
                    packet: SessionPacket::$variant(Field::from_json(fields)),
                },)+
                $(stringify!($client_event) => ClientPacket::Lane {
                    session_token: Field::from_json(&fields["session_token"]),
                    event_id: Field::from_json(&fields["event_id"]),
                    event: ClientLaneEvent::$client_event(Field::from_json(fields)),
                },)+
                other => panic!("no client sends {other}"),
            }
        }

        /// A server's packet as its fixture writes it.
        pub(crate) fn server_to_json(packet: &ServerPacket) -> Readable {
            let (name, fields) = match packet {
                $(ServerPacket::$server_variant(packet) => (stringify!($server), packet.to_json()),)+
                ServerPacket::Lane { event_id, event } => {
                    let (name, mut fields) = match event {
                        $(ServerLaneEvent::$server_event(event) => {
                            (stringify!($server_event), event.to_json())
                        })+
                    };
                    fields["event_id"] = event_id.to_json();
                    (name, fields)
                }
            };
            Readable { packet: name.to_owned(), fields }
        }

        /// A server's packet from what its fixture writes.
        pub(crate) fn server_from_json(packet: &str, fields: &Value) -> ServerPacket {
            match packet {
                $(stringify!($server) => ServerPacket::$server_variant(Field::from_json(fields)),)+
                $(stringify!($server_event) => ServerPacket::Lane {
                    event_id: Field::from_json(&fields["event_id"]),
                    event: ServerLaneEvent::$server_event(Field::from_json(fields)),
                },)+
                other => panic!("no server sends {other}"),
            }
        }
    };
}
packets! {
    session: PlayerSync PlayerSync, ClientBye Bye, RequestSpawn RequestSpawn, ClientAck Ack, ClientPong Pong;
    client lane: ChatSend, ClientEvent, HitReport, AuthAssertion, ViewStatus, ViewAction;
    server: ServerHello Hello, RemotePlayerSync RemotePlayerSync, PlayerLeave PlayerLeave, ServerAck Ack,
        KickNotify Kick, EntitySync EntitySync, ConnectReject Reject, ConnectChallenge Challenge,
        ServerKeepalive Keepalive, QueryAnswer QueryAnswer;
    server lane: SpawnPlayer, PlayerJoin, PlayerRename, PlayerStreamIn, PlayerStreamOut, PlayerAppearance,
        PlayerDeath, SetVitals, SetMoney, SetPosition, SetWeapons, SetTime, SetWeather, RunClock,
        DriveByIntervals, GarageDoors, SetWalkingStyle, PlayerSkills, WeaponProperties, EntitySpawn,
        EntityDespawn, EntityData, ChatMessage, ServerEvent, AuthAccepted, ViewOpen, ViewData, ViewClose,
        FilesManifest;
}
