//! Bots that log in, against a stand-in of the server and of a login provider's site.

use std::time::Duration;

use decitick_client::bots::{BotsOptions, BotsReport, Login, Unwatched, run_bots};

use crate::fake_server::{Behaviour, FakeServer, Gate};

/// A server with this gate.
fn start(gate: Gate) -> FakeServer {
    FakeServer::start(Behaviour {
        gate: Some(gate),
        ..Behaviour::default()
    })
}

fn options(server: &FakeServer, count: usize, login: Option<Login>) -> BotsOptions {
    BotsOptions {
        duration: Duration::from_millis(700),
        login,
        ..BotsOptions::new(server.address.to_string(), count)
    }
}

fn run(server: &FakeServer, count: usize, login: Option<Login>) -> BotsReport {
    run_bots(&options(server, count, login), &mut Unwatched).unwrap()
}

/// All bots got in, in this way, and the client kept to what an undecided login may send.
#[track_caller]
fn check_all_in(server: &FakeServer, report: &BotsReport, count: u64, login: &str) {
    assert!(report.is_success(), "{report}");
    let bots = report.bots;
    assert_eq!(
        (bots.joined, bots.spawned, bots.stayed),
        (count, count, count),
        "{report}"
    );
    assert_eq!(
        (report.logins.done, report.login_ms.count),
        (count, count),
        "{report}"
    );
    assert_eq!(report.join_ms.count, count);
    assert_eq!(report.login, Some(login));
    assert!(
        report
            .to_string()
            .contains(&format!("logins      {count} by {login}, ")),
        "{report}"
    );
    let seen = server.seen.lock().unwrap();
    assert_eq!((seen.malformed, seen.too_early), (0, 0), "{seen:?}");
}

/// Every bot failed for this reason and no other, and the note says `words`.
#[track_caller]
fn check_failed(report: &BotsReport, count: u64, reason: &str, words: &str) {
    let failures: Vec<(&str, u64)> = report
        .failures
        .iter()
        .map(|(name, count)| (name.as_str(), *count))
        .collect();
    assert_eq!(failures, [(reason, count)], "{report}");
    assert!(report.failure_notes[reason].contains(words), "{report}");
    assert!(report.to_string().contains(words), "{report}");
    assert_eq!(report.bots.joined, 0, "{report}");
}

#[test]
fn by_password_accounts_are_made_once_and_bots_play() {
    let server = start(Gate::default());
    let report = run(&server, 12, Some(Login::Password));
    check_all_in(&server, &report, 12, "password");
    assert_eq!(report.logins.registered, 12);
    let seen = server.seen.lock().unwrap();
    assert_eq!((seen.logins.len(), seen.pages_loaded), (12, 12));
    assert!(seen.logins.iter().all(|how| *how == "register"));
}

#[test]
fn datagrams_that_are_lost_hold_up_a_login_and_break_nothing() {
    let server = FakeServer::start(Behaviour {
        gate: Some(Gate::default()),
        // An odd number out of step with an exchange of two: no bot loses every one of its hellos.
        lose_every: 7,
        ..Behaviour::default()
    });
    let report = run(&server, 5, Some(Login::Password));
    check_all_in(&server, &report, 5, "password");
}

#[test]
fn with_a_credential_each_comes_back_and_is_let_in_unasked() {
    let server = start(Gate::default());
    let report = run(&server, 8, Some(Login::Credential));
    check_all_in(&server, &report, 8, "credential");
    let seen = server.seen.lock().unwrap();
    let count = |wanted: &str| seen.logins.iter().filter(|how| **how == wanted).count();
    assert_eq!((count("register"), count("credential")), (8, 8), "{seen:?}");
    assert_eq!(seen.pages_loaded, 8, "none of those who came back");
    assert!(seen.byes >= 8);
}

#[test]
fn a_credential_that_is_forgotten_fails_the_bot() {
    let forgets = Gate {
        forgets: true,
        ..Gate::default()
    };
    let report = run(&start(forgets), 3, Some(Login::Credential));
    check_failed(
        &report,
        3,
        "credential_not_remembered",
        "the credential was not remembered",
    );
}

#[test]
fn at_a_site_each_gets_a_token_and_is_let_in() {
    let server = start(Gate {
        site: true,
        ..Gate::default()
    });
    let report = run(&server, 12, Some(Login::Web));
    check_all_in(&server, &report, 12, "web");
    assert_eq!(server.seen.lock().unwrap().logins, ["web"; 12]);
}

#[test]
fn a_site_that_refuses_or_is_not_offered_fails_the_bot() {
    let refusing = start(Gate {
        site: true,
        site_refuses: true,
        ..Gate::default()
    });
    let report = run(&refusing, 3, Some(Login::Web));
    check_failed(&report, 3, "site_failed", "answered the form with 200");
    let report = run(&start(Gate::default()), 2, Some(Login::Web));
    check_failed(&report, 2, "login_web_not_offered", "no login at a site");
}

#[test]
fn a_wrong_password_fails_the_bot_with_the_servers_words() {
    let taken = Gate {
        accounts_taken: true,
        ..Gate::default()
    };
    let report = run(&start(taken), 3, Some(Login::Password));
    check_failed(&report, 3, "login_error", "the server said: no such login");
}

#[test]
fn a_wait_is_sat_out() {
    let server = start(Gate {
        waits: true,
        ..Gate::default()
    });
    let report = run(&server, 3, Some(Login::Password));
    check_all_in(&server, &report, 3, "password");
    assert!(report.login_ms.p50 >= 990.0, "{report}");
}

#[test]
fn a_kick_before_the_decision_is_a_refused_login() {
    let kicks = Gate {
        kicks_after: Some(Duration::from_millis(300)),
        mute: true,
        ..Gate::default()
    };
    let report = run(&start(kicks), 3, Some(Login::Password));
    check_failed(&report, 3, "login_refused", "login refused by the test");
}

#[test]
fn without_a_way_to_log_in_a_bot_says_so_soon() {
    let report = run(&start(Gate::default()), 3, None);
    check_failed(&report, 3, "login_needed", "try --login password");
    assert!(report.traffic.run_s < 3.0, "the page is reason enough: {report}");
    let mute = Gate {
        mute: true,
        ..Gate::default()
    };
    let report = run(&start(mute), 2, None);
    check_failed(&report, 2, "login_needed", "try --login password");
    let unasked = Gate {
        accepts_unasked_after: Some(Duration::from_millis(200)),
        ..Gate::default()
    };
    let report = run(&start(unasked), 2, None);
    assert!(report.is_success() && report.bots.spawned == 2, "{report}");
}

#[test]
fn a_way_to_log_in_is_no_fault_where_nobody_asks() {
    let server = FakeServer::start(Behaviour::default());
    let report = run(&server, 2, Some(Login::Credential));
    assert!(report.is_success() && report.bots.spawned == 2, "{report}");
    assert_eq!(report.logins.done, 0);
}

#[test]
fn a_player_shown_before_the_decision_is_a_breach() {
    let server = start(Gate {
        leaks: true,
        ..Gate::default()
    });
    let report = run(&server, 3, Some(Login::Password));
    assert_eq!(
        (report.failures["pre_auth_leak"], report.breaches["pre_auth_leak"]),
        (3, 3)
    );
    assert!(
        report
            .to_string()
            .contains("pre_auth_leak: PlayerJoin, seen by bot"),
        "{report}"
    );
}
