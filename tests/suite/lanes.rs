//! The reliable lanes as their windows and timers show on the wire (docs/protocol.md 2.1).

use std::net::SocketAddr;

use decitick_components::{lane::OutboundLane, reasons::DropReason};
use decitick_protocol::{
    ChatSend, ClientAck, ClientLaneEvent, ClientPacket, PlainText, ServerAck, ServerLaneEvent, ServerPacket,
    SessionPacket, SetMoney,
};

use crate::sim::{LossyLink, Sim};

fn event_ids(sim: &Sim, to: SocketAddr) -> Vec<u32> {
    sim.sent_to(to)
        .iter()
        .filter_map(|datagram| match ServerPacket::decode(datagram) {
            Ok(ServerPacket::Lane { event_id, .. }) => Some(event_id),
            _ => None,
        })
        .collect()
}

fn acks(sim: &Sim, to: SocketAddr) -> Vec<u32> {
    sim.sent_to(to)
        .iter()
        .filter_map(|datagram| match ServerPacket::decode(datagram) {
            Ok(ServerPacket::Ack(ServerAck { ack })) => Some(ack),
            _ => None,
        })
        .collect()
}

fn chat(session_token: u64, event_id: u32) -> Vec<u8> {
    let text = PlainText::parse(&format!("line {event_id}")).unwrap();
    let event = ClientLaneEvent::ChatSend(ChatSend { text });
    let mut datagram = Vec::new();
    ClientPacket::Lane {
        session_token,
        event_id,
        event,
    }
    .encode(&mut datagram);
    datagram
}

#[test]
fn at_most_256_events_are_in_flight_and_an_acknowledgement_lets_the_next_out() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    assert_eq!(event_ids(&sim, visitor.address), (1..=6).collect::<Vec<_>>());
    for money in 0..400 {
        sim.push_event(0, &ServerLaneEvent::SetMoney(SetMoney { money }), false);
    }
    sim.tick();
    assert_eq!(event_ids(&sim, visitor.address), (7..=256).collect::<Vec<_>>());
    sim.send_session(
        visitor.address,
        hello.session_token,
        SessionPacket::Ack(ClientAck { ack: 10 }),
    );
    sim.tick();
    assert_eq!(event_ids(&sim, visitor.address), (257..=266).collect::<Vec<_>>());
}

#[test]
fn an_unmeasured_lane_is_resent_after_half_a_second_32_a_tick_lowest_id_first() {
    let mut sim = Sim::new();
    let (visitor, _) = sim.admit("127.0.0.1:5000", "Guest 0");
    for money in 0..64 {
        sim.push_event(0, &ServerLaneEvent::SetMoney(SetMoney { money }), false);
    }
    sim.tick();
    assert_eq!(event_ids(&sim, visitor.address).len(), 64);
    // The six events of the join left a tick earlier.
    let resent: Vec<Vec<u32>> = (0..8)
        .map(|_| {
            sim.tick();
            event_ids(&sim, visitor.address)
        })
        .collect();
    assert!(resent[..3].iter().all(Vec::is_empty), "{resent:?}");
    assert_eq!(resent[3], (1..=6).collect::<Vec<_>>());
    assert_eq!(resent[4], (7..=38).collect::<Vec<_>>());
    assert_eq!(resent[5], (39..=70).collect::<Vec<_>>());
    assert!(resent[6].is_empty() && resent[7].is_empty(), "{resent:?}");
    assert_eq!(sim.tally().resends, 70);
}

#[test]
fn a_measured_lane_is_resent_after_two_round_trips_and_at_least_200_ms() {
    for (rtt, ticks) in [(20, 2), (150, 3), (300, 6), (900, 10)] {
        let mut sim = Sim::new();
        let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
        sim.now += std::time::Duration::from_millis(rtt);
        sim.send_session(
            visitor.address,
            hello.session_token,
            SessionPacket::Ack(ClientAck { ack: 6 }),
        );
        sim.now -= std::time::Duration::from_millis(rtt);
        sim.tick();
        sim.push_event(0, &ServerLaneEvent::SetMoney(SetMoney { money: 1 }), false);
        sim.tick();
        assert_eq!(event_ids(&sim, visitor.address), [7]);
        let waited = (1..20).find(|_| {
            sim.tick();
            !event_ids(&sim, visitor.address).is_empty()
        });
        assert_eq!(waited, Some(ticks), "a round trip of {rtt} ms");
    }
}

#[test]
fn an_acknowledgement_above_what_was_sent_or_below_the_last_changes_nothing() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    for (ack, left) in [(7, 6), (u32::MAX, 6), (4, 2), (3, 2), (0, 2), (6, 0)] {
        sim.send_session(
            visitor.address,
            hello.session_token,
            SessionPacket::Ack(ClientAck { ack }),
        );
        sim.tick();
        assert_eq!(sim.component::<OutboundLane>(0).depth(), left, "after {ack}");
    }
}

#[test]
fn lane_packets_of_a_tick_are_acknowledged_by_one_packet() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    for event_id in [1, 2, 3, 5, 2] {
        sim.knock(visitor.address, &chat(hello.session_token, event_id));
    }
    sim.tick();
    assert_eq!(acks(&sim, visitor.address), [3]);
    sim.tick();
    assert!(acks(&sim, visitor.address).is_empty());
    sim.knock(visitor.address, &chat(hello.session_token, 1));
    sim.tick();
    assert_eq!(
        acks(&sim, visitor.address),
        [3],
        "what was delivered is acknowledged again"
    );
    sim.knock(visitor.address, &chat(hello.session_token, 4));
    sim.tick();
    assert_eq!(acks(&sim, visitor.address), [5], "the gap closed");
}

#[test]
fn events_up_to_64_ahead_are_kept_and_one_further_is_dropped() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    sim.knock(visitor.address, &chat(hello.session_token, 65));
    sim.knock(visitor.address, &chat(hello.session_token, 66));
    sim.tick();
    assert_eq!(sim.dropped(DropReason::BeyondWindow), 1);
    assert_eq!(acks(&sim, visitor.address), [0]);
    for event_id in 1..=64 {
        sim.knock(visitor.address, &chat(hello.session_token, event_id));
    }
    sim.tick();
    assert_eq!(acks(&sim, visitor.address), [65]);
}

#[test]
fn a_malformed_lane_packet_is_neither_acknowledged_nor_delivered_and_its_id_stays_free() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    let mut malformed = chat(hello.session_token, 1);
    *malformed.last_mut().unwrap() = 0x07;
    sim.knock(visitor.address, &malformed);
    sim.knock(visitor.address, &chat(hello.session_token, 0));
    sim.tick();
    assert!(acks(&sim, visitor.address).is_empty());
    assert_eq!(sim.dropped(DropReason::Malformed), 2);
    sim.knock(visitor.address, &chat(hello.session_token, 1));
    sim.tick();
    assert_eq!(acks(&sim, visitor.address), [1]);
}

#[test]
fn a_corrupting_link_breaks_nothing() {
    let mut sim = Sim::new();
    let players = sim.join_many(10);
    let noise = LossyLink {
        corruption: 30,
        loss: 10,
        ..LossyLink::default()
    };
    (sim.up, sim.down) = (noise.clone(), noise);
    for round in 0..100 {
        let _ = sim.players[players[round % 10]]
            .client
            .send_chat("is anybody there?");
        sim.tick();
    }
    // Bytes may say anything now, a goodbye too; the ledger balanced after every tick, and the server lives.
    (sim.up, sim.down) = (LossyLink::default(), LossyLink::default());
    let index = sim.join_now("Honest One");
    assert!(sim.players[index].end().is_none());
}
