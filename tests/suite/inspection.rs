//! The commands that look into the world, on a whole server with clients: `entities`, `inspect`, `set`, `watch`,
//! `resources`.

mod everything;
mod secrets;
mod set;
mod watch;

use decitick_components::{
    body::Space,
    phase::Phase,
    thing::ThingSpec,
    zone::{Zone, ZoneShape},
};
use decitick_protocol::{EntityKind, Vec3};

use crate::sim::Sim;

/// Two players, one who has no body, one in PreAuth, a thing and a zone.
fn peopled() -> (Sim, [usize; 4]) {
    let mut sim = Sim::new();
    let (ann, bob) = (sim.join_now("Ann"), sim.join_now("Bob"));
    let (waiting, undecided) = (sim.join("Waiting"), sim.join("Undecided"));
    for index in [waiting, undecided] {
        sim.players[index].wants_body = false;
    }
    sim.ticks(10);
    let entity = sim.body(undecided);
    sim.app.world_mut().entity_mut(entity).insert(Phase::PreAuth);
    sim.make_thing(ThingSpec::new(EntityKind::Vehicle, 411, Vec3::new(1.0, 2.0, 3.0)));
    sim.make_zone(Zone {
        space: Space::default(),
        shape: ZoneShape::Sphere {
            centre: Vec3::ZERO,
            radius: 9.0,
        },
    });
    sim.ticks(3);
    (sim, [ann, bob, waiting, undecided])
}

/// The text of an answer that did what was asked.
fn told(sim: &mut Sim, line: &str) -> String {
    let answer = sim.console(line);
    assert!(answer.ok, "{line}: {}", answer.text);
    answer.text
}

/// The text of a refusal.
fn refused(sim: &mut Sim, line: &str) -> String {
    let answer = sim.console(line);
    assert!(!answer.ok, "{line}: {}", answer.text);
    answer.text
}

fn json(sim: &mut Sim, line: &str) -> serde_json::Value {
    serde_json::from_str(&told(sim, &format!("{line} --json"))).expect("an answer is one JSON value")
}

#[test]
fn entities_are_called_what_people_call_them() {
    let (mut sim, [ann, ..]) = peopled();
    let address = sim.players[3].address;
    let all = json(&mut sim, "entities");
    let what: Vec<&str> = all["entities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["is"].as_str().unwrap())
        .collect();
    assert_eq!(
        what,
        [
            "player 0 \"Ann\"",
            "player 1 \"Bob\"",
            "player 2 \"Waiting\"",
            &format!("connection {address}"),
            "thing 1 vehicle 411",
            "zone 1",
        ],
        "resources and observers are no entities"
    );
    assert_eq!(
        (all["matched"].as_u64(), all["more"].as_u64()),
        (Some(6), Some(0))
    );
    let first = all["entities"][0].clone();
    assert_eq!(first["entity"], sim.body(ann).to_string());
    assert!(
        first["components"]
            .as_array()
            .unwrap()
            .iter()
            .any(|name| name == "Vitals")
    );
    let text = told(&mut sim, "entities Placement");
    assert!(
        text.contains("thing 1 vehicle 411") && text.ends_with("1 entity"),
        "{text}"
    );
}

#[test]
fn conditions_choose_among_live_players() {
    let (mut sim, [_, bob, ..]) = peopled();
    sim.wish(bob, decitick_components::requests::PlayerWish::Health(20));
    sim.tick();
    for (line, matched) in [
        ("entities where Vitals.health < 50", 1),
        ("entities where Phase.0 = spawned", 2),
        ("entities where Phase.0 != Spawned", 2),
        ("entities where DisplayName.name = Bob", 1),
        ("entities where Peer.listener = 0 without DisplayName", 0),
        ("entities Phase where Money.0 >= 0 limit 1", 4),
    ] {
        let answer = json(&mut sim, line);
        assert_eq!(answer["matched"], matched, "{line}");
    }
    let text = told(&mut sim, "entities Phase limit 1");
    assert!(
        text.ends_with("4 entities, 3 more than shown; `limit N` shows more"),
        "{text}"
    );
    let text = refused(&mut sim, "entities where Vitals.helth = 1");
    assert!(
        text.contains("the nearest is `health`; the fields are health, armour"),
        "{text}"
    );
}

#[test]
fn an_entity_is_shown_field_by_field() {
    let (mut sim, [ann, ..]) = peopled();
    let entity = sim.body(ann);
    let text = told(&mut sim, "inspect 0");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], format!("{entity} player 0 \"Ann\""));
    for wanted in ["Vitals", "  health", "  position", "OutboundLane", "  in_flight"] {
        assert!(
            lines.iter().any(|line| line.starts_with(wanted)),
            "{wanted}: {text}"
        );
    }
    assert!(
        text.contains("(secret)") && text.contains("SessionToken"),
        "{text}"
    );
    let answer = json(&mut sim, &format!("inspect {entity}"));
    assert_eq!(answer["components"]["Vitals"]["health"], 100);
    assert_eq!(answer["components"]["DisplayName"]["name"], "Ann");
    assert!(answer["components"]["Motion"]["position"]["x"].is_number());
    let one = json(&mut sim, "inspect thing:1 ThingKind");
    assert_eq!(
        one["components"],
        serde_json::json!({"ThingKind": {"kind": "vehicle", "model": 411}})
    );
    let zone = json(&mut sim, "inspect zone:1 Zone");
    assert_eq!(zone["components"]["Zone"]["shape"]["Sphere"]["radius"], 9.0);
    for (line, wanted) in [
        ("inspect 7", "nobody has the id 7"),
        ("inspect 4000v1", "there is no entity 4000v1"),
        ("inspect thing:9", "there is no thing 9"),
        ("inspect zone:1 Vitals", "has no Vitals"),
        ("inspect 0 Vitls", "the nearest is `Vitals`"),
    ] {
        let text = refused(&mut sim, line);
        assert!(text.contains(wanted), "{line}: {text}");
    }
}

#[test]
fn resources_are_listed_with_marks_and_shown_one_by_one() {
    let (mut sim, _) = peopled();
    let list = told(&mut sim, "resources");
    for (name, mark) in [
        ("Clock", ""),
        ("Tally", "(summary)"),
        ("ServerPassword", "(secret)"),
        ("Stage", "(not shown)"),
    ] {
        let line = list
            .lines()
            .find(|line| line.split_whitespace().next() == Some(name))
            .expect(name);
        assert!(
            line.ends_with(mark) && (!mark.is_empty() || !line.contains('(')),
            "{line}"
        );
    }
    let clock = json(&mut sim, "resources Clock");
    assert_eq!(clock["resource"], "Clock");
    assert_eq!(clock["value"]["tick"].as_u64(), Some(sim.tick_number()));
    let text = told(&mut sim, "resources WorldState");
    assert!(text.contains("  weather") && text.contains("  hours"), "{text}");
    let text = refused(&mut sim, "resources Entropy");
    assert!(text.contains("Entropy: it is secret"), "{text}");
    let text = refused(&mut sim, "resources Clok");
    assert!(
        text.contains("there is no resource \"Clok\"; the nearest is `Clock`"),
        "{text}"
    );
}
