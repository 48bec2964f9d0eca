//! What one IP may ask for at the handshake, from addresses that are not loopback (docs/protocol.md 1.1), and that
//! the tables are apart and give their room back.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use decitick_client::query::ServerQuery;
use decitick_components::{
    admission::HandshakeLimits,
    gamemode::{Gamemode, Judge, RejectText},
    limits::TABLE_ENTRIES,
    reasons::DropReason,
};
use decitick_protocol::{RejectReason, SessionPacket};
use decitick_systems::door::DoorVerdict;

use crate::sim::{Reply, Sim, Visitor};

fn visitor_at(sim: &mut Sim, address: &str, number: usize) -> Visitor {
    Visitor::new(sim, address, &format!("Guest {number}"))
}

struct Refusing;

impl Judge for Refusing {
    fn player_connecting(&mut self, _: &str, _: IpAddr) -> Result<(), RejectText> {
        Err(RejectText::default())
    }
}

#[test]
fn an_ip_holds_five_connections_and_an_ipv6_address_counts_by_its_64() {
    for (hosts, outsider) in [
        (["203.0.113.1"; 6], "203.0.113.2"),
        (
            [
                "[2001:db8::1]",
                "[2001:db8::2]",
                "[2001:db8:0:0:ff::3]",
                "[2001:db8::4]",
                "[2001:db8::5]",
                "[2001:db8::6]",
            ],
            "[2001:db8:0:1::1]",
        ),
    ] {
        let mut sim = Sim::new();
        for (number, host) in hosts.iter().take(5).enumerate() {
            sim.admit(&format!("{host}:{}", 5000 + number), &format!("Guest {number}"));
            // Admission attempts have a limit of their own.
            sim.ticks(21);
        }
        let sixth = visitor_at(&mut sim, &format!("{}:5005", hosts[5]), 5);
        assert_eq!(sim.visit(&sixth), Reply::plain(RejectReason::TooManyConnections));
        let other = visitor_at(&mut sim, &format!("{outsider}:5005"), 6);
        assert!(matches!(sim.visit(&other), Reply::Welcome(_)));
    }
}

#[test]
fn loopback_is_exempt_from_every_limit_per_ip_unless_told_otherwise() {
    let mut sim = Sim::new();
    for number in 0..30 {
        sim.admit(
            &format!("127.0.0.1:{}", 5000 + number),
            &format!("Guest {number}"),
        );
    }
    let mut sim = Sim::with_settings(|settings| settings.limits.loopback_exempt = false);
    for number in 0..5 {
        sim.admit(
            &format!("127.0.0.1:{}", 5000 + number),
            &format!("Guest {number}"),
        );
    }
    let sixth = visitor_at(&mut sim, "127.0.0.1:5005", 5);
    assert_eq!(sim.visit(&sixth), Reply::plain(RejectReason::TooManyConnections));
}

#[test]
fn an_ip_has_five_admission_attempts_at_once_and_one_more_each_two_seconds() {
    let mut sim = Sim::new();
    sim.app.insert_resource(Gamemode(Box::new(Refusing)));
    for number in 0..5 {
        let visitor = visitor_at(&mut sim, &format!("203.0.113.1:{}", 5000 + number), number);
        assert_eq!(sim.visit(&visitor), Reply::plain(RejectReason::Gamemode));
    }
    let sixth = visitor_at(&mut sim, "203.0.113.1:5005", 5);
    assert_eq!(sim.visit(&sixth), Reply::Silence);
    assert_eq!(sim.dropped(DropReason::AdmissionLimited), 1);
    let elsewhere = visitor_at(&mut sim, "203.0.113.2:5005", 6);
    assert_eq!(sim.visit(&elsewhere), Reply::plain(RejectReason::Gamemode));
    // The first attempt was 6 ticks ago: one is back 20 ticks after it.
    sim.ticks(13);
    assert_eq!(sim.visit(&sixth), Reply::plain(RejectReason::Gamemode));
    assert_eq!(sim.visit(&sixth), Reply::Silence);
}

#[test]
fn an_ip_gets_eight_signed_refusals_at_once_and_two_more_a_second() {
    let mut sim = Sim::new();
    sim.admit("203.0.113.200:1", "Guest 0");
    let twins: Vec<Visitor> = (0..12)
        .map(|number| visitor_at(&mut sim, &format!("203.0.113.1:{}", 5000 + number), 0))
        .collect();
    for twin in &twins {
        sim.queue_hello(twin);
    }
    sim.tick();
    let replies: Vec<Reply> = twins.iter().map(|twin| sim.reply_to(twin)).collect();
    assert!(
        replies[..8]
            .iter()
            .all(|reply| *reply == Reply::plain(RejectReason::NameTaken)),
        "{replies:?}"
    );
    assert!(
        replies[8..].iter().all(|reply| *reply == Reply::Silence),
        "{replies:?}"
    );
    assert_eq!(sim.dropped(DropReason::RefusalLimited), 4);
    sim.ticks(4);
    assert_eq!(
        sim.visit(&twins[0]),
        Reply::plain(RejectReason::NameTaken),
        "one is back after half a second"
    );
    assert_eq!(sim.visit(&twins[0]), Reply::Silence);
}

#[test]
fn an_ip_gets_eight_answers_to_repeated_hellos_at_once_and_refusals_do_not_count() {
    let mut sim = Sim::new();
    let (visitor, _) = sim.admit("203.0.113.1:5000", "Guest 0");
    let cookie = sim.cookie_for(&visitor);
    let hello = visitor.hello(&sim.server_key(), cookie);
    for _ in 0..10 {
        sim.knock(visitor.address, &hello);
    }
    sim.tick();
    assert_eq!(
        sim.sent_to(visitor.address)
            .iter()
            .filter(|datagram| datagram[0] == 0x02)
            .count(),
        8
    );
    assert_eq!(sim.dropped(DropReason::RepeatedHelloLimited), 2);
    let twin = visitor_at(&mut sim, "203.0.113.1:5001", 0);
    assert_eq!(sim.visit(&twin), Reply::plain(RejectReason::NameTaken));
}

#[test]
fn wrong_passwords_are_counted_per_ip_and_the_seconds_that_are_told_suffice() {
    let mut sim = Sim::new();
    sim.console("password set sesame");
    sim.ticks(2);
    let (right, wrong) = (sim.password_key("sesame"), sim.password_key("wrong"));
    let mut visitor = visitor_at(&mut sim, "203.0.113.1:5000", 0).with_password(&wrong);
    for _ in 0..5 {
        visitor.nonce = sim.random.nonce();
        assert_eq!(sim.visit(&visitor), Reply::plain(RejectReason::WrongPassword));
    }
    visitor.password = Some(right.clone());
    let Reply::Refused(RejectReason::PasswordAttempts, _, seconds) = sim.visit(&visitor) else {
        panic!("the right password is not looked at while the IP must wait");
    };
    assert_eq!(seconds, 30, "one comes back every 30 s, rounded up");
    let elsewhere = visitor_at(&mut sim, "203.0.113.2:5000", 1).with_password(&right);
    assert!(matches!(sim.visit(&elsewhere), Reply::Welcome(_)));
    sim.ticks(usize::try_from(seconds).unwrap() * 10 - 2);
    assert!(
        matches!(sim.visit(&visitor), Reply::Welcome(_)),
        "whoever waits as told has waited enough"
    );
}

#[test]
fn the_same_wrong_proof_again_counts_once() {
    let mut sim = Sim::new();
    sim.console("password set sesame");
    sim.ticks(2);
    let wrong = sim.password_key("wrong");
    let visitor = visitor_at(&mut sim, "203.0.113.1:5000", 0).with_password(&wrong);
    let cookie = sim.cookie_for(&visitor);
    let hello = visitor.hello(&sim.server_key(), cookie);
    for _ in 0..7 {
        sim.knock(visitor.address, &hello);
        sim.tick();
        assert_eq!(sim.reply_to(&visitor), Reply::plain(RejectReason::WrongPassword));
    }
}

#[test]
fn a_full_table_of_queries_gives_room_to_honest_askers_once_its_buckets_have_refilled() {
    let mut sim = Sim::new();
    let mut request = Vec::new();
    ServerQuery::new([1; 32]).write_request(&mut request);
    let forged = |number: usize| -> SocketAddr {
        let [.., high, low] = u32::try_from(number).unwrap().to_be_bytes();
        format!("198.51.{high}.{low}:7").parse().unwrap()
    };
    // A thousand a second in all, so the table fills over 5 s; entries refill 1 s after their query.
    let mut asked = 0;
    while asked < TABLE_ENTRIES {
        for _ in 0..100 {
            sim.knock(forged(asked), &request);
            asked += 1;
        }
        sim.tick();
    }
    let honest = "203.0.113.77:9".parse().unwrap();
    assert_eq!(sim.knock(honest, &request).0, DoorVerdict::Reply);
    // The handshake's tables are others.
    assert!(sim.app.world().resource::<HandshakeLimits>().refusals.is_empty());
    let visitor = visitor_at(&mut sim, "203.0.113.78:9", 0);
    assert!(matches!(sim.visit(&visitor), Reply::Welcome(_)));
}

#[test]
fn queries_are_answered_four_at_once_per_ip_and_a_thousand_a_second_in_all() {
    let mut sim = Sim::new();
    let mut request = Vec::new();
    ServerQuery::new([1; 32]).write_request(&mut request);
    let one = "203.0.113.1:7".parse().unwrap();
    let answered = (0..10)
        .filter(|_| sim.knock(one, &request).0 == DoorVerdict::Reply)
        .count();
    assert_eq!(answered, 4);
    assert_eq!(
        sim.dropped(DropReason::QueryLimited),
        0,
        "counted at the next tick"
    );
    sim.tick();
    assert_eq!(sim.dropped(DropReason::QueryLimited), 6);
    let answered = (0..1500u32)
        .filter(|number| {
            let [.., high, low] = number.to_be_bytes();
            let from = format!("198.51.{high}.{low}:7").parse().unwrap();
            sim.knock(from, &request).0 == DoorVerdict::Reply
        })
        .count();
    assert!((996..=1100).contains(&answered), "{answered}");
}

#[test]
fn leaving_makes_room_for_the_next_connection_of_the_ip() {
    let mut sim = Sim::with_settings(|settings| settings.limits.connections_per_ip = 1);
    let (first, hello) = sim.admit("203.0.113.1:5000", "Guest 0");
    let second = visitor_at(&mut sim, "203.0.113.1:5001", 1);
    assert_eq!(sim.visit(&second), Reply::plain(RejectReason::TooManyConnections));
    sim.send_session(
        first.address,
        hello.session_token,
        SessionPacket::Bye(decitick_protocol::ClientBye),
    );
    sim.tick();
    assert!(matches!(sim.visit(&second), Reply::Welcome(_)));
    assert!(sim.now < Duration::from_secs(5));
}
