//! What the door lets in, answers and drops.

use std::net::Ipv4Addr;

use decitick_protocol::{ClientAck, ClientHello, SessionPacket, ShownText};

use super::*;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn query_body() -> QueryBody {
    QueryBody {
        protocol_version: PROTOCOL_VERSION,
        server_version: ShownText::parse("1.2.3").unwrap(),
        minimum_client_version: ShownText::default(),
        name: ShownText::parse("Test").unwrap(),
        mode: ShownText::default(),
        players: 0,
        max_players: 10,
        flags: 0,
    }
}

fn door() -> Door {
    let limits = LimitSettings {
        packets_per_second: 10,
        packet_burst: 20,
        ..Default::default()
    };
    Door::new(
        ServerIdentity::from_seed(&[0x42; 32]),
        CookieKey::new([7; 16]),
        limits,
        query_body(),
    )
}

fn peer(n: u32) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::from(0x0A00_0000 + n)), 5000)
}

fn hello(cookie: u64, credential_key: [u8; 32]) -> Vec<u8> {
    let hello = ClientHello {
        protocol_version: PROTOCOL_VERSION,
        name: [0; 64],
        cookie,
        nonce: [5; 32],
        password_proof: [0; 32],
        credential_key,
        credential_proof: [0; 64],
    };
    let mut out = Vec::new();
    hello.encode(&mut out);
    out
}

fn query() -> Vec<u8> {
    let mut out = b"\xFFDQRY\x01".to_vec();
    out.resize(512, 0);
    out
}

fn ack(token: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let packet = SessionPacket::Ack(ClientAck { ack: 0 });
    decitick_protocol::ClientPacket::Session {
        session_token: token,
        packet,
    }
    .encode(&mut out);
    out
}

fn ask(door: &mut Door, now: Duration, from: SocketAddr, datagram: &[u8]) -> (DoorVerdict, Vec<u8>) {
    let mut reply = Vec::new();
    let verdict = door.answer(now, from, datagram, &mut reply);
    (verdict, reply)
}

fn cookie(door: &mut Door, now: Duration, from: SocketAddr) -> u64 {
    let (_, reply) = ask(door, now, from, &hello(0, [0; 32]));
    ConnectChallenge::decode(&reply).unwrap().cookie
}

#[test]
fn ten_thousand_openers_get_nine_bytes_each_and_leave_nothing_behind() {
    let mut door = door();
    for n in 0..10_000 {
        let (verdict, reply) = ask(&mut door, ms(1), peer(n), &hello(0, [0; 32]));
        assert_eq!((verdict, reply.len()), (DoorVerdict::Reply, 9));
    }
    assert!(door.tables().iter().all(|table| table.entries == 0));
}

#[test]
fn a_hello_passes_only_with_the_cookie_of_its_own_address() {
    let mut door = door();
    let good = cookie(&mut door, ms(0), peer(1));
    let (verdict, _) = ask(&mut door, ms(5), peer(1), &hello(good, [0; 32]));
    assert!(matches!(verdict, DoorVerdict::PassHello(_)));
    let (verdict, reply) = ask(&mut door, ms(5), peer(2), &hello(good, [9; 32]));
    assert_eq!(
        (verdict, reply.len()),
        (DoorVerdict::Reply, 9),
        "no curve operation before the cookie"
    );
    assert_eq!(door.credentials_per_ip.len(), 0);
}

#[test]
fn another_length_or_version_gets_no_answer() {
    let mut door = door();
    let mut other_version = hello(0, [0; 32]);
    other_version[1] = 2;
    let (verdict, reply) = ask(&mut door, ms(0), peer(1), &other_version);
    assert_eq!(
        (verdict, reply.len()),
        (DoorVerdict::Drop(DropReason::WrongVersion), 0)
    );
    for length in [0, 1, 234, 236, 1200, 1201] {
        let mut datagram = hello(0, [0; 32]);
        datagram.resize(length, 0);
        let (verdict, reply) = ask(&mut door, ms(0), peer(1), &datagram);
        assert!(
            matches!(verdict, DoorVerdict::Drop(_)) && reply.is_empty(),
            "{length}"
        );
    }
}

#[test]
fn random_tokens_from_unknown_addresses_are_dropped_by_address() {
    let mut door = door();
    let (verdict, _) = ask(&mut door, ms(0), peer(1), &ack(77));
    assert_eq!(verdict, DoorVerdict::Drop(DropReason::UnknownAddress));
}

#[test]
fn a_session_is_known_from_its_notice_on_and_by_its_token_only() {
    let mut door = door();
    door.learn(
        DoorNotice::Opened {
            peer: peer(1),
            session_token: 77,
        },
        ms(0),
    );
    assert_eq!(
        ask(&mut door, ms(1), peer(1), &ack(77)).0,
        DoorVerdict::PassSession
    );
    assert_eq!(
        ask(&mut door, ms(1), peer(1), &ack(78)).0,
        DoorVerdict::Drop(DropReason::WrongToken)
    );
    assert_eq!(
        ask(&mut door, ms(1), peer(2), &ack(77)).0,
        DoorVerdict::Drop(DropReason::UnknownAddress)
    );
    door.learn(DoorNotice::Closed { peer: peer(1) }, ms(2));
    assert_eq!(
        ask(&mut door, ms(3), peer(1), &ack(77)).0,
        DoorVerdict::Drop(DropReason::UnknownAddress)
    );
}

#[test]
fn a_foreign_token_costs_the_connection_nothing() {
    let mut door = door();
    door.learn(
        DoorNotice::Opened {
            peer: peer(1),
            session_token: 77,
        },
        ms(0),
    );
    for _ in 0..1000 {
        ask(&mut door, ms(1), peer(1), &ack(78));
    }
    assert_eq!(
        ask(&mut door, ms(1), peer(1), &ack(77)).0,
        DoorVerdict::PassSession
    );
}

#[test]
fn ten_windows_in_a_row_with_a_drop_are_flooding_and_nine_are_not() {
    let mut door = door();
    door.learn(
        DoorNotice::Opened {
            peer: peer(1),
            session_token: 77,
        },
        ms(0),
    );
    let mut flooding = Vec::new();
    for second in 0..10 {
        for _ in 0..40 {
            ask(&mut door, ms(second * 1000 + 500), peer(1), &ack(77));
        }
        door.take_flooding(&mut flooding);
        assert_eq!(flooding.len(), usize::from(second == 9), "{second}");
    }
}

#[test]
fn a_quiet_second_starts_the_count_again() {
    let mut door = door();
    door.learn(
        DoorNotice::Opened {
            peer: peer(1),
            session_token: 77,
        },
        ms(0),
    );
    let mut flooding = Vec::new();
    for second in (0..9).chain(10..19) {
        for _ in 0..60 {
            ask(&mut door, ms(second * 1000 + 500), peer(1), &ack(77));
        }
    }
    door.take_flooding(&mut flooding);
    assert!(flooding.is_empty());
}

#[test]
fn four_queries_at_once_and_one_a_second_are_answered() {
    let mut door = door();
    let answered = |door: &mut Door, now| {
        (0..10)
            .filter(|_| ask(door, now, peer(1), &query()).0 == DoorVerdict::Reply)
            .count()
    };
    assert_eq!(answered(&mut door, ms(0)), 4);
    assert_eq!(answered(&mut door, ms(1000)), 1);
}

#[test]
fn a_full_query_table_answers_again_once_entries_have_refilled() {
    let mut door = door();
    let mut answered = 0;
    for n in 0..5000 {
        // Ten a millisecond, so that the total of a second is not what limits.
        let now = ms(u64::from(n));
        answered += usize::from(ask(&mut door, now, peer(n), &query()).0 == DoorVerdict::Reply);
    }
    assert!(answered >= 4096, "{answered}");
    let (verdict, reply) = ask(&mut door, ms(7000), peer(900_000), &query());
    assert_eq!(verdict, DoorVerdict::Reply);
    assert!(reply.len() <= 273);
}

#[test]
fn a_thousand_queries_a_second_are_answered_in_all() {
    let mut door = door();
    let answered = (0..3000)
        .filter(|&n| ask(&mut door, ms(0), peer(n), &query()).0 == DoorVerdict::Reply)
        .count();
    assert_eq!(answered, 1000);
}

#[test]
fn a_credential_is_verified_within_the_budget_of_its_address() {
    let mut door = door();
    let good = cookie(&mut door, ms(0), peer(1));
    let verdicts: Vec<DoorVerdict> = (0..7)
        .map(|_| ask(&mut door, ms(0), peer(1), &hello(good, [9; 32])).0)
        .collect();
    let judged = |verdict: &&DoorVerdict| {
        matches!(
            verdict,
            DoorVerdict::PassHello(HelloTicket {
                credential: CredentialVerdict::Invalid,
                ..
            })
        )
    };
    assert_eq!(verdicts.iter().filter(judged).count(), 5);
    // Over it the hello still meets the checks before the credential's; step 9 keeps silent.
    let over = |verdict: &&DoorVerdict| {
        matches!(
            verdict,
            DoorVerdict::PassHello(HelloTicket {
                credential: CredentialVerdict::OverBudget,
                ..
            })
        )
    };
    assert_eq!(verdicts.iter().filter(over).count(), 2);
}

#[test]
fn a_proven_address_that_floods_hellos_is_dropped_at_the_door() {
    let mut door = door();
    let good = cookie(&mut door, ms(0), peer(1));
    let passed = |door: &mut Door, now, from| {
        let passes = |verdict| matches!(verdict, DoorVerdict::PassHello(_));
        (0..1000)
            .filter(|_| passes(ask(door, now, from, &hello(good, [0; 32])).0))
            .count()
    };
    assert_eq!(passed(&mut door, ms(0), peer(1)), 32);
    assert_eq!(passed(&mut door, ms(1000), peer(1)), 16);
}

#[test]
fn exempt_addresses_too_share_what_signing_may_cost() {
    let mut door = door();
    let local = SocketAddr::from(([127, 0, 0, 1], 9));
    let good = cookie(&mut door, ms(0), local);
    let limited = DoorVerdict::Drop(DropReason::HelloLimited);
    let passed = (0..10_000)
        .filter(|_| ask(&mut door, ms(0), local, &hello(good, [0; 32])).0 != limited)
        .count();
    assert_eq!(passed, 4000);
}

#[test]
fn a_repeated_hello_of_a_known_address_has_no_credential_check() {
    let mut door = door();
    let good = cookie(&mut door, ms(0), peer(1));
    door.learn(
        DoorNotice::Opened {
            peer: peer(1),
            session_token: 77,
        },
        ms(0),
    );
    let (verdict, _) = ask(&mut door, ms(1), peer(1), &hello(good, [9; 32]));
    assert!(matches!(
        verdict,
        DoorVerdict::PassHello(HelloTicket {
            credential: CredentialVerdict::NotChecked,
            ..
        })
    ));
}
