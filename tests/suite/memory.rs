//! Whoever comes and goes leaves nothing behind: entities, archetypes, queues and limit tables return to where they
//! were.

use bevy_ecs::entity::Entity;
use decitick_components::{
    admission::{HandshakeLimits, UsedProofs},
    connection::{Connection, PeerIndex},
    departures::Departures,
    mailbox::Outbox,
    profile::NameBook,
};
use decitick_protocol::{ClientBye, ServerPacket, SessionPacket};

use crate::sim::{Sim, Visitor};

#[derive(Debug, PartialEq, Eq)]
struct Footprint {
    entities: usize,
    connections: usize,
    archetypes: usize,
    names: usize,
    addresses: usize,
    used_proofs: usize,
    limit_tables: [usize; 7],
    departing: bool,
    outbox: usize,
}

fn footprint(sim: &mut Sim) -> Footprint {
    let world = sim.app.world_mut();
    let entities = world.query::<Entity>().iter(world).count();
    let connections = world.query::<&Connection>().iter(world).count();
    let limits = world.resource::<HandshakeLimits>();
    let [queries, credentials, hellos] = sim.door.tables().map(|table| table.entries);
    Footprint {
        entities,
        connections,
        archetypes: world.archetypes().len(),
        names: world.resource::<NameBook>().len(),
        addresses: world.resource::<PeerIndex>().iter().count(),
        used_proofs: world.resource::<UsedProofs>().len(),
        limit_tables: [
            limits.admissions.len(),
            limits.repeated_hellos.len(),
            limits.refusals.len(),
            limits.passwords.table().len(),
            queries,
            credentials,
            hellos,
        ],
        departing: !world.resource::<Departures>().is_empty(),
        outbox: world.resource::<Outbox>().byte_count(),
    }
}

/// A hundred visitors, each from an address of its own, come in and say goodbye.
fn come_and_go(sim: &mut Sim, round: usize) {
    let mut visitors = Vec::new();
    for n in 0..100 {
        let address = format!("10.{}.{}.{}:5000", round / 250, round % 250, n + 1);
        let mut visitor = Visitor::new(sim, &address, &format!("Guest {round} {n}"));
        if n == 0 {
            visitor = visitor.with_credential([7; 32]);
        }
        sim.queue_hello(&visitor);
        visitors.push(visitor);
    }
    sim.tick();
    for visitor in &visitors {
        let token =
            sim.sent_to(visitor.address)
                .iter()
                .find_map(|datagram| match ServerPacket::decode(datagram) {
                    Ok(ServerPacket::Hello(hello)) => Some(hello.session_token),
                    _ => None,
                });
        let token = token.expect("everybody is let in");
        sim.send_session(visitor.address, token, SessionPacket::Bye(ClientBye));
    }
    sim.tick();
    assert_eq!(sim.slots_taken(), 0);
}

fn settle(sim: &mut Sim) {
    for _ in 0..300 {
        sim.door.tidy(sim.now);
        sim.tick();
    }
}

#[test]
fn ten_thousand_joins_and_leaves_leave_nothing_behind() {
    let mut sim = Sim::new();
    come_and_go(&mut sim, 0);
    settle(&mut sim);
    let before = footprint(&mut sim);
    for round in 1..=100 {
        come_and_go(&mut sim, round);
    }
    settle(&mut sim);
    let one_more = Visitor::new(&mut sim, "192.0.2.1:1", "One More").with_credential([8; 32]);
    let token = sim.visit(&one_more).hello().session_token;
    sim.send_session(one_more.address, token, SessionPacket::Bye(ClientBye));
    settle(&mut sim);
    let after = footprint(&mut sim);
    assert_eq!(
        Footprint {
            used_proofs: 0,
            ..after
        },
        Footprint {
            used_proofs: 0,
            ..before
        }
    );
    assert!(
        after.used_proofs <= 1,
        "what died is forgotten when the next comes: {}",
        after.used_proofs
    );
}
