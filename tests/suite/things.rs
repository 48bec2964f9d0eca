//! Things stream like players do, move by themselves, and say so (docs/protocol.md 2.3, 2.4).

mod motion;

use std::time::Duration;

use decitick_components::{
    requests::{PlayerWish, ThingRequest},
    thing::{Placement, ThingBook, ThingId, ThingMotion, ThingSpec},
};
use decitick_protocol::{
    EntityFrame, EntityKind, EntityPayload, EntitySpawn, ServerLaneEvent, ServerPacket, Vec3,
};

use crate::sim::{Sim, ground};

fn spawned(event: &ServerLaneEvent) -> Option<EntitySpawn> {
    match event {
        ServerLaneEvent::EntitySpawn(spawn) => Some(spawn.clone()),
        _ => None,
    }
}

fn object(x: f32, y: f32) -> ThingSpec {
    ThingSpec::new(EntityKind::Object, 1000, ground(x, y))
}

fn moving(x: f32, y: f32, motion: ThingMotion) -> ThingSpec {
    ThingSpec {
        motion,
        ..object(x, y)
    }
}

fn payload(byte: u8) -> EntityPayload {
    EntityPayload::parse(vec![byte]).unwrap()
}

fn has(sim: &Sim, viewer: usize, thing: ThingId) -> bool {
    let things = sim.players[viewer].client.things().unwrap();
    things.thing(thing.0).is_some()
}

/// One player at the origin, whose client stands there.
fn watched() -> (Sim, usize) {
    let mut sim = Sim::new();
    let watcher = sim.join_now("Watcher");
    sim.players[watcher].stand_at(0.0, 0.0);
    sim.players[watcher].keeps_frames = true;
    sim.ticks(8);
    (sim, watcher)
}

/// Frames of things in the datagrams that the last tick sent a player.
fn frames_sent(sim: &Sim, index: usize) -> Vec<EntityFrame> {
    sim.sent_to(sim.players[index].address)
        .iter()
        .filter_map(|datagram| match ServerPacket::decode(datagram) {
            Ok(ServerPacket::EntitySync(sync)) => Some(sync.entities),
            _ => None,
        })
        .flatten()
        .collect()
}

/// What is sent of things in so many ticks, a list for each tick.
fn watch(sim: &mut Sim, index: usize, ticks: usize) -> Vec<Vec<EntityFrame>> {
    (0..ticks)
        .map(|_| {
            sim.tick();
            frames_sent(sim, index)
        })
        .collect()
}

#[test]
fn a_thing_is_shown_as_it_is_to_who_comes_within_the_radius() {
    let (mut sim, watcher) = watched();
    let spec = ThingSpec {
        heading: 1.5,
        data: payload(0x2A),
        ..ThingSpec::new(EntityKind::Pickup, 370, ground(299.0, 0.0))
    };
    let near = sim.make_thing(spec);
    let far = sim.make_thing(object(301.0, 0.0));
    sim.ticks(8);
    let expected = EntitySpawn {
        entity_id: near.0,
        kind: EntityKind::Pickup,
        model: 370,
        position: ground(299.0, 0.0),
        heading: 1.5,
        area: 0,
        data: payload(0x2A),
    };
    assert_eq!(sim.players[watcher].all(spawned), [expected]);
    assert!(!has(&sim, watcher, far));
}

#[test]
fn a_thing_goes_out_of_view_past_a_tenth_more_than_the_radius() {
    let (mut sim, watcher) = watched();
    let thing = sim.make_thing(object(299.0, 0.0));
    sim.ticks(8);
    sim.put(watcher, -30.0, 0.0);
    assert!(has(&sim, watcher, thing), "329 m away");
    sim.put(watcher, -32.0, 0.0);
    assert!(!has(&sim, watcher, thing), "331 m away");
    sim.put(watcher, -30.0, 0.0);
    assert!(!has(&sim, watcher, thing), "329 m is not within 300");
    sim.expect_no_faults();
}

#[test]
fn a_view_holds_the_nearest_things_up_to_its_limit() {
    let mut sim = Sim::with_settings(|settings| settings.streaming.entity_limit = 3);
    let watcher = sim.join_now("Watcher");
    let things: Vec<ThingId> = [50.0, 20.0, 40.0, 10.0, 30.0]
        .map(|x| sim.make_thing(object(x, 0.0)))
        .to_vec();
    sim.ticks(8);
    let shown: Vec<u32> = sim.players[watcher]
        .all(spawned)
        .iter()
        .map(|spawn| spawn.entity_id)
        .collect();
    assert_eq!(shown, [things[3].0, things[1].0, things[4].0], "nearest first");
    sim.wish_thing(ThingRequest::Destroy(things[3]));
    sim.ticks(8);
    assert!(has(&sim, watcher, things[2]) && !has(&sim, watcher, things[0]));
}

#[test]
fn players_and_things_together_change_a_view_by_eight_a_tick() {
    let mut sim = Sim::new();
    sim.join_many(30);
    for n in 0..40u8 {
        sim.make_thing(object(f32::from(n), 5.0));
    }
    sim.ticks(10);
    let newcomer = sim.join("Newcomer");
    let mut per_tick = Vec::new();
    for _ in 0..30 {
        sim.tick();
        let events = sim.sent_events(newcomer);
        let changes = events.iter().filter(|event| {
            matches!(
                event,
                ServerLaneEvent::EntitySpawn(_) | ServerLaneEvent::PlayerStreamIn(_)
            )
        });
        per_tick.push(changes.count());
    }
    assert_eq!(per_tick.iter().max(), Some(&8), "{per_tick:?}");
    assert_eq!(per_tick.iter().sum::<usize>(), 70);
    let busy = per_tick.iter().filter(|&&count| count > 0).count();
    assert_eq!(busy, 9, "nothing waits without need: {per_tick:?}");
}

#[test]
fn one_that_is_destroyed_goes_in_the_same_tick() {
    let (mut sim, watcher) = watched();
    let thing = sim.make_thing(object(20.0, 0.0));
    let other = sim.make_thing(object(21.0, 0.0));
    sim.ticks(8);
    sim.wish_thing(ThingRequest::Destroy(thing));
    sim.tick();
    let gone = ServerLaneEvent::EntityDespawn(decitick_protocol::EntityDespawn { entity_id: thing.0 });
    assert_eq!(sim.sent_events(watcher), [gone]);
    sim.wish_thing(ThingRequest::Destroy(thing));
    sim.tick();
    assert!(sim.sent_events(watcher).is_empty(), "once");
    assert!(!has(&sim, watcher, thing) && has(&sim, watcher, other));
    assert!(sim.placement(thing).is_none());
}

#[test]
fn one_with_a_lifetime_goes_when_it_is_over() {
    let (mut sim, watcher) = watched();
    let brief = sim.make_thing(ThingSpec {
        lifetime: Some(Duration::from_millis(1500)),
        ..object(20.0, 0.0)
    });
    sim.ticks(15);
    assert!(has(&sim, watcher, brief), "14 ticks after it was made");
    sim.tick();
    assert!(
        sim.sent_events(watcher)
            .iter()
            .any(|event| matches!(event, ServerLaneEvent::EntityDespawn(gone) if gone.entity_id == brief.0))
    );
    sim.tick();
    assert!(!has(&sim, watcher, brief));
}

#[test]
fn news_of_a_thing_goes_to_those_who_have_it_in_view_and_into_later_spawns() {
    let (mut sim, watcher) = watched();
    let far = sim.join_now("Far");
    sim.put(far, 1000.0, 0.0);
    let thing = sim.make_thing(ThingSpec {
        data: payload(1),
        ..object(20.0, 0.0)
    });
    sim.ticks(8);
    sim.wish_thing(ThingRequest::Data(thing, payload(2)));
    sim.tick();
    let news = ServerLaneEvent::EntityData(decitick_protocol::EntityData {
        entity_id: thing.0,
        data: payload(2),
    });
    assert_eq!(sim.sent_events(watcher), [news]);
    assert!(sim.sent_events(far).is_empty());
    sim.put(far, 0.0, 0.0);
    let shown = sim.players[far].all(spawned);
    assert_eq!(shown.first().map(|spawn| spawn.data.clone()), Some(payload(2)));
    let held = sim.players[watcher]
        .client
        .things()
        .unwrap()
        .thing(thing.0)
        .unwrap();
    assert_eq!(held.data, payload(2));
}

#[test]
fn things_of_another_area_or_dimension_are_not_there() {
    let (mut sim, watcher) = watched();
    let inside = sim.make_thing(ThingSpec {
        area: 3,
        ..object(10.0, 0.0)
    });
    let beyond = sim.make_thing(ThingSpec {
        dimension: 9,
        ..object(10.0, 0.0)
    });
    sim.ticks(8);
    assert!(sim.players[watcher].client.things().unwrap().is_empty());
    sim.put_in(watcher, 0.0, 0.0, 3);
    assert!(has(&sim, watcher, inside) && !has(&sim, watcher, beyond));
    sim.put_in(watcher, 0.0, 0.0, 0);
    sim.wish(watcher, PlayerWish::Dimension(9));
    sim.ticks(8);
    assert!(!has(&sim, watcher, inside) && has(&sim, watcher, beyond));
}

#[test]
fn no_frame_of_a_thing_comes_from_the_tick_on_in_which_it_or_the_viewer_is_elsewhere() {
    let (mut sim, watcher) = watched();
    let velocity = Vec3::new(1.0, 0.0, 0.0);
    let thing = sim.make_thing(moving(20.0, 0.0, ThingMotion::Straight { velocity }));
    sim.ticks(8);
    assert_eq!(watch(&mut sim, watcher, 3).concat().len(), 3);
    sim.wish(watcher, PlayerWish::Dimension(1));
    assert!(watch(&mut sim, watcher, 8).concat().is_empty());
    sim.wish(watcher, PlayerWish::Dimension(0));
    sim.ticks(8);
    assert_eq!(watch(&mut sim, watcher, 3).concat().len(), 3);
    sim.wish_thing(ThingRequest::Place {
        thing,
        position: ground(20.0, 0.0),
        heading: 0.0,
        area: 0,
        dimension: 4,
    });
    assert!(watch(&mut sim, watcher, 8).concat().is_empty());
    assert!(!has(&sim, watcher, thing));
}

#[test]
fn one_that_is_put_elsewhere_is_seen_there_at_once() {
    let (mut sim, watcher) = watched();
    let thing = sim.make_thing(object(20.0, 0.0));
    sim.ticks(8);
    sim.wish_thing(ThingRequest::Place {
        thing,
        position: ground(-40.0, 7.0),
        heading: 2.0,
        area: 0,
        dimension: 0,
    });
    let frames = watch(&mut sim, watcher, 1).concat();
    assert_eq!(frames.len(), 1);
    assert_eq!((frames[0].position, frames[0].heading), (ground(-40.0, 7.0), 2.0));
}

#[test]
fn the_dead_go_on_seeing_things() {
    let (mut sim, watcher) = watched();
    let velocity = Vec3::new(1.0, 0.0, 0.0);
    sim.make_thing(moving(20.0, 0.0, ThingMotion::Straight { velocity }));
    sim.ticks(8);
    sim.wish(watcher, PlayerWish::Health(0));
    sim.ticks(2);
    assert_eq!(watch(&mut sim, watcher, 5).concat().len(), 5);
    let late = sim.make_thing(object(10.0, 0.0));
    sim.ticks(8);
    assert!(has(&sim, watcher, late));
}

#[test]
fn there_are_ten_thousand_things_at_most_and_one_that_goes_makes_room() {
    let (mut sim, watcher) = watched();
    let things: Vec<ThingId> = (0..10_000u16)
        .map(|n| sim.make_thing(object(f32::from(n % 100) * 30.0, f32::from(n / 100) * 30.0)))
        .collect();
    let reserve = |sim: &mut Sim| sim.app.world_mut().resource_mut::<ThingBook>().reserve();
    assert_eq!(reserve(&mut sim), None, "reserved ones count");
    sim.ticks(30);
    assert_eq!(sim.app.world().resource::<ThingBook>().len(), 10_000);
    assert_eq!(reserve(&mut sim), None);
    assert_eq!(
        sim.players[watcher].client.things().unwrap().len(),
        90,
        "those within 300 m"
    );
    sim.wish_thing(ThingRequest::Destroy(things[17]));
    sim.tick();
    let next = reserve(&mut sim).expect("room for one");
    assert_eq!(next.0, 10_001, "no number comes twice");
    assert_eq!(reserve(&mut sim), None);
    sim.app.world_mut().resource_mut::<ThingBook>().forgo();
    assert_eq!(reserve(&mut sim), Some(ThingId(10_002)));
}

#[test]
fn wishes_about_a_thing_that_is_not_there_do_nothing() {
    let (mut sim, watcher) = watched();
    let nobody = ThingId(77);
    sim.wish_thing(ThingRequest::Destroy(nobody));
    sim.wish_thing(ThingRequest::Data(nobody, payload(1)));
    sim.wish_thing(ThingRequest::Move(nobody, ThingMotion::Still));
    sim.wish_thing(ThingRequest::Place {
        thing: nobody,
        position: ground(0.0, 0.0),
        heading: 0.0,
        area: 0,
        dimension: 0,
    });
    sim.tick();
    assert!(sim.sent_events(watcher).is_empty());
    let fleeting = sim.make_thing(object(1.0, 0.0));
    sim.wish_thing(ThingRequest::Destroy(fleeting));
    sim.ticks(8);
    assert!(sim.placement(fleeting).is_none() && !has(&sim, watcher, fleeting));
    let placement: Option<&Placement> = sim.placement(nobody);
    assert_eq!(placement, None);
}
