//! The UDP driver and the blocking query against a stand-in of the server, over real sockets.

use std::time::Duration;

use decitick_client::client::{ClientConfig, ClientNotice, EndReason, PinnedServer};
use decitick_client::driver::{QueryError, UdpDriver, query};
use decitick_protocol::{Password, PasswordKey, PlayerName, PlayerSync, RejectReason, ServerLaneEvent, Vec3};

use crate::fake_server::{Behaviour, FakeServer, identity};

const PATIENCE: Duration = Duration::from_secs(10);

fn config(name: &str) -> ClientConfig {
    let pinned = PinnedServer::new(identity().public_key());
    ClientConfig::new(&PlayerName::parse(name).unwrap()).pinned_to(pinned)
}

/// Runs the driver until a notice makes `found` answer.
#[track_caller]
fn until<T>(driver: &mut UdpDriver, mut found: impl FnMut(&ClientNotice) -> Option<T>) -> T {
    loop {
        let notice = driver.next_notice(PATIENCE).unwrap().expect("a notice in time");
        if let Some(result) = found(&notice) {
            return result;
        }
    }
}

fn ended(notice: &ClientNotice) -> Option<EndReason> {
    match notice {
        ClientNotice::Ended(reason) => Some(reason.clone()),
        _ => None,
    }
}

fn play(behaviour: Behaviour) {
    let server = FakeServer::start(behaviour);
    let mut driver = UdpDriver::connect(server.address, config("Ann Bee")).unwrap();
    until(&mut driver, |notice| {
        matches!(notice, ClientNotice::Joined(_)).then_some(())
    });
    driver.client().request_spawn();
    let place = until(&mut driver, |notice| match notice {
        ClientNotice::Event {
            event: ServerLaneEvent::SpawnPlayer(spawn),
            ..
        } => Some(spawn.position),
        _ => None,
    });
    let frame = PlayerSync {
        seq: 0,
        position: place,
        velocity: Vec3::ZERO,
        heading: 0.0,
        area: 0,
        keys: 0,
        weapon: 0,
        stance: 0,
    };
    driver.client().sync(frame).unwrap();
    for number in 0..20 {
        driver.client().send_chat(&format!("line {number}")).unwrap();
    }
    let mut lines = Vec::new();
    until(&mut driver, |notice| {
        if let ClientNotice::Event {
            event: ServerLaneEvent::ChatMessage(chat),
            ..
        } = notice
        {
            lines.push(chat.text.as_str().to_owned());
        }
        (lines.len() == 20).then_some(())
    });
    let expected: Vec<String> = (0..20).map(|number| format!("Bot: line {number}")).collect();
    assert_eq!(lines, expected, "each once and in order");
    driver.run_for(Duration::from_millis(250)).unwrap();
    assert!(
        driver.client().counters().syncs_sent >= 3,
        "frames go on by themselves"
    );
    driver.client().bye();
    assert_eq!(until(&mut driver, ended), EndReason::Bye);
    assert_eq!(
        driver.next_notice(PATIENCE).unwrap(),
        None,
        "none follows the end"
    );
    assert_eq!(server.seen.lock().unwrap().malformed, 0);
}

#[test]
fn a_client_joins_spawns_chats_and_leaves() {
    play(Behaviour::default());
}

#[test]
fn every_third_datagram_lost_each_way_loses_no_chat_and_no_order() {
    play(Behaviour {
        lose_every: 3,
        ..Behaviour::default()
    });
}

#[test]
fn a_password_opens_the_door_and_a_wrong_one_is_refused() {
    let password = Password::parse("пароль").unwrap();
    let server = FakeServer::start(Behaviour {
        password: Some(password.clone()),
        ..Behaviour::default()
    });
    let key = identity().public_key();
    for (password, accepted) in [(password, true), (Password::parse("wrong").unwrap(), false)] {
        let pinned = PinnedServer {
            password: Some(PasswordKey::derive(&password, &key)),
            ..PinnedServer::new(key)
        };
        let name = PlayerName::parse("Ann Bee").unwrap();
        let mut driver =
            UdpDriver::connect(server.address, ClientConfig::new(&name).pinned_to(pinned)).unwrap();
        let outcome = until(&mut driver, |notice| match notice {
            ClientNotice::Joined(_) => Some(None),
            ClientNotice::Ended(reason) => Some(Some(reason.clone())),
            _ => None,
        });
        let refused = EndReason::Rejected {
            reason: RejectReason::WrongPassword,
            text: String::new(),
            seconds: 0,
        };
        assert_eq!(outcome, (!accepted).then_some(refused));
    }
}

#[test]
fn a_server_with_another_key_than_expected_is_not_joined() {
    let server = FakeServer::start(Behaviour::default());
    let name = PlayerName::parse("Ann Bee").unwrap();
    let config = ClientConfig::new(&name).pinned_to(PinnedServer::new([1; 32]));
    let mut driver = UdpDriver::connect(server.address, config).unwrap();
    let found = identity().public_key();
    assert_eq!(until(&mut driver, ended), EndReason::IdentityChanged { found });
}

#[test]
fn an_address_where_nobody_answers_is_given_up() {
    let server = FakeServer::start(Behaviour {
        silent: true,
        ..Behaviour::default()
    });
    let mut driver = UdpDriver::connect(server.address, config("Ann Bee")).unwrap();
    assert_eq!(until(&mut driver, ended), EndReason::NoAnswer);
    let now = driver.now();
    assert!(now >= Duration::from_secs(3), "{now:?}");
    assert_eq!(driver.client().counters().datagrams_out, 6);
}

#[test]
fn a_query_gets_the_signed_answer_even_when_two_requests_are_lost() {
    let server = FakeServer::start(Behaviour {
        lose_first: 2,
        ..Behaviour::default()
    });
    let answered = query(server.address).unwrap();
    assert_eq!(answered.info.server_key, identity().public_key());
    assert_eq!(
        (answered.info.name.as_str(), answered.info.max_players),
        ("Stand-in", 1000)
    );
    assert!(
        answered.round_trip < Duration::from_millis(500),
        "{:?}",
        answered.round_trip
    );
}

#[test]
fn a_query_without_an_answer_says_where_it_asked() {
    let server = FakeServer::start(Behaviour {
        silent: true,
        ..Behaviour::default()
    });
    let error = query(server.address).unwrap_err();
    assert!(matches!(error, QueryError::NoAnswer { address, foreign: 0, .. } if address == server.address));
    assert!(error.to_string().contains(&server.address.to_string()), "{error}");
}
