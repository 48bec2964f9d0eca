//! Hits that count: what they take, who is told, and what the shooter saw (docs/protocol.md 2.5).

mod rewind;

use std::sync::{Arc, Mutex};

use decitick_components::{
    combat::HitRefusal,
    gamemode::{Hit, Judge},
    messages::PlayerDied,
    phase::Phase,
    requests::PlayerWish,
};
use decitick_protocol::{HitReport, PlayerDeath, ServerLaneEvent, SetVitals};

use crate::sim::{
    duel::{ARMS, Duel, PISTOL, SHOTGUN, SNIPER},
    ground,
};

fn vitals_told(duel: &Duel, index: usize) -> Vec<(u8, u8)> {
    duel.sim.players[index].all(|event| match event {
        ServerLaneEvent::SetVitals(SetVitals { health, armour }) => Some((*health, *armour)),
        _ => None,
    })
}

fn deaths_told(duel: &Duel, index: usize) -> Vec<PlayerDeath> {
    duel.sim.players[index].all(|event| match event {
        ServerLaneEvent::PlayerDeath(death) => Some(*death),
        _ => None,
    })
}

#[test]
fn armour_is_used_up_first_and_the_victim_alone_is_told_what_it_has_left() {
    let mut duel = Duel::new();
    duel.sim.wish(duel.target, PlayerWish::Armour(30));
    duel.sim.ticks(3);
    duel.expect_counted(duel.shot());
    assert_eq!(duel.sim.vitals(duel.target), (100, 10));
    duel.expect_counted(duel.shot());
    assert_eq!(duel.sim.vitals(duel.target), (90, 0));
    duel.expect_counted(duel.shot());
    duel.sim.tick();
    assert_eq!(
        vitals_told(&duel, duel.target),
        [(100, 30), (100, 10), (90, 0), (70, 0)]
    );
    assert!(vitals_told(&duel, duel.shooter).is_empty());
    let own = duel.sim.players[duel.target].client.own().unwrap();
    assert_eq!(own.vitals().map(|vitals| vitals.health), Some(70));
    assert_eq!(duel.sim.vitals(duel.shooter), (100, 0));
}

#[test]
fn those_who_see_the_victim_are_shown_its_health_in_its_frames() {
    let mut duel = Duel::new();
    duel.expect_counted(duel.shot());
    duel.sim.ticks(3);
    let victim = u32::from(duel.sim.players[duel.target].id());
    let roster = duel.sim.players[duel.shooter].client.roster().unwrap();
    let seen = roster.player(victim).unwrap().sighting().unwrap();
    assert_eq!(seen.health, 80);
}

#[test]
fn a_hit_counts_by_the_part_of_the_body() {
    for (body_part, left) in [(0, 80), (1, 80), (2, 84), (3, 84), (4, 84), (5, 84), (6, 60)] {
        let mut duel = Duel::new();
        let shot = HitReport {
            body_part,
            ..duel.shot()
        };
        duel.expect_counted(shot);
        assert_eq!(duel.sim.vitals(duel.target), (left, 0), "part {body_part}");
    }
}

#[test]
fn every_shot_uses_up_a_round_and_every_pellet_of_a_shot_the_same_one() {
    let mut duel = Duel::new();
    duel.expect_counted(duel.shot());
    assert_eq!(duel.sim.ammo(duel.shooter, PISTOL), 49);
    duel.sim.ticks(10);
    let pellet = HitReport {
        weapon: SHOTGUN,
        ..duel.shot()
    };
    for _ in 0..5 {
        duel.report(pellet);
    }
    duel.sim.tick();
    assert_eq!((duel.counted(), duel.sim.vitals(duel.target)), (6, (30, 0)));
    assert_eq!(duel.sim.ammo(duel.shooter, SHOTGUN), 4);
    duel.sim.ticks(10);
    duel.expect_counted(pellet);
    assert_eq!(
        duel.sim.ammo(duel.shooter, SHOTGUN),
        3,
        "another shot, another round"
    );
    assert_eq!(duel.sim.ammo(duel.target, SHOTGUN), 5);
}

#[test]
fn another_weapon_brings_no_credit_of_its_own() {
    let mut duel = Duel::new();
    for _ in 0..4 {
        duel.report(duel.shot());
    }
    duel.sim.tick();
    let pellet = HitReport {
        weapon: SHOTGUN,
        ..duel.shot()
    };
    // One for the tick that passed.
    duel.expect_counted(pellet);
    duel.expect_refused(pellet, HitRefusal::NoCredit);
}

#[test]
fn a_kill_is_told_to_the_victim_and_to_those_who_see_it_and_the_body_goes() {
    let mut duel = Duel::new();
    let witness = duel.sim.join_now("Witness");
    let stranger = duel.sim.join_now("Stranger");
    duel.sim.put(witness, 0.0, 50.0);
    duel.sim.put(stranger, 0.0, 1000.0);
    assert!(duel.sim.sees(witness, duel.target) && !duel.sim.sees(stranger, duel.target));
    let shot = HitReport {
        weapon: SNIPER,
        ..duel.shot()
    };
    duel.expect_counted(shot);
    assert_eq!(duel.sim.phase(duel.target), Phase::PreSpawn);
    assert_eq!(duel.sim.vitals(duel.target), (0, 0));
    duel.sim.tick();
    let (killer, victim) = (&duel.sim.players[duel.shooter], &duel.sim.players[duel.target]);
    let expected = PlayerDeath {
        player_id: u32::from(victim.id()),
        player_token: victim.generation(),
        killer_id: u32::from(killer.id()),
        killer_token: killer.generation(),
        weapon: SNIPER,
    };
    assert!(!victim.client.is_spawned());
    let gone = (false, expected.player_id, expected.player_token);
    for index in [duel.shooter, witness] {
        assert_eq!(deaths_told(&duel, index), [expected]);
        assert_eq!(duel.sim.players[index].views().last(), Some(&gone));
        assert!(!duel.sim.sees(index, duel.target));
    }
    assert_eq!(deaths_told(&duel, duel.target), [expected]);
    assert_eq!(vitals_told(&duel, duel.target), [(0, 0)]);
    assert!(deaths_told(&duel, stranger).is_empty());
    assert!(
        duel.sim.players[duel.target]
            .client
            .own()
            .unwrap()
            .weapons()
            .is_empty()
    );
    assert_eq!(duel.sim.ammo(duel.target, PISTOL), 0);
}

#[test]
fn who_was_killed_comes_back_by_asking_whole_and_armed_and_is_seen_again() {
    let mut duel = Duel::new();
    let shot = HitReport {
        weapon: SNIPER,
        ..duel.shot()
    };
    duel.expect_counted(shot);
    duel.sim.ticks(5);
    assert_eq!(duel.sim.phase(duel.target), Phase::PreSpawn, "not by itself");
    duel.sim.players[duel.target].client.request_spawn();
    duel.sim.ticks(8);
    assert_eq!(duel.sim.phase(duel.target), Phase::Spawned);
    assert_eq!(duel.sim.vitals(duel.target), (100, 0));
    assert!(
        ARMS.iter()
            .all(|&(weapon, ammo)| duel.sim.ammo(duel.target, weapon) == ammo)
    );
    assert!(duel.sim.sees(duel.shooter, duel.target) && duel.sim.sees(duel.target, duel.shooter));
    let (id, token) = (
        u32::from(duel.sim.players[duel.target].id()),
        duel.sim.players[duel.target].generation(),
    );
    assert_eq!(
        duel.sim.players[duel.shooter].views(),
        [(true, id, token), (false, id, token), (true, id, token)]
    );
    duel.sim.ticks(10);
    duel.expect_counted(duel.shot());
}

#[test]
fn two_deadly_hits_in_one_tick_are_one_death() {
    let mut duel = Duel::new();
    let second = duel.sim.join_now("Second");
    duel.sim.put(second, 10.0, 0.0);
    let first_shot = HitReport {
        weapon: SNIPER,
        ..duel.shot()
    };
    let second_shot = HitReport {
        origin: ground(10.0, 0.0),
        ..first_shot
    };
    duel.report(first_shot);
    duel.sim.players[second].client.report_hit(second_shot).unwrap();
    duel.sim.tick();
    assert_eq!(duel.sim.told::<PlayerDied>().len(), 1);
    assert_eq!(
        (duel.counted(), duel.sim.hits().refused(HitRefusal::TargetDown)),
        (1, 1)
    );
    duel.sim.tick();
    for index in [duel.shooter, duel.target, second] {
        assert_eq!(deaths_told(&duel, index).len(), 1);
    }
}

#[test]
fn of_two_who_kill_each_other_in_one_tick_the_first_stands() {
    let mut duel = Duel::new();
    let shot = HitReport {
        weapon: SNIPER,
        ..duel.shot()
    };
    let shooter = &duel.sim.players[duel.shooter];
    let answer = HitReport {
        target_id: u32::from(shooter.id()),
        target_token: shooter.generation(),
        origin: shot.hit,
        hit: shot.origin,
        ..shot
    };
    duel.report(shot);
    duel.sim.players[duel.target].client.report_hit(answer).unwrap();
    duel.sim.tick();
    assert_eq!(
        (duel.counted(), duel.sim.hits().refused(HitRefusal::AttackerDown)),
        (1, 1)
    );
    assert_eq!(duel.sim.phase(duel.shooter), Phase::Spawned);
    assert_eq!(duel.sim.vitals(duel.shooter), (100, 0));
}

/// Halves what it is asked about, and keeps it.
struct Halving(Arc<Mutex<Vec<Hit>>>);

impl Judge for Halving {
    fn player_damage(&mut self, hit: &Hit) -> Option<u16> {
        self.0.lock().unwrap().push(*hit);
        Some(hit.amount / 2)
    }
}

#[test]
fn a_gamemode_is_asked_once_about_each_hit_that_passed_and_decides_what_it_takes() {
    let mut duel = Duel::new();
    let asked = Arc::new(Mutex::new(Vec::new()));
    duel.sim.judged_by(Halving(Arc::clone(&asked)));
    let head = HitReport {
        body_part: 6,
        ..duel.shot()
    };
    duel.expect_counted(head);
    let miss = HitReport {
        hit: ground(900.0, 0.0),
        ..duel.shot()
    };
    duel.expect_refused(miss, HitRefusal::MissedTarget);
    assert_eq!(duel.sim.vitals(duel.target), (80, 0));
    let expected = Hit {
        player: duel.sim.body(duel.target),
        attacker: duel.sim.body(duel.shooter),
        weapon: PISTOL,
        amount: 40,
    };
    assert_eq!(asked.lock().unwrap().as_slice(), [expected]);
}

struct Harmless;

impl Judge for Harmless {
    fn player_damage(&mut self, _: &Hit) -> Option<u16> {
        Some(0)
    }
}

#[test]
fn a_hit_that_takes_nothing_counts_and_is_not_told() {
    let mut duel = Duel::new();
    duel.sim.judged_by(Harmless);
    duel.expect_counted(duel.shot());
    assert!(duel.sim.sent_events(duel.target).is_empty());
    assert_eq!(duel.sim.vitals(duel.target), (100, 0));
}
