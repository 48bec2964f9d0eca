//! Whatever is traced shows no secret: every packet there is, with a mark in everything that must not be read.

use std::collections::BTreeSet;

use bevy_ecs::entity::Entity;
use decitick_components::console::{AnswerText, Layout, TraceAnswer};
use decitick_protocol::*;

use super::*;

/// Stands wherever a secret may; as a number too.
const MARK: [u8; 8] = *b"MARKED42";

fn number() -> u64 {
    u64::from_le_bytes(MARK)
}

/// So many bytes full of marks.
fn marks<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    for (byte, mark) in bytes.iter_mut().zip(MARK.iter().cycle()) {
        *byte = *mark;
    }
    bytes
}

fn marked_data<const MAX: usize>() -> MessagePack<MAX> {
    let mut bytes = vec![0xA0 | MARK.len() as u8];
    bytes.extend(MARK);
    MessagePack::parse(bytes).unwrap()
}

fn text<const MIN: usize, const MAX: usize>(text: &str) -> Text<MIN, MAX> {
    Text::parse(text).unwrap()
}

fn inbound() -> Vec<ClientPacket> {
    let mark = std::str::from_utf8(&MARK).unwrap();
    let jwt = format!("{mark}.{mark}.{mark}{mark}");
    let session = |packet| ClientPacket::Session {
        session_token: number(),
        packet,
    };
    let lane = |event| ClientPacket::Lane {
        session_token: number(),
        event_id: 1,
        event,
    };
    let frame = PlayerSync {
        seq: 1,
        position: Vec3::ZERO,
        velocity: Vec3::ZERO,
        heading: 0.0,
        area: 0,
        keys: 0,
        weapon: 0,
        stance: 0,
    };
    let hit = HitReport {
        target_id: 1,
        target_token: 1,
        weapon: 0,
        body_part: 0,
        origin: Vec3::ZERO,
        hit: Vec3::ZERO,
    };
    let mut name = [0; NAME_LEN];
    name[..3].copy_from_slice(b"Ann");
    vec![
        ClientPacket::Hello(ClientHello {
            protocol_version: PROTOCOL_VERSION,
            name,
            cookie: number(),
            nonce: marks(),
            password_proof: marks(),
            credential_key: marks(),
            credential_proof: marks(),
        }),
        ClientPacket::Query(QueryRequest {
            query_version: 1,
            nonce: marks(),
        }),
        session(SessionPacket::PlayerSync(frame)),
        session(SessionPacket::Bye(ClientBye)),
        session(SessionPacket::RequestSpawn(RequestSpawn)),
        session(SessionPacket::Ack(ClientAck { ack: 1 })),
        session(SessionPacket::Pong(ClientPong { nonce: 7 })),
        lane(ClientLaneEvent::ChatSend(ChatSend {
            text: PlainText::parse(&format!("/login {mark}")).unwrap(),
        })),
        lane(ClientLaneEvent::ClientEvent(ClientEvent {
            name: text("shop.buy"),
            data: marked_data(),
        })),
        lane(ClientLaneEvent::HitReport(hit)),
        lane(ClientLaneEvent::AuthAssertion(AuthAssertion {
            jwt: CompactJwt::parse(&jwt).unwrap(),
        })),
        lane(ClientLaneEvent::ViewStatus(ViewStatus {
            view_id: 1,
            status: ViewState::Loaded,
        })),
        lane(ClientLaneEvent::ViewAction(ViewAction {
            view_id: 1,
            data: marked_data(),
        })),
    ]
}

fn outbound() -> Vec<ServerPacket> {
    let mut packets = vec![
        ServerPacket::Hello(ServerHello {
            protocol_version: PROTOCOL_VERSION,
            player_id: 1,
            session_token: number(),
            player_token: 1,
            hours: 0,
            minutes: 0,
            weather: 0,
            driveby_interval: [0; 12],
            garage_doors: 0,
            client_files_port: 7778,
            auth_pending: false,
            server_key: marks(),
            signature: marks(),
        }),
        ServerPacket::RemotePlayerSync(RemotePlayerSync {
            players: vec![RemoteFrame {
                player_id: 3,
                player_token: 1,
                seq: 1,
                position: Vec3::ZERO,
                velocity: Vec3::ZERO,
                heading: 0.0,
                area: 0,
                keys: 0,
                weapon: 0,
                stance: 0,
                health: 100,
            }],
        }),
        ServerPacket::PlayerLeave(PlayerLeave {
            player_id: 1,
            player_token: 1,
        }),
        ServerPacket::Ack(ServerAck { ack: 1 }),
        ServerPacket::Kick(KickNotify {
            reason: KickReason::parse("enough").unwrap(),
        }),
        ServerPacket::EntitySync(EntitySync {
            entities: vec![EntityFrame {
                entity_id: 1,
                tick: 1,
                position: Vec3::ZERO,
                velocity: Vec3::ZERO,
                heading: 0.0,
            }],
        }),
        ServerPacket::Reject(ConnectReject {
            server_key: marks(),
            signature: marks(),
            ..ConnectReject::unsigned(RejectReason::ServerFull)
        }),
        ServerPacket::Challenge(ConnectChallenge { cookie: number() }),
        ServerPacket::Keepalive(ServerKeepalive { nonce: 7, rtt_ms: 30 }),
    ];
    packets.extend(
        events()
            .into_iter()
            .map(|event| ServerPacket::Lane { event_id: 1, event }),
    );
    packets
}

fn events() -> Vec<ServerLaneEvent> {
    let mark = std::str::from_utf8(&MARK).unwrap();
    let (player_id, player_token, position, heading, area) = (1, 1, Vec3::ZERO, 0.0, 0);
    vec![
        SpawnPlayer {
            position,
            heading,
            area,
            skin: 1,
            variant: 0,
        }
        .into(),
        PlayerJoin {
            players: vec![JoinedPlayer {
                player_id,
                player_token,
                name: text("Ann"),
            }],
        }
        .into(),
        PlayerRename {
            player_id,
            player_token,
            name: text("Ann"),
        }
        .into(),
        PlayerStreamIn {
            player_id,
            player_token,
            skin: 1,
            variant: 0,
            walking_style: 0,
            position,
            heading,
            area,
            health: 100,
            armour: 0,
            weapon: 0,
        }
        .into(),
        PlayerStreamOut {
            player_id,
            player_token,
        }
        .into(),
        PlayerAppearance {
            player_id,
            player_token,
            skin: 1,
            variant: 0,
            walking_style: 0,
        }
        .into(),
        PlayerDeath {
            player_id,
            player_token,
            killer_id: NO_KILLER,
            killer_token: 0,
            weapon: 0,
        }
        .into(),
        SetVitals {
            health: 100,
            armour: 0,
        }
        .into(),
        SetMoney { money: -5 }.into(),
        SetPosition {
            position,
            heading,
            area,
        }
        .into(),
        SetWeapons {
            weapons: vec![WeaponAmmo { weapon: 3, ammo: 40 }],
        }
        .into(),
        SetTime { hours: 6, minutes: 5 }.into(),
        SetWeather { weather: 1 }.into(),
        RunClock {
            running: true,
            ms_per_minute: 1000,
        }
        .into(),
        DriveByIntervals { intervals: [5; 12] }.into(),
        GarageDoors { doors: u64::MAX }.into(),
        SetWalkingStyle { style: 4 }.into(),
        PlayerSkills { skills: [9; 11] }.into(),
        WeaponProperties {
            weapons: vec![WeaponProperty {
                weapon: 3,
                damage: 10,
                range: 30.0,
                interval_ms: 100,
            }],
        }
        .into(),
        EntitySpawn {
            entity_id: 1,
            kind: EntityKind::Object,
            model: 1,
            position,
            heading,
            area,
            data: marked_data(),
        }
        .into(),
        EntityDespawn { entity_id: 1 }.into(),
        EntityData {
            entity_id: 1,
            data: marked_data(),
        }
        .into(),
        ChatMessage {
            colour: 0xFFFF_FFFF,
            text: text("hello"),
        }
        .into(),
        ServerEvent {
            name: text("shop.open"),
            data: marked_data(),
        }
        .into(),
        AuthAccepted.into(),
        ViewOpen {
            view_id: 1,
            resource: text("login"),
            page: text(&format!("login.html?ticket={mark}")),
        }
        .into(),
        ViewData {
            view_id: 1,
            data: marked_data(),
        }
        .into(),
        ViewClose { view_id: 1 }.into(),
        FilesManifest {
            resource: text("race"),
            sha256: marks(),
        }
        .into(),
    ]
}

/// Both forms of what is shown of a datagram.
fn shown(direction: TraceDirection, bytes: Vec<u8>) -> (TraceRow, String) {
    let row = row(&Noted {
        entity: Entity::from_raw_u32(1).unwrap(),
        direction,
        bytes,
        dropped: None,
    });
    let answer = TraceAnswer {
        player: Some(1),
        tick: 5,
        packets: vec![row.clone()],
        more: 0,
    };
    let json = serde_json::to_string(&answer).unwrap();
    (row, format!("{}\n{json}", answer.text(Layout::WIDE)))
}

fn expect_no_mark(shown: &str) {
    let hex: String = MARK.iter().map(|byte| format!("{byte:02x}")).collect();
    let mark = std::str::from_utf8(&MARK).unwrap();
    let part = number().to_string();
    for secret in [mark, &hex, &hex.to_uppercase(), &part, "MARK", "77, 65, 82"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
}

#[test]
fn no_packet_shows_what_is_secret_in_it() {
    let mut seen = BTreeSet::new();
    let sent = inbound().into_iter().map(|packet| {
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        (TraceDirection::In, packet.id(), bytes)
    });
    let told = outbound().into_iter().map(|packet| {
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        (TraceDirection::Out, packet.id(), bytes)
    });
    for (direction, id, bytes) in sent.chain(told) {
        seen.insert(id);
        let (row, shown) = shown(direction, bytes);
        assert_eq!(row.packet, id.name());
        let undecoded = row.fields.0.iter().any(|(name, _)| *name == "content");
        assert!(!undecoded, "the example of {id:?} decodes");
        expect_no_mark(&shown);
    }
    let missing: Vec<_> = PacketId::ALL.iter().filter(|id| !seen.contains(id)).collect();
    assert!(missing.is_empty(), "without an example: {missing:?}");
}

#[test]
fn what_does_not_decode_shows_its_length() {
    for direction in [TraceDirection::In, TraceDirection::Out] {
        for id in 0..=u8::MAX {
            let mut bytes = vec![id];
            bytes.extend(marks::<40>());
            let (_, shown) = shown(direction, bytes);
            // A number that no layout holds there may be shown as the event id it is not.
            let frame = PacketId::from_byte(id).is_some_and(|id| id.is_client_lane() || id.is_server_lane());
            if !frame {
                expect_no_mark(&shown);
            }
        }
    }
    let (row, _) = shown(TraceDirection::In, Vec::new());
    assert_eq!(row.packet, "unknown");
}
