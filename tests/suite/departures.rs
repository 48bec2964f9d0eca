//! Who is told that somebody left: on three ticks in a row, at most 32 a tick, and never those who leave with them
//! (docs/protocol.md 1.5).

use std::net::SocketAddr;

use decitick_protocol::{ClientBye, PlayerLeave, ServerHello, ServerPacket, SessionPacket};

use crate::sim::{Sim, Visitor};

fn leaves(sim: &Sim, to: SocketAddr) -> Vec<(u32, u32)> {
    sim.sent_to(to)
        .iter()
        .filter_map(|datagram| match ServerPacket::decode(datagram) {
            Ok(ServerPacket::PlayerLeave(PlayerLeave {
                player_id,
                player_token,
            })) => Some((player_id, player_token)),
            _ => None,
        })
        .collect()
}

fn crowd(sim: &mut Sim, count: usize) -> Vec<(Visitor, ServerHello)> {
    (0..count)
        .map(|n| sim.admit(&format!("127.0.0.1:{}", 5000 + n), &format!("Guest {n}")))
        .collect()
}

fn say_bye(sim: &mut Sim, leavers: &[(Visitor, ServerHello)]) {
    for (visitor, hello) in leavers {
        sim.send_session(
            visitor.address,
            hello.session_token,
            SessionPacket::Bye(ClientBye),
        );
    }
}

#[test]
fn a_departure_is_told_on_three_ticks_in_a_row() {
    let mut sim = Sim::new();
    let crowd = crowd(&mut sim, 2);
    say_bye(&mut sim, &crowd[1..]);
    for told in [1, 1, 1, 0, 0] {
        sim.tick();
        assert_eq!(leaves(&sim, crowd[0].0.address), vec![(1, 2); told]);
        assert!(
            sim.sent_to(crowd[1].0.address).is_empty(),
            "nothing answers a goodbye"
        );
    }
}

#[test]
fn at_most_32_are_told_of_in_a_tick_and_the_rest_wait() {
    let mut sim = Sim::new();
    let crowd = crowd(&mut sim, 81);
    say_bye(&mut sim, &crowd[1..]);
    let told: Vec<Vec<(u32, u32)>> = (0..12)
        .map(|_| {
            sim.tick();
            leaves(&sim, crowd[0].0.address)
        })
        .collect();
    let counts: Vec<usize> = told.iter().map(Vec::len).collect();
    assert_eq!(counts, [32, 32, 32, 32, 32, 32, 16, 16, 16, 0, 0, 0]);
    let mut everybody: Vec<u32> = told.iter().flatten().map(|(id, _)| *id).collect();
    everybody.sort_unstable();
    let three_times: Vec<u32> = (1..=80).flat_map(|id| [id; 3]).collect();
    assert_eq!(everybody, three_times);
}

#[test]
fn those_who_leave_in_one_tick_are_not_told_of_each_other() {
    let mut sim = Sim::new();
    let crowd = crowd(&mut sim, 10);
    say_bye(&mut sim, &crowd[2..]);
    sim.tick();
    assert_eq!(leaves(&sim, crowd[0].0.address).len(), 8);
    assert_eq!(leaves(&sim, crowd[1].0.address).len(), 8);
    for _ in 0..3 {
        for (leaver, _) in &crowd[2..] {
            assert!(sim.sent_to(leaver.address).is_empty());
        }
        sim.tick();
    }
}

#[test]
fn who_had_the_leaver_in_view_is_told_on_the_lane_too() {
    let mut sim = Sim::new();
    let (near, leaver) = (sim.join_now("Near One"), sim.join_now("Leaver"));
    sim.expect_within(20, "they see each other", |sim| {
        sim.players[near].client.roster().unwrap().in_view_count() == 1
    });
    sim.players[leaver].client.bye();
    sim.ticks(4);
    assert_eq!(sim.players[near].left, [(1, 2)]);
    let lane = sim.component::<decitick_components::lane::OutboundLane>(0);
    assert_eq!(lane.depth(), 0);
    assert_eq!(sim.players[near].client.roster().unwrap().in_view_count(), 0);
}

#[test]
fn an_id_that_is_taken_again_at_once_confuses_nobody() {
    let mut sim = Sim::new();
    let watcher = sim.join_now("Watcher");
    let address = "127.0.0.1:30000".parse().unwrap();
    for round in 0..20 {
        let index = sim.join_from(address, &format!("Guest {round}"));
        sim.expect_within(20, "it is seen", |sim| {
            let roster = sim.players[watcher].client.roster().unwrap();
            roster
                .player(1)
                .is_some_and(|player| player.name() == Some(format!("Guest {round}").as_str()))
        });
        sim.players[index].client.bye();
        sim.ticks(2);
    }
    sim.ticks(5);
    assert_eq!(sim.players[watcher].left.len(), 20);
    assert_eq!(sim.players[watcher].client.roster().unwrap().players().count(), 0);
}
