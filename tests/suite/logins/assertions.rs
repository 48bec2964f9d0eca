//! Logins by an identity site: tickets, limits and outcomes as the auth resource and the client meet them. What makes an
//! assertion good or bad is tested where it is judged, in the protocol package.

use decitick_components::{auth::AssertionQueue, lane::InboundLane, phase::Phase};
use decitick_protocol::{AuthAssertion, ClientLaneEvent, CompactJwt, ServerLaneEvent};

use super::{act, judged, start_judge, wait_outside};
use crate::{
    sim::{Sim, UNIX_START},
    tokens,
};

/// Says the ticket for the provider that was named, and every outcome.
const JUDGE: &str = r#"
fn pending_connected(pending) { pending.open_view("login.html"); }
fn pending_view_action(pending, view, data) {
    if data == "accept" { pending.accept(); } else { pending.view_data(view, pending.web_auth(data)); }
}
fn pending_assertion(pending, outcome) {
    pending.view_data(1, `${outcome.result} ${outcome.provider} ${outcome.subject}`);
}
"#;

const SITE: [u8; 32] = [3; 32];
const OTHER_SITE: [u8; 32] = [4; 32];

fn server() -> Sim {
    let mut sim = Sim::with_settings(|settings| {
        judged(settings);
        let auth = settings.auth.as_mut().unwrap();
        auth.providers = tokens::providers(&[("example", SITE), ("other", OTHER_SITE)]);
    });
    start_judge(&mut sim, JUDGE);
    sim
}

/// The strings that the page was told, in order.
fn told(sim: &Sim, index: usize) -> Vec<String> {
    sim.players[index]
        .events
        .iter()
        .filter_map(|(_, event)| match event {
            ServerLaneEvent::ViewData(data) => {
                let bytes = data.data.as_bytes();
                // fixstr, or str8.
                let text = if bytes[0] == 0xD9 {
                    &bytes[2..]
                } else {
                    &bytes[1..]
                };
                Some(String::from_utf8(text.to_vec()).unwrap())
            }
            _ => None,
        })
        .collect()
}

/// Asks for a ticket.
fn ticket(sim: &mut Sim, index: usize, provider: &str) -> String {
    let before = told(sim, index).len();
    act(sim, index, provider);
    sim.expect_within(10, "a ticket", |sim| told(sim, index).len() > before);
    told(sim, index).pop().unwrap()
}

fn send(sim: &mut Sim, index: usize, token: &str) {
    let jwt = CompactJwt::parse(token).unwrap();
    sim.players[index]
        .client
        .send_lane(&ClientLaneEvent::AuthAssertion(AuthAssertion { jwt }))
        .unwrap();
}

/// Sends a token and gives the outcome that the resource was told.
fn outcome(sim: &mut Sim, index: usize, token: &str) -> String {
    let before = told(sim, index).len();
    send(sim, index, token);
    sim.expect_within(10, "an outcome", |sim| told(sim, index).len() > before);
    told(sim, index).pop().unwrap()
}

/// A token of the site for this server, good for a minute from now.
fn token(sim: &Sim, nonce: &str) -> String {
    tokens::signed(
        &SITE,
        &tokens::claims(&sim.server_key(), "example", nonce, sim.unix.as_secs() + 60),
    )
}

#[test]
fn an_assertion_over_the_ticket_tells_who_it_is() {
    let mut sim = server();
    let bob = wait_outside(&mut sim, "Bob");
    let ticket = ticket(&mut sim, bob, "example");
    assert_eq!(ticket.len(), 32);
    let token = token(&sim, &ticket);
    assert_eq!(outcome(&mut sim, bob, &token), "accepted example ada");
    assert_eq!(sim.phase(bob), Phase::PreAuth, "the resource decides");
    act(&mut sim, bob, "accept");
    sim.ticks(3);
    assert!(sim.phase(bob).joined());
    sim.expect_no_script_error();
}

#[test]
fn every_other_outcome_is_told_and_spends_the_ticket() {
    let mut sim = server();
    let key = sim.server_key();
    let now = UNIX_START.as_secs();
    let wrong: [(&str, &dyn Fn(&str) -> String); 4] = [
        ("invalid", &|_| "e30.e30.e30".to_owned()),
        ("audience", &|ticket| {
            tokens::signed(&SITE, &tokens::claims(&[1; 32], "example", ticket, now + 300))
        }),
        ("ticket", &|_| {
            tokens::signed(&SITE, &tokens::claims(&key, "example", "another", now + 300))
        }),
        ("expired", &|ticket| {
            tokens::signed(&SITE, &tokens::claims(&key, "example", ticket, now - 1))
        }),
    ];
    for (result, make) in wrong {
        let bob = wait_outside(&mut sim, &format!("Bob {result}"));
        let ticket = ticket(&mut sim, bob, "example");
        assert_eq!(outcome(&mut sim, bob, &make(&ticket)), format!("{result}  "));
        let good = token(&sim, &ticket);
        assert_eq!(
            outcome(&mut sim, bob, &good),
            "ticket  ",
            "one ticket, one attempt"
        );
    }
    sim.expect_no_script_error();
}

#[test]
fn a_ticket_counts_for_its_provider_and_its_connection_alone() {
    let mut sim = server();
    let [bob, eve] = ["Bob", "Eve"].map(|name| wait_outside(&mut sim, name));
    let of_bob = ticket(&mut sim, bob, "example");
    let of_eve = ticket(&mut sim, eve, "other");
    assert_ne!(of_bob, of_eve);
    let stolen = token(&sim, &of_bob);
    assert_eq!(
        outcome(&mut sim, eve, &stolen),
        "ticket  ",
        "another provider's ticket"
    );
    let _ = ticket(&mut sim, eve, "example");
    assert_eq!(
        outcome(&mut sim, eve, &stolen),
        "ticket  ",
        "somebody else's ticket"
    );
    let newer = ticket(&mut sim, bob, "example");
    assert_ne!(newer, of_bob);
    assert_eq!(
        outcome(&mut sim, bob, &stolen),
        "ticket  ",
        "a newer one took its place"
    );
}

#[test]
fn an_assertion_over_a_limit_is_acknowledged_and_spends_nothing() {
    let mut sim = server();
    let bob = wait_outside(&mut sim, "Bob");
    for _ in 0..3 {
        assert_eq!(outcome(&mut sim, bob, "e30.e30.e30"), "invalid  ");
    }
    let ticket = ticket(&mut sim, bob, "example");
    let good = token(&sim, &ticket);
    let (before, acknowledged) = (told(&sim, bob).len(), sim.of::<InboundLane>(bob).delivered());
    send(&mut sim, bob, &good);
    sim.ticks(5);
    assert_eq!(sim.of::<InboundLane>(bob).delivered(), acknowledged + 1);
    assert_eq!(told(&sim, bob).len(), before, "no outcome is told");
    sim.ticks(20);
    assert_eq!(
        outcome(&mut sim, bob, &good),
        "accepted example ada",
        "the ticket is still good"
    );
}

#[test]
fn a_connection_has_ten_assertions_in_all() {
    let mut sim = server();
    let bob = wait_outside(&mut sim, "Bob");
    for _ in 0..12 {
        send(&mut sim, bob, "e30.e30.e30");
        sim.ticks(21);
    }
    assert_eq!(told(&sim, bob).len(), 10);
}

#[test]
fn an_assertion_after_joining_means_nothing() {
    let mut sim = server();
    let bob = wait_outside(&mut sim, "Bob");
    let ticket = ticket(&mut sim, bob, "example");
    act(&mut sim, bob, "accept");
    sim.ticks(4);
    let (before, acknowledged) = (told(&sim, bob).len(), sim.of::<InboundLane>(bob).delivered());
    // The library does not send one any more; a client without manners does.
    let good = token(&sim, &ticket);
    crate::logins::send_by_hand(&mut sim, bob, &good, acknowledged + 1);
    sim.ticks(4);
    assert_eq!(
        sim.of::<InboundLane>(bob).delivered(),
        acknowledged + 1,
        "acknowledged"
    );
    assert_eq!(told(&sim, bob).len(), before);
    sim.expect_no_script_error();
}

#[test]
fn a_rush_of_assertions_is_judged_over_several_ticks() {
    let mut sim = server();
    let crowd: Vec<usize> = (0..40).map(|n| sim.join(&format!("Bob {n}"))).collect();
    sim.ticks(10);
    for &bob in &crowd {
        send(&mut sim, bob, "e30.e30.e30");
    }
    let mut waiting = 0;
    for _ in 0..4 {
        sim.tick();
        waiting = waiting.max(sim.app.world().resource::<AssertionQueue>().0.len());
    }
    assert_eq!(waiting, 8, "32 a tick");
    sim.ticks(3);
    assert!(crowd.iter().all(|&bob| told(&sim, bob).len() == 1));
}

#[test]
fn a_provider_that_is_not_configured_is_the_scripts_error() {
    let mut sim = server();
    let bob = wait_outside(&mut sim, "Bob");
    act(&mut sim, bob, "nobody");
    sim.ticks(4);
    let error = sim.script_error("login");
    assert!(error.contains("auth.providers has: example, other"), "{error}");
    assert_eq!(sim.entity(0), None, "and the end of that login");
}
