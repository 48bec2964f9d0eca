//! Arbitrary packets of a client.

use decitick_protocol::*;
use proptest::array::uniform32;
use proptest::collection::vec;
use proptest::prelude::*;

use super::values::*;

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
