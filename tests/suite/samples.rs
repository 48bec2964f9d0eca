//! The sample gamemodes, played: what docs/scripting.md sends people to read does what it says.

mod deathmatch;
mod freeroam;
mod race;

use std::collections::BTreeMap;

use decitick_components::{
    requests::PlayerWish,
    script::{Manifest, ResourceName, ScriptBundle},
};
use decitick_protocol::{PlayerSync, Vec3};

use crate::sim::{Sim, frame_at};

/// A sample as it stands in its folder.
fn sample(name: &str, files: &[(&str, &str)]) -> ScriptBundle {
    ScriptBundle {
        resource: ResourceName::parse(name).unwrap(),
        manifest: Manifest::default(),
        files: files
            .iter()
            .map(|&(path, text)| (path.to_owned(), text.to_owned()))
            .collect::<BTreeMap<_, _>>(),
    }
}

/// Says a line, or types a command, and lets the answer come.
fn say(sim: &mut Sim, index: usize, line: &str) {
    sim.players[index].client.send_chat(line).unwrap();
    sim.ticks(4);
}

/// Whether a line of chat that a player saw has these words in it.
fn heard(sim: &Sim, index: usize, words: &str) -> bool {
    sim.players[index].chat().iter().any(|line| line.contains(words))
}

#[track_caller]
fn expect_heard(sim: &Sim, index: usize, words: &str) {
    assert!(
        heard(sim, index, words),
        "nothing with {words:?} in {:#?}",
        sim.players[index].chat()
    );
}

/// Puts a player's body and its client to a place, and lets zones and pickups notice.
fn stand(sim: &mut Sim, index: usize, position: Vec3) {
    sim.wish(
        index,
        PlayerWish::Teleport {
            position,
            heading: None,
            area: None,
        },
    );
    sim.ticks(2);
    let frame = PlayerSync {
        position,
        ..frame_at(0.0, 0.0)
    };
    sim.players[index].client.sync(frame).unwrap();
    sim.ticks(6);
}

/// Lets a player leave.
fn leave(sim: &mut Sim, index: usize) {
    sim.players[index].client.bye();
    sim.ticks(4);
}
