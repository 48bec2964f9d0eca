//! Every component and resource of the program can be seen, or says why not.

use std::collections::BTreeSet;

use decitick_systems::inspect::{Budget, is_of_the_engine, known_as, shown, sight};

use super::peopled;

/// What only the edges of a running program hold is not in a Sim; `serve` hides it.
#[test]
fn every_component_and_resource_is_shown_summarised_or_hidden_for_a_reason_of_its_own() {
    let (mut sim, _) = peopled();
    sim.start_script("one", "fn resource_stop() {}");
    sim.ticks(3);
    let world = sim.app.world();
    let (mut seen, mut hidden, mut missing) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for entity in world.iter_entities() {
        for &id in entity.archetype().components() {
            let named = known_as(world, id).unwrap();
            if is_of_the_engine(&named.path) {
                continue;
            }
            match sight(world, id) {
                Ok(sees) => {
                    let view = sees.view(entity).expect("the entity has it");
                    // Showing it is part of the promise.
                    serde_json::to_string(&shown(view.value(), &mut Budget::default())).unwrap();
                    seen.insert(named.short);
                }
                Err(why) if why.why().contains("does not derive") => {
                    missing.insert(named.path);
                }
                Err(why) => {
                    hidden.insert((named.short, why.is_secret()));
                }
            }
        }
    }
    assert_eq!(
        missing,
        BTreeSet::new(),
        "neither registered nor summarised nor hidden"
    );
    let hidden: Vec<(&str, bool)> = hidden
        .iter()
        .map(|(name, secret)| (name.as_str(), *secret))
        .collect();
    assert_eq!(
        hidden,
        [
            ("Entropy", true),
            ("Gamemode", true),
            ("HeldInbound", false),
            ("LastQuery", false),
            ("MemoryGauge", false),
            ("Props", false),
            ("RemoteWork", false),
            ("ScriptHost", true),
            ("ScriptInbox", true),
            ("ServerPassword", true),
            ("SessionToken", true),
            ("Slots", false),
            ("Stage", false),
            ("Stopwatch", false),
            ("UsedProofs", true),
        ]
    );
    assert!(seen.len() > 80, "{} were seen: {seen:?}", seen.len());
}

#[test]
fn looking_changes_nothing_and_blindness_is_the_same_server() {
    let (mut looked_at, _) = peopled();
    let (mut left_alone, _) = peopled();
    (looked_at.recording, left_alone.recording) = (true, true);
    for line in [
        "entities",
        "inspect 0",
        "resources",
        "resources Tally",
        "watch 0 Motion 1",
    ] {
        looked_at.console_later(line);
        looked_at.tick();
        left_alone.tick();
    }
    looked_at.ticks(20);
    left_alone.ticks(20);
    assert!(
        looked_at.log == left_alone.log,
        "what is sent does not hang on who looks"
    );
    let archetypes = |sim: &crate::sim::Sim| sim.app.world().archetypes().len();
    assert_eq!(archetypes(&looked_at), archetypes(&left_alone));
}

#[test]
fn a_huge_answer_is_bounded() {
    let (mut sim, _) = peopled();
    {
        let world = sim.app.world_mut();
        let mut face = world.resource_mut::<decitick_components::server::PublicFace>();
        face.version = "\u{1}x".repeat(2_000_000);
    }
    for line in ["resources PublicFace", "resources PublicFace --json"] {
        let answer = sim.console(line);
        assert!(
            answer.ok && answer.text.len() < 1024 * 1024,
            "{line}: {} bytes",
            answer.text.len()
        );
    }
}
