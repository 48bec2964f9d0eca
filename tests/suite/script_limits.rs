//! What bounds scripts, to the operation and to the millisecond: the stopwatch of these tests goes on by ten
//! microseconds whenever a script makes a step.

use std::{cell::Cell, time::Duration};

use decitick_components::{reasons::CloseReason, script::Stopwatch, settings::Settings};
use decitick_protocol::{RejectReason, ServerPacket};
use decitick_systems::script::ResourceState;

use crate::sim::{Reply, Setup, Sim, Visitor, duel::Duel, scripts::bundle};

thread_local! {
    static TIME: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Time that goes by while scripts work, and only then.
const WORK: Stopwatch = Stopwatch {
    exact: || TIME.get(),
    coarse: || {
        TIME.set(TIME.get() + Duration::from_micros(10));
        TIME.get()
    },
};

/// A function that takes `ms` milliseconds and a little.
const BURN: &str = "fn burn(ms) { let steps = 0; while steps < ms * 6 { steps += 1; } }\n";

fn timed() -> Sim {
    timed_with(|_| {})
}

fn timed_with(change: impl FnOnce(&mut Settings)) -> Sim {
    let mut setup = Setup {
        stopwatch: WORK,
        ..Setup::default()
    };
    change(&mut setup.settings);
    Sim::with(setup)
}

/// What a piece of script takes by the stopwatch, in microseconds, when nothing stops it.
fn cost_us(script: &str) -> u128 {
    let mut sim = timed_with(|settings| {
        settings.scripts.milliseconds_per_call = 10_000;
        settings.scripts.milliseconds_per_tick = 10_000;
    });
    sim.start_script("cost", &format!("{BURN}fn resource_start() {{ {script} }}"));
    sim.expect_no_script_error();
    sim.report("cost").figures.time.as_micros()
}

#[test]
fn a_call_over_its_operations_is_stopped_and_says_so() {
    let mut sim = Sim::with_settings(|settings| settings.scripts.operations_per_call = 10_000);
    sim.start_script(
        "long",
        "fn resource_start() { state.n = 0;\n loop { state.n += 1; } }",
    );
    assert_eq!(
        sim.script_error("long").split_once(": ").unwrap().1,
        "resource_start: stopped: over 10000 operations in one call (scripts.operations_per_call)"
    );
    sim.start_script("caught", "fn tick(dt) { loop { try { loop {} } catch { } } }");
    assert!(
        sim.script_error("caught")
            .contains("stopped: over 10000 operations")
    );
}

#[test]
fn a_call_over_its_time_is_stopped_and_says_so() {
    let mut sim = timed();
    sim.start_script("slow", "fn tick(dt) { loop {} }");
    let said = sim.script_error("slow");
    assert!(
        said.contains("stopped: over") && said.contains("ms in one call (scripts.milliseconds_per_call"),
        "{said}"
    );
    assert!(said.contains(" tick: "), "what was called is named: {said}");
    let figures = sim.report("slow").figures;
    assert_eq!((figures.calls, figures.errors), (1, 1));
    assert!(
        (29..32).contains(&figures.longest.as_millis()),
        "{:?}",
        figures.longest
    );
}

#[test]
fn five_overruns_in_a_minute_pause_a_resource_and_a_restart_revives_it() {
    let mut sim = timed();
    sim.start_script("slow", "fn tick(dt) { loop {} }");
    sim.ticks(3);
    assert_eq!(sim.report("slow").state, ResourceState::Running);
    sim.ticks(20);
    let report = sim.report("slow");
    assert_eq!((report.state, report.figures.calls), (ResourceState::Paused, 5));
    let restart = sim.console_later("resource restart slow");
    sim.ticks(3);
    assert!(sim.console_answer(restart).unwrap().ok);
    let report = sim.report("slow");
    assert_eq!(report.state, ResourceState::Running);
    assert!(report.figures.calls > 0);
}

#[test]
fn four_overruns_a_minute_pause_nobody() {
    let mut sim = timed();
    sim.start_script(
        "slow",
        "fn resource_start() { timers::every(16_000, || { loop {} }); }",
    );
    sim.ticks(3_000);
    let report = sim.report("slow");
    assert_eq!(report.state, ResourceState::Running);
    assert!(report.figures.errors >= 18, "{report:?}");
}

#[test]
fn calls_beyond_the_time_of_a_tick_wait_for_the_next_in_order() {
    // Less than the least with which a call is begun, so that none of them is cut.
    let cost = cost_us("burn(9);");
    assert!((3_500..5_000).contains(&cost), "{cost}");
    let mut sim = timed();
    let listener = sim.join_now("Listener");
    let script = format!(
        "{BURN}fn resource_start() {{ for i in 0..20 {{ let n = i; timers::after(0, || {{ burn(9); chat::broadcast(`${{n}}`); }}); }} }}"
    );
    sim.start_script("busy", &script);
    let mut told = Vec::new();
    for _ in 0..6 {
        told.push(sim.players[listener].chat().len());
        sim.tick();
    }
    sim.ticks(3);
    sim.expect_no_script_error();
    let numbers: Vec<String> = (0..20).map(|n| n.to_string()).collect();
    assert_eq!(sim.players[listener].chat(), numbers);
    assert!(
        told.windows(2).all(|pair| pair[1] - pair[0] <= 7),
        "at most seven of them fit into a tick: {told:?}"
    );
}

#[test]
fn who_cannot_be_judged_in_time_is_told_that_the_server_is_busy() {
    let mut sim = timed();
    sim.start_script(
        "judge",
        &format!("{BURN}fn player_connecting(name, ip) {{ burn(25); }}"),
    );
    let visitors: Vec<Visitor> = (0..5)
        .map(|n| {
            let visitor = Visitor::new(&mut sim, &format!("203.0.113.{n}:5000"), &format!("Guest {n}"));
            sim.queue_hello(&visitor);
            visitor
        })
        .collect();
    sim.tick();
    let replies: Vec<Reply> = visitors.iter().map(|visitor| sim.reply_to(visitor)).collect();
    let busy = Reply::Refused(RejectReason::Gamemode, "server is busy".to_owned(), 0);
    let admitted = replies
        .iter()
        .take_while(|reply| matches!(reply, Reply::Welcome(_)))
        .count();
    assert!((2..=3).contains(&admitted), "{replies:?}");
    assert_eq!(replies.last(), Some(&busy), "{replies:?}");
    assert!(
        matches!(sim.visit(&visitors[4]), Reply::Welcome(_)),
        "the next tick has time"
    );
}

#[test]
fn bodies_that_cannot_be_placed_in_time_wait() {
    let mut sim = timed();
    sim.start_script(
        "placer",
        &format!("{BURN}fn tick(dt) {{ burn(60); }} fn player_request_spawn(p) {{ burn(15); state.n = state.get(\"n\", 0) + 1; #{{x: state.n, y: 0, z: 10}} }}"),
    );
    let players = sim.join_many(4);
    sim.expect_no_script_error();
    let mut places: Vec<f32> = players.iter().map(|&index| sim.position(index).x).collect();
    places.sort_by(f32::total_cmp);
    assert_eq!(places, [1.0, 2.0, 3.0, 4.0], "each was placed by the script");
}

#[test]
fn a_hit_that_cannot_be_judged_in_time_does_not_happen() {
    let mut duel = Duel::timed(WORK);
    duel.sim.start_script(
        "judge",
        &format!("{BURN}fn player_damage(p, a, w, n) {{ 7 }} fn player_connecting(n, i) {{ burn(40); }}"),
    );
    duel.expect_counted(duel.shot());
    assert_eq!(duel.sim.vitals(duel.target).0, 93);
    duel.sim.ticks(10);
    for n in 0..3 {
        let visitor = Visitor::new(
            &mut duel.sim,
            &format!("203.0.113.{n}:5000"),
            &format!("Guest {n}"),
        );
        duel.sim.queue_hello(&visitor);
    }
    duel.fire(duel.shot());
    duel.sim.ticks(3);
    assert_eq!(duel.sim.vitals(duel.target).0, 93);
}

#[test]
fn resources_that_start_together_all_have_their_start_and_their_end() {
    let mut sim = timed();
    let listener = sim.join_now("Listener");
    for name in ["a", "b", "c"] {
        let script = format!(
            "{BURN}fn resource_start() {{ burn(74); chat::broadcast(\"start {name}\"); }}
            fn tick(dt) {{ if !(\"told\" in state) {{ state.told = true; chat::broadcast(\"tick {name}\"); }} }}
            fn resource_stop() {{ chat::broadcast(\"stop {name}\"); }}"
        );
        sim.load_bundle(bundle(name, &script)).unwrap();
    }
    sim.ticks(8);
    sim.expect_no_script_error();
    let chat: Vec<String> = sim.players[listener]
        .chat()
        .iter()
        .map(ToString::to_string)
        .collect();
    for name in ["a", "b", "c"] {
        let at = |what: &str| chat.iter().position(|line| *line == format!("{what} {name}"));
        assert!(at("start").is_some() && at("start") < at("tick"), "{chat:?}");
    }
    for name in ["a", "b", "c"] {
        assert!(sim.console(&format!("resource stop {name}")).ok);
    }
    sim.ticks(2);
    for name in ["a", "b", "c"] {
        assert!(
            sim.players[listener]
                .chat()
                .contains(&format!("stop {name}").as_str())
        );
    }
}

#[test]
fn a_connect_handler_that_goes_wrong_refuses_and_the_rest_runs_on() {
    let plain = Reply::plain(RejectReason::Gamemode);
    let refused = |text: &str| Reply::Refused(RejectReason::Gamemode, text.to_owned(), 0);
    let cases = [
        ("throw \"no\"", Some(plain.clone()), "2:1: no"),
        ("loop {}", Some(plain.clone()), "stopped: over"),
        ("7", None, ""),
        (
            "\"123456789012345678901\"",
            Some(plain.clone()),
            "the text of a refusal",
        ),
        ("\"a\\x1b[2J\"", Some(plain.clone()), "the text of a refusal"),
        ("\"a\\r\\nb\"", Some(plain.clone()), "the text of a refusal"),
        ("\"a\\u2066b\"", Some(plain), "the text of a refusal"),
        (
            "\"12345678901234567890\"",
            Some(refused("12345678901234567890")),
            "",
        ),
        ("\"\"", Some(refused("")), ""),
    ];
    let mut sim = timed();
    let on = sim.join_now("Player One");
    for (number, (body, reply, error)) in cases.into_iter().enumerate() {
        let script = format!(
            "fn player_connecting(name, ip) {{\n{body}\n}} fn player_chat(p, t) {{ chat::broadcast(`heard ${{t}}`); false }}"
        );
        sim.start_script("door", &script);
        let visitor = Visitor::new(
            &mut sim,
            &format!("203.0.113.{number}:5000"),
            &format!("Guest {number}"),
        );
        let got = sim.visit(&visitor);
        match reply {
            Some(reply) => assert_eq!(got, reply, "{body}"),
            None => assert!(matches!(got, Reply::Welcome(_)), "{body}: {got:?}"),
        }
        let said = sim.script_error("door");
        assert!(
            said.contains(error) && said.is_empty() == error.is_empty(),
            "{body}: {said}"
        );
        if !error.is_empty() {
            assert!(said.starts_with("scripts/door/main.rhai"), "{said}");
        }
        sim.players[on]
            .client
            .send_chat(&format!("hello {number}"))
            .unwrap();
        sim.ticks(3);
        assert_eq!(
            *sim.players[on].chat().last().unwrap(),
            format!("heard hello {number}")
        );
    }
}

#[test]
fn a_timer_of_one_second_calls_once_a_second_after_five_reloads() {
    let script = "fn resource_start() { timers::every(1_000, || chat::broadcast(\"second\")); }";
    let mut sim = Sim::new();
    let listener = sim.join_now("Listener");
    sim.start_script("clock", script);
    for _ in 0..5 {
        sim.ticks(3);
        sim.start_script("clock", script);
    }
    let before = sim.players[listener].chat().len();
    sim.ticks(100);
    let calls = sim.players[listener].chat().len() - before;
    assert!((9..=10).contains(&calls), "{calls} calls in ten seconds");

    let faults = sim
        .load_bundle(bundle("clock", "fn resource_start() { timers::every("))
        .unwrap_err();
    assert!(!faults.is_empty());
    let before = sim.players[listener].chat().len();
    sim.ticks(100);
    let calls = sim.players[listener].chat().len() - before;
    assert!((9..=10).contains(&calls), "the version before runs on: {calls}");
    assert!(
        sim.script_error("clock")
            .starts_with("scripts/clock/main.rhai:1:")
    );
    assert_eq!(sim.report("clock").state, ResourceState::Running);
}

#[test]
fn a_player_who_is_sent_too_much_is_disconnected_once_with_overflow() {
    let mut sim = Sim::new();
    sim.start_script(
        "flood",
        "fn player_chat(p, t) { for i in 0..5_000 { p.send(\"flood\", i); } false }
        fn player_disconnected(p, reason) { chat::broadcast(`${p.name} left: ${reason}`); }",
    );
    let (flooded, observer) = (sim.join_now("Flooded"), sim.join_now("Observer"));
    sim.players[flooded].client.send_chat("now").unwrap();
    sim.ticks(30);
    assert_eq!(
        sim.ended.iter().map(|(.., why)| *why).collect::<Vec<_>>(),
        [CloseReason::Overflow]
    );
    assert_eq!(sim.players[observer].chat(), ["Flooded left: overflow"]);
    assert_eq!(sim.slots_taken(), 1);
    assert!(
        !sim.report("flood")
            .last_error
            .unwrap_or_default()
            .contains("panic")
    );
}

#[test]
fn a_ban_by_a_script_hits_every_connection_of_the_address() {
    let mut sim = Sim::new();
    sim.start_script(
        "judge",
        "fn player_chat(p, t) { p.ban(0, \"aimbot\"); false } fn player_disconnected(p, r) { chat::broadcast(`${p.name} ${r}`); }",
    );
    let banned = sim.join_from("203.0.113.1:4000".parse().unwrap(), "Banned");
    let observer = sim.join_now("Observer");
    let (twin, _) = sim.admit("203.0.113.1:5000", "Twin");
    sim.expect_within(50, "the body", |sim| sim.players[banned].client.is_spawned());
    sim.players[banned].client.send_chat("hello").unwrap();
    let mut kicked = 0;
    for _ in 0..10 {
        sim.tick();
        kicked += usize::from(
            sim.sent_to(twin.address)
                .iter()
                .any(|datagram| matches!(ServerPacket::decode(datagram), Ok(ServerPacket::Kick(_)))),
        );
    }
    assert!(kicked > 0, "the twin is told");
    assert_eq!(sim.slots_taken(), 1);
    let mut told = sim.players[observer].chat();
    told.sort_unstable();
    assert_eq!(told, ["Banned kick", "Twin kick"]);
    assert_eq!(
        sim.visit(&twin),
        Reply::Refused(RejectReason::Banned, "aimbot".to_owned(), 0)
    );
    assert_eq!(sim.written_bans.len(), 1);
}

#[test]
fn texts_that_would_drive_a_terminal_are_refused_and_shown_escaped() {
    let mut sim = Sim::new();
    let player = sim.join_now("Player One");
    for (script, named) in [
        (
            "for p in players::all() { p.kick(\"a\\r\\nb\"); }",
            "player.kick: reason",
        ),
        (
            "for p in players::all() { p.rename(\"a\\u202eb\"); }",
            "player.rename",
        ),
        ("throw \"a\\x1b[2J\\r\\n\\u2066\";", "a"),
    ] {
        sim.start_script("rude", &format!("fn resource_start() {{ {script} }}"));
        let said = sim.script_error("rude");
        assert!(said.contains(named), "{script}: {said}");
        assert!(said.starts_with("scripts/rude/main.rhai:1:"), "{said}");
        assert!(
            !said
                .chars()
                .any(|c| c.is_control() || "\u{2066}\u{202e}".contains(c)),
            "{said:?}"
        );
    }
    assert_eq!(sim.players[player].end(), None);
}
