//! Arbitrary packets of every kind, for the property tests.

use decitick_protocol::*;
use proptest::array::{uniform11, uniform12, uniform32};
use proptest::collection::vec;
use proptest::num::f32 as floats;
use proptest::prelude::*;

/// Arbitrary packets of every kind a client sends.
pub(crate) fn client_packets() -> Vec<(PacketId, BoxedStrategy<ClientPacket>)> {
    let session = |id, packet: BoxedStrategy<SessionPacket>| {
        let packet = (any::<u64>(), packet).prop_map(|(session_token, packet)| ClientPacket::Session {
            session_token,
            packet,
        });
        (id, packet.boxed())
    };
    let lane = |id, event: BoxedStrategy<ClientLaneEvent>| {
        let packet =
            (any::<u64>(), 1u32.., event).prop_map(|(session_token, event_id, event)| ClientPacket::Lane {
                session_token,
                event_id,
                event,
            });
        (id, packet.boxed())
    };
    vec![
        (
            PacketId::ClientHello,
            client_hello().prop_map(ClientPacket::Hello).boxed(),
        ),
        (
            PacketId::Query,
            (any::<u8>(), uniform32(any::<u8>()))
                .prop_map(|(query_version, nonce)| ClientPacket::Query(QueryRequest { query_version, nonce }))
                .boxed(),
        ),
        session(
            PacketId::PlayerSync,
            player_sync().prop_map(SessionPacket::PlayerSync).boxed(),
        ),
        session(PacketId::ClientBye, Just(SessionPacket::Bye(ClientBye)).boxed()),
        session(
            PacketId::RequestSpawn,
            Just(SessionPacket::RequestSpawn(RequestSpawn)).boxed(),
        ),
        session(
            PacketId::ClientAck,
            any::<u32>()
                .prop_map(|ack| SessionPacket::Ack(ClientAck { ack }))
                .boxed(),
        ),
        session(
            PacketId::ClientPong,
            any::<u32>()
                .prop_map(|nonce| SessionPacket::Pong(ClientPong { nonce }))
                .boxed(),
        ),
        lane(
            PacketId::ChatSend,
            plain_text().prop_map(|text| ChatSend { text }.into()).boxed(),
        ),
        lane(
            PacketId::ClientEvent,
            (text(), data())
                .prop_map(|(name, data)| ClientEvent { name, data }.into())
                .boxed(),
        ),
        lane(
            PacketId::HitReport,
            (any::<(u32, u32, u8)>(), 0..=MAX_BODY_PART, vector(), vector())
                .prop_map(|((target_id, target_token, weapon), body_part, origin, hit)| {
                    HitReport {
                        target_id,
                        target_token,
                        weapon,
                        body_part,
                        origin,
                        hit,
                    }
                    .into()
                })
                .boxed(),
        ),
        lane(
            PacketId::AuthAssertion,
            "[A-Za-z0-9_-]{0,340}\\.[A-Za-z0-9_-]{0,340}\\.[A-Za-z0-9_-]{0,342}"
                .prop_map(|token| {
                    AuthAssertion {
                        jwt: CompactJwt::parse(&token).unwrap(),
                    }
                    .into()
                })
                .boxed(),
        ),
        lane(
            PacketId::ViewStatus,
            (
                any::<u16>(),
                prop::sample::select(vec![ViewState::Loaded, ViewState::Failed, ViewState::Closed]),
            )
                .prop_map(|(view_id, status)| ViewStatus { view_id, status }.into())
                .boxed(),
        ),
        lane(
            PacketId::ViewAction,
            (any::<u16>(), data())
                .prop_map(|(view_id, data)| ViewAction { view_id, data }.into())
                .boxed(),
        ),
    ]
}

/// Arbitrary packets of every kind a server sends.
pub(crate) fn server_packets() -> Vec<(PacketId, BoxedStrategy<ServerPacket>)> {
    let who = || (player_id(), any::<u32>());
    let mut packets = vec![
        (
            PacketId::ServerHello,
            server_hello().prop_map(ServerPacket::Hello).boxed(),
        ),
        (
            PacketId::RemotePlayerSync,
            vec(remote_frame(), 1..=MAX_REMOTE_FRAMES)
                .prop_map(|players| ServerPacket::RemotePlayerSync(RemotePlayerSync { players }))
                .boxed(),
        ),
        (
            PacketId::PlayerLeave,
            who()
                .prop_map(|(player_id, player_token)| {
                    ServerPacket::PlayerLeave(PlayerLeave {
                        player_id,
                        player_token,
                    })
                })
                .boxed(),
        ),
        (
            PacketId::ServerAck,
            any::<u32>()
                .prop_map(|ack| ServerPacket::Ack(ServerAck { ack }))
                .boxed(),
        ),
        (
            PacketId::KickNotify,
            shown_text::<0, KICK_REASON_LEN>()
                .prop_map(|reason| {
                    ServerPacket::Kick(KickNotify {
                        reason: KickReason::parse(reason.as_str()).unwrap(),
                    })
                })
                .boxed(),
        ),
        (
            PacketId::EntitySync,
            vec(entity_frame(), 1..=MAX_ENTITY_FRAMES)
                .prop_map(|entities| ServerPacket::EntitySync(EntitySync { entities }))
                .boxed(),
        ),
        (
            PacketId::ConnectReject,
            connect_reject().prop_map(ServerPacket::Reject).boxed(),
        ),
        (
            PacketId::ConnectChallenge,
            (1..=u64::MAX)
                .prop_map(|cookie| ServerPacket::Challenge(ConnectChallenge { cookie }))
                .boxed(),
        ),
        (
            PacketId::ServerKeepalive,
            any::<(u32, u16)>()
                .prop_map(|(nonce, rtt_ms)| ServerPacket::Keepalive(ServerKeepalive { nonce, rtt_ms }))
                .boxed(),
        ),
        (
            PacketId::Query,
            query_answer().prop_map(ServerPacket::QueryAnswer).boxed(),
        ),
    ];
    packets.extend(server_lane_events().into_iter().map(|(id, event)| {
        let packet = (1u32.., event).prop_map(|(event_id, event)| ServerPacket::Lane { event_id, event });
        (id, packet.boxed())
    }));
    packets
}

fn server_lane_events() -> Vec<(PacketId, BoxedStrategy<ServerLaneEvent>)> {
    let who = || (player_id(), any::<u32>());
    let pose = || (vector(), float(), any::<u8>());
    vec![
        (
            PacketId::SpawnPlayer,
            (pose(), any::<(u32, u8)>())
                .prop_map(|((position, heading, area), (skin, variant))| {
                    SpawnPlayer {
                        position,
                        heading,
                        area,
                        skin,
                        variant,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::PlayerJoin,
            vec((who(), text()), 1..=16)
                .prop_map(|rows| {
                    let row = |((player_id, player_token), name)| JoinedPlayer {
                        player_id,
                        player_token,
                        name,
                    };
                    PlayerJoin {
                        players: rows.into_iter().map(row).collect(),
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::PlayerRename,
            (who(), text())
                .prop_map(|((player_id, player_token), name)| {
                    PlayerRename {
                        player_id,
                        player_token,
                        name,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::PlayerStreamIn,
            (who(), any::<(u32, u8, u8)>(), pose(), any::<(u8, u8, u8)>())
                .prop_map(|(who, looks, pose, state)| {
                    let ((player_id, player_token), (skin, variant, walking_style)) = (who, looks);
                    let ((position, heading, area), (health, armour, weapon)) = (pose, state);
                    PlayerStreamIn {
                        player_id,
                        player_token,
                        skin,
                        variant,
                        walking_style,
                        position,
                        heading,
                        area,
                        health,
                        armour,
                        weapon,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::PlayerStreamOut,
            who()
                .prop_map(|(player_id, player_token)| {
                    PlayerStreamOut {
                        player_id,
                        player_token,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::PlayerAppearance,
            (who(), any::<(u32, u8, u8)>())
                .prop_map(|((player_id, player_token), (skin, variant, walking_style))| {
                    PlayerAppearance {
                        player_id,
                        player_token,
                        skin,
                        variant,
                        walking_style,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::PlayerDeath,
            (who(), any::<(u32, u32, u8)>())
                .prop_map(|((player_id, player_token), (killer_id, killer_token, weapon))| {
                    PlayerDeath {
                        player_id,
                        player_token,
                        killer_id,
                        killer_token,
                        weapon,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::SetVitals,
            (0..=MAX_VITAL, 0..=MAX_VITAL)
                .prop_map(|(health, armour)| SetVitals { health, armour }.into())
                .boxed(),
        ),
        (
            PacketId::SetMoney,
            any::<i64>().prop_map(|money| SetMoney { money }.into()).boxed(),
        ),
        (
            PacketId::SetPosition,
            pose()
                .prop_map(|(position, heading, area)| {
                    SetPosition {
                        position,
                        heading,
                        area,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::SetWeapons,
            vec(any::<(u8, u16)>(), 0..=MAX_WEAPON_SLOTS)
                .prop_map(|rows| {
                    let row = |(weapon, ammo)| WeaponAmmo { weapon, ammo };
                    SetWeapons {
                        weapons: rows.into_iter().map(row).collect(),
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::SetTime,
            (0..=23u8, 0..=59u8)
                .prop_map(|(hours, minutes)| SetTime { hours, minutes }.into())
                .boxed(),
        ),
        (
            PacketId::SetWeather,
            any::<u8>()
                .prop_map(|weather| SetWeather { weather }.into())
                .boxed(),
        ),
        (
            PacketId::RunClock,
            (any::<bool>(), 1..=u16::MAX)
                .prop_map(|(running, ms_per_minute)| {
                    RunClock {
                        running,
                        ms_per_minute,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::DriveByIntervals,
            uniform12(any::<u16>())
                .prop_map(|intervals| DriveByIntervals { intervals }.into())
                .boxed(),
        ),
        (
            PacketId::GarageDoors,
            any::<u64>()
                .prop_map(|doors| GarageDoors { doors }.into())
                .boxed(),
        ),
        (
            PacketId::SetWalkingStyle,
            any::<u8>()
                .prop_map(|style| SetWalkingStyle { style }.into())
                .boxed(),
        ),
        (
            PacketId::PlayerSkills,
            uniform11(0..=MAX_SKILL)
                .prop_map(|skills| PlayerSkills { skills }.into())
                .boxed(),
        ),
        (
            PacketId::WeaponProperties,
            vec((any::<(u8, u16, u16)>(), float()), 1..=MAX_WEAPON_PROPERTIES)
                .prop_map(|rows| {
                    let row = |((weapon, damage, interval_ms), range)| WeaponProperty {
                        weapon,
                        damage,
                        range,
                        interval_ms,
                    };
                    WeaponProperties {
                        weapons: rows.into_iter().map(row).collect(),
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::EntitySpawn,
            (any::<(u32, u32)>(), 1..=5u8, pose(), data())
                .prop_map(|((entity_id, model), kind, (position, heading, area), data)| {
                    let kind = EntityKind::from_byte(kind).unwrap();
                    EntitySpawn {
                        entity_id,
                        kind,
                        model,
                        position,
                        heading,
                        area,
                        data,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::EntityDespawn,
            any::<u32>()
                .prop_map(|entity_id| EntityDespawn { entity_id }.into())
                .boxed(),
        ),
        (
            PacketId::EntityData,
            (any::<u32>(), data())
                .prop_map(|(entity_id, data)| EntityData { entity_id, data }.into())
                .boxed(),
        ),
        (
            PacketId::ChatMessage,
            (any::<u32>(), text())
                .prop_map(|(colour, text)| ChatMessage { colour, text }.into())
                .boxed(),
        ),
        (
            PacketId::ServerEvent,
            (text(), data())
                .prop_map(|(name, data)| ServerEvent { name, data }.into())
                .boxed(),
        ),
        (PacketId::AuthAccepted, Just(AuthAccepted.into()).boxed()),
        (
            PacketId::ViewOpen,
            (any::<u16>(), text(), text())
                .prop_map(|(view_id, resource, page)| {
                    ViewOpen {
                        view_id,
                        resource,
                        page,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::ViewData,
            (any::<u16>(), data())
                .prop_map(|(view_id, data)| ViewData { view_id, data }.into())
                .boxed(),
        ),
        (
            PacketId::ViewClose,
            any::<u16>()
                .prop_map(|view_id| ViewClose { view_id }.into())
                .boxed(),
        ),
        (
            PacketId::FilesManifest,
            (text(), uniform32(any::<u8>()))
                .prop_map(|(resource, sha256)| FilesManifest { resource, sha256 }.into())
                .boxed(),
        ),
    ]
}

fn client_hello() -> impl Strategy<Value = ClientHello> {
    let bytes = || uniform32(any::<u8>());
    let raw = (
        vec(any::<u8>(), NAME_LEN),
        bytes(),
        bytes(),
        bytes(),
        vec(any::<u8>(), 64),
    );
    (any::<(u16, u64)>(), raw).prop_map(|((protocol_version, cookie), raw)| {
        let (name, nonce, password_proof, credential_key, credential_proof) = raw;
        ClientHello {
            protocol_version,
            name: name.try_into().unwrap(),
            cookie,
            nonce,
            password_proof,
            credential_key,
            credential_proof: credential_proof.try_into().unwrap(),
        }
    })
}

fn server_hello() -> impl Strategy<Value = ServerHello> {
    let who = (player_id(), 1..=u64::MAX, 1..=u32::MAX);
    let world = (
        0..=23u8,
        0..=59u8,
        any::<(u8, u64, bool, u16)>(),
        uniform12(any::<u16>()),
        1..=u16::MAX,
    );
    let seal = (uniform32(any::<u8>()), vec(any::<u8>(), 64));
    (who, world, seal).prop_map(
        |((player_id, session_token, player_token), world, (server_key, signature))| {
            let (hours, minutes, (weather, garage_doors, auth_pending, protocol_version), intervals, port) =
                world;
            ServerHello {
                protocol_version,
                player_id,
                session_token,
                player_token,
                hours,
                minutes,
                weather,
                driveby_interval: intervals,
                garage_doors,
                client_files_port: port,
                auth_pending,
                server_key,
                signature: signature.try_into().unwrap(),
            }
        },
    )
}

fn connect_reject() -> impl Strategy<Value = ConnectReject> {
    let seal = (uniform32(any::<u8>()), vec(any::<u8>(), 64));
    let reason = prop::sample::select(RejectReason::ALL.to_vec());
    (reason, shown_text(), any::<u32>(), seal).prop_map(|(reason, text, seconds, (server_key, signature))| {
        ConnectReject {
            reason,
            text: if reason.may_carry_text() {
                text
            } else {
                ShownText::default()
            },
            ban_seconds: if reason.may_carry_seconds() { seconds } else { 0 },
            server_key,
            signature: signature.try_into().unwrap(),
        }
    })
}

fn query_answer() -> impl Strategy<Value = QueryAnswer> {
    let texts = (shown_text(), shown_text(), shown_text(), shown_text());
    let seal = (1..=u8::MAX, uniform32(any::<u8>()), vec(any::<u8>(), 64));
    (texts, any::<(u16, u16, u16, u8)>(), seal).prop_map(
        |(texts, numbers, (query_version, server_key, signature))| {
            let (server_version, minimum_client_version, name, mode) = texts;
            let (protocol_version, players, max_players, flags) = numbers;
            let body = QueryBody {
                protocol_version,
                server_version,
                minimum_client_version,
                name,
                mode,
                players,
                max_players,
                flags,
            };
            QueryAnswer {
                query_version,
                server_key,
                signature: signature.try_into().unwrap(),
                body,
            }
        },
    )
}

fn player_sync() -> impl Strategy<Value = PlayerSync> {
    (
        any::<u32>(),
        place(),
        vector(),
        float(),
        any::<(u8, u16, u8, u8)>(),
    )
        .prop_map(
            |(seq, position, velocity, heading, (area, keys, weapon, stance))| PlayerSync {
                seq,
                position,
                velocity,
                heading,
                area,
                keys,
                weapon,
                stance,
            },
        )
}

fn remote_frame() -> impl Strategy<Value = RemoteFrame> {
    (player_id(), any::<(u32, u8)>(), player_sync()).prop_map(|(player_id, (player_token, health), frame)| {
        let PlayerSync {
            seq,
            position,
            velocity,
            heading,
            area,
            keys,
            weapon,
            stance,
        } = frame;
        RemoteFrame {
            player_id,
            player_token,
            seq,
            position,
            velocity,
            heading,
            area,
            keys,
            weapon,
            stance,
            health,
        }
    })
}

fn entity_frame() -> impl Strategy<Value = EntityFrame> {
    (any::<(u32, u32)>(), vector(), vector(), float()).prop_map(
        |((entity_id, tick), position, velocity, heading)| EntityFrame {
            entity_id,
            tick,
            position,
            velocity,
            heading,
        },
    )
}

fn player_id() -> impl Strategy<Value = u32> {
    0..u32::from(MAX_PLAYERS)
}

fn float() -> impl Strategy<Value = f32> {
    floats::POSITIVE | floats::NEGATIVE | floats::NORMAL | floats::SUBNORMAL | floats::ZERO
}

fn vector() -> impl Strategy<Value = Vec3> {
    [float(), float(), float()].prop_map(Vec3::from)
}

fn place() -> impl Strategy<Value = Vec3> {
    let axis = || -POSITION_LIMIT..=POSITION_LIMIT;
    [axis(), axis(), axis()].prop_map(Vec3::from)
}

/// Short texts of any characters, and long ones of one byte a character.
fn characters<const MIN: usize, const MAX: usize>() -> impl Strategy<Value = String> {
    prop_oneof![
        vec(any::<char>(), MIN..=MAX / 4).prop_map(String::from_iter),
        vec(prop::char::range(' ', '~'), MIN..=MAX).prop_map(String::from_iter),
    ]
}

fn text<const MIN: usize, const MAX: usize>() -> impl Strategy<Value = Text<MIN, MAX>> {
    characters::<MIN, MAX>().prop_map(|text| Text::parse(&text).unwrap())
}

fn plain_text<const MIN: usize, const MAX: usize>() -> impl Strategy<Value = PlainText<MIN, MAX>> {
    characters::<MIN, MAX>().prop_map(|text| PlainText::parse(&text.replace(char::is_control, "x")).unwrap())
}

fn shown_text<const MIN: usize, const MAX: usize>() -> impl Strategy<Value = ShownText<MIN, MAX>> {
    characters::<MIN, MAX>()
        .prop_map(|text| ShownText::parse(&text.replace(is_control_or_format, "x")).unwrap())
}

fn data<const MAX: usize>() -> impl Strategy<Value = MessagePack<MAX>> {
    message_pack().prop_map(|bytes| MessagePack::parse(bytes).unwrap_or_else(|_| MessagePack::nil()))
}

/// The bytes of an arbitrary MessagePack value.
pub(crate) fn message_pack() -> impl Strategy<Value = Vec<u8>> {
    let string = || "[a-zщ]{0,12}".prop_map(|text| [&[0xD9, text.len() as u8], text.as_bytes()].concat());
    let leaf = prop_oneof![
        prop::sample::select(vec![
            vec![0xC0],
            vec![0xC2],
            vec![0xC3],
            vec![0x7F],
            vec![0xE0],
            vec![0xA0]
        ]),
        any::<u64>().prop_map(|value| [&[0xCF], value.to_be_bytes().as_slice()].concat()),
        any::<i16>().prop_map(|value| [&[0xD1], value.to_be_bytes().as_slice()].concat()),
        any::<f32>().prop_map(|value| [&[0xCA], value.to_be_bytes().as_slice()].concat()),
        any::<f64>().prop_map(|value| [&[0xCB], value.to_be_bytes().as_slice()].concat()),
        vec(any::<u8>(), 0..40).prop_map(|bytes| [&[0xC4, bytes.len() as u8], bytes.as_slice()].concat()),
        string(),
    ];
    leaf.prop_recursive(6, 48, 8, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8)
                .prop_map(|items| [vec![0x90 | items.len() as u8], items.concat()].concat()),
            vec(inner.clone(), 0..8)
                .prop_map(|items| [vec![0xDC, 0, items.len() as u8], items.concat()].concat()),
            vec((string(), inner), 0..8).prop_map(|items| {
                let items: Vec<u8> = std::iter::once(0x80 | items.len() as u8)
                    .chain(items.into_iter().flat_map(|(key, value)| [key, value].concat()))
                    .collect();
                items
            }),
        ]
    })
}
