//! Keepalives and the round trip they measure (docs/protocol.md 1.5).

use std::{net::SocketAddr, time::Duration};

use decitick_components::liveness::SmoothedRtt;
use decitick_protocol::{ClientPong, ServerKeepalive, ServerPacket, SessionPacket};

use crate::sim::{LossyLink, Sim};

fn keepalive(sim: &Sim, to: SocketAddr) -> Option<ServerKeepalive> {
    sim.sent_to(to)
        .iter()
        .find_map(|datagram| match ServerPacket::decode(datagram) {
            Ok(ServerPacket::Keepalive(keepalive)) => Some(keepalive),
            _ => None,
        })
}

fn next_keepalive(sim: &mut Sim, to: SocketAddr) -> ServerKeepalive {
    for _ in 0..15 {
        sim.tick();
        if let Some(found) = keepalive(sim, to) {
            return found;
        }
    }
    panic!("a keepalive comes every second");
}

#[test]
fn a_keepalive_comes_every_second_from_the_first_on_with_a_new_nonce_and_no_rtt_yet() {
    let mut sim = Sim::new();
    let (visitor, _) = sim.admit("127.0.0.1:5000", "Guest 0");
    let mut nonces = Vec::new();
    for _ in 0..50 {
        if let Some(found) = keepalive(&sim, visitor.address) {
            assert_eq!(found.rtt_ms, 65_535);
            nonces.push(found.nonce);
        }
        sim.tick();
    }
    assert_eq!(nonces.len(), 5);
    nonces.sort_unstable();
    nonces.dedup();
    assert_eq!(nonces.len(), 5);
}

#[test]
fn keepalives_are_spread_over_the_ticks_of_a_second() {
    let mut sim = Sim::new();
    for n in 0..100 {
        let visitor = crate::sim::Visitor::new(
            &mut sim,
            &format!("127.0.0.1:{}", 5000 + n),
            &format!("Guest {n}"),
        );
        sim.queue_hello(&visitor);
    }
    sim.ticks(20);
    for _ in 0..20 {
        sim.tick();
        let sent = sim
            .sent()
            .iter()
            .filter(|(_, datagram)| datagram[0] == 0x8c)
            .count();
        assert_eq!(sent, 10);
    }
}

#[test]
fn the_round_trip_is_smoothed_by_eighths_and_runs_from_the_kernel_to_the_kernel() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    let pong = |sim: &mut Sim, nonce, after: Duration| {
        // The answer arrives somewhere within a tick; the sample ends there, not at the tick.
        sim.now += after;
        sim.send_session(
            visitor.address,
            hello.session_token,
            SessionPacket::Pong(ClientPong { nonce }),
        );
        sim.now -= after;
        sim.tick();
    };
    let rtt = |sim: &Sim| sim.component::<SmoothedRtt>(0).measured();
    let first = next_keepalive(&mut sim, visitor.address);
    pong(&mut sim, first.nonce, Duration::from_millis(80));
    assert_eq!(rtt(&sim), Some(Duration::from_millis(80)));
    let second = next_keepalive(&mut sim, visitor.address);
    assert_eq!(second.rtt_ms, 80);
    pong(&mut sim, second.nonce, Duration::from_millis(16));
    assert_eq!(rtt(&sim), Some(Duration::from_millis(72)), "(7 x 80 + 16) / 8");
    assert_eq!(next_keepalive(&mut sim, visitor.address).rtt_ms, 72);
}

#[test]
fn only_the_nonce_of_the_last_keepalive_counts_and_only_once() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    let pong = |sim: &mut Sim, nonce| {
        sim.send_session(
            visitor.address,
            hello.session_token,
            SessionPacket::Pong(ClientPong { nonce }),
        );
        sim.tick();
        sim.component::<SmoothedRtt>(0).measured()
    };
    let first = next_keepalive(&mut sim, visitor.address).nonce;
    let last = next_keepalive(&mut sim, visitor.address).nonce;
    assert_eq!(pong(&mut sim, first), None, "not the last one");
    assert_eq!(pong(&mut sim, last ^ 1), None, "not one at all");
    let measured = pong(&mut sim, last);
    assert!(measured.is_some());
    sim.ticks(3);
    assert_eq!(pong(&mut sim, last), measured, "not twice");
}

#[test]
fn acknowledgements_measure_too_from_the_first_sending_of_the_newest_event() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    // The join's events left with the tick that just was; they are resent, but the first sending counts.
    sim.ticks(8);
    let ack = SessionPacket::Ack(decitick_protocol::ClientAck { ack: 6 });
    sim.send_session(visitor.address, hello.session_token, ack);
    sim.tick();
    assert_eq!(
        sim.component::<SmoothedRtt>(0).measured(),
        Some(Duration::from_millis(800))
    );
}

#[test]
fn a_long_round_trip_is_shown_as_what_it_is_and_never_as_unmeasured() {
    let mut sim = Sim::new();
    sim.up = LossyLink::slow(Duration::from_millis(400));
    let index = sim.join("Far Away");
    sim.expect_within(60, "a measured ping", |sim| {
        sim.players[index].client.rtt_ms().is_some()
    });
    // A client holds an acknowledgement back for 50 ms at most, and those measure too.
    let shown = sim.players[index].client.rtt_ms().unwrap();
    assert!((400..=450).contains(&shown), "{shown}");
    const { assert!(SmoothedRtt::LARGEST < SmoothedRtt::NOT_MEASURED) };
}
