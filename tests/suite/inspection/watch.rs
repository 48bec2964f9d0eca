//! `watch` tells what changes as it happens, ends by itself, and is no burden.

use decitick_components::{
    console::{ConsoleAnswer, ConsoleLeft, ConsoleOutbox, ConsoleStreams, MAX_STREAMS},
    requests::PlayerWish,
};

use super::{peopled, refused};
use crate::sim::Sim;

/// Every answer to one request since the last call.
fn parts(sim: &mut Sim, id: u64) -> Vec<ConsoleAnswer> {
    let answers = &mut sim.app.world_mut().resource_mut::<ConsoleOutbox>().0;
    answers.extract_if(.., |answer| answer.id == id).collect()
}

fn texts(answers: &[ConsoleAnswer]) -> Vec<&str> {
    answers.iter().map(|answer| answer.text.as_str()).collect()
}

#[test]
fn changes_are_told_in_their_tick_and_a_last_word_ends_it() {
    let (mut sim, [ann, ..]) = peopled();
    let id = sim.console_later("watch 0 Vitals 2");
    sim.ticks(3);
    assert_eq!(texts(&parts(&mut sim, id)), [""; 0], "nothing changed");
    sim.wish(ann, PlayerWish::Health(80));
    sim.tick();
    let told = parts(&mut sim, id);
    assert_eq!(texts(&told), ["+0.3 s  health 100 -> 80"]);
    assert!(told[0].more && told[0].ok);
    sim.wish(ann, PlayerWish::Health(60));
    sim.wish(ann, PlayerWish::Armour(10));
    sim.tick();
    assert_eq!(
        texts(&parts(&mut sim, id)),
        ["+0.4 s  health 80 -> 60\n+0.4 s  armour 0 -> 10"]
    );
    sim.ticks(20);
    let last = parts(&mut sim, id);
    assert_eq!(texts(&last), ["watched 2 s, 3 changes"]);
    assert!(!last[0].more && last[0].ok);
    assert!(sim.app.world().resource::<ConsoleStreams>().0.is_empty());
}

#[test]
fn json_parts_have_both_values_of_each_change() {
    let (mut sim, [ann, ..]) = peopled();
    let id = sim.console_later("watch 0 Vitals 1 --json");
    sim.tick();
    sim.wish(ann, PlayerWish::Health(80));
    sim.ticks(12);
    let told: Vec<serde_json::Value> = parts(&mut sim, id)
        .iter()
        .map(|part| serde_json::from_str(&part.text).unwrap())
        .collect();
    assert_eq!(
        told,
        [
            serde_json::json!({"after_s": 0.1, "changes": [{"path": "health", "from": 100, "to": 80}]}),
            serde_json::json!({"watched_s": 1.0, "changes": 1, "end": "time"}),
        ]
    );
}

#[test]
fn it_ends_with_the_entity_and_with_whoever_asked() {
    let (mut sim, [_, bob, ..]) = peopled();
    let id = sim.console_later("watch 1 Motion 60");
    sim.ticks(2);
    sim.players[bob].client.bye();
    sim.ticks(10);
    let told = parts(&mut sim, id);
    let last = told.last().unwrap();
    assert!(
        !last.more && last.text.ends_with("the entity is gone"),
        "{}",
        last.text
    );
    let id = sim.console_later("watch 0 LastSeen 60");
    sim.ticks(3);
    assert!(
        !parts(&mut sim, id).is_empty(),
        "a client is heard of in each tick"
    );
    sim.app.world_mut().resource_mut::<ConsoleLeft>().0.push(id);
    sim.ticks(5);
    assert_eq!(texts(&parts(&mut sim, id)), [""; 0], "nobody is told any more");
    assert!(sim.app.world().resource::<ConsoleStreams>().0.is_empty());
    assert!(sim.app.world().resource::<ConsoleLeft>().0.is_empty());
}

#[test]
fn watches_are_bounded_and_refuse_what_cannot_be_watched() {
    let (mut sim, _) = peopled();
    for (line, wanted) in [
        ("watch 9 Motion", "nobody has the id 9"),
        ("watch 0 Motio", "the nearest is `Motion`"),
        ("watch zone:1 Motion", "has no Motion"),
    ] {
        let text = refused(&mut sim, line);
        assert!(text.contains(wanted), "{line}: {text}");
    }
    let ids: Vec<u64> = (0..MAX_STREAMS)
        .map(|_| sim.console_later("watch 0 Money 60"))
        .collect();
    sim.ticks(2);
    let text = refused(&mut sim, "watch 0 Money");
    assert!(text.contains("wait until one ends"), "{text}");
    for id in ids {
        assert!(parts(&mut sim, id).is_empty());
    }
}
