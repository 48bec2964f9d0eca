//! A change of the password: never derived on the tick, the newest request wins, and nobody who is on notices
//! (docs/protocol.md 1.4).

use std::time::Duration;

use decitick_client::query::ServerQuery;
use decitick_components::{reasons::DropReason, secret::Secret};
use decitick_protocol::RejectReason;

use crate::sim::{Reply, Sim, Visitor};

#[test]
fn of_twenty_passwords_in_a_second_the_newest_wins_and_players_go_on() {
    let mut sim = Sim::new();
    let players = sim.join_many(20);
    sim.worker_delay = Duration::from_millis(700);
    for number in 0..20 {
        sim.console_later(&format!("password set secret-{number}"));
        if number % 2 == 1 {
            sim.tick();
        }
    }
    let newest = sim.password_key("secret-19");
    let stale = sim.password_key("secret-18");
    let early = Visitor::new(&mut sim, "203.0.113.1:5000", "Early Bird").with_password(&newest);
    assert_eq!(
        sim.visit(&early),
        Reply::Silence,
        "its key is still being derived"
    );
    assert_eq!(sim.dropped(DropReason::PasswordPending), 1);
    sim.ticks(10);
    assert!(matches!(sim.visit(&early), Reply::Welcome(_)));
    let late = Visitor::new(&mut sim, "203.0.113.2:5000", "Late Guest").with_password(&stale);
    assert_eq!(sim.visit(&late), Reply::plain(RejectReason::WrongPassword));
    assert_eq!(sim.derivations, 20);
    assert!(players.iter().all(|&index| sim.players[index].end().is_none()));
}

#[test]
fn a_hello_right_after_the_start_waits_for_the_configured_password() {
    let mut sim = Sim::with_settings(|settings| settings.password = Some(Secret::new("sesame".to_owned())));
    sim.worker_delay = Duration::from_millis(500);
    let key = sim.password_key("sesame");
    let visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "Early Bird").with_password(&key);
    assert_eq!(sim.visit(&visitor), Reply::Silence);
    sim.ticks(6);
    assert!(matches!(sim.visit(&visitor), Reply::Welcome(_)));
}

#[test]
fn the_query_shows_the_password_at_once_and_clearing_it_opens_the_door() {
    let mut sim = Sim::new();
    sim.worker_delay = Duration::from_secs(5);
    assert!(!required(&mut sim));
    assert!(sim.console("password set sesame").ok);
    assert!(required(&mut sim), "while the key is still being derived");
    assert!(sim.console("password clear").ok);
    assert!(!required(&mut sim));
    sim.ticks(60);
    assert!(
        !required(&mut sim),
        "the answer to an older request changes nothing"
    );
    let visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "First One");
    assert!(matches!(sim.visit(&visitor), Reply::Welcome(_)));
}

fn required(sim: &mut Sim) -> bool {
    let query = ServerQuery::new([5; 32]);
    let mut request = Vec::new();
    query.write_request(&mut request);
    let (_, answer) = sim.knock("127.0.0.1:4000".parse().unwrap(), &request);
    query.judge(&answer).expect("a signed answer").password_required
}

#[test]
fn a_missing_proof_is_a_wrong_password_and_an_unneeded_one_is_not_read() {
    let mut sim = Sim::new();
    let unneeded = sim.password_key("anything");
    let first = Visitor::new(&mut sim, "203.0.113.1:5000", "First One").with_password(&unneeded);
    assert!(matches!(sim.visit(&first), Reply::Welcome(_)));
    sim.console("password set sesame");
    sim.ticks(2);
    let second = Visitor::new(&mut sim, "203.0.113.2:5000", "Second One");
    assert_eq!(sim.visit(&second), Reply::plain(RejectReason::WrongPassword));
}

#[test]
fn no_answer_of_the_console_shows_a_password() {
    let mut sim = Sim::new();
    for line in [
        "password set hunter-two",
        "password",
        "password --json",
        "status",
        "status --json",
    ] {
        let answer = sim.console(line);
        assert!(!answer.text.contains("hunter-two"), "{line}: {}", answer.text);
    }
}
