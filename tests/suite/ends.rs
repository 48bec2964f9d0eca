//! Every way a session ends, at its exact tick, once, and by one path (docs/protocol.md 1.5).

use decitick_client::client::EndReason;
use decitick_components::{connection::PeerIndex, lane::OutboundLane, reasons::CloseReason};
use decitick_protocol::{
    ChatMessage, ClientAck, ClientPacket, KickNotify, PacketId, ServerLaneEvent, ServerPacket, SessionPacket,
    SetMoney, Text,
};
use decitick_systems::door::DoorVerdict;

use crate::sim::{Reply, Sim, Visitor};

fn kick_notices(sim: &Sim, to: &Visitor) -> Vec<String> {
    sim.sent_to(to.address)
        .iter()
        .filter_map(|datagram| match ServerPacket::decode(datagram) {
            Ok(ServerPacket::Kick(KickNotify { reason })) => Some(reason.to_text().into_owned()),
            _ => None,
        })
        .collect()
}

#[test]
fn silence_ends_a_session_after_fifteen_seconds_and_not_a_tick_earlier() {
    let mut sim = Sim::new();
    sim.admit("127.0.0.1:5000", "Guest 0");
    sim.ticks(150);
    assert_eq!(sim.slots_taken(), 1, "15.0 s after the last sign of life");
    sim.tick();
    assert_eq!(sim.ended, [(0, 1, CloseReason::Timeout)]);
    let (visitor, _) = sim.admit("127.0.0.1:5000", "Guest 0");
    assert!(kick_notices(&sim, &visitor).is_empty());
}

#[test]
fn only_a_well_formed_packet_with_the_token_is_a_sign_of_life() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    sim.ticks(100);
    // A PlayerSync with a NaN is malformed, and a wrong token is nobody's.
    let mut broken = Vec::new();
    let packet = SessionPacket::PlayerSync(crate::sim::frame_at(f32::NAN, 0.0));
    ClientPacket::Session {
        session_token: hello.session_token,
        packet,
    }
    .encode(&mut broken);
    assert_eq!(sim.knock(visitor.address, &broken).0, DoorVerdict::PassSession);
    sim.send_session(
        visitor.address,
        hello.session_token ^ 1,
        SessionPacket::Ack(ClientAck { ack: 0 }),
    );
    sim.ticks(51);
    assert_eq!(sim.ended, [(0, 1, CloseReason::Timeout)]);
}

#[test]
fn an_acknowledgement_that_says_nothing_new_is_a_sign_of_life() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    sim.send_session(
        visitor.address,
        hello.session_token,
        SessionPacket::Ack(ClientAck { ack: 6 }),
    );
    sim.ticks(100);
    sim.send_session(
        visitor.address,
        hello.session_token,
        SessionPacket::Ack(ClientAck { ack: 999 }),
    );
    sim.ticks(100);
    assert_eq!(sim.slots_taken(), 1);
}

#[test]
fn a_kick_frees_the_slot_and_tells_the_reason_once() {
    let mut sim = Sim::new();
    let (visitor, _) = sim.admit("127.0.0.1:5000", "Guest 0");
    let answer = sim.console("kick 0 Bitte draußen bleiben");
    assert!(answer.ok, "{}", answer.text);
    assert_eq!(kick_notices(&sim, &visitor), ["Bitte draußen bleiben"]);
    assert_eq!(sim.ended, [(0, 1, CloseReason::Kick)]);
    assert_eq!(sim.slots_taken(), 0);
    for _ in 0..5 {
        sim.tick();
        assert!(kick_notices(&sim, &visitor).is_empty());
    }
}

#[test]
fn a_kick_reason_that_is_too_long_is_refused_and_kicks_nobody() {
    let mut sim = Sim::new();
    sim.admit("127.0.0.1:5000", "Guest 0");
    assert!(!sim.console(&format!("kick 0 {}", "x".repeat(65))).ok);
    assert!(!sim.console("kick 7 nobody").ok);
    assert!(!sim.console("kick 1000 out of range").ok);
    sim.ticks(2);
    assert_eq!(sim.slots_taken(), 1);
    assert!(sim.console(&format!("kick 0 {}", "x".repeat(64))).ok);
    sim.tick();
    assert_eq!(sim.slots_taken(), 0);
}

#[test]
fn a_client_that_never_acknowledges_goes_after_fifteen_seconds_by_the_path_of_everybody() {
    let mut sim = Sim::with_settings(|settings| settings.max_players = 2);
    let stalled = sim.join("Stalled One");
    sim.players[stalled].withholds = vec![PacketId::ClientAck];
    let observer = sim.join_now("Observer");
    assert_eq!((sim.players[stalled].id(), sim.players[observer].id()), (0, 1));
    let joined = sim.tick_number();
    while sim.ended.is_empty() {
        assert!(sim.tick_number() < joined + 200, "it ends in time");
        // It syncs and pongs all the while, and critical events queue.
        sim.push_event(0, &ServerLaneEvent::SetMoney(SetMoney { money: 7 }), false);
        sim.tick();
    }
    let ended_at = sim.now;
    assert_eq!(sim.ended, [(0, 1, CloseReason::Overflow)]);
    assert!(
        (14_000..=15_500).contains(&ended_at.as_millis()),
        "15 s after the first event: {ended_at:?}"
    );
    assert_eq!(sim.slots_taken(), 1);
    sim.ticks(5);
    assert_eq!(sim.players[observer].left, [(0, 1)], "PlayerLeave counts once");
    assert_eq!(sim.ended.len(), 1);
    // Two more want in, one fits; ids stay below max_players.
    let first = Visitor::new(&mut sim, "127.0.0.1:5000", "Guest 0");
    let second = Visitor::new(&mut sim, "127.0.0.1:5001", "Guest 1");
    assert_eq!(sim.visit(&first).hello().player_id, 0);
    assert_eq!(
        sim.visit(&second),
        Reply::plain(decitick_protocol::RejectReason::ServerFull)
    );
    assert_eq!(sim.app.world().resource::<PeerIndex>().iter().count(), 2);
}

#[test]
fn the_stall_is_measured_to_the_tick() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    // Signs of life all the time, but the lane does not advance past event 3.
    sim.ticks(10);
    sim.send_session(
        visitor.address,
        hello.session_token,
        SessionPacket::Ack(ClientAck { ack: 3 }),
    );
    let advanced = sim.now;
    for _ in 0..150 {
        sim.tick();
        sim.send_session(
            visitor.address,
            hello.session_token,
            SessionPacket::Ack(ClientAck { ack: 3 }),
        );
    }
    assert_eq!((sim.now - advanced).as_millis(), 15_000);
    assert_eq!(sim.slots_taken(), 1);
    sim.tick();
    assert_eq!(sim.ended, [(0, 1, CloseReason::Overflow)]);
}

#[test]
fn one_critical_event_too_many_ends_the_session_and_droppable_ones_do_not() {
    let mut sim = Sim::new();
    sim.admit("127.0.0.1:5000", "Guest 0");
    let line = ChatMessage {
        colour: 0,
        text: Text::parse("hear ye").unwrap(),
    };
    let droppable = ServerLaneEvent::ChatMessage(line);
    for _ in 0..3000 {
        sim.push_event(0, &droppable, true);
    }
    sim.tick();
    assert_eq!(sim.slots_taken(), 1);
    assert!(sim.component::<OutboundLane>(0).depth() <= 256 + 1024);
    let critical = ServerLaneEvent::SetMoney(SetMoney { money: 1 });
    for _ in 0..4096 {
        sim.push_event(0, &critical, false);
    }
    sim.tick();
    assert_eq!(sim.slots_taken(), 1, "4,096 may wait");
    sim.push_event(0, &critical, false);
    sim.tick();
    assert_eq!(sim.ended, [(0, 1, CloseReason::Overflow)]);
}

#[test]
fn flooding_for_ten_seconds_in_a_row_is_a_kick_and_nine_are_not() {
    for (seconds, kicked) in [(9, false), (11, true)] {
        let mut sim = Sim::new();
        let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
        let mut told = Vec::new();
        for second in 0..seconds {
            // 200 a second, 400 at once: the first second needs more to go over.
            let count = if second == 0 { 700 } else { 300 };
            for _ in 0..count {
                sim.send_session(
                    visitor.address,
                    hello.session_token,
                    SessionPacket::Ack(ClientAck { ack: 6 }),
                );
            }
            for _ in 0..10 {
                sim.tick();
                told.extend(kick_notices(&sim, &visitor));
            }
        }
        assert_eq!(told, if kicked { vec!["flooding"] } else { vec![] });
        assert_eq!(sim.ended.len(), usize::from(kicked));
        assert!(sim.dropped(decitick_components::reasons::DropReason::PacketBudget) > 0);
    }
}

#[test]
fn a_shutdown_tells_everybody_and_ends_every_session_in_one_tick() {
    let mut sim = Sim::new();
    let players = sim.join_many(30);
    sim.console("shutdown");
    sim.ticks(2);
    assert_eq!(sim.slots_taken(), 0);
    assert_eq!(sim.ended.len(), 30);
    for index in players {
        let reason = "server shutting down".to_owned();
        assert_eq!(sim.players[index].end(), Some(&EndReason::Kicked { reason }));
        assert!(
            sim.players[index].left.is_empty(),
            "those who leave are not told of each other"
        );
    }
}

#[test]
fn a_shutdown_may_be_announced() {
    let mut sim = Sim::new();
    let index = sim.join_now("Player One");
    sim.console("shutdown 3 back soon");
    sim.ticks(28);
    assert_eq!(sim.slots_taken(), 1);
    assert!(
        sim.players[index]
            .chat()
            .iter()
            .any(|line| line.contains("back soon"))
    );
    sim.ticks(3);
    assert_eq!(
        sim.players[index].end(),
        Some(&EndReason::Kicked {
            reason: "back soon".to_owned()
        })
    );
}
