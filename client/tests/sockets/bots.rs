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
    let report = run(late.clone(), 2, 6.5);
    assert_eq!(report.failures["frames_after_stream_out"], 2, "{report}");
    assert!(report.record_drops["after_stream_out"] > 20, "{report}");
    assert!(
        run(late, 2, 3.5).is_success(),
        "they may be on their way for 2 s, and a stream-in for 3 s more"
    );
}

#[test]
fn a_rule_that_the_server_breaks_fails_each_bot_that_saw_it_and_is_described() {
    let report = run(
        Behaviour {
            streams_in_twice: true,
            ..Behaviour::default()
        },
        3,
        1.0,
    );
    assert_eq!(report.failures["stream_in_twice"], 3, "{report}");
    assert_eq!(report.breaches["stream_in_twice"], 6, "each saw two others");
    let text = report.to_string();
    assert!(
        text.contains("stream_in_twice: player ") && text.contains("seen by bot"),
        "{text}"
    );
}

#[test]
fn bots_that_hold_a_weapon_shoot_die_and_come_back() {
    let behaviour = Behaviour {
        fights: true,
        ..Behaviour::default()
    };
    let server = FakeServer::start(behaviour.clone());
    let quick = BotsOptions {
        shots_per_second: 2.0,
        ..options(&server, 6, 4.0)
    };
    let report = run_bots(&quick, &mut Unwatched).unwrap();
    assert!(report.is_success(), "{report}");
    let seen = server.seen.lock().unwrap();
    let combat = report.combat;
    assert!(combat.shots_reported > 20, "{report}");
    assert!(
        combat.shots_reported < 6 * 4 * 2 * 2,
        "at most twice the mean pace: {report}"
    );
    // Two may shoot at one who has just fallen, and the last shots may not have arrived.
    assert!(
        seen.good_hits > 15 && seen.bad_hits * 3 < seen.good_hits,
        "{seen:?}"
    );
    assert!(
        seen.good_hits + seen.bad_hits <= combat.shots_reported,
        "{seen:?}"
    );
    assert!(combat.deaths > 3 && combat.deaths <= seen.deaths, "{report}");
    assert!(
        combat.times_hurt >= combat.deaths && combat.respawns + 6 >= combat.deaths,
        "{report}"
    );
    drop(seen);

    let server = FakeServer::start(behaviour);
    let peaceful = BotsOptions {
        shots_per_second: 0.0,
        ..options(&server, 4, 1.0)
    };
    let report = run_bots(&peaceful, &mut Unwatched).unwrap();
    assert_eq!((report.combat.shots_reported, report.combat.deaths), (0, 0));
    let seen = server.seen.lock().unwrap();
    assert_eq!(seen.good_hits + seen.bad_hits, 0);
}

#[test]
fn things_and_the_day_that_passes_are_reported() {
    let report = run(
        Behaviour {
            things: true,
            ..Behaviour::default()
        },
        3,
        2.0,
    );
    assert!(report.is_success(), "{report}");
    let things = report.things;
    assert_eq!((things.seen, things.streamed_in, things.data_changes), (1, 3, 3));
    assert!((30..=90).contains(&things.frames), "{report}");
    assert!(report.world_clock.start != report.world_clock.end, "{report}");
    assert!(report.to_string().contains("world clock 1"), "{report}");
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
        "/login",
        "/logins/done",
        "/logins/registered",
        "/login_ms/p50",
        "/login_ms/p99",
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
        "/shots_per_second",
        "/combat/shots_reported",
        "/combat/times_hurt",
        "/combat/deaths",
        "/combat/respawns",
        "/things/seen",
        "/things/frames",
        "/world_clock/end",
        "/breaches",
        "/breach_examples",
        "/traffic/datagrams_in",
        "/drops",
        "/record_drops",
        "/failures",
        "/failure_notes",
    ] {
        assert!(json.pointer(pointer).is_some(), "{pointer} in {json}");
    }
    assert_eq!(
        (json["walk"].as_str(), json["lane"]["chat_sent"].as_u64()),
        (Some("still"), Some(0))
    );
}
