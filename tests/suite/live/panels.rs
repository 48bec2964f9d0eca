//! Panel by panel: what a viewer is told is what there is.

use decitick_components::{
    live::{LogLine, RecentLog},
    requests::{PlayerWish, ThingRequest, ZoneRequest},
    thing::{ThingMotion, ThingSpec},
    zone::{Zone, ZoneShape},
};
use decitick_protocol::EntityKind;
use serde_json::{Value, json};

use super::{Viewer, ticks};
use crate::sim::{Sim, ground};

#[test]
fn players_are_told_of_as_the_console_tells_of_them() {
    let mut sim = Sim::new();
    let names = ["ada", "<img src=x>", "bob \"the\" \\"];
    let players: Vec<usize> = names.iter().map(|name| sim.join_now(name)).collect();
    let mut viewer = Viewer::looks_at(&mut sim, 1, &json!({"players": true}));
    ticks(&mut sim, &mut [&mut viewer], 100);
    let console: Value = serde_json::from_str(&sim.console("players --json").text).unwrap();
    let rows = viewer.rows("players");
    assert_eq!(rows.len(), 3);
    for player in console["players"].as_array().unwrap() {
        let row = rows.iter().find(|row| row[1] == player["id"]).unwrap();
        for (column, key) in [
            (2, "generation"),
            (3, "name"),
            (4, "address"),
            (5, "phase"),
            (6, "rtt_ms"),
            (7, "loss_percent"),
            (8, "queue_length"),
        ] {
            assert_eq!(row[column], player[key], "{key}");
        }
        assert!(row[0].as_str().unwrap().contains('v') && row[9] == 0);
    }
    assert_eq!(
        rows.iter()
            .filter(|row| names.contains(&row[3].as_str().unwrap()))
            .count(),
        3
    );
    // At rest nothing of them is told again.
    let told: usize = viewer.events[viewer.events.len() - 10..]
        .iter()
        .map(|(_, event)| event["players"]["rows"].as_array().map_or(0, Vec::len))
        .sum();
    assert!(told < 10, "{told} rows in five seconds");
    sim.console(&format!("kick {} bye", sim.players[players[0]].id()));
    ticks(&mut sim, &mut [&mut viewer], 10);
    assert_eq!(viewer.rows("players").len(), 2);
}

#[test]
fn a_map_shows_who_and_what_is_in_its_area_and_dimension_and_follows_them() {
    let mut sim = Sim::new();
    let [ada, bob] = ["ada", "bob"].map(|name| sim.join_now(name));
    sim.put(ada, 10.0, -20.5);
    sim.put(bob, 30.0, 40.0);
    let car = sim.make_thing(ThingSpec {
        motion: ThingMotion::Still,
        ..ThingSpec::new(EntityKind::Vehicle, 411, ground(7.0, 8.0))
    });
    let space = decitick_components::body::Space::default();
    let zone = sim.make_zone(Zone {
        space,
        shape: ZoneShape::Sphere {
            centre: ground(1.0, 2.0),
            radius: 50.0,
        },
    });
    sim.ticks(3);
    let mut here = Viewer::looks_at(&mut sim, 1, &json!({"map": {"area": 0, "dimension": 0}}));
    let mut there = Viewer::looks_at(&mut sim, 2, &json!({"map": {"area": 0, "dimension": 7}}));
    ticks(&mut sim, &mut [&mut here, &mut there], 10);
    let at = |viewer: &Viewer, label: &str| -> Option<Value> {
        viewer
            .rows("map")
            .into_iter()
            .find(|row| row[2] == label)
            .cloned()
    };
    let row = at(&here, "ada").unwrap();
    assert_eq!(
        (&row[1], &row[3], &row[4]),
        (&json!("player"), &json!(10), &json!(-20.5))
    );
    let row = at(&here, "411").unwrap();
    assert_eq!(
        (&row[1], &row[3], &row[4]),
        (&json!("vehicle"), &json!(7), &json!(8))
    );
    assert_eq!(here.rows("zones")[0][1], "sphere");
    assert_eq!(here.events[0].1["map"]["spaces"], json!([[0, 0, 2, 1]]));
    assert!(there.rows("map").is_empty() && there.rows("zones").is_empty());
    // Who moves is told by its place alone.
    sim.put(ada, 11.0, -20.5);
    let before = here.events.len();
    ticks(&mut sim, &mut [&mut here, &mut there], 5);
    assert!(here.events.len() > before);
    assert_eq!(at(&here, "ada").unwrap()[3], 11);
    assert!(
        here.events
            .iter()
            .any(|(_, event)| event["map"]["moves"][0][1] == 11),
        "{:?}",
        here.last()
    );
    // Who goes to another dimension is on its map.
    sim.wish(bob, PlayerWish::Dimension(7));
    sim.wish_thing(ThingRequest::Destroy(car));
    sim.app.world_mut().write_message(ZoneRequest::Destroy(zone));
    ticks(&mut sim, &mut [&mut here, &mut there], 15);
    assert!(at(&here, "bob").is_none() && at(&there, "bob").is_some());
    assert!(at(&here, "411").is_none() && here.rows("zones").is_empty());
    // Who dies is still there.
    sim.wish(ada, PlayerWish::Health(0));
    ticks(&mut sim, &mut [&mut here, &mut there], 10);
    assert_eq!(at(&here, "ada").unwrap()[1], "fallen");
}

#[test]
fn health_begins_with_the_last_ten_minutes_and_goes_on_second_by_second() {
    let mut sim = Sim::new();
    sim.join_now("ada");
    sim.ticks(6_100);
    let mut viewer = Viewer::looks_at(&mut sim, 1, &json!({"health": true}));
    ticks(&mut sim, &mut [&mut viewer], 6);
    let seconds = viewer.events[0].1["health"]["seconds"].as_array().unwrap();
    assert_eq!(seconds.len(), 600);
    let last = &seconds[599];
    assert!(
        last[5] == 1 && last[6].as_u64() > Some(0) && last[8].as_u64() > last[6].as_u64(),
        "{last}"
    );
    ticks(&mut sim, &mut [&mut viewer], 50);
    let told: Vec<u64> = viewer
        .events
        .iter()
        .flat_map(|(_, event)| event["health"]["seconds"].as_array().unwrap())
        .map(|second| second[0].as_u64().unwrap())
        .collect();
    assert!(told.windows(2).all(|pair| pair[1] == pair[0] + 1), "{told:?}");
    assert!(told.len() >= 604);
    let now = &viewer.last()["health"]["now"];
    assert_eq!((&now["verdict"], &now["why"]), (&json!("well"), &json!([])));
    assert_eq!((&now["players"], &now["spawned"]), (&json!(1), &json!(1)));
}

#[test]
fn a_server_that_is_not_well_says_so_and_why() {
    let mut sim = Sim::new();
    sim.start_script("shaky", "fn resource_start() {}");
    let mut viewer = Viewer::looks_at(&mut sim, 1, &json!({"health": true, "scripts": true}));
    ticks(&mut sim, &mut [&mut viewer], 10);
    assert_eq!(viewer.last()["health"]["now"]["verdict"], "well");
    assert_eq!(viewer.column("scripts", 2), [json!("running")]);
    sim.app
        .world_mut()
        .resource_mut::<decitick_components::tally::TickTimes>()
        .skipped += 12;
    ticks(&mut sim, &mut [&mut viewer], 20);
    let now = &viewer.last()["health"]["now"];
    assert_eq!(now["verdict"], "ill", "{now}");
    assert!(
        now["why"][0].as_str().unwrap().contains("12 ticks skipped"),
        "{now}"
    );
    ticks(&mut sim, &mut [&mut viewer], 620);
    assert_eq!(
        viewer.last()["health"]["now"]["verdict"],
        "well",
        "a minute later it is over"
    );
}

#[test]
fn errors_of_gamemodes_are_told_with_their_place() {
    let mut sim = Sim::new();
    sim.start_script("shaky", "fn tick(dt) {\n    throw \"no <b>way</b>\";\n}");
    let mut viewer = Viewer::looks_at(&mut sim, 1, &json!({"scripts": true}));
    ticks(&mut sim, &mut [&mut viewer], 30);
    let rows = viewer.rows("scripts");
    let error = rows[0][8].as_str().unwrap();
    assert!(
        error.contains("scripts/shaky/main.rhai:2:") && error.contains("<b>"),
        "{error}"
    );
    assert!(rows[0][4].as_u64() > Some(10), "{rows:?}");
}

#[test]
fn the_log_is_told_from_what_is_kept_and_as_it_grows_and_gaps_are_said() {
    let mut sim = Sim::new();
    let push = |sim: &mut Sim, numbers: std::ops::RangeInclusive<u64>| {
        for number in numbers {
            let line = LogLine {
                number,
                unix_ms: 1,
                level: "WARN",
                target: "decitick".to_owned(),
                message: format!("line {number} \u{1b}\"{}", "x".repeat(200)),
                fields: "id=5".to_owned(),
            };
            sim.app.world_mut().resource_mut::<RecentLog>().push(line);
        }
    };
    push(&mut sim, 1..=400);
    let mut viewer = Viewer::looks_at(&mut sim, 1, &json!({"log": true}));
    ticks(&mut sim, &mut [&mut viewer], 40);
    push(&mut sim, 401..=402);
    ticks(&mut sim, &mut [&mut viewer], 10);
    push(&mut sim, 500..=501);
    ticks(&mut sim, &mut [&mut viewer], 10);
    let told: Vec<u64> = viewer
        .events
        .iter()
        .flat_map(|(_, event)| event["log"]["lines"].as_array().cloned().unwrap_or_default())
        .map(|line| line[0].as_u64().unwrap())
        .collect();
    assert_eq!(told, (1..=402).chain(500..=501).collect::<Vec<_>>());
    let skipped: Vec<&Value> = viewer
        .events
        .iter()
        .map(|(_, event)| &event["log"]["skipped"])
        .filter(|skipped| !skipped.is_null())
        .collect();
    assert_eq!(skipped, [&json!(97)]);
}

#[test]
fn an_entity_is_told_value_by_value_without_its_secrets_until_it_is_gone() {
    let mut sim = Sim::new();
    let ada = sim.join_now("ada");
    let entity = sim.body(ada);
    let mut viewer = Viewer::looks_at(&mut sim, 1, &json!({"inspect": entity.to_string()}));
    ticks(&mut sim, &mut [&mut viewer], 6);
    let first = &viewer.events[0].1["inspect"];
    let value = |news: &Value, component: &str, path: &str| -> Option<Value> {
        let rows = news["values"].as_array()?;
        let row = rows.iter().find(|row| row[0] == component && row[1] == path)?;
        Some(row[2].clone())
    };
    assert_eq!(first["reset"], true);
    assert_eq!(first["is"], "player 0 \"ada\"");
    assert_eq!(value(first, "Vitals", "health"), Some(json!("100")));
    assert_eq!(value(first, "Phase", ""), Some(json!("Spawned")));
    let hidden: Vec<&Value> = first["hidden"].as_array().unwrap().iter().collect();
    assert!(
        hidden
            .iter()
            .any(|row| row[0] == "SessionToken" && row[1] == true),
        "{hidden:?}"
    );
    sim.wish(ada, PlayerWish::Health(55));
    let before = viewer.events.len();
    ticks(&mut sim, &mut [&mut viewer], 10);
    let told: Vec<Value> = viewer.events[before..]
        .iter()
        .filter_map(|(_, event)| value(&event["inspect"], "Vitals", "health"))
        .collect();
    assert_eq!(told, [json!("55")], "once");
    sim.console("kick 0");
    ticks(&mut sim, &mut [&mut viewer], 15);
    let ends: Vec<&Value> = viewer
        .events
        .iter()
        .map(|(_, event)| &event["inspect"]["ended"])
        .filter(|ended| !ended.is_null())
        .collect();
    assert_eq!(ends.len(), 1, "{ends:?}");
}
