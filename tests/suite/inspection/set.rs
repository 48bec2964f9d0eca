//! What `set` takes takes effect, and clients are told of it; everything else says why not.

use decitick_components::{
    body::{Appearance, Dimension, Skills},
    server::PublicFace,
    thing::{EndsAt, ThingBook, ThingId, TriggerRadius},
    world::WorldState,
};
use decitick_protocol::{ServerLaneEvent, SetMoney, SetVitals, SetWeather, Vec3};

use super::{json, peopled, refused, told};
use crate::sim::Sim;

fn thing(sim: &Sim) -> bevy_ecs::entity::Entity {
    sim.app.world().resource::<ThingBook>().find(ThingId(1)).unwrap()
}

#[test]
fn a_player_is_changed_and_told() {
    let (mut sim, [ann, bob, ..]) = peopled();
    let entity = sim.body(ann);
    let answer = told(&mut sim, "set 0 Vitals.health 50");
    assert_eq!(
        answer,
        format!("{entity} player 0 \"Ann\": Vitals.health is 50 now, as the world takes it")
    );
    assert_eq!(sim.vitals(ann).0, 50);
    told(&mut sim, "set 0 Vitals.armour 7");
    told(&mut sim, "set 0 Money -9_000");
    told(&mut sim, "set 0 Appearance.skin 99");
    told(&mut sim, "set 0 Skills.3 250");
    told(&mut sim, "set 0 Dimension.0 5");
    sim.ticks(5);
    let events: Vec<&ServerLaneEvent> = sim.players[ann].events.iter().map(|(_, event)| event).collect();
    for wanted in [
        ServerLaneEvent::SetVitals(SetVitals {
            health: 50,
            armour: 0,
        }),
        ServerLaneEvent::SetVitals(SetVitals {
            health: 50,
            armour: 7,
        }),
        ServerLaneEvent::SetMoney(SetMoney { money: -9_000 }),
    ] {
        assert!(events.contains(&&wanted), "{wanted:?}");
    }
    assert!(
        events
            .iter()
            .any(|event| matches!(event, ServerLaneEvent::PlayerAppearance(look) if look.skin == 99))
    );
    assert!(
        events
            .iter()
            .any(|event| matches!(event, ServerLaneEvent::PlayerSkills(told) if told.skills[3] == 250))
    );
    assert_eq!(sim.of::<Appearance>(ann).skin, 99);
    assert_eq!(sim.of::<Skills>(ann).0[3], 250);
    assert_eq!(sim.of::<Dimension>(ann).0, 5);
    assert!(!sim.sees(bob, ann), "it is in another dimension");
}

#[test]
fn a_body_and_a_thing_are_put_elsewhere() {
    let (mut sim, [ann, ..]) = peopled();
    told(&mut sim, "set 0 Motion.position (x: 100, y: 200, z: 30.5)");
    sim.ticks(2);
    assert_eq!(sim.position(ann), Vec3::new(100.0, 200.0, 30.5));
    told(&mut sim, "set 0 Motion.position.x -7");
    sim.ticks(2);
    assert_eq!(sim.position(ann), Vec3::new(-7.0, 200.0, 30.5));
    told(&mut sim, "set thing:1 Placement.position.z 44");
    told(&mut sim, "set thing:1 Dimension 3");
    sim.ticks(2);
    assert_eq!(sim.placement(ThingId(1)).unwrap().position.z, 44.0);
    assert_eq!(sim.app.world().get::<Dimension>(thing(&sim)), Some(&Dimension(3)));
}

#[test]
fn the_shared_world_is_changed_by_the_entity_of_its_resource() {
    let (mut sim, [ann, ..]) = peopled();
    let entity = json(&mut sim, "resources WorldState")["entity"]
        .as_str()
        .unwrap()
        .to_owned();
    let answer = told(&mut sim, &format!("set {entity} WorldState.weather 8"));
    assert!(answer.contains("resource WorldState"), "{answer}");
    told(&mut sim, &format!("set {entity} WorldState.hours 23"));
    sim.ticks(5);
    let told_of = |sim: &Sim, wanted: &ServerLaneEvent| {
        sim.players[ann].events.iter().any(|(_, event)| event == wanted)
    };
    assert!(told_of(
        &sim,
        &ServerLaneEvent::SetWeather(SetWeather { weather: 8 })
    ));
    let state = sim.app.world().resource::<WorldState>();
    assert_eq!((state.weather, state.hours), (8, 23));
}

#[test]
fn marked_fields_are_written_within_their_bounds() {
    let (mut sim, _) = peopled();
    let entity = thing(&sim);
    sim.app
        .world_mut()
        .entity_mut(entity)
        .insert((TriggerRadius(2.0), EndsAt(std::time::Duration::from_secs(1_000))));
    told(&mut sim, "set thing:1 TriggerRadius 7.5");
    assert_eq!(
        sim.app.world().get::<TriggerRadius>(entity),
        Some(&TriggerRadius(7.5))
    );
    let text = refused(&mut sim, "set thing:1 TriggerRadius 5000");
    assert!(
        text.contains("5000 is out of range; 0.1 to 1000 is taken"),
        "{text}"
    );
    let text = refused(&mut sim, "set thing:1 TriggerRadius wide");
    assert!(text.contains("wide is no number"), "{text}");
    told(&mut sim, "set thing:1 EndsAt 0");
    sim.ticks(3);
    assert!(sim.app.world().get_entity(entity).is_err(), "its time was over");
    let face = json(&mut sim, "resources PublicFace")["entity"]
        .as_str()
        .unwrap()
        .to_owned();
    told(
        &mut sim,
        &format!("set {face} PublicFace.mode \"Deathmatch now\""),
    );
    assert_eq!(sim.app.world().resource::<PublicFace>().mode, "Deathmatch now");
    refused(
        &mut sim,
        &format!("set {face} PublicFace.mode {}", "x".repeat(33)),
    );
    refused(&mut sim, &format!("set {face} PublicFace.version 2"));
}

#[test]
fn everything_else_says_why_it_refuses() {
    let (mut sim, [ann, ..]) = peopled();
    let before = told(&mut sim, "inspect 0 Phase");
    let settings = json(&mut sim, "resources Settings")["entity"]
        .as_str()
        .unwrap()
        .to_owned();
    for (line, wanted) in [
        ("set 0 Phase PreAuth", "Phase is immutable"),
        ("set 0 PlayerId 7", "`kick ID` ends the session"),
        ("set 0 DisplayName Eve", "`eval players::get(ID).rename(\"...\")`"),
        ("set 0 OutboundLane.in_flight 0", "belongs together"),
        ("set 0 SmoothedRtt 5", "read-only"),
        ("set 0 Motion.sequence 5", "read-only"),
        ("set 0 Vitals.health 201", "no whole number from 0 to 200"),
        ("set 0 Vitals.health lots", "no whole number from 0 to 200"),
        ("set 0 Vitals.helth 1", "the nearest is `health`"),
        ("set 0 Motion.position.x NaN", "NaN is no number"),
        ("set 0 Motion.position.x 1e9", "there is no such place"),
        ("set 0 Skills.3 1001", "no whole number from 0 to 1000"),
        ("set 2 Vitals.health 5", "the player has no body now"),
        ("set 3 Money 5", "no player who has joined"),
        ("set zone:1 Zone.space.area 1", "Zone is immutable"),
        (
            &format!("set {settings} Settings.name \"Mine\"") as &str,
            "settings are read when the server starts",
        ),
    ] {
        let text = refused(&mut sim, line);
        assert!(text.contains(wanted), "{line}: {text}");
    }
    sim.ticks(2);
    assert_eq!(told(&mut sim, "inspect 0 Phase"), before);
    assert_eq!(sim.vitals(ann).0, 100);
}
