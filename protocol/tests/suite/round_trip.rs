//! What is encoded decodes to itself, at exactly its own length and nowhere else.

use std::collections::BTreeSet;

use decitick_protocol::*;
use proptest::strategy::{BoxedStrategy, Strategy};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use proptest::{prop_assert, prop_assert_eq};

use crate::strategies::{client_packets, server_packets};

/// Runs a property on arbitrary values, the same ones every time.
pub(crate) fn check<T: std::fmt::Debug>(
    cases: u32,
    strategy: &impl Strategy<Value = T>,
    property: impl Fn(T) -> Result<(), TestCaseError>,
) {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, random)
        .run(strategy, property)
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Both sides' packets behind one face: what this crate does with them is the same.
struct Side<P: 'static> {
    packets: Vec<(PacketId, BoxedStrategy<P>)>,
    encode: fn(&P, &mut Vec<u8>),
    decode: fn(&[u8]) -> Result<P, DecodeError>,
}

fn client() -> Side<ClientPacket> {
    Side {
        packets: client_packets(),
        encode: ClientPacket::encode,
        decode: ClientPacket::decode,
    }
}

fn server() -> Side<ServerPacket> {
    Side {
        packets: server_packets(),
        encode: ServerPacket::encode,
        decode: ServerPacket::decode,
    }
}

impl<P: std::fmt::Debug + PartialEq> Side<P> {
    fn covers(&self, expected: impl Fn(PacketId) -> bool) {
        let covered: BTreeSet<_> = self.packets.iter().map(|(id, _)| *id).collect();
        let expected: BTreeSet<_> = PacketId::ALL.iter().copied().filter(|&id| expected(id)).collect();
        assert_eq!(covered, expected);
    }

    fn round_trips(&self) {
        for (id, packets) in &self.packets {
            check(128, packets, |packet| {
                let mut out = vec![0xEE; 3];
                (self.encode)(&packet, &mut out);
                let datagram = &out[3..];
                prop_assert_eq!(&out[..3], [0xEE; 3], "encoding appends");
                prop_assert_eq!(datagram[0], id.byte());
                prop_assert!(datagram.len() <= MAX_PACKET);
                prop_assert_eq!((self.decode)(datagram), Ok(packet));
                Ok(())
            });
        }
    }

    fn refuses_other_lengths(&self) {
        for (id, packets) in &self.packets {
            if *id == PacketId::Query {
                continue;
            }
            check(16, packets, |packet| {
                let mut datagram = Vec::new();
                (self.encode)(&packet, &mut datagram);
                for length in 0..datagram.len() {
                    prop_assert!((self.decode)(&datagram[..length]).is_err(), "{} bytes", length);
                }
                for byte in [0, 1, 0xFF] {
                    let mut longer = datagram.clone();
                    longer.push(byte);
                    prop_assert!((self.decode)(&longer).is_err(), "one byte more: {}", byte);
                    longer.resize(MAX_PACKET, 0);
                    prop_assert!(datagram.len() >= MAX_PACKET - 1 || (self.decode)(&longer).is_err());
                }
                let twice = datagram.repeat(2);
                prop_assert!((self.decode)(&twice).is_err(), "twice in one datagram");
                Ok(())
            });
        }
    }

    fn keeps_its_length_bounds(&self, bounds: impl Fn(PacketId) -> (usize, usize)) {
        for (id, packets) in &self.packets {
            let (minimum, maximum) = bounds(*id);
            check(128, packets, |packet| {
                let mut datagram = Vec::new();
                (self.encode)(&packet, &mut datagram);
                prop_assert!(
                    (minimum..=maximum).contains(&datagram.len()),
                    "{:?}: {}",
                    id,
                    datagram.len()
                );
                Ok(())
            });
        }
    }
}

#[test]
fn every_kind_of_packet_has_arbitrary_examples() {
    client().covers(PacketId::is_from_client);
    server().covers(PacketId::is_from_server);
}

#[test]
fn what_a_client_encodes_decodes_to_itself() {
    client().round_trips();
}

#[test]
fn what_a_server_encodes_decodes_to_itself() {
    server().round_trips();
}

#[test]
fn a_clients_packet_of_any_other_length_is_refused() {
    client().refuses_other_lengths();
}

#[test]
fn a_servers_packet_of_any_other_length_is_refused() {
    server().refuses_other_lengths();
}

#[test]
fn packets_keep_the_length_bounds_of_their_id() {
    client().keeps_its_length_bounds(PacketId::length_bounds);
    server().keeps_its_length_bounds(|id| match id {
        PacketId::Query => (QUERY_ANSWER_MIN, QUERY_ANSWER_MAX),
        id => id.length_bounds(),
    });
}

#[test]
fn ids_know_their_byte_name_and_direction() {
    let mut known = 0;
    for byte in 0..=u8::MAX {
        if let Some(id) = PacketId::from_byte(byte) {
            assert_eq!(id.byte(), byte);
            assert_eq!(format!("{id:?}"), id.name());
            assert!(!(id.is_client_lane() && id.is_server_lane()));
            known += 1;
        }
    }
    assert_eq!(known, PacketId::ALL.len());
    assert_eq!(PacketId::Query.direction(), Direction::Both);
    assert_eq!(PacketId::ClientHello.direction(), Direction::ClientToServer);
    assert_eq!(PacketId::ViewAction.direction(), Direction::ClientToServer);
    assert_eq!(PacketId::FilesManifest.direction(), Direction::ServerToClient);
}

#[test]
fn token_and_event_id_are_read_and_written_in_place() {
    let mut datagram = Vec::new();
    ClientLaneEvent::from(ChatSend {
        text: PlainText::parse("hi").unwrap(),
    })
    .encode(0x1122_3344_5566_7788, 9, &mut datagram);
    assert_eq!(session_token_of(&datagram), Some(0x1122_3344_5566_7788));
    assert_eq!(client_event_id_of(&datagram), Some(9));
    assert_eq!(session_token_of(&datagram[..8]), None);
    assert_eq!(client_event_id_of(&datagram[..12]), None);

    let mut datagram = Vec::new();
    ServerLaneEvent::from(SetWeather { weather: 3 }).encode(1, &mut datagram);
    write_event_id(&mut datagram, 0x0102_0304);
    let event = ServerLaneEvent::SetWeather(SetWeather { weather: 3 });
    assert_eq!(
        ServerPacket::decode(&datagram),
        Ok(ServerPacket::Lane {
            event_id: 0x0102_0304,
            event
        })
    );
    write_event_id(&mut [], 1);
}

#[test]
fn records_encoded_one_by_one_make_the_same_datagram() {
    for (name, length) in [
        ("remote_player_sync_full", REMOTE_FRAME_LEN),
        ("entity_sync_full", ENTITY_FRAME_LEN),
    ] {
        let expected = crate::Fixture::load(name).datagram;
        let mut out = Vec::new();
        let mut record = Vec::new();
        match ServerPacket::decode(&expected).unwrap() {
            ServerPacket::RemotePlayerSync(sync) => {
                RemotePlayerSync::encode_header(sync.players.len() as u8, &mut out);
                for frame in sync.players {
                    record.clear();
                    frame.encode_record(&mut record);
                    assert_eq!(record.len(), length);
                    out.extend_from_slice(&record);
                }
            }
            ServerPacket::EntitySync(sync) => {
                EntitySync::encode_header(sync.entities.len() as u8, &mut out);
                for frame in sync.entities {
                    record.clear();
                    frame.encode_record(&mut record);
                    assert_eq!(record.len(), length);
                    out.extend_from_slice(&record);
                }
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(out, expected);
    }
}

#[test]
fn packets_that_stand_alone_have_their_own_decoder() {
    let fixture = |name| crate::Fixture::load(name).datagram;
    assert!(ClientHello::decode(&fixture("client_hello_first")).is_ok());
    assert!(PlayerSync::decode(&fixture("player_sync")).is_ok());
    assert!(ClientBye::decode(&fixture("client_bye")).is_ok());
    assert!(ServerAck::decode(&fixture("server_ack")).is_ok());
    assert!(EntitySync::decode(&fixture("entity_sync")).is_ok());
    assert_eq!(
        ServerAck::decode(&fixture("client_bye")),
        Err(DecodeError::UnknownId { id: 0x05 })
    );
    assert_eq!(ServerAck::decode(&[]), Err(DecodeError::Empty));
    assert_eq!(
        PlayerSync::decode(&fixture("player_sync")[..45]),
        Err(DecodeError::TooShort { field: "stance" })
    );

    let mut datagram = Vec::new();
    ClientPong { nonce: 5 }.encode(7, &mut datagram);
    let packet = SessionPacket::Pong(ClientPong { nonce: 5 });
    assert_eq!(
        ClientPacket::decode(&datagram),
        Ok(ClientPacket::Session {
            session_token: 7,
            packet
        })
    );
}

#[test]
fn only_chat_and_script_events_are_of_a_droppable_kind() {
    let mut droppable = Vec::new();
    for name in crate::Fixture::names() {
        if let Ok(ServerPacket::Lane { event, .. }) =
            ServerPacket::decode(&crate::Fixture::load(&name).datagram)
            && event.droppable_kind()
        {
            droppable.push(event.id());
        }
    }
    droppable.dedup();
    assert_eq!(droppable, [PacketId::ChatMessage, PacketId::ServerEvent]);
}
