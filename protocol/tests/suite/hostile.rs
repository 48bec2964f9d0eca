//! Bytes nobody meant well: decoding never panics, and whatever is accepted encodes to the very same bytes.

use decitick_protocol::*;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::Fixture;
use crate::round_trip::check;
use crate::strategies::message_pack;

/// Decodes with everything there is. Strict decoding leaves one encoding for each value, so an accepted datagram must
/// come back byte by byte; only queries carry bytes that are not judged.
fn decode_with_everything(datagram: &[u8]) -> Result<(), TestCaseError> {
    let is_query = datagram.first() == Some(&0xFF);
    if let Ok(packet) = ClientPacket::decode(datagram) {
        let mut again = Vec::new();
        packet.encode(&mut again);
        prop_assert!(is_query || again == datagram, "{:?}", packet);
        prop_assert!(packet.id().is_from_client());
        let (minimum, maximum) = packet.id().length_bounds();
        prop_assert!((minimum..=maximum).contains(&datagram.len()), "{:?}", packet);
    }
    if let Ok(packet) = ServerPacket::decode(datagram) {
        let mut again = Vec::new();
        packet.encode(&mut again);
        prop_assert!(is_query || again == datagram, "{:?}", packet);
        prop_assert!(packet.id().is_from_server());
    }
    // No fixture is signed over this nonce.
    let nonce = [0; 32];
    prop_assert!(!verify_hello(datagram, &nonce, None));
    prop_assert!(!verify_reject(datagram, &nonce, None));
    prop_assert!(!verify_query_answer(datagram, &nonce));
    prop_assert_eq!(session_token_of(datagram).is_some(), datagram.len() >= 9);
    prop_assert_eq!(client_event_id_of(datagram).is_some(), datagram.len() >= 13);
    prop_assert_eq!(
        query_nonce_of(datagram).is_some(),
        QueryRequest::decode(datagram).is_ok()
    );
    let _ = validate_one(datagram);
    Ok(())
}

#[test]
fn random_bytes_never_panic() {
    check(20_000, &vec(any::<u8>(), 0..1300), |datagram| {
        decode_with_everything(&datagram)
    });
}

#[test]
fn random_bytes_under_every_id_and_length_it_takes_never_panic() {
    for &id in PacketId::ALL {
        let (minimum, maximum) = id.length_bounds();
        let rest = vec(any::<u8>(), minimum - 1..maximum);
        check(200, &rest, |rest| {
            let datagram = [&[id.byte()], rest.as_slice()].concat();
            decode_with_everything(&datagram)
        });
    }
}

#[test]
fn mutated_fixtures_never_panic() {
    let fixtures: Vec<_> = Fixture::names()
        .iter()
        .map(|name| Fixture::load(name).datagram)
        .collect();
    let count = fixtures.len();
    let mutation = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        any::<u8>(),
        0..5u8,
    );
    check(30_000, &(0..count, vec(mutation, 1..4)), |(which, mutations)| {
        let mut datagram = fixtures[which].clone();
        for (at, other, byte, kind) in mutations {
            if datagram.is_empty() {
                break;
            }
            let at = at.index(datagram.len());
            match kind {
                0 => datagram[at] = byte,
                1 => datagram[at] ^= 1 << (byte % 8),
                2 => datagram.insert(at, byte),
                3 => drop(datagram.remove(at)),
                _ => {
                    let end = other.index(datagram.len());
                    datagram.drain(at.min(end)..at.max(end));
                }
            }
        }
        decode_with_everything(&datagram)
    });
}

#[test]
fn every_single_byte_change_of_every_fixture_is_survived() {
    for name in Fixture::names() {
        let mut datagram = Fixture::load(&name).datagram;
        for at in 0..datagram.len() {
            let byte = datagram[at];
            for changed in [0, 1, 0x7F, 0x80, 0xC1, 0xFE, 0xFF, byte ^ 1, byte ^ 0x80] {
                datagram[at] = changed;
                let (client, server) = (ClientPacket::decode(&datagram), ServerPacket::decode(&datagram));
                let mut again = Vec::new();
                if let Ok(packet) = client {
                    packet.encode(&mut again);
                } else if let Ok(packet) = server {
                    packet.encode(&mut again);
                }
                let is_query = datagram[0] == 0xFF;
                assert!(
                    again.is_empty() || is_query || again == datagram,
                    "{name}: byte {at} = {changed}"
                );
            }
            datagram[at] = byte;
        }
    }
}

#[test]
fn arbitrary_message_pack_values_are_taken_whole_and_in_no_other_way() {
    check(4_000, &message_pack(), |bytes| {
        prop_assert_eq!(validate_one(&bytes), Ok(()));
        for length in 0..bytes.len() {
            prop_assert!(validate_one(&bytes[..length]).is_err());
        }
        let fault = MessagePackFault::SecondValue;
        prop_assert_eq!(
            validate_one(&[bytes, vec![0xC0]].concat()),
            Err(DecodeError::MessagePack { fault })
        );
        Ok(())
    });
}

#[test]
fn a_datagram_over_1200_bytes_is_refused_whatever_it_holds() {
    for id in 0..=u8::MAX {
        let mut datagram = vec![0; MAX_PACKET + 1];
        datagram[0] = id;
        datagram[1..5].copy_from_slice(b"DQRY");
        assert!(ClientPacket::decode(&datagram).is_err());
        assert!(ServerPacket::decode(&datagram).is_err());
    }
}
