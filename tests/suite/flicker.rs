//! Nobody flickers at the edge of a view (docs/protocol.md 2.4).

use std::collections::BTreeMap;

use decitick_components::{requests::PlayerWish, view::View};

use crate::sim::{Random, Setup, Sim, frame_at, ground, spawn_point, spawns};

#[test]
fn two_who_walk_back_and_forth_across_the_radius_see_each_other_all_the_time() {
    let mut sim = Sim::new();
    let (one, other) = (sim.join_now("One"), sim.join_now("Other"));
    sim.put(one, 0.0, 0.0);
    sim.put(other, 280.0, 0.0);
    assert!(sim.sees(one, other) && sim.sees(other, one));
    let before = (sim.players[one].views().len(), sim.players[other].views().len());
    // 40 m out and 40 m back at 10 m/s, for four minutes; both walk, the gap between them is 280..=320 m.
    for step in 0..2400u16 {
        let gap = f32::from(if (step / 40) % 2 == 0 {
            step % 40
        } else {
            40 - step % 40
        });
        sim.players[one].stand_at(-gap / 2.0, 0.0);
        sim.players[other].stand_at(280.0 + gap / 2.0, 0.0);
        sim.tick();
        assert!(sim.sees(one, other) && sim.sees(other, one), "step {step}");
    }
    let after = (sim.players[one].views().len(), sim.players[other].views().len());
    assert_eq!(before, after, "nobody streamed in or out");
    sim.expect_no_faults();
}

#[test]
fn two_who_come_no_nearer_than_the_radius_never_see_each_other() {
    let mut sim = Sim::new();
    let (one, other) = (sim.join_now("One"), sim.join_now("Other"));
    sim.put(other, 325.0, 0.0);
    sim.put(one, -6.0, 0.0);
    assert!(!sim.sees(one, other), "331 m apart");
    let before = sim.players[one].views().len();
    for step in 0..600u16 {
        let gap = f32::from(if (step / 20) % 2 == 0 {
            step % 20
        } else {
            20 - step % 20
        });
        sim.players[other].stand_at(325.0 - gap, 0.0);
        sim.tick();
    }
    assert_eq!(sim.players[one].views().len(), before, "301 m was the nearest");
}

/// The views of everybody on the server, by id.
fn views(sim: &Sim) -> BTreeMap<u16, Vec<u16>> {
    sim.players
        .iter()
        .map(|player| {
            let id = player.id();
            let seen = sim.component::<View>(id).players.ids();
            (id, seen.iter().map(|seen| seen.0).collect())
        })
        .collect()
}

/// Lets everybody jitter by up to a metre around its place for a minute, and expects that no view changes.
fn jitter(sim: &mut Sim, places: &[(f32, f32)], limit: usize) {
    sim.ticks(30);
    let mut random = Random::new(3);
    let mut off = || random.below(2001) as f32 / 1000.0 - 1.0;
    let move_all = |sim: &mut Sim, off: &mut dyn FnMut() -> f32| {
        for (index, &(x, y)) in places.iter().enumerate() {
            let frame = frame_at(x + off(), y + off());
            sim.players[index].client.sync(frame).unwrap();
        }
        sim.tick();
    };
    for _ in 0..50 {
        move_all(sim, &mut off);
    }
    let settled = views(sim);
    assert!(settled.values().all(|view| view.len() == limit), "{settled:?}");
    let told: Vec<usize> = sim.players.iter().map(|player| player.views().len()).collect();
    for step in 0..600 {
        move_all(sim, &mut off);
        if step % 10 == 0 {
            assert_eq!(views(sim), settled, "step {step}");
        }
    }
    let later: Vec<usize> = sim.players.iter().map(|player| player.views().len()).collect();
    assert_eq!(told, later, "nobody was streamed in or out");
}

#[test]
fn sixty_five_others_in_one_spot_do_not_take_turns_in_a_view_of_sixty_four() {
    let places = vec![(0.0, 0.0); 66];
    let mut sim = Sim::new();
    sim.join_many(66);
    jitter(&mut sim, &places, 64);
}

#[test]
fn a_crowd_larger_than_a_view_settles() {
    let places: Vec<(f32, f32)> = (0..20u16).map(|n| (f32::from(n) * 4.0, 0.0)).collect();
    let points = places.iter().map(|&(x, y)| spawn_point(x, y, &[])).collect();
    let mut setup = Setup {
        spawns: spawns(points),
        ..Setup::default()
    };
    setup.settings.streaming.limit = 8;
    let mut sim = Sim::with(setup);
    for _ in 0..20 {
        let name = format!("Bot {}", sim.players.len());
        sim.join_now(&name);
    }
    jitter(&mut sim, &places, 8);
}

/// Puts players by wish; their clients send no frames.
fn place(sim: &mut Sim, at: &[(usize, f32)]) {
    for &(index, x) in at {
        let position = ground(x, 0.0);
        sim.wish(
            index,
            PlayerWish::Teleport {
                position,
                heading: None,
                area: None,
            },
        );
    }
    sim.ticks(12);
}

#[test]
fn a_full_view_gives_way_once_four_nearer_ones_wait() {
    let mut sim = Sim::with_settings(|settings| settings.streaming.limit = 4);
    let all = sim.join_many(12);
    let far: Vec<(usize, f32)> = all.iter().map(|&index| (index, index as f32 * 20.0)).collect();
    place(&mut sim, &far);
    place(&mut sim, &[(0, 500.0)]);
    place(&mut sim, &[(0, 0.0)]);
    let seen = |sim: &Sim| -> Vec<usize> { (1..12).filter(|&index| sim.sees(0, index)).collect() };
    assert_eq!(seen(&sim), [1, 2, 3, 4]);
    place(&mut sim, &[(8, 1.0), (9, 2.0), (10, 3.0)]);
    assert_eq!(seen(&sim), [1, 2, 3, 4], "three that are nearer wait");
    place(&mut sim, &[(11, 4.0)]);
    assert_eq!(
        seen(&sim),
        [1, 2, 3, 8],
        "with the fourth the farthest goes and the nearest comes"
    );
}
