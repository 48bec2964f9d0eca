//! A gamemode that asks for what cannot be breaks nobody's session: no packet with a broken number ever leaves
//! (docs/protocol.md 0).

use decitick_components::{
    requests::{PlayerWish, ThingRequest},
    thing::{ThingMotion, ThingSpec},
};
use decitick_protocol::{EntityKind, ServerPacket, Vec3};

use crate::sim::{Sim, ground, spawn_point};

const BROKEN: [f32; 4] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30];

/// Every datagram of the next second decodes, and both players are still there afterwards.
fn expect_well_formed(sim: &mut Sim, what: &str) {
    for _ in 0..10 {
        sim.tick();
        for (_, datagram) in sim.sent() {
            assert!(ServerPacket::decode(datagram).is_ok(), "{what}: {datagram:02x?}");
        }
    }
    sim.ticks(160);
    assert!(sim.ended.is_empty(), "{what}: {:?}", sim.ended);
}

fn two_together() -> Sim {
    let mut sim = Sim::new();
    sim.join_now("One");
    sim.join_now("Other");
    for player in &mut sim.players {
        player.stand_at(0.0, 0.0);
    }
    sim.ticks(8);
    sim
}

#[test]
fn a_teleport_to_nowhere_breaks_nobody() {
    for bad in BROKEN {
        let mut sim = two_together();
        sim.wish(
            0,
            PlayerWish::Teleport {
                position: Vec3::new(bad, 0.0, 10.0),
                heading: None,
                area: None,
            },
        );
        expect_well_formed(&mut sim, &format!("a teleport to {bad}"));
    }
}

#[test]
fn a_teleport_that_faces_nowhere_breaks_nobody() {
    let mut sim = two_together();
    sim.wish(
        0,
        PlayerWish::Teleport {
            position: ground(5.0, 0.0),
            heading: Some(f32::NAN),
            area: None,
        },
    );
    expect_well_formed(&mut sim, "a heading that is no number");
}

#[test]
fn a_spawn_at_nowhere_breaks_nobody() {
    let mut sim = two_together();
    sim.wish(0, PlayerWish::Spawn(Some(spawn_point(f32::NAN, 0.0, &[]))));
    expect_well_formed(&mut sim, "a spawn point that is no place");
}

#[test]
fn a_thing_at_nowhere_breaks_nobody() {
    for bad in BROKEN {
        let mut sim = two_together();
        let position = Vec3::new(bad, 0.0, 10.0);
        sim.make_thing(ThingSpec::new(EntityKind::Object, 1, position));
        sim.make_thing(ThingSpec {
            heading: bad,
            ..ThingSpec::new(EntityKind::Object, 1, ground(1.0, 0.0))
        });
        expect_well_formed(&mut sim, &format!("a thing at {bad}"));
    }
}

#[test]
fn a_thing_that_is_put_nowhere_breaks_nobody() {
    for bad in BROKEN {
        let mut sim = two_together();
        let thing = sim.make_thing(ThingSpec::new(EntityKind::Object, 1, ground(1.0, 0.0)));
        sim.ticks(8);
        sim.wish_thing(ThingRequest::Place {
            thing,
            position: Vec3::new(0.0, bad, 10.0),
            heading: 0.0,
            area: 0,
            dimension: 0,
        });
        expect_well_formed(&mut sim, &format!("a thing put to {bad}"));
    }
}

#[test]
fn a_thing_that_moves_by_broken_numbers_breaks_nobody() {
    for bad in BROKEN {
        let mut sim = two_together();
        let nowhere = Vec3::new(bad, bad, bad);
        for motion in [
            ThingMotion::Straight { velocity: nowhere },
            ThingMotion::to(nowhere, 1.0),
            ThingMotion::to(ground(5.0, 0.0), bad),
            ThingMotion::Orbit {
                centre: nowhere,
                radius: 1.0,
                speed: 1.0,
                angle: 0.0,
            },
            ThingMotion::Orbit {
                centre: ground(0.0, 0.0),
                radius: bad,
                speed: bad,
                angle: bad,
            },
            ThingMotion::Follow {
                player: sim.body(0),
                distance: bad,
                speed: bad,
            },
        ] {
            sim.make_thing(ThingSpec {
                motion,
                ..ThingSpec::new(EntityKind::Npc, 1, ground(2.0, 0.0))
            });
        }
        expect_well_formed(&mut sim, &format!("a motion of {bad}"));
    }
}
