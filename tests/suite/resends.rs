//! Resends do not multiply: a fair total for the whole server (cases.md of the design, class "resends multiply").

use std::{collections::BTreeMap, net::SocketAddr};

use decitick_protocol::{ServerLaneEvent, SetMoney};

use crate::sim::{Sim, Visitor};

#[test]
fn a_thousand_stalled_clients_share_8000_resends_a_tick_fairly_until_they_go() {
    let mut sim = Sim::new();
    let mut visitors = Vec::new();
    for n in 0..1000 {
        let visitor = Visitor::new(
            &mut sim,
            &format!("127.0.0.1:{}", 5000 + n),
            &format!("Guest {n}"),
        );
        sim.queue_hello(&visitor);
        visitors.push(visitor.address);
    }
    sim.tick();
    for player in 0..1000 {
        for money in 0..300 {
            sim.push_event(player, &ServerLaneEvent::SetMoney(SetMoney { money }), false);
        }
    }
    sim.tick();
    sim.ticks(4);
    let mut per_client: BTreeMap<SocketAddr, usize> = BTreeMap::new();
    for _ in 0..20 {
        let before = sim.tally().resends;
        sim.tick();
        let resent = sim.tally().resends - before;
        assert!(resent <= 8_000, "{resent}");
        let mut in_tick: BTreeMap<SocketAddr, usize> = BTreeMap::new();
        // Besides resends only keepalives and the like leave: lane packets here are all SetMoney or the join's.
        for (to, datagram) in sim.sent() {
            if matches!(datagram[0], 0x40..=0x71) {
                *in_tick.entry(*to).or_default() += 1;
                *per_client.entry(*to).or_default() += 1;
            }
        }
        assert!(in_tick.values().all(|count| *count <= 32));
    }
    let (least, most) = (
        per_client.values().min().unwrap(),
        per_client.values().max().unwrap(),
    );
    assert_eq!(per_client.len(), 1000, "nobody starves");
    assert!(most - least <= 8, "fair shares: {least}..{most}");
    sim.ticks(126);
    assert_eq!(
        sim.slots_taken(),
        0,
        "they all went, by their stall or their silence"
    );
    assert_eq!(sim.ended.len(), 1000);
}

#[test]
fn a_few_stalled_clients_get_all_they_ask_for() {
    let mut sim = Sim::with_settings(|settings| settings.limits.resends_per_tick = 100);
    for n in 0..3 {
        sim.admit(&format!("127.0.0.1:{}", 5000 + n), &format!("Guest {n}"));
    }
    for player in 0..3 {
        for money in 0..200 {
            sim.push_event(player, &ServerLaneEvent::SetMoney(SetMoney { money }), false);
        }
    }
    sim.ticks(6);
    let before = sim.tally().resends;
    sim.tick();
    assert_eq!(sim.tally().resends - before, 96, "32 each");
}
