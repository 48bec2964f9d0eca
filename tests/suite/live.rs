//! What the live page is told (docs/page.md): everything that changed, twice a second, within bounds, and nothing while
//! nobody looks.

mod panels;

use std::collections::{BTreeMap, VecDeque};

use decitick_components::{
    live::RecentLog,
    remote::{Asked, RemoteInbox, RemoteLeft, RemoteOutbox, RemoteRequest, RemoteSlow, RemoteWatch},
    thing::ThingSpec,
};
use decitick_protocol::EntityKind;
use serde_json::{Value, json};

use crate::sim::{Sim, ground};

/// The bytes that an event has at most (docs/page.md).
const EVENT_BYTES: usize = 100_000;

/// Somebody who looks, and what a page has made of what it was told.
struct Viewer {
    id: u64,
    events: Vec<(u64, Value)>,
    tables: BTreeMap<&'static str, BTreeMap<String, Value>>,
}

impl Viewer {
    /// Begins to look; the first event comes within five ticks.
    fn looks_at(sim: &mut Sim, id: u64, request: &Value) -> Self {
        let watch = RemoteWatch::Live(serde_json::from_value(request.clone()).unwrap());
        sim.app
            .world_mut()
            .resource_mut::<RemoteInbox>()
            .0
            .push_back(RemoteRequest {
                id,
                asked: Asked::Watch(watch),
            });
        Self {
            id,
            events: Vec::new(),
            tables: BTreeMap::new(),
        }
    }

    fn last(&self) -> &Value {
        &self.events.last().expect("an event").1
    }

    fn rows(&self, table: &str) -> Vec<&Value> {
        self.tables
            .get(table)
            .map(|rows| rows.values().collect())
            .unwrap_or_default()
    }

    /// A column of every row, by key.
    fn column(&self, table: &str, column: usize) -> Vec<Value> {
        self.rows(table).iter().map(|row| row[column].clone()).collect()
    }

    fn take(&mut self, text: &str) {
        assert!(text.len() <= EVENT_BYTES, "{} bytes", text.len());
        let event: Value = serde_json::from_str(text).unwrap();
        for (name, news) in [
            ("players", &event["players"]),
            ("scripts", &event["scripts"]),
            ("map", &event["map"]),
            ("zones", &event["map"]["zones"]),
        ] {
            apply(self.tables.entry(name).or_default(), news);
        }
        self.events.push((event["tick"].as_u64().unwrap(), event));
    }
}

/// What a page does with the news of a table.
fn apply(rows: &mut BTreeMap<String, Value>, news: &Value) {
    let list = |name: &str| news[name].as_array().cloned().unwrap_or_default();
    if news["reset"] == true {
        rows.clear();
    }
    for key in list("gone") {
        rows.remove(key.as_str().unwrap());
    }
    for row in list("rows") {
        rows.insert(row[0].as_str().unwrap().to_owned(), row);
    }
    for moved in list("moves") {
        let row = rows
            .get_mut(moved[0].as_str().unwrap())
            .expect("it was told of before");
        for (column, value) in moved.as_array().unwrap()[1..].iter().enumerate() {
            row[3 + column] = value.clone();
        }
    }
}

/// Ticks, and gives the viewers what they are told.
fn ticks(sim: &mut Sim, viewers: &mut [&mut Viewer], count: usize) {
    for _ in 0..count {
        sim.tick();
        let answers = std::mem::take(&mut sim.app.world_mut().resource_mut::<RemoteOutbox>().0);
        for answer in answers {
            let viewer = viewers.iter_mut().find(|viewer| viewer.id == answer.id).unwrap();
            assert!(answer.more, "a view goes on");
            viewer.take(&answer.result.unwrap());
        }
    }
}

fn leave(sim: &mut Sim, viewer: &Viewer) {
    sim.app.world_mut().resource_mut::<RemoteLeft>().0.push(viewer.id);
}

#[test]
fn a_viewer_is_told_every_half_second_also_when_nothing_changes_and_never_more_often() {
    let mut sim = Sim::new();
    let mut viewers: Vec<Viewer> = (1..=10)
        .map(|id| Viewer::looks_at(&mut sim, id, &json!({"health": true})))
        .collect();
    ticks(&mut sim, &mut viewers.iter_mut().collect::<Vec<_>>(), 51);
    let mut first = BTreeMap::new();
    for viewer in &viewers {
        let told: Vec<u64> = viewer.events.iter().map(|(tick, _)| *tick).collect();
        assert!(told.len() == 10, "{told:?}");
        assert!(told.windows(2).all(|pair| pair[1] - pair[0] == 5), "{told:?}");
        *first.entry(told[0] % 5).or_insert(0) += 1;
        assert_eq!(viewer.events[0].1["server"]["name"], "Decitick server");
        assert_eq!(viewer.events[1].1.get("server"), None, "it is told once");
    }
    assert_eq!(first.len(), 5, "they are spread over the ticks: {first:?}");
    sim.stall(std::time::Duration::from_millis(1_730));
    ticks(&mut sim, &mut viewers.iter_mut().collect::<Vec<_>>(), 20);
    for viewer in &viewers {
        let told: Vec<u64> = viewer.events.iter().map(|(tick, _)| *tick).collect();
        assert!(told.windows(2).all(|pair| pair[1] - pair[0] >= 5), "{told:?}");
    }
}

#[test]
fn what_is_not_asked_for_is_not_told() {
    let mut sim = Sim::new();
    sim.join_now("ada");
    let mut viewer = Viewer::looks_at(&mut sim, 1, &json!({}));
    ticks(&mut sim, &mut [&mut viewer], 11);
    for (_, event) in &viewer.events {
        let keys: Vec<&String> = event.as_object().unwrap().keys().collect();
        assert!(
            keys.iter()
                .all(|key| ["tick", "unix_ms", "uptime_s", "server"].contains(&key.as_str())),
            "{keys:?}"
        );
    }
    assert!(viewer.events.len() >= 2);
}

#[test]
fn a_viewer_who_does_not_keep_up_is_told_less_often_and_then_all_that_is_new() {
    let mut sim = Sim::new();
    let mut slow = Viewer::looks_at(&mut sim, 1, &json!({"players": true, "map": {}}));
    let mut quick = Viewer::looks_at(&mut sim, 2, &json!({"players": true, "map": {}}));
    ticks(&mut sim, &mut [&mut slow, &mut quick], 10);
    let told = slow.events.len();
    sim.app.world_mut().resource_mut::<RemoteSlow>().0.push(1);
    let ada = sim.join_now("ada");
    // The answers of these ticks were left in the outbox by the join.
    ticks(&mut sim, &mut [&mut slow, &mut quick], 20);
    assert_eq!(slow.events.len(), told, "it has not taken the last one");
    assert!(quick.column("players", 3).contains(&json!("ada")));
    sim.put(ada, 5.0, 0.0);
    sim.app.world_mut().resource_mut::<RemoteSlow>().0.clear();
    ticks(&mut sim, &mut [&mut slow, &mut quick], 10);
    for table in ["players", "map"] {
        assert_eq!(slow.rows(table), quick.rows(table));
        assert_eq!(slow.rows(table).len(), 1);
    }
}

#[test]
fn a_world_that_does_not_fit_into_one_event_comes_in_several_and_completely() {
    let mut sim = Sim::new();
    for number in 0..6_000u16 {
        let place = ground(f32::from(number), 1.5);
        sim.make_thing(ThingSpec::new(EntityKind::Object, 1_000, place));
        if number % 50 == 0 {
            sim.tick();
        }
    }
    sim.ticks(2);
    let mut viewer = Viewer::looks_at(&mut sim, 1, &json!({"health": true, "map": {}}));
    ticks(&mut sim, &mut [&mut viewer], 6);
    assert_eq!(viewer.last()["map"]["more"], true);
    ticks(&mut sim, &mut [&mut viewer], 20);
    assert_eq!(viewer.last()["map"]["more"], Value::Null);
    assert_eq!(viewer.rows("map").len(), 6_000);
    ticks(&mut sim, &mut [&mut viewer], 5);
    assert_eq!(viewer.last().get("map"), None, "nothing moved");
}

#[test]
fn an_event_has_its_bound_also_for_who_wants_everything_at_once() {
    let mut sim = Sim::new();
    let ada = sim.join_now("ada");
    for number in 0..3_000u16 {
        let place = ground(f32::from(number), 1.5);
        sim.make_thing(ThingSpec::new(EntityKind::Object, 1_000, place));
        if number % 50 == 0 {
            sim.tick();
        }
    }
    sim.ticks(6_100);
    for number in 1..=500 {
        let line = decitick_components::live::LogLine {
            number,
            unix_ms: 1,
            level: "WARN",
            target: "decitick".to_owned(),
            message: "\u{1f600}".repeat(1_000),
            fields: "\u{1f600}".repeat(2_000),
        };
        sim.app.world_mut().resource_mut::<RecentLog>().push(line);
    }
    let entity = sim.body(ada).to_string();
    let request =
        json!({"health": true, "players": true, "map": {}, "scripts": true, "log": true, "inspect": entity});
    let mut viewer = Viewer::looks_at(&mut sim, 1, &request);
    ticks(&mut sim, &mut [&mut viewer], 1_200);
    let lines: usize = viewer
        .events
        .iter()
        .map(|(_, event)| event["log"]["lines"].as_array().map_or(0, Vec::len))
        .sum();
    assert_eq!((viewer.rows("map").len(), lines), (3_001, 500));
    assert_eq!(viewer.rows("players").len(), 1);
}

#[test]
fn while_nobody_looks_nothing_is_taken_in_and_a_tick_allocates_nothing_for_it() {
    let mut sim = Sim::new();
    sim.join_now("ada");
    sim.ticks(50);
    let quiet = quietest(&mut sim);
    let request = json!({"health": true, "players": true, "map": {}, "scripts": true, "log": true});
    let mut viewer = Viewer::looks_at(&mut sim, 1, &request);
    ticks(&mut sim, &mut [&mut viewer], 20);
    assert!(sim.app.world().resource::<RecentLog>().wanted);
    leave(&mut sim, &viewer);
    sim.ticks(3);
    assert!(!sim.app.world().resource::<RecentLog>().wanted);
    assert_eq!(quietest(&mut sim), quiet);
}

/// The allocations of ticks in which nothing happens.
fn quietest(sim: &mut Sim) -> Vec<u64> {
    let mut counts: VecDeque<u64> = (0..30)
        .map(|_| {
            sim.tick();
            sim.allocations
        })
        .collect();
    counts.make_contiguous().sort_unstable();
    counts.into_iter().take(10).collect()
}
