//! Every way a login ends without a player: KickNotify with its reason, no PlayerLeave, no word to any script.

use decitick_components::{phase::Phase, reasons::CloseReason};
use decitick_protocol::{PacketId, RejectReason};

use super::{DOORMAN, act, judged, kicks_sent, server, start_judge, wait_outside};
use crate::sim::{Reply, Sim, Visitor};

/// A server on which Ada plays and Bob waits, and everything that is sent from now on is kept.
fn ada_in_bob_out() -> (Sim, usize, usize) {
    let mut sim = server(DOORMAN);
    let ada = sim.join_now("Ada");
    let bob = wait_outside(&mut sim, "Bob");
    sim.recording = true;
    (sim, ada, bob)
}

/// Bob is gone for this reason and was told so once; nobody else heard of it.
#[track_caller]
fn bob_is_gone(sim: &mut Sim, (ada, bob): (usize, usize), told: &str, reason: CloseReason) {
    sim.ticks(4);
    assert_eq!(kicks_sent(sim, bob), [told]);
    assert!(
        sim.ended.iter().any(|end| end.0 == 1 && end.2 == reason),
        "{:?}",
        sim.ended
    );
    assert_eq!(sim.entity(1), None);
    let ada_address = sim.players[ada].address;
    assert!(
        !sim.log
            .iter()
            .any(|(_, to, bytes)| *to == ada_address && bytes[0] == PacketId::PlayerLeave.byte()),
        "a PlayerLeave of somebody who never was there"
    );
    assert!(
        !sim.players[ada].chat().iter().any(|line| line.starts_with("Bob")),
        "{:?}",
        sim.players[ada].chat()
    );
}

#[test]
fn a_refusal_ends_it_with_the_words_of_the_resource() {
    let (mut sim, ada, bob) = ada_in_bob_out();
    act(&mut sim, bob, "out");
    bob_is_gone(&mut sim, (ada, bob), "not today", CloseReason::Kick);
    sim.expect_no_script_error();
}

#[test]
fn an_error_of_the_resource_ends_it() {
    for word in ["throw", "loop"] {
        let (mut sim, ada, bob) = ada_in_bob_out();
        act(&mut sim, bob, word);
        bob_is_gone(&mut sim, (ada, bob), "login failed", CloseReason::Kick);
        assert!(sim.report("login").last_error.is_some());
    }
}

#[test]
fn too_long_a_reason_is_an_error_and_ends_it_too() {
    let mut sim = server(
        "fn pending_connected(pending) { let text = \"a\"; text.pad(65, 'a'); pending.refuse(text); }",
    );
    sim.recording = true;
    let bob = sim.join("Bob");
    sim.ticks(8);
    assert_eq!(kicks_sent(&sim, bob), ["login failed"]);
}

#[test]
fn waiting_longer_than_the_settings_allow_ends_it_at_its_tick() {
    let (mut sim, ada, bob) = ada_in_bob_out();
    let began = sim.of::<decitick_components::liveness::Traffic>(bob).joined_at;
    let deadline = began + std::time::Duration::from_secs(30);
    while sim.now + std::time::Duration::from_millis(100) < deadline {
        sim.tick();
        assert_eq!(sim.phase(bob), Phase::PreAuth);
    }
    sim.ticks(2);
    bob_is_gone(&mut sim, (ada, bob), "login timed out", CloseReason::Kick);
}

#[test]
fn a_stop_of_the_resource_ends_it_and_nobody_new_is_admitted() {
    let (mut sim, ada, bob) = ada_in_bob_out();
    sim.console("resource stop login");
    bob_is_gone(&mut sim, (ada, bob), "login unavailable", CloseReason::Kick);
    let eve = Visitor::new(&mut sim, "127.0.0.1:9000", "Eve");
    assert_eq!(sim.visit(&eve), Reply::plain(RejectReason::AuthUnavailable));
    assert!(sim.players[ada].end().is_none(), "who was let in stays");
}

#[test]
fn a_reload_ends_all_that_wait_and_the_new_version_judges_the_next() {
    let mut sim = server(DOORMAN);
    let ada = sim.join_now("Ada");
    let waiting: Vec<usize> = (0..3)
        .map(|index| wait_outside(&mut sim, &format!("Bob {index}")))
        .collect();
    sim.recording = true;
    start_judge(&mut sim, DOORMAN);
    sim.ticks(3);
    for &bob in &waiting {
        assert_eq!(kicks_sent(&sim, bob), ["login unavailable"]);
    }
    assert!(
        !sim.log
            .iter()
            .any(|(.., bytes)| bytes[0] == PacketId::PlayerLeave.byte())
    );
    assert!(sim.players[ada].end().is_none());
    wait_outside(&mut sim, "Bob 9");
}

#[test]
fn a_resource_that_is_paused_judges_nobody() {
    let (mut sim, ada, bob) = ada_in_bob_out();
    for round in 0..5 {
        let eve = wait_outside(&mut sim, &format!("Eve {round}"));
        act(&mut sim, eve, "loop");
        sim.ticks(4);
    }
    bob_is_gone(&mut sim, (ada, bob), "login unavailable", CloseReason::Kick);
    let next = Visitor::new(&mut sim, "127.0.0.1:9000", "Next");
    assert_eq!(sim.visit(&next), Reply::plain(RejectReason::AuthUnavailable));
}

#[test]
fn a_ban_a_kick_and_silence_end_it_as_any_session() {
    let (mut sim, ada, bob) = ada_in_bob_out();
    sim.console("kick 1 go away");
    bob_is_gone(&mut sim, (ada, bob), "go away", CloseReason::Kick);
    let (mut sim, ada, bob) = ada_in_bob_out();
    sim.players[bob].unplugged = true;
    sim.ticks(160);
    assert_eq!(kicks_sent(&sim, bob), [""; 0]);
    assert!(
        sim.ended.contains(&(1, 2, CloseReason::Timeout)),
        "{:?}",
        sim.ended
    );
    assert!(sim.players[ada].left.is_empty());
    let (mut sim, _, bob) = ada_in_bob_out();
    sim.console("ban 127.0.0.1 60 out");
    sim.ticks(5);
    assert_eq!(kicks_sent(&sim, bob), ["out"]);
}

#[test]
fn a_server_that_stops_tells_who_waits() {
    let (mut sim, _, bob) = ada_in_bob_out();
    sim.console("shutdown 0 bye");
    sim.ticks(5);
    assert_eq!(kicks_sent(&sim, bob), ["bye"]);
}

#[test]
fn nobody_is_admitted_while_the_auth_resource_does_not_run_or_is_none() {
    let mut sim = Sim::with_settings(judged);
    let eve = Visitor::new(&mut sim, "127.0.0.1:9000", "Eve");
    assert_eq!(
        sim.visit(&eve),
        Reply::Silence,
        "the first tick: nobody knows yet"
    );
    assert_eq!(sim.visit(&eve), Reply::plain(RejectReason::AuthUnavailable));
    sim.start_script("login", "fn pending_connected(pending) { pending.accept(); }");
    assert_eq!(
        sim.visit(&eve),
        Reply::plain(RejectReason::AuthUnavailable),
        "its manifest does not say auth: true"
    );
    start_judge(&mut sim, "fn pending_connected(pending) { pending.accept(); }");
    assert!(matches!(sim.visit(&eve), Reply::Welcome(_)));
}

#[test]
fn what_is_done_to_one_who_went_or_was_decided_does_nothing() {
    let mut sim = server(
        r#"
        fn pending_connected(pending) {
            timers::after(2000, || {
                log::info(`${pending.waiting} ${pending.id} ${pending.token}`);
                pending.set("a", 1);
                let gone = [pending.accept(), pending.open_view("x.html"), pending.view_data(1, 2), pending.close_view(1), pending.get("a", 7)];
                pending.refuse("late");
                pending.web_auth("example");
                chat::broadcast(`${gone}`);
            });
            if pending.name == "Ada" { log::info(pending.accept()); pending.refuse("twice"); log::info(pending.accept()); }
        }
        "#,
    );
    let ada = sim.join_now("Ada");
    let bob = sim.join("Bob");
    sim.ticks(8);
    sim.players[bob].client.bye();
    sim.ticks(30);
    assert_eq!(
        sim.players[ada].chat(),
        ["[false, 0, false, false, 7]", "[false, 0, false, false, 7]"]
    );
    assert!(sim.players[ada].end().is_none());
    sim.expect_no_script_error();
}

#[test]
fn tickets_for_everybody_who_asks_in_one_tick_do_not_run_out() {
    let mut sim = server(
        "fn pending_connected(pending) { let seen = #{}; for i in 0..3000 { seen[pending.web_auth(\"example\")] = true; } pending.set(\"n\", seen.len()); pending.accept(); }\nfn player_connected(player) { chat::broadcast(`${player.get(\"n\")}`); }",
    );
    let ada = sim.join_now("Ada");
    sim.ticks(2);
    assert_eq!(sim.players[ada].chat(), ["3000"], "and no two are alike");
    sim.expect_no_script_error();
}
