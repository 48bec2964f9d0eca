//! What floods at the door cost: no state, no costly work, and never the place of an honest client.

use std::net::SocketAddr;

use decitick_components::{mailbox::CredentialVerdict, reasons::DropReason};
use decitick_protocol::{ClientAck, ClientPacket, PacketId, SessionPacket};
use decitick_systems::door::DoorVerdict;

use crate::sim::{Random, Sim, Visitor};

fn stranger(number: u32) -> SocketAddr {
    let [_, a, b, c] = number.to_be_bytes();
    SocketAddr::from(([198, 18 + (a & 1), b, c], 7_000))
}

#[test]
fn ten_thousand_openers_leave_nothing_and_an_honest_client_joins_at_once() {
    let mut sim = Sim::new();
    let opener = Visitor::new(&mut sim, "203.0.113.1:5000", "Opener").hello(&sim.server_key(), 0);
    for port in 10_000..20_000 {
        let (verdict, reply) = sim.knock(SocketAddr::from(([203, 0, 113, 1], port)), &opener);
        assert_eq!((verdict, reply.len()), (DoorVerdict::Reply, 9));
    }
    assert!(sim.door.tables().iter().all(|table| table.entries == 0));
    let honest = sim.join_from("203.0.113.1:20000".parse().unwrap(), "Honest One");
    sim.expect_within(5, "it joins in under half a second", |sim| {
        sim.players[honest].client.is_spawned()
    });
    assert_eq!((sim.slots_taken(), sim.tally().door.handled), (1, 10_001));
}

#[test]
fn packets_with_random_tokens_from_unknown_addresses_cost_a_look_and_are_counted() {
    let mut sim = Sim::new();
    let honest = sim.join_now("Honest One");
    let mut random = Random::new(3);
    let mut assertion = vec![0; 1039];
    assertion[0] = PacketId::AuthAssertion as u8;
    for number in 0..100_000_u32 {
        let session_token = random.next_u64();
        let verdict = if number % 2 == 0 {
            sim.send_session(
                stranger(number),
                session_token,
                SessionPacket::Ack(ClientAck { ack: 1 }),
            )
        } else {
            assertion[1..9].copy_from_slice(&session_token.to_le_bytes());
            sim.knock(stranger(number), &assertion).0
        };
        assert_eq!(verdict, DoorVerdict::Drop(DropReason::UnknownAddress));
    }
    // The client's own address with a guessed token is no better off.
    let address = sim.players[honest].address;
    let verdict = sim.send_session(
        address,
        random.next_u64(),
        SessionPacket::Ack(ClientAck { ack: 1 }),
    );
    assert_eq!(verdict, DoorVerdict::Drop(DropReason::WrongToken));
    let taken = sim.tally().taken;
    sim.tick();
    assert_eq!(sim.dropped(DropReason::UnknownAddress), 100_000);
    assert!(sim.tally().taken - taken < 10, "none of it reached the tick");
}

#[test]
fn a_wrong_cookie_is_challenged_before_any_credential_is_looked_at() {
    let mut sim = Sim::new();
    let visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "Forger").with_credential([7; 32]);
    let mut hello = visitor.hello(&sim.server_key(), 0x1234);
    for number in 0..5_000 {
        hello[170] = u8::try_from(number % 251).unwrap();
        assert_eq!(sim.knock(stranger(number), &hello).0, DoorVerdict::Reply);
    }
    assert_eq!(sim.door.tables()[1].entries, 0, "nothing was verified");
    sim.tick();
    assert_eq!(sim.tally().taken, 0);
}

#[test]
fn credentials_are_verified_five_times_at_once_per_ip_and_over_it_the_tick_still_judges() {
    let mut sim = Sim::new();
    let mut verdicts = Vec::new();
    for n in 0..7 {
        let mut visitor = Visitor::new(&mut sim, &format!("203.0.113.1:{}", 5000 + n), "Forger");
        visitor.credential_seed = Some([7; 32]);
        visitor.forges_credential = true;
        let cookie = sim.cookie_for(&visitor);
        let hello = visitor.hello(&sim.server_key(), cookie);
        verdicts.push(sim.knock(visitor.address, &hello).0);
    }
    let verdict = |verdict: &DoorVerdict| match verdict {
        DoorVerdict::PassHello(ticket) => Some(ticket.credential),
        _ => None,
    };
    assert!(
        verdicts[..5]
            .iter()
            .all(|passed| verdict(passed) == Some(CredentialVerdict::Invalid))
    );
    assert!(
        verdicts[5..]
            .iter()
            .all(|passed| verdict(passed) == Some(CredentialVerdict::OverBudget))
    );
}

#[test]
fn empty_and_tiny_datagrams_are_counted_and_the_hello_behind_them_is_answered() {
    let mut sim = Sim::new();
    let rude = "203.0.113.1:5000".parse().unwrap();
    for _ in 0..2_000 {
        assert_eq!(sim.knock(rude, &[]).0, DoorVerdict::Drop(DropReason::Empty));
        assert!(matches!(sim.knock(rude, &[0x03]).0, DoorVerdict::Drop(_)));
    }
    let visitor = Visitor::new(&mut sim, "203.0.113.2:5000", "Guest 0");
    assert!(matches!(sim.visit(&visitor), crate::sim::Reply::Welcome(_)));
    assert_eq!(sim.dropped(DropReason::Empty), 2_000);
}

#[test]
fn one_that_sends_too_much_takes_no_place_from_the_others() {
    let mut sim = Sim::new();
    let (loud, loud_hello) = sim.admit("203.0.113.1:5000", "Loud One");
    let (quiet, quiet_hello) = sim.admit("203.0.113.2:5000", "Quiet One");
    let ack = SessionPacket::Ack(ClientAck { ack: 6 });
    let passed = (0..50_000)
        .filter(|_| sim.send_session(loud.address, loud_hello.session_token, ack) == DoorVerdict::PassSession)
        .count();
    assert_eq!(passed, 400);
    assert_eq!(
        sim.send_session(quiet.address, quiet_hello.session_token, ack),
        DoorVerdict::PassSession
    );
    sim.tick();
    assert_eq!(sim.dropped(DropReason::PacketBudget), 49_600);
}

#[test]
fn any_bytes_at_all_from_anyone_break_nothing() {
    let mut sim = Sim::new();
    let index = sim.join_now("Target");
    let (address, mut random) = (sim.players[index].address, Random::new(9));
    for round in 0..20 {
        for _ in 0..200 {
            let mut bytes = vec![0; usize::try_from(random.below(1_300)).unwrap()];
            random.fill(&mut bytes);
            if let Some(first) = bytes.first_mut() {
                *first =
                    PacketId::ALL[usize::try_from(random.below(PacketId::ALL.len() as u64)).unwrap()] as u8;
            }
            sim.knock(if round % 2 == 0 { address } else { stranger(round) }, &bytes);
        }
        sim.tick();
    }
    assert!(sim.players[index].end().is_none() && sim.slots_taken() == 1);
}

#[test]
fn an_oversized_or_foreign_packet_is_dropped_under_its_name() {
    let mut sim = Sim::new();
    let from = "203.0.113.1:5000".parse().unwrap();
    let mut answer = Vec::new();
    ClientPacket::Session {
        session_token: 1,
        packet: SessionPacket::Ack(ClientAck { ack: 1 }),
    }
    .encode(&mut answer);
    assert_eq!(
        sim.knock(from, &vec![0xff; 1_201]).0,
        DoorVerdict::Drop(DropReason::Oversized)
    );
    assert_eq!(
        sim.knock(from, &[0xff; 512]).0,
        DoorVerdict::Drop(DropReason::NotAQuery)
    );
    assert_eq!(
        sim.knock(from, &[0xff; 511]).0,
        DoorVerdict::Drop(DropReason::WrongLength)
    );
    // What only a server sends, and what nobody sends.
    for id in [0x02, 0x04, 0x09, 0x76, 0x00, 0xfe] {
        assert_eq!(
            sim.knock(from, &[id; 64]).0,
            DoorVerdict::Drop(DropReason::UnknownPacket)
        );
    }
    answer.push(0);
    assert_eq!(
        sim.knock(from, &answer).0,
        DoorVerdict::Drop(DropReason::WrongLength)
    );
}
