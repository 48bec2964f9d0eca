//! The bots against a stand-in of the server, over real sockets.

use std::ops::ControlFlow;
use std::time::Duration;

use decitick_client::bots::{
    BotsError, BotsOptions, BotsPhase, BotsReport, BotsState, Progress, Unwatched, WalkKind, run_bots,
};
use decitick_protocol::Password;

use crate::fake_server::{Behaviour, FakeServer};

fn options(server: &FakeServer, count: usize, seconds: f64) -> BotsOptions {
    BotsOptions {
        duration: Duration::from_secs_f64(seconds),
        chat_per_second: 20.0,
        ..BotsOptions::new(server.address.to_string(), count)
    }
}

fn run(behaviour: Behaviour, count: usize, seconds: f64) -> BotsReport {
    let server = FakeServer::start(behaviour);
    run_bots(&options(&server, count, seconds), &mut Unwatched).unwrap()
}

#[test]
fn all_bots_join_play_are_measured_and_leave() {
    let server = FakeServer::start(Behaviour::default());
    let report = run_bots(&options(&server, 20, 3.0), &mut Unwatched).unwrap();
    assert!(report.is_success(), "{report}");
    let bots = report.bots;
    assert_eq!(
        (bots.joined, bots.spawned, bots.stayed, report.join_ms.count),
        (20, 20, 20, 20)
    );
    assert!(
        report.relay.received_share > 0.8 && report.relay.received_share < 1.2,
        "{report}"
    );
    assert!(
        report.frame_ms.count > 1_000 && report.frame_ms.max < 2_000.0,
        "{report}"
    );
    assert!(report.rtt_ms.p50 > 6.9 && report.rtt_ms.p50 < 7.1, "{report}");
    assert!(
        report.lane.chat_returned >= 20 && report.chat_ms.count == report.lane.chat_returned,
        "{report}"
    );
    assert_eq!(
        (
            report.lane.chat_repeated,
            report.lane.chat_out_of_order,
            report.lane.chat_missed
        ),
        (0, 0, 0)
    );
    let seen = server.seen.lock().unwrap();
    assert_eq!(
        (seen.malformed, seen.chats.len() as u64),
        (0, report.lane.chat_sent)
    );
}

#[test]
fn every_bot_says_goodbye() {
    let server = FakeServer::start(Behaviour::default());
    run_bots(&options(&server, 5, 0.2), &mut Unwatched).unwrap();
    // A query that is answered after the goodbyes shows that they were read: one socket, first in, first out.
    let answered = decitick_client::driver::query(server.address).unwrap();
    assert_eq!((server.seen.lock().unwrap().byes, answered.info.players), (5, 0));
}

#[test]
fn a_lossy_link_shows_as_loss_and_fails_nobody() {
    let report = run(
        Behaviour {
            lose_every: 5,
            ..Behaviour::default()
        },
        10,
        5.0,
    );
    assert!(report.is_success(), "{report}");
    assert!(
        report.loss.down_share > 0.05 && report.loss.down_share < 0.45,
        "{report}"
    );
    assert!(report.loss.up_share > 0.05, "{report}");
    assert_eq!(
        (
            report.lane.chat_repeated,
            report.lane.chat_out_of_order,
            report.lane.chat_missed
        ),
        (0, 0, 0)
    );
}

#[test]
fn bots_that_do_not_join_or_do_not_stay_are_failures_by_reason() {
    let refused = run(
        Behaviour {
            refuse: Some("Bot "),
            ..Behaviour::default()
        },
        3,
        0.2,
    );
    assert_eq!(
        (refused.failures["rejected_name_taken"], refused.bots.joined),
        (3, 0)
    );
    let kicked = run(
        Behaviour {
            kick_after: Some(Duration::from_millis(500)),
            ..Behaviour::default()
        },
        3,
        5.0,
    );
    assert_eq!(
        (kicked.failures["kicked"], kicked.bots.joined, kicked.bots.stayed),
        (3, 3, 0)
    );
    assert!(!refused.is_success() && !kicked.is_success());
}

#[test]
fn frames_long_after_a_stream_out_are_a_failure() {
    let late = Behaviour {
        frames_after_stream_out: true,
        ..Behaviour::default()
    };
    let report = run(late.clone(), 2, 3.0);
    assert_eq!(report.failures["frames_after_stream_out"], 2, "{report}");
    assert!(
        run(late, 2, 1.0).is_success(),
        "within 2 s they may still be on their way"
    );
}

#[test]
fn a_password_is_proved_and_a_missing_one_asked_for() {
    let password = Password::parse("secret").unwrap();
    let server = FakeServer::start(Behaviour {
        password: Some(password.clone()),
        ..Behaviour::default()
    });
    let without = options(&server, 2, 0.1);
    assert!(matches!(
        run_bots(&without, &mut Unwatched),
        Err(BotsError::PasswordNeeded)
    ));
    let right = BotsOptions {
        password: Some(password),
        ..without.clone()
    };
    assert!(run_bots(&right, &mut Unwatched).unwrap().is_success());
    let wrong = BotsOptions {
        password: Some(Password::parse("guess").unwrap()),
        ..without
    };
    assert_eq!(
        run_bots(&wrong, &mut Unwatched).unwrap().failures["rejected_wrong_password"],
        2
    );
}

#[test]
fn a_run_can_be_watched_and_ended() {
    struct Impatient(Vec<BotsPhase>);
    impl Progress for Impatient {
        fn update(&mut self, state: &BotsState) -> ControlFlow<()> {
            self.0.push(state.phase);
            if state.playing > Duration::from_millis(300) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }
    let server = FakeServer::start(Behaviour::default());
    let mut watcher = Impatient(Vec::new());
    let report = run_bots(&options(&server, 3, 60.0), &mut watcher).unwrap();
    assert!(report.interrupted && report.seconds < 30.0 && report.bots.stayed == 3);
    assert_eq!(watcher.0.first(), Some(&BotsPhase::Joining));
    assert_eq!(watcher.0.last(), Some(&BotsPhase::Playing));
}

#[test]
fn the_json_form_has_its_documented_keys() {
    let server = FakeServer::start(Behaviour::default());
    let still = BotsOptions {
        walk: WalkKind::Still,
        chat_per_second: 0.0,
        ..options(&server, 2, 0.3)
    };
    let report = run_bots(&still, &mut Unwatched).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    for pointer in [
        "/address",
        "/server_key",
        "/server_name",
        "/walk",
        "/rate_hz",
        "/seconds",
        "/interrupted",
        "/bots/asked",
        "/bots/joined",
        "/bots/spawned",
        "/bots/stayed",
        "/join_ms/p50",
        "/join_ms/p99",
        "/join_ms/max",
        "/rtt_ms/p50",
        "/frame_ms/p99",
        "/chat_ms/p50",
        "/spawn_ms/p50",
        "/loop_late_ms/p99",
        "/relay/frames_received",
        "/relay/received_per_s",
        "/relay/received_share",
        "/loss/down_share",
        "/loss/up_share",
        "/lane/events_delivered",
        "/lane/chat_missed",
        "/traffic/datagrams_in",
        "/drops",
        "/record_drops",
        "/failures",
    ] {
        assert!(json.pointer(pointer).is_some(), "{pointer} in {json}");
    }
    assert_eq!(
        (json["walk"].as_str(), json["lane"]["chat_sent"].as_u64()),
        (Some("still"), Some(0))
    );
}
