//! Slots, generations and what a newcomer is told (docs/protocol.md 1.5).

use decitick_components::session::SlotTable;
use decitick_protocol::{ClientBye, ServerLaneEvent, ServerPacket, SessionPacket};

use crate::sim::{Reply, Sim, Visitor};

#[test]
fn the_lowest_free_id_is_taken_and_generations_only_grow() {
    let mut sim = Sim::new();
    let sessions: Vec<_> = (0..4)
        .map(|n| sim.admit(&format!("127.0.0.1:{}", 5000 + n), &format!("Guest {n}")))
        .collect();
    let taken: Vec<_> = sessions
        .iter()
        .map(|(_, hello)| (hello.player_id, hello.player_token))
        .collect();
    assert_eq!(taken, [(0, 1), (1, 2), (2, 3), (3, 4)]);
    for leaver in [2, 1] {
        let (visitor, hello) = &sessions[leaver];
        sim.send_session(
            visitor.address,
            hello.session_token,
            SessionPacket::Bye(ClientBye),
        );
    }
    sim.tick();
    let (_, next) = sim.admit("127.0.0.1:6000", "Guest 9");
    assert_eq!((next.player_id, next.player_token), (1, 5));
    let (_, next) = sim.admit("127.0.0.1:6001", "Guest 10");
    assert_eq!((next.player_id, next.player_token), (2, 6));
}

#[test]
fn a_session_token_is_never_zero_and_never_the_same() {
    let mut sim = Sim::new();
    let mut tokens: Vec<u64> = (0..50)
        .map(|n| {
            sim.admit(&format!("127.0.0.1:{}", 5000 + n), &format!("Guest {n}"))
                .1
                .session_token
        })
        .collect();
    tokens.sort_unstable();
    tokens.dedup();
    assert!(tokens.len() == 50 && tokens[0] != 0);
}

#[test]
fn an_old_token_is_worth_nothing_after_the_end_and_the_next_session_of_the_address_has_a_new_one() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    sim.send_session(
        visitor.address,
        hello.session_token,
        SessionPacket::Bye(ClientBye),
    );
    sim.tick();
    let again = *sim.visit(&visitor).hello();
    assert_ne!(again.session_token, hello.session_token);
    assert_eq!((again.player_id, again.player_token), (0, 2));
    let spoofed = sim.send_session(
        visitor.address,
        hello.session_token,
        SessionPacket::Bye(ClientBye),
    );
    assert!(matches!(spoofed, decitick_systems::door::DoorVerdict::Drop(_)));
    sim.tick();
    assert_eq!(sim.slots_taken(), 1);
}

#[test]
fn a_goodbye_that_arrives_with_the_end_of_its_session_ends_it_once() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    sim.admit("127.0.0.1:5001", "Guest 1");
    sim.console_later("kick 0 enough");
    for _ in 0..3 {
        sim.send_session(
            visitor.address,
            hello.session_token,
            SessionPacket::Bye(ClientBye),
        );
    }
    sim.ticks(3);
    assert_eq!(sim.ended.len(), 1, "{:?}", sim.ended);
    assert_eq!(sim.slots_taken(), 1);
}

#[test]
fn a_newcomer_is_told_skills_the_world_and_the_roster_in_this_order() {
    let mut sim = Sim::new();
    sim.join_many(3);
    let index = sim.join("Newcomer");
    sim.players[index].wants_body = false;
    sim.ticks(5);
    let kinds: Vec<_> = sim.players[index]
        .events
        .iter()
        .map(|(_, event)| event.id().name())
        .collect();
    assert_eq!(
        kinds,
        [
            "PlayerSkills",
            "SetTime",
            "SetWeather",
            "RunClock",
            "DriveByIntervals",
            "GarageDoors",
            "PlayerJoin"
        ]
    );
    let mut names = sim.players[index].names_joined();
    names.sort_unstable();
    assert_eq!(names, ["Bot 1000", "Bot 1001", "Bot 1002"]);
    assert_eq!(sim.players[0].names_joined().last(), Some(&"Newcomer"));
}

#[test]
fn those_who_join_in_one_tick_are_told_of_each_other_once() {
    let mut sim = Sim::new();
    sim.join_many(120);
    sim.ticks(10);
    for player in &sim.players {
        let mut names = player.names_joined();
        let told = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!((told, names.len()), (119, 119), "everybody else, once");
        assert_eq!(player.client.roster().unwrap().players().count(), 119);
    }
}

#[test]
fn a_long_roster_comes_in_several_packets_that_all_fit() {
    let mut sim = Sim::new();
    let long = |n: usize| format!("{n:03} {}", "ж".repeat(28));
    for n in 0..60 {
        let visitor = Visitor::new(&mut sim, &format!("127.0.0.1:{}", 5000 + n), &long(n));
        sim.queue_hello(&visitor);
    }
    sim.tick();
    let (newcomer, _) = sim.admit("127.0.0.1:6000", "Newcomer");
    let joins: Vec<usize> = sim
        .sent_to(newcomer.address)
        .iter()
        .filter_map(|datagram| match ServerPacket::decode(datagram) {
            Ok(ServerPacket::Lane {
                event: ServerLaneEvent::PlayerJoin(join),
                ..
            }) => Some(join.players.len()),
            _ => None,
        })
        .collect();
    assert!(joins.len() > 1, "{joins:?}");
    assert_eq!(joins.iter().sum::<usize>(), 60);
}

#[test]
fn a_body_is_granted_once_however_often_it_is_asked_for() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    for _ in 0..3 {
        let spawn = SessionPacket::RequestSpawn(decitick_protocol::RequestSpawn);
        sim.send_session(visitor.address, hello.session_token, spawn);
        sim.send_session(visitor.address, hello.session_token, spawn);
        sim.tick();
    }
    let lane = sim.component::<decitick_components::lane::OutboundLane>(0);
    // Six events of the join, and one SpawnPlayer.
    assert_eq!(lane.highest_sent(), 7);
}

#[test]
fn a_thousand_players_fit_and_the_next_is_told_the_server_is_full() {
    let mut sim = Sim::new();
    for n in 0..1000 {
        let visitor = Visitor::new(
            &mut sim,
            &format!("127.0.0.1:{}", 5000 + n),
            &format!("Guest {n}"),
        );
        sim.queue_hello(&visitor);
    }
    sim.tick();
    assert_eq!(sim.slots_taken(), 1000);
    let late = Visitor::new(&mut sim, "127.0.0.1:9000", "Late Guest");
    assert_eq!(
        sim.visit(&late),
        Reply::plain(decitick_protocol::RejectReason::ServerFull)
    );
    assert!(
        sim.app
            .world()
            .resource::<SlotTable>()
            .iter()
            .all(|(id, _)| id.0 < 1000)
    );
}
