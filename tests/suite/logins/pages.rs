//! Pages: what a client may say while it waits, and views of players.

use decitick_components::{lane::InboundLane, pages::OpenViews, phase::Phase};
use decitick_protocol::{
    ClientLaneEvent, ClientPacket, HitReport, PacketId, ServerLaneEvent, SessionPacket, Vec3, ViewState,
    ViewStatus,
};

use super::{DOORMAN, act, act_in, judged, server, start_judge, text, wait_outside};
use crate::sim::{Sim, Visitor, frame_at, scripts::bundle};

fn views_told(sim: &Sim, index: usize) -> Vec<String> {
    sim.players[index]
        .events
        .iter()
        .filter_map(|(_, event)| match event {
            ServerLaneEvent::ViewOpen(open) => Some(format!(
                "open {} {} {}",
                open.view_id,
                open.resource.as_str(),
                open.page.as_str()
            )),
            ServerLaneEvent::ViewData(data) => {
                Some(format!("data {} {:?}", data.view_id, data.data.as_bytes()))
            }
            ServerLaneEvent::ViewClose(close) => Some(format!("close {}", close.view_id)),
            _ => None,
        })
        .collect()
}

fn delivered(sim: &Sim, index: usize) -> u32 {
    sim.of::<InboundLane>(index).delivered()
}

#[test]
fn what_a_waiting_client_may_not_say_is_acknowledged_and_never_read() {
    let mut sim = server(DOORMAN);
    let ada = sim.join_now("Ada");
    let (bob, hello) = sim.admit("127.0.0.1:5000", "Bob");
    sim.ticks(3);
    let token = hello.session_token;
    // A line of chat whose bytes are no UTF-8, a value that is none, a hit on nobody: of the right lengths.
    let chat = [
        &[PacketId::ChatSend.byte()][..],
        &token.to_le_bytes(),
        &1u32.to_le_bytes(),
        &[2, 0xFF, 0xFE],
    ]
    .concat();
    let event = [
        &[PacketId::ClientEvent.byte()][..],
        &token.to_le_bytes(),
        &2u32.to_le_bytes(),
        &[1, b'x', 1, 0, 0xC1],
    ]
    .concat();
    let mut hit = Vec::new();
    ClientPacket::Lane {
        session_token: token,
        event_id: 3,
        event: ClientLaneEvent::HitReport(HitReport {
            target_id: 0,
            target_token: 1,
            weapon: 0,
            body_part: 0,
            origin: Vec3::ZERO,
            hit: Vec3::ZERO,
        }),
    }
    .encode(&mut hit);
    for packet in [&chat, &event, &hit] {
        sim.knock(bob.address, packet);
        sim.tick();
    }
    let id = u16::try_from(hello.player_id).unwrap();
    assert_eq!(sim.component::<InboundLane>(id).delivered(), 3);
    // A length that its layout rules out, and an id that is none, are not acknowledged.
    let long = [
        &[PacketId::ChatSend.byte()][..],
        &token.to_le_bytes(),
        &4u32.to_le_bytes(),
        &[b'x'; 200],
    ]
    .concat();
    let zero = [
        &[PacketId::ChatSend.byte()][..],
        &token.to_le_bytes(),
        &0u32.to_le_bytes(),
        &[1, b'x'],
    ]
    .concat();
    for packet in [&long, &zero] {
        sim.knock(bob.address, packet);
        sim.tick();
    }
    assert_eq!(sim.component::<InboundLane>(id).delivered(), 3);
    // The next id is still free.
    let next = [
        &[PacketId::ChatSend.byte()][..],
        &token.to_le_bytes(),
        &4u32.to_le_bytes(),
        &[1, b'x'],
    ]
    .concat();
    sim.knock(bob.address, &next);
    sim.tick();
    assert_eq!(sim.component::<InboundLane>(id).delivered(), 4);
    assert_eq!(sim.players[ada].chat(), ["Ada none"]);
    sim.expect_no_script_error();
}

#[test]
fn frames_and_spawn_wishes_of_a_waiting_client_change_nothing() {
    let mut sim = server(DOORMAN);
    let (bob, hello) = sim.admit("127.0.0.1:5000", "Bob");
    sim.ticks(2);
    let wrong_phase = |sim: &Sim| {
        let tally = sim.app.world().resource::<decitick_components::tally::Tally>();
        tally
            .dropped
            .count(decitick_components::reasons::DropReason::WrongPhase)
    };
    let before = wrong_phase(&sim);
    let frame = SessionPacket::PlayerSync(decitick_protocol::PlayerSync {
        seq: 5,
        ..frame_at(9.0, 9.0)
    });
    sim.send_session(bob.address, hello.session_token, frame);
    sim.send_session(
        bob.address,
        hello.session_token,
        SessionPacket::RequestSpawn(decitick_protocol::RequestSpawn),
    );
    sim.ticks(3);
    assert_eq!(wrong_phase(&sim), before + 1);
    assert_eq!(
        *sim.component::<Phase>(u16::try_from(hello.player_id).unwrap()),
        Phase::PreAuth
    );
    sim.expect_no_script_error();
}

#[test]
fn a_view_is_bound_to_its_connection_and_its_number() {
    let mut sim = server(DOORMAN);
    let bob = wait_outside(&mut sim, "Bob");
    act_in(&mut sim, bob, 2, "in");
    act_in(&mut sim, bob, 0, "in");
    sim.ticks(5);
    assert_eq!(sim.phase(bob), Phase::PreAuth, "no such view");
    assert_eq!(delivered(&sim, bob), 2, "acknowledged all the same");
    act(&mut sim, bob, "hm");
    sim.ticks(5);
    assert_eq!(
        views_told(&sim, bob).last().unwrap(),
        "data 1 [165, 119, 104, 97, 116, 63]"
    );
    // The page was closed: what it says now comes too late.
    let closed = ViewStatus {
        view_id: 1,
        status: ViewState::Closed,
    };
    let bob_client = &mut sim.players[bob].client;
    bob_client
        .send_lane(&ClientLaneEvent::ViewStatus(closed))
        .unwrap();
    sim.ticks(2);
    act(&mut sim, bob, "in");
    sim.ticks(5);
    assert_eq!(sim.phase(bob), Phase::PreAuth);
    sim.expect_no_script_error();
}

#[test]
fn a_player_is_shown_pages_by_any_resource_and_answers_reach_that_one_alone() {
    let mut sim = Sim::new();
    let shop = r#"
        fn player_chat(player, text) { state.view = player.open_view("shop.html"); player.view_data(state.view, #{}); false }
        fn player_view_action(player, view, data) { chat::broadcast(`NAME ${view} ${data} ${player.view_data(view, data)}`); if data == "x" { chat::broadcast(`${player.close_view(view)}`); chat::broadcast(`${player.view_data(view, 1)}`); } }
        fn player_view_status(player, view, status) { chat::broadcast(`NAME ${view} ${status}`); }
    "#;
    sim.start_script("a", &shop.replace("NAME", "a"));
    sim.start_script(
        "b",
        "fn player_view_action(player, view, data) { chat::broadcast(\"b heard it\"); }\nfn player_command(player, command, args) { player.close_view(1) }",
    );
    let ada = sim.join_now("Ada");
    sim.players[ada].client.send_chat("open").unwrap();
    sim.ticks(4);
    assert_eq!(views_told(&sim, ada), ["open 1 a shop.html", "data 1 [128]"]);
    let loaded = ViewStatus {
        view_id: 1,
        status: ViewState::Loaded,
    };
    sim.players[ada]
        .client
        .send_lane(&ClientLaneEvent::ViewStatus(loaded))
        .unwrap();
    act(&mut sim, ada, "buy");
    sim.players[ada].client.send_chat("/close").unwrap();
    sim.ticks(4);
    act(&mut sim, ada, "x");
    sim.ticks(4);
    assert_eq!(
        sim.players[ada].chat(),
        [
            "a 1 loaded",
            "a 1 buy true",
            "unknown command: /close",
            "a 1 x true",
            "true",
            "false"
        ]
    );
    assert!(sim.of::<OpenViews>(ada).is_empty());
    sim.expect_no_script_error();
}

#[test]
fn a_resource_that_stops_takes_its_pages_with_it() {
    let mut sim = Sim::new();
    sim.start_script(
        "a",
        "fn player_connected(player) { player.open_view(\"x.html\"); player.open_view(\"y.html\"); }",
    );
    let ada = sim.join_now("Ada");
    sim.ticks(3);
    sim.console("resource stop a");
    sim.ticks(4);
    assert_eq!(
        views_told(&sim, ada),
        ["open 1 a x.html", "open 2 a y.html", "close 1", "close 2"]
    );
}

#[test]
fn a_client_shows_sixteen_pages_at_most() {
    let mut sim = Sim::new();
    sim.start_script(
        "a",
        "fn player_connected(player) { for i in 0..16 { player.open_view(`p${i}.html`); } try { player.open_view(\"one more\"); } catch (problem) { chat::broadcast(problem); } }",
    );
    let ada = sim.join_now("Ada");
    sim.ticks(6);
    let chat = sim.players[ada].chat();
    assert!(chat.len() == 1 && chat[0].contains("16 views"), "{chat:?}");
}

#[test]
fn credentials_are_for_the_auth_resource_alone() {
    let mut sim = Sim::with_settings(judged);
    let tell = "fn player_connected(player) { chat::broadcast(`NAME ${player.credential}`); }";
    start_judge(
        &mut sim,
        &format!(
            "fn pending_connected(pending) {{ pending.set(\"id\", pending.credential); pending.accept(); }}\n{}",
            tell.replace("NAME", "login ${player.get(\"id\") == player.credential}")
        ),
    );
    let mut nosy = bundle("nosy", &tell.replace("NAME", "nosy"));
    nosy.manifest.auth = false;
    sim.start_bundle(nosy);
    let seed = [9; 32];
    let bob = Visitor::new(&mut sim, "127.0.0.1:5000", "Bob").with_credential(seed);
    sim.recording = true;
    sim.visit(&bob);
    sim.ticks(4);
    let id = decitick_protocol::credential::credential_id(&decitick_protocol::credential::public_key(&seed));
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let said = sim
        .log
        .iter()
        .any(|(.., bytes)| String::from_utf8_lossy(bytes).contains(&format!("login true {hex}")));
    assert!(said);
    assert!(
        sim.script_error("nosy").contains("only the resource"),
        "{}",
        sim.script_error("nosy")
    );
    let _ = text;
}
