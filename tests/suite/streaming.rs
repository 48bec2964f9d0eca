//! Who sees whom, and frames of those in view only (docs/protocol.md 2.4).

use decitick_client::client::{LivePlayer, RecordDrop};
use decitick_components::world::{SpawnPoint, SpawnPoints};
use decitick_protocol::{ServerLaneEvent, ServerPacket, Vec3};

use crate::sim::{Setup, Sim};

/// Spawn points in a row along x, `metres` apart.
pub(crate) fn row_of_spawns(count: u16, metres: f32) -> SpawnPoints {
    let point = |n: u16| SpawnPoint {
        position: Vec3 {
            x: f32::from(n) * metres,
            y: 0.0,
            z: 10.0,
        },
        heading: 0.0,
        area: 0,
        skin: 1,
        variant: 0,
        weapons: Vec::new(),
    };
    SpawnPoints::new(point(0), (1..count).map(point).collect())
}

fn sees(sim: &Sim, viewer: usize, seen: usize) -> bool {
    let roster = sim.players[viewer].client.roster().unwrap();
    roster
        .player(u32::from(sim.players[seen].id()))
        .is_some_and(LivePlayer::is_in_view)
}

/// Walks a player along x by `by` metres a tick until it stands at `to`.
fn walk(sim: &mut Sim, index: usize, from: f32, to: f32) {
    let mut x = from;
    while (x - to).abs() > 1e-3 {
        x += (to - x).clamp(-15.0, 15.0);
        sim.players[index].stand_at(x, 0.0);
        sim.tick();
    }
    sim.ticks(8);
}

#[test]
fn players_come_into_view_within_the_radius_and_leave_past_a_tenth_more() {
    let setup = Setup {
        spawns: row_of_spawns(2, 320.0),
        ..Setup::default()
    };
    let mut sim = Sim::with(setup);
    let (one, other) = (sim.join_now("One"), sim.join_now("Other"));
    // Past the settle window, in which frames away from the spawn are ignored.
    sim.ticks(21);
    assert!(!sees(&sim, one, other), "320 m apart");
    walk(&mut sim, other, 320.0, 299.0);
    assert!(sees(&sim, one, other) && sees(&sim, other, one), "299 m apart");
    walk(&mut sim, other, 299.0, 325.0);
    assert!(sees(&sim, one, other), "325 m apart: nobody flickers at the edge");
    walk(&mut sim, other, 325.0, 335.0);
    assert!(!sees(&sim, one, other) && !sees(&sim, other, one), "335 m apart");
    let id = u32::from(sim.players[other].id());
    assert_eq!(sim.players[one].views(), [(true, id, 2), (false, id, 2)]);
}

#[test]
fn frames_are_only_of_those_in_view_and_only_what_changed_or_once_a_second() {
    let setup = Setup {
        spawns: row_of_spawns(3, 250.0),
        ..Setup::default()
    };
    let mut sim = Sim::with(setup);
    let (left, middle, right) = (
        sim.join_now("Left"),
        sim.join_now("Middle"),
        sim.join_now("Right"),
    );
    sim.ticks(10);
    assert!(sees(&sim, left, middle) && sees(&sim, middle, right) && !sees(&sim, left, right));
    // They stand, and send their ten frames a second all the same.
    for (index, x) in [(left, 0.0), (middle, 250.0), (right, 500.0)] {
        sim.players[index].stand_at(x, 0.0);
    }
    sim.ticks(5);
    let (own, far) = (
        u32::from(sim.players[left].id()),
        u32::from(sim.players[right].id()),
    );
    sim.players[left].keeps_frames = true;
    let address = sim.players[left].address;
    let mut frames = 0;
    for _ in 0..50 {
        sim.tick();
        for datagram in sim.sent_to(address) {
            if let Ok(ServerPacket::RemotePlayerSync(sync)) = ServerPacket::decode(datagram) {
                assert!(
                    sync.players
                        .iter()
                        .all(|frame| frame.player_id != own && frame.player_id != far)
                );
                frames += sync.players.len();
            }
        }
    }
    assert_eq!(frames, 5, "nobody moves: once a second");
    for reason in [
        RecordDrop::NotInView,
        RecordDrop::AfterStreamOut,
        RecordDrop::OldGeneration,
    ] {
        let drops: u64 = sim
            .players
            .iter()
            .map(|player| player.client.counters().record_dropped(reason))
            .sum();
        assert_eq!(
            drops, 0,
            "over a clean link no frame comes of somebody who is not seen: {reason:?}"
        );
    }
}

#[test]
fn a_mover_is_relayed_every_tick_with_its_newest_frame() {
    let mut sim = Sim::new();
    let (watcher, mover) = (sim.join_now("Watcher"), sim.join_now("Mover"));
    sim.ticks(10);
    sim.players[watcher].keeps_frames = true;
    for step in 1..=20u16 {
        sim.players[mover].stand_at(f32::from(step), 0.0);
        sim.tick();
    }
    sim.tick();
    let seen: Vec<f32> = sim.players[watcher]
        .frames
        .iter()
        .map(|frame| frame.position.x)
        .collect();
    assert!(seen.len() >= 20, "{seen:?}");
    assert!(
        seen.windows(2).all(|pair| pair[0] <= pair[1]),
        "in order: {seen:?}"
    );
    assert!((seen.last().unwrap() - 20.0).abs() < 1e-6);
}

#[test]
fn a_view_holds_the_nearest_64_and_changes_by_eight_a_tick() {
    let setup = Setup {
        spawns: row_of_spawns(100, 2.0),
        ..Setup::default()
    };
    let mut sim = Sim::with(setup);
    let crowd: Vec<usize> = (0..99).map(|n| sim.join(&format!("Guest {n}"))).collect();
    sim.ticks(30);
    let viewer = sim.join("Viewer");
    let address = sim.players[viewer].address;
    let mut most = 0;
    for _ in 0..30 {
        sim.tick();
        let entering = sim
            .sent_to(address)
            .iter()
            .filter(|datagram| {
                let decoded = ServerPacket::decode(datagram);
                matches!(
                    decoded,
                    Ok(ServerPacket::Lane {
                        event: ServerLaneEvent::PlayerStreamIn(_),
                        ..
                    })
                )
            })
            .count();
        most = most.max(entering);
    }
    assert_eq!(most, 8);
    assert_eq!(sim.players[viewer].client.roster().unwrap().in_view_count(), 64);
    // The viewer stands at the end of the row: the nearest 64 are the last of the crowd.
    let seen = crowd.iter().filter(|&&index| sees(&sim, viewer, index)).count();
    assert_eq!(seen, 64);
    let views: Vec<usize> = sim
        .players
        .iter()
        .map(|p| p.client.roster().unwrap().in_view_count())
        .collect();
    assert!(views.iter().all(|count| *count <= 64), "{views:?}");
}

#[test]
fn another_area_is_another_world() {
    let mut sim = Sim::new();
    let (one, other) = (sim.join_now("One"), sim.join_now("Other"));
    sim.ticks(10);
    assert!(sees(&sim, one, other));
    let frame = decitick_protocol::PlayerSync {
        area: 3,
        ..crate::sim::frame_at(0.0, 0.0)
    };
    sim.players[other].client.sync(frame).unwrap();
    sim.ticks(10);
    assert!(!sees(&sim, one, other) && !sees(&sim, other, one));
}

#[test]
fn a_stream_in_shows_the_player_as_it_is() {
    let setup = Setup {
        spawns: row_of_spawns(2, 40.0),
        ..Setup::default()
    };
    let mut sim = Sim::with(setup);
    let one = sim.join_now("One");
    sim.join_now("Other");
    sim.ticks(10);
    let shown = sim.players[one].events.iter().find_map(|(_, event)| match event {
        ServerLaneEvent::PlayerStreamIn(shown) => Some(*shown),
        _ => None,
    });
    let shown = shown.expect("streamed in");
    assert_eq!(
        (shown.player_id, shown.player_token, shown.skin, shown.health),
        (1, 2, 1, 100)
    );
    assert!((shown.position.x - 40.0).abs() < 1e-6);
}
