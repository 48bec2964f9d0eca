//! Loss, duplicates and reordering: every lane event arrives once and in order, and nobody times out.

use std::time::Duration;

use crate::{
    sim::{LossyLink, Setup, Sim},
    streaming::row_of_spawns,
};

const CLIENTS: usize = 200;

fn storm() -> LossyLink {
    LossyLink {
        loss: 20,
        duplicates: 10,
        reorder: 20,
        corruption: 0,
        delay: Duration::from_millis(30),
        jitter: Duration::from_millis(20),
    }
}

/// The chat lines of one speaker, as a listener heard them.
fn lines_of<'a>(heard: &[&'a str], speaker: &str) -> Vec<&'a str> {
    let prefix = format!("{speaker}: ");
    heard
        .iter()
        .filter_map(|line| line.strip_prefix(&prefix))
        .collect()
}

#[test]
fn two_hundred_clients_through_twenty_percent_loss_miss_nothing_of_the_lane() {
    // Four a spot, so that views are small and the lanes are what is tried.
    let setup = Setup {
        spawns: row_of_spawns(50, 390.0),
        ..Setup::default()
    };
    let mut sim = Sim::with(setup);
    let players = sim.join_many(CLIENTS);
    (sim.up, sim.down) = (storm(), storm());
    let mut said = vec![Vec::new(); CLIENTS];
    for round in 0..60 {
        for talk in 0..2 {
            let speaker = (round * 7 + talk * 50) % CLIENTS;
            let line = format!("line {round} {talk}");
            sim.players[players[speaker]].client.send_chat(&line).unwrap();
            said[speaker].push(line);
        }
        sim.ticks(3);
    }
    (sim.up, sim.down) = (LossyLink::default(), LossyLink::default());
    sim.expect_within(100, "every lane is empty again", |sim| {
        (0..CLIENTS).all(|id| {
            let id = u16::try_from(id).unwrap();
            sim.component::<decitick_components::lane::OutboundLane>(id)
                .depth()
                == 0
        }) && sim
            .players
            .iter()
            .all(|player| player.client.lane_progress().is_some_and(|(_, left)| left == 0))
    });
    assert!(sim.ended.is_empty(), "nobody went: {:?}", sim.ended);
    for player in &sim.players {
        assert!(player.end().is_none());
        let heard = player.chat();
        assert_eq!(heard.len(), 120, "every line once");
        for (speaker, lines) in said.iter().enumerate() {
            assert_eq!(
                &lines_of(&heard, &format!("Bot {}", 1000 + speaker)),
                lines,
                "in the order they were said"
            );
        }
    }
    assert!(sim.tally().resends > 0);
}

#[test]
fn clients_join_through_loss_and_see_each_other() {
    let mut sim = Sim::new();
    (sim.up, sim.down) = (storm(), storm());
    let players: Vec<usize> = (0..50).map(|n| sim.join(&format!("Guest {n}"))).collect();
    sim.expect_within(150, "everybody is in or gave up", |sim| {
        players
            .iter()
            .all(|&index| sim.players[index].client.is_spawned() || sim.players[index].end().is_some())
    });
    let joined: Vec<usize> = players
        .iter()
        .copied()
        .filter(|&index| sim.players[index].end().is_none())
        .collect();
    assert!(
        joined.len() >= 48,
        "six tries of two ways each at 20 % loss: {}",
        joined.len()
    );
    (sim.up, sim.down) = (LossyLink::default(), LossyLink::default());
    sim.ticks(30);
    for index in joined {
        assert!(sim.players[index].client.roster().unwrap().in_view_count() >= 47);
    }
}
