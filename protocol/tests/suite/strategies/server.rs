//! Arbitrary packets of a server, outside its lane.

use decitick_protocol::*;
use proptest::array::{uniform12, uniform32};
use proptest::collection::vec;
use proptest::prelude::*;

use super::lane::server_lane_events;
use super::values::*;

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
