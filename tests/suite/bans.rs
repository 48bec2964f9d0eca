//! Bans: every connection of the range goes, nobody of it comes back, and nothing counts before it is on disk
//! (docs/protocol.md 1.5, 1.6).

use std::time::Duration;

use decitick_components::{bans::BanList, reasons::CloseReason};
use decitick_protocol::{RejectReason, ServerPacket};

use crate::sim::{Reply, Setup, Sim, Visitor};

fn was_kicked(sim: &Sim, visitor: &Visitor) -> bool {
    sim.sent_to(visitor.address)
        .iter()
        .any(|datagram| matches!(ServerPacket::decode(datagram), Ok(ServerPacket::Kick(_))))
}

#[test]
fn a_ban_ends_every_connection_of_the_address_and_of_nobody_else() {
    let mut sim = Sim::new();
    let (one, _) = sim.admit("203.0.113.1:5000", "Guest 0");
    let (two, _) = sim.admit("203.0.113.1:5001", "Guest 1");
    let (mapped, _) = sim.admit("203.0.113.1:5002", "Guest 2");
    sim.admit("203.0.113.2:5000", "Guest 3");
    let answer = sim.console("ban 203.0.113.1 0 aimbot");
    assert!(answer.ok, "{}", answer.text);
    assert!(
        [&one, &two, &mapped]
            .iter()
            .all(|visitor| was_kicked(&sim, visitor))
    );
    assert_eq!(
        sim.ended
            .iter()
            .filter(|(.., why)| *why == CloseReason::Kick)
            .count(),
        3
    );
    assert_eq!(sim.slots_taken(), 1);
    let again = Visitor::new(&mut sim, "[::ffff:203.0.113.1]:5000", "Guest 0");
    sim.queue_hello(&again);
    sim.tick();
    let as_ipv4 = Visitor {
        address: "203.0.113.1:5000".parse().unwrap(),
        ..again
    };
    assert_eq!(
        sim.reply_to(&as_ipv4),
        Reply::Refused(RejectReason::Banned, "aimbot".to_owned(), 0)
    );
}

#[test]
fn a_ban_of_an_ipv6_address_covers_its_64() {
    let mut sim = Sim::new();
    let (one, _) = sim.admit("[2001:db8::1]:5000", "Guest 0");
    let (twin, _) = sim.admit("[2001:db8::ffff:2]:5000", "Guest 1");
    let (other, _) = sim.admit("[2001:db8:0:1::1]:5000", "Guest 2");
    sim.console("ban 2001:db8::1");
    assert!(was_kicked(&sim, &one) && was_kicked(&sim, &twin) && !was_kicked(&sim, &other));
}

#[test]
fn a_ban_lifts_by_itself_and_tells_the_seconds_that_are_left() {
    let mut sim = Sim::new();
    assert!(sim.console("ban 203.0.113.1 60 cool down").ok);
    let visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "Guest 0");
    let Reply::Refused(RejectReason::Banned, text, seconds) = sim.visit(&visitor) else {
        panic!("banned")
    };
    assert_eq!(text, "cool down");
    assert!((58..=60).contains(&seconds), "{seconds}");
    sim.ticks(usize::try_from(seconds).unwrap() * 10 + 10);
    assert!(matches!(sim.visit(&visitor), Reply::Welcome(_)));
}

#[test]
fn an_unban_counts_for_exactly_the_range_that_was_banned() {
    let mut sim = Sim::new();
    sim.console("ban 203.0.113.0/24 0 all of you");
    assert!(!sim.console("unban 203.0.113.1").ok);
    assert!(sim.console("unban 203.0.113.0/24").ok);
    let visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "Guest 0");
    assert!(matches!(sim.visit(&visitor), Reply::Welcome(_)));
    assert!(sim.written_bans.last().unwrap().is_empty());
}

#[test]
fn a_ban_counts_only_once_it_is_on_disk_and_the_answer_waits_for_it() {
    let mut sim = Sim::new();
    let (visitor, _) = sim.admit("203.0.113.1:5000", "Guest 0");
    sim.worker_delay = Duration::from_millis(450);
    let id = sim.console_later("ban 203.0.113.1");
    for _ in 0..5 {
        sim.tick();
        assert!(
            sim.console_answer(id).is_none() && sim.slots_taken() == 1,
            "it is being written"
        );
    }
    sim.tick();
    assert!(sim.console_answer(id).is_some_and(|answer| answer.ok));
    assert!(was_kicked(&sim, &visitor));
}

#[test]
fn a_ban_list_that_cannot_be_written_changes_nothing_and_says_so() {
    let mut sim = Sim::new();
    sim.admit("203.0.113.1:5000", "Guest 0");
    sim.ban_writes_fail = Some("bans.toml: no space left".to_owned());
    let answer = sim.console("ban 203.0.113.1 0 aimbot");
    assert!(
        !answer.ok && answer.text.contains("no space left"),
        "{}",
        answer.text
    );
    sim.ticks(3);
    assert_eq!(sim.slots_taken(), 1);
    assert!(sim.app.world().resource::<BanList>().is_empty());
    sim.ban_writes_fail = None;
    assert!(
        sim.console("ban 203.0.113.1 0 aimbot").ok,
        "the next one is written again"
    );
    assert_eq!(sim.slots_taken(), 0);
}

#[test]
fn bans_that_come_together_are_all_in_force() {
    let mut sim = Sim::new();
    sim.worker_delay = Duration::from_millis(250);
    let ids: Vec<u64> = (1..=10)
        .map(|n| sim.console_later(&format!("ban 203.0.113.{n}")))
        .collect();
    sim.ticks(4);
    let more = sim.console_later("ban 203.0.113.99");
    sim.ticks(8);
    assert!(
        ids.into_iter()
            .chain([more])
            .all(|id| sim.console_answer(id).is_some_and(|answer| answer.ok))
    );
    assert_eq!(sim.app.world().resource::<BanList>().len(), 11);
    assert_eq!(sim.written_bans.last().unwrap().len(), 11);
}

#[test]
fn a_ban_is_still_there_after_a_restart() {
    let mut sim = Sim::new();
    sim.console("ban 203.0.113.1 0 aimbot");
    let on_disk = sim.written_bans.pop().unwrap();
    let mut sim = Sim::with(Setup {
        bans: on_disk,
        ..Setup::default()
    });
    let visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "Guest 0");
    assert_eq!(
        sim.visit(&visitor),
        Reply::Refused(RejectReason::Banned, "aimbot".to_owned(), 0)
    );
}

#[test]
fn a_ban_reason_that_does_not_fit_a_refusal_is_refused() {
    let mut sim = Sim::new();
    assert!(!sim.console(&format!("ban 203.0.113.1 0 {}", "x".repeat(21))).ok);
    assert!(!sim.console("ban nowhere").ok);
    assert!(sim.console(&format!("ban 203.0.113.1 0 {}", "x".repeat(20))).ok);
}
