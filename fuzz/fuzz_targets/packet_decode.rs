//! Any bytes, as a packet of either side: decoding never panics, and what it takes encodes to the same packet.
#![no_main]

use decitick_protocol::{
    ClientPacket, MAX_PACKET, PacketId, ServerPacket, client_event_id_of, session_token_of, validate_one,
    verify_hello, verify_query_answer, verify_reject,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    client(data);
    server(data);
    // Values and proofs that are read from parts of packets.
    let _ = validate_one(data);
    let nonce = [7; 32];
    let _ = verify_hello(data, &nonce, None)
        | verify_reject(data, &nonce, None)
        | verify_query_answer(data, &nonce);
});

fn client(data: &[u8]) {
    let _ = (session_token_of(data), client_event_id_of(data));
    let Ok(packet) = ClientPacket::decode(data) else {
        return;
    };
    within_bounds(data);
    let mut again = Vec::new();
    packet.encode(&mut again);
    assert_eq!(
        ClientPacket::decode(&again).as_ref(),
        Ok(&packet),
        "decode, encode, decode"
    );
    // Version and padding of a query request are not judged; every other layout has one encoding.
    if !matches!(packet, ClientPacket::Query(_)) {
        assert_eq!(again, data, "one encoding for each packet");
    }
}

fn server(data: &[u8]) {
    let Ok(packet) = ServerPacket::decode(data) else {
        return;
    };
    if !matches!(packet, ServerPacket::QueryAnswer(_)) {
        within_bounds(data);
    }
    let mut again = Vec::new();
    packet.encode(&mut again);
    assert_eq!(
        ServerPacket::decode(&again).as_ref(),
        Ok(&packet),
        "decode, encode, decode"
    );
    // Later fields of a query answer are skipped, and a kick's reason is read leniently.
    if !matches!(packet, ServerPacket::QueryAnswer(_) | ServerPacket::Kick(_)) {
        assert_eq!(again, data, "one encoding for each packet");
    }
}

fn within_bounds(data: &[u8]) {
    assert!(data.len() <= MAX_PACKET);
    let id = data
        .first()
        .copied()
        .and_then(PacketId::from_byte)
        .expect("a decoded packet has an id");
    let (shortest, longest) = id.length_bounds();
    assert!(
        (shortest..=longest).contains(&data.len()),
        "{} of {} bytes",
        id.name(),
        data.len()
    );
}
