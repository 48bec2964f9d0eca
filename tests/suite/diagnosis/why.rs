//! Why one does not see another, as an operator asks.

use decitick_components::{body::Dimension, phase::Phase};

use super::{json, text};
use crate::sim::Sim;

fn pair() -> (Sim, u16, u16) {
    let mut sim = Sim::with_settings(|settings| settings.streaming.radius = 100.0);
    let indices = sim.join_many(2);
    sim.put(indices[0], 0.0, 0.0);
    sim.put(indices[1], 20.0, 0.0);
    let ids = (sim.players[0].id(), sim.players[1].id());
    (sim, ids.0, ids.1)
}

#[test]
fn who_is_near_is_seen_both_ways() {
    let (mut sim, a, b) = pair();
    assert!(sim.sees(0, 1));
    let shown = text(&mut sim, &format!("why {a} {b}"));
    assert!(
        shown.starts_with(&format!("player {a} sees player {b}: it is in view, 20.0 m away")),
        "{shown}"
    );
    assert!(
        shown.ends_with(&format!("the other way: player {b} sees player {a} (in_view)")),
        "{shown}"
    );
    let answer = json(&mut sim, &format!("why {a} {b}"));
    assert_eq!(
        (answer["sees"].as_bool(), answer["distance_m"].as_f64()),
        (Some(true), Some(20.0))
    );
}

#[test]
fn what_keeps_one_from_seeing_another_is_told_with_figures() {
    let (mut sim, a, b) = pair();
    sim.put(1, 150.0, 0.0);
    let answer = json(&mut sim, &format!("why {a} {b}"));
    assert_eq!(
        (answer["sees"].as_bool(), answer["reason"].as_str()),
        (Some(false), Some("radius"))
    );
    assert_eq!(
        (answer["distance_m"].as_f64(), answer["radius_m"].as_f64()),
        (Some(150.0), Some(100.0))
    );

    sim.put_in(1, 20.0, 0.0, 4);
    let answer = json(&mut sim, &format!("why {a} {b}"));
    assert_eq!(answer["reason"], "area");
    assert_eq!(
        (answer["viewer_area"].as_u64(), answer["seen_area"].as_u64()),
        (Some(0), Some(4))
    );

    sim.put(1, 20.0, 0.0);
    let entity = sim.body(1);
    sim.app.world_mut().entity_mut(entity).insert(Dimension(7));
    sim.ticks(6);
    let answer = json(&mut sim, &format!("why {a} {b}"));
    assert_eq!(answer["reason"], "dimension");
    assert_eq!(answer["reverse"]["reason"], "dimension");

    let shown = text(&mut sim, &format!("why {a} 999"));
    assert!(shown.contains("nobody has the id 999"), "{shown}");
    let shown = text(&mut sim, &format!("why {a} {a}"));
    assert!(shown.contains("nobody sees itself"), "{shown}");
}

#[test]
fn who_has_no_body_yet_is_not_seen() {
    let (mut sim, a, _) = pair();
    let late = sim.join("Late");
    sim.players[late].wants_body = false;
    sim.expect_within(20, "it joined", |sim| {
        sim.players[late].client.welcome().is_some()
    });
    assert_eq!(sim.phase(late), Phase::PreSpawn);
    let id = sim.players[late].id();
    let answer = json(&mut sim, &format!("why {a} {id}"));
    assert_eq!(
        (answer["reason"].as_str(), answer["player"].as_u64()),
        (Some("not_spawned"), Some(u64::from(id)))
    );
}
