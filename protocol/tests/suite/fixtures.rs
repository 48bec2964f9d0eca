//! Every golden fixture decodes to its readable twin, and the twin encodes to the fixture.

use std::collections::BTreeSet;

use decitick_protocol::{ClientPacket, PacketId, ServerPacket};

use crate::Fixture;
use crate::json::{client_from_json, client_to_json, server_from_json, server_to_json};

#[test]
fn every_fixture_is_its_twin_in_both_directions() {
    let mut kinds = BTreeSet::new();
    for name in Fixture::names() {
        let Fixture { datagram, twin, .. } = Fixture::load(&name);
        let packet = twin["packet"].as_str().expect("the packet's name");
        let fields = &twin["fields"];
        let mut encoded = Vec::new();
        let readable = match twin["way"].as_str() {
            Some("client to server") => {
                let decoded =
                    ClientPacket::decode(&datagram).unwrap_or_else(|error| panic!("{name}: {error}"));
                let built = client_from_json(packet, fields);
                assert_eq!(built, decoded, "{name}");
                built.encode(&mut encoded);
                client_to_json(&decoded)
            }
            Some("server to client") => {
                let decoded =
                    ServerPacket::decode(&datagram).unwrap_or_else(|error| panic!("{name}: {error}"));
                let built = server_from_json(packet, fields);
                assert_eq!(built, decoded, "{name}");
                built.encode(&mut encoded);
                server_to_json(&decoded)
            }
            way => panic!("{name}: nobody sends {way:?}"),
        };
        assert_eq!(readable.packet, packet, "{name}");
        assert_eq!(&readable.fields, fields, "{name}");
        assert_eq!(encoded, datagram, "{name}");
        assert_eq!(twin["length"], datagram.len(), "{name}");
        assert!(
            twin["label"].as_str().is_some_and(|label| !label.is_empty()),
            "{name} has a label"
        );
        kinds.insert(packet.to_owned());
    }

    let expected: BTreeSet<_> = PacketId::ALL
        .iter()
        .flat_map(|&id| match id {
            PacketId::Query => vec!["QueryRequest".to_owned(), "QueryAnswer".to_owned()],
            id => vec![id.name().to_owned()],
        })
        .collect();
    assert_eq!(kinds, expected, "every kind of packet has a fixture");
}

#[test]
fn a_fixture_goes_only_its_own_way() {
    for name in Fixture::names() {
        let Fixture { datagram, twin, .. } = Fixture::load(&name);
        let other_way = match twin["way"].as_str() {
            Some("client to server") => ServerPacket::decode(&datagram).is_ok(),
            _ => ClientPacket::decode(&datagram).is_ok(),
        };
        assert!(!other_way, "{name} decodes as a packet of the other side");
    }
}
