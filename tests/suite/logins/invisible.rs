//! Whoever waits is not there for anybody, and hears of nobody.

use decitick_components::phase::Phase;
use decitick_protocol::{PacketId, PlayerJoin, ServerLaneEvent, ServerPacket};

use super::{DOORMAN, act, ids_sent, server, wait_outside};
use crate::sim::Sim;

/// What the docs let a client hear before it is let in, and nothing else.
const HEARD_WHILE_WAITING: [PacketId; 8] = [
    PacketId::ServerHello,
    PacketId::ConnectChallenge,
    PacketId::ServerKeepalive,
    PacketId::ServerAck,
    PacketId::FilesManifest,
    PacketId::ViewOpen,
    PacketId::ViewData,
    PacketId::ViewClose,
];

fn names_seen(sim: &Sim, index: usize) -> Vec<String> {
    sim.players[index]
        .names_joined()
        .iter()
        .map(|name| (*name).to_owned())
        .collect()
}

#[test]
fn nobody_hears_of_who_waits_and_who_waits_hears_of_nobody() {
    let mut sim = server(DOORMAN);
    let ada = sim.join_now("Ada");
    sim.recording = true;
    let bob = wait_outside(&mut sim, "Bob");
    sim.players[ada].client.send_chat("hello").unwrap();
    sim.players[ada].stand_at(3.0, 4.0);
    sim.console("say to all");
    sim.console("time 13:30");
    sim.ticks(60);
    sim.console("spawn 1");
    sim.console("grant 1 admin");
    sim.ticks(3);
    assert_eq!(sim.slots_taken(), 2, "the query counts it");
    let heard = ids_sent(&sim, bob);
    assert!(
        heard.iter().all(|id| HEARD_WHILE_WAITING.contains(id)),
        "{heard:?}"
    );
    for (.., bytes) in sim
        .log
        .iter()
        .filter(|(_, to, _)| *to == sim.players[bob].address)
    {
        if let Ok(ServerPacket::Keepalive(keepalive)) = ServerPacket::decode(bytes) {
            assert_eq!(keepalive.rtt_ms, u16::MAX);
        }
    }
    assert_eq!(names_seen(&sim, ada), [""; 0], "Ada was alone");
    let left_before = sim.log.len();
    sim.players[bob].client.bye();
    sim.ticks(10);
    assert_eq!(sim.slots_taken(), 1);
    assert!(
        !sim.log[left_before..]
            .iter()
            .any(|(.., bytes)| PacketId::from_byte(bytes[0]) == Some(PacketId::PlayerLeave)),
        "for the others it never was there"
    );
    assert!(sim.players[ada].left.is_empty());
    assert_eq!(
        sim.players[ada].chat(),
        ["Ada none", "to all", "Ada: hello"],
        "no script was told that a player came or went"
    );
    sim.expect_no_script_error();
}

#[test]
fn scripts_of_other_resources_do_not_see_who_waits() {
    let mut sim = server(DOORMAN);
    sim.start_script(
        "game",
        r#"
        fn pending_connected(pending) { pending.accept(); }
        fn player_chat(player, text) { chat::broadcast(`${players::count()} ${players::all().len()} ${players::get(1)}`); false }
        "#,
    );
    let ada = sim.join_now("Ada");
    let bob = wait_outside(&mut sim, "Bob");
    sim.players[ada].client.send_chat("count").unwrap();
    sim.ticks(5);
    assert_eq!(sim.players[ada].chat().last(), Some(&"1 1 "));
    assert_eq!(sim.phase(bob), Phase::PreAuth, "only the auth resource decides");
    sim.expect_no_script_error();
}

#[test]
fn who_is_let_in_joins_as_any_other_and_keeps_its_numbers() {
    let mut sim = server(DOORMAN);
    let ada = sim.join_now("Ada");
    let bob = wait_outside(&mut sim, "Bob");
    let generation = sim.players[bob].welcome().player_token;
    act(&mut sim, bob, "in");
    sim.expect_within(20, "Bob has a body", |sim| sim.players[bob].client.is_spawned());
    sim.ticks(5);
    let order: Vec<PacketId> = sim.players[bob]
        .events
        .iter()
        .map(|(_, event)| event.id())
        .collect();
    let wanted = [
        PacketId::ViewOpen,
        PacketId::ViewData,
        PacketId::ViewClose,
        PacketId::AuthAccepted,
        PacketId::PlayerSkills,
        PacketId::SetTime,
        PacketId::SetWeather,
        PacketId::RunClock,
        PacketId::DriveByIntervals,
        PacketId::GarageDoors,
        PacketId::PlayerJoin,
    ];
    assert_eq!(order[..wanted.len()], wanted, "{order:?}");
    let told = sim.players[ada].events.iter().find_map(|(_, event)| match event {
        ServerLaneEvent::PlayerJoin(PlayerJoin { players }) => Some(players.clone()),
        _ => None,
    });
    let row = told.expect("Ada is told now")[0].clone();
    assert_eq!((row.player_id, row.player_token), (1, generation));
    assert!(
        sim.players[ada].chat().contains(&"Bob b"),
        "what was kept with it while it waited is there"
    );
    assert!(!sim.players[bob].client.is_auth_pending(), "its client knows");
    sim.expect_no_script_error();
}

#[test]
fn a_name_is_held_by_who_waits_and_free_when_it_goes() {
    let mut sim = server(DOORMAN);
    let bob = wait_outside(&mut sim, "Bob");
    let twin = crate::sim::Visitor::new(&mut sim, "127.0.0.1:9999", "bob");
    let taken = crate::sim::Reply::plain(decitick_components::reasons::RejectReason::NameTaken);
    assert_eq!(sim.visit(&twin), taken);
    sim.players[bob].client.bye();
    sim.ticks(2);
    assert!(matches!(sim.visit(&twin), crate::sim::Reply::Welcome(_)));
}

#[test]
fn a_repeated_hello_tells_of_the_login_as_it_is_now() {
    let mut sim = server(DOORMAN);
    let (ada, hello) = sim.admit("127.0.0.1:5000", "Ada");
    assert!(hello.auth_pending, "she was let in after her ServerHello");
    sim.ticks(3);
    let again = sim.visit(&ada);
    assert!(!again.hello().auth_pending);
    assert_eq!(
        (again.hello().player_token, again.hello().session_token),
        (hello.player_token, hello.session_token)
    );
    let (bob, _) = sim.admit("127.0.0.1:5001", "Bob");
    sim.ticks(3);
    assert!(sim.visit(&bob).hello().auth_pending);
}

#[test]
fn the_console_shows_who_waits_and_kicks_it_without_a_word_to_others() {
    let mut sim = server(DOORMAN);
    let ada = sim.join_now("Ada");
    let bob = wait_outside(&mut sim, "Bob");
    let players = sim.console("players").text;
    assert!(players.contains("pre_auth"), "{players}");
    sim.console("kick 1 no");
    sim.ticks(3);
    assert!(sim.players[bob].end().is_some());
    assert_eq!(sim.players[ada].chat(), ["Ada none"]);
}
