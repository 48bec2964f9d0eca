//! Why a reported hit does not count: each reason is counted by itself, and nothing else changes (docs/protocol.md 2.5).

use decitick_components::{
    body::Vitals,
    combat::HitRefusal,
    gamemode::{Hit, Judge},
    phase::Phase,
    requests::{PlayerWish, WorldRequest},
};
use decitick_protocol::{HitReport, PlayerName, PlayerSync, Vec3};

use crate::sim::{
    duel::{Duel, PISTOL, RIFLE, SNIPER, weapon_table},
    frame_at, ground,
};

#[test]
fn the_same_shot_counts_when_nothing_is_wrong_with_it() {
    let mut duel = Duel::new();
    duel.expect_counted(duel.shot());
    assert_eq!(duel.sim.vitals(duel.target), (80, 0));
}

#[test]
fn who_is_dead_hits_nobody() {
    let mut duel = Duel::new();
    let shot = duel.shot();
    duel.sim.wish(duel.shooter, PlayerWish::Health(0));
    duel.sim.ticks(3);
    duel.expect_refused(shot, HitRefusal::AttackerDown);
}

#[test]
fn who_was_never_in_the_world_hits_nobody() {
    let mut duel = Duel::new();
    let ghost = duel.sim.join("Ghost");
    duel.sim.players[ghost].wants_body = false;
    duel.sim.ticks(5);
    duel.shooter = ghost;
    let shot = HitReport {
        weapon: 0,
        ..duel.shot()
    };
    assert_eq!(duel.sim.phase(ghost), Phase::PreSpawn);
    duel.expect_refused(shot, HitRefusal::AttackerDown);
}

#[test]
fn who_dies_in_the_tick_of_its_shot_has_not_fired_it() {
    let mut duel = Duel::new();
    let shot = duel.shot();
    duel.sim.wish(duel.shooter, PlayerWish::Health(0));
    duel.fire(shot);
    assert_eq!(duel.sim.hits().refused(HitRefusal::AttackerDown), 1);
    assert_eq!((duel.counted(), duel.sim.vitals(duel.target)), (0, (100, 0)));
}

#[test]
fn reports_that_were_held_back_are_too_old() {
    let mut duel = Duel::new();
    // The first event of the lane never arrives, so the report behind it waits.
    let held = duel.held_back(duel.shot());
    duel.sim.ticks(11);
    duel.release(held);
    assert_eq!(duel.sim.hits().refused(HitRefusal::Outdated), 1);
    assert_eq!((duel.counted(), duel.sim.vitals(duel.target)), (0, (100, 0)));
    let held = duel.held_back(duel.shot());
    duel.sim.ticks(5);
    duel.release(held);
    assert_eq!(duel.counted(), 1, "half a second is what a lossy link needs");
}

#[test]
fn a_report_from_before_the_spawn_of_either_is_about_another_life() {
    let mut duel = Duel::new();
    let held = duel.held_back(duel.shot());
    duel.sim.wish(duel.shooter, PlayerWish::Spawn(None));
    duel.sim.ticks(3);
    duel.release(held);
    assert_eq!(duel.sim.hits().refused(HitRefusal::Outdated), 1);

    let mut duel = Duel::new();
    let held = duel.held_back(duel.shot());
    duel.sim.wish(
        duel.target,
        PlayerWish::Teleport {
            position: ground(20.0, 0.0),
            heading: None,
            area: None,
        },
    );
    duel.sim.ticks(3);
    duel.release(held);
    assert_eq!(duel.sim.hits().refused(HitRefusal::MissedTarget), 1);
    assert_eq!(duel.counted(), 0);
}

#[test]
fn who_comes_from_another_area_must_have_been_there_to_be_seen() {
    let mut duel = Duel::new();
    let shot = duel.shot();
    let stand = |duel: &mut Duel, area| {
        let frame = PlayerSync {
            area,
            ..frame_at(0.0, 0.0)
        };
        duel.sim.players[duel.shooter].client.sync(frame).unwrap();
        duel.sim.ticks(2);
    };
    stand(&mut duel, 7);
    duel.sim.ticks(10);
    stand(&mut duel, 0);
    duel.expect_refused(shot, HitRefusal::JustArrived);
    duel.sim.ticks(9);
    duel.expect_counted(shot);
}

#[test]
fn an_id_that_nobody_holds_is_no_target() {
    let mut duel = Duel::new();
    for target_id in [2, 999, 1000, 65_537, u32::MAX] {
        let shot = HitReport {
            target_id,
            ..duel.shot()
        };
        duel.expect_refused(shot, HitRefusal::NoSuchTarget);
    }
}

#[test]
fn who_waits_for_its_login_is_nobody() {
    let mut duel = Duel::new();
    let shot = duel.shot();
    let entity = duel.sim.body(duel.target);
    duel.sim.app.world_mut().entity_mut(entity).insert(Phase::PreAuth);
    duel.expect_refused(shot, HitRefusal::NoSuchTarget);
}

#[test]
fn a_generation_that_left_or_is_still_to_come_is_no_target() {
    let mut duel = Duel::new();
    let old = duel.shot();
    duel.sim.players[duel.target].client.bye();
    duel.sim.ticks(2);
    let heir = duel.sim.join_now("Heir");
    duel.sim.put(heir, 20.0, 0.0);
    duel.target = heir;
    assert_eq!(u32::from(duel.sim.players[heir].id()), old.target_id);
    duel.expect_refused(old, HitRefusal::StaleTarget);
    let future = HitReport {
        target_token: duel.shot().target_token + 1,
        ..duel.shot()
    };
    duel.expect_refused(future, HitRefusal::StaleTarget);
    duel.expect_counted(duel.shot());
}

#[test]
fn nobody_hits_itself() {
    let mut duel = Duel::new();
    let shooter = &duel.sim.players[duel.shooter];
    let shot = HitReport {
        target_id: u32::from(shooter.id()),
        target_token: shooter.generation(),
        hit: duel.shot().origin,
        ..duel.shot()
    };
    duel.expect_refused(shot, HitRefusal::Oneself);
}

#[test]
fn the_dead_and_those_without_a_body_are_not_hit() {
    let mut duel = Duel::new();
    let shot = duel.shot();
    duel.sim.wish(duel.target, PlayerWish::Health(0));
    duel.sim.ticks(3);
    duel.expect_refused(shot, HitRefusal::TargetDown);
    let ghost = duel.sim.join("Ghost");
    duel.sim.players[ghost].wants_body = false;
    duel.sim.ticks(5);
    let ghost = &duel.sim.players[ghost];
    let shot = HitReport {
        target_id: u32::from(ghost.id()),
        target_token: ghost.generation(),
        ..shot
    };
    duel.expect_refused(shot, HitRefusal::TargetDown);
}

#[test]
fn no_shot_goes_into_another_area() {
    let mut duel = Duel::new();
    duel.sim.put_in(duel.target, 20.0, 0.0, 3);
    duel.expect_refused(duel.shot(), HitRefusal::OtherArea);
    duel.sim.put_in(duel.shooter, 0.0, 0.0, 3);
    duel.expect_counted(duel.shot());
}

#[test]
fn no_shot_goes_into_another_dimension() {
    let mut duel = Duel::new();
    duel.sim.wish(duel.target, PlayerWish::Dimension(7));
    duel.sim.ticks(3);
    duel.expect_refused(duel.shot(), HitRefusal::OtherDimension);
    duel.sim.wish(duel.shooter, PlayerWish::Dimension(7));
    duel.sim.ticks(3);
    duel.expect_counted(duel.shot());
}

#[test]
fn a_weapon_that_is_not_in_the_table_does_nothing_though_it_is_held() {
    let mut duel = Duel::new();
    duel.sim
        .wish(duel.shooter, PlayerWish::GiveWeapon { weapon: 40, ammo: 10 });
    duel.sim.ticks(3);
    for weapon in [40, 47, 255] {
        let shot = HitReport {
            weapon,
            ..duel.shot()
        };
        duel.expect_refused(shot, HitRefusal::UnknownWeapon);
    }
}

#[test]
fn a_weapon_that_is_not_held_does_nothing() {
    let mut duel = Duel::new();
    let shot = HitReport {
        weapon: RIFLE,
        ..duel.shot()
    };
    duel.expect_refused(shot, HitRefusal::WeaponNotHeld);
    duel.sim.wish(
        duel.shooter,
        PlayerWish::GiveWeapon {
            weapon: RIFLE,
            ammo: 1,
        },
    );
    duel.sim.ticks(3);
    duel.expect_counted(shot);
    duel.sim.wish(duel.shooter, PlayerWish::TakeWeapons);
    duel.sim.ticks(3);
    duel.expect_refused(duel.shot(), HitRefusal::WeaponNotHeld);
}

#[test]
fn a_shot_begins_within_five_metres_of_the_shooter() {
    let mut duel = Duel::new();
    for origin in [ground(-5.1, 0.0), ground(0.0, 5.1), Vec3::new(0.0, 0.0, 15.1)] {
        let shot = HitReport {
            origin,
            ..duel.shot()
        };
        duel.expect_refused(shot, HitRefusal::OriginTooFar);
    }
    let farthest = HitReport {
        origin: Vec3::new(f32::MAX, f32::MIN, f32::MAX),
        ..duel.shot()
    };
    duel.expect_refused(farthest, HitRefusal::OriginTooFar);
    let shot = HitReport {
        origin: ground(-4.9, 0.0),
        ..duel.shot()
    };
    duel.expect_counted(shot);
}

#[test]
fn a_shot_hits_within_three_metres_of_the_target() {
    let mut duel = Duel::new();
    for hit in [ground(23.1, 0.0), ground(20.0, -3.1), Vec3::new(20.0, 0.0, 6.9)] {
        let shot = HitReport { hit, ..duel.shot() };
        duel.expect_refused(shot, HitRefusal::MissedTarget);
    }
    let farthest = HitReport {
        hit: Vec3::new(f32::MAX, f32::MIN, f32::MAX),
        ..duel.shot()
    };
    duel.expect_refused(farthest, HitRefusal::MissedTarget);
    let shot = HitReport {
        hit: ground(22.9, 0.0),
        ..duel.shot()
    };
    duel.expect_counted(shot);
}

#[test]
fn a_shot_reaches_as_far_as_its_weapon() {
    let mut duel = Duel::new();
    duel.sim.put(duel.target, 37.0, 0.0);
    duel.expect_refused(duel.shot(), HitRefusal::OutOfRange);
    let leaning = HitReport {
        origin: ground(4.0, 0.0),
        ..duel.shot()
    };
    duel.expect_counted(leaning);
    duel.sim.ticks(10);
    let rifle = HitReport {
        weapon: SNIPER,
        ..duel.shot()
    };
    duel.expect_counted(rifle);
}

#[test]
fn an_empty_weapon_does_nothing() {
    let mut duel = Duel::new();
    duel.sim.wish(duel.shooter, PlayerWish::TakeWeapons);
    duel.sim.wish(
        duel.shooter,
        PlayerWish::GiveWeapon {
            weapon: PISTOL,
            ammo: 2,
        },
    );
    duel.sim.ticks(3);
    duel.expect_counted(duel.shot());
    duel.expect_counted(duel.shot());
    duel.sim.ticks(20);
    duel.expect_refused(duel.shot(), HitRefusal::NoAmmunition);
    duel.sim.wish(
        duel.shooter,
        PlayerWish::GiveWeapon {
            weapon: PISTOL,
            ammo: 1,
        },
    );
    duel.sim.ticks(3);
    duel.expect_counted(duel.shot());
}

#[test]
fn more_shots_than_the_weapon_fires_do_nothing_until_time_has_passed() {
    let mut duel = Duel::new();
    for _ in 0..4 {
        duel.report(duel.shot());
    }
    duel.sim.tick();
    assert_eq!(duel.counted(), 4, "a second's worth may come at once");
    duel.expect_refused(duel.shot(), HitRefusal::NoCredit);
    duel.expect_refused(duel.shot(), HitRefusal::NoCredit);
    // 250 ms after the first four there is credit for one more.
    duel.expect_counted(duel.shot());
    assert_eq!(
        duel.sim.phase(duel.target),
        Phase::PreSpawn,
        "five times 20 points"
    );
}

struct Peacekeeper;

impl Judge for Peacekeeper {
    fn player_damage(&mut self, _: &Hit) -> Option<u16> {
        None
    }
}

#[test]
fn a_gamemode_that_cancels_the_damage_leaves_the_victim_as_it_was() {
    let mut duel = Duel::new();
    duel.sim.judged_by(Peacekeeper);
    let before = (
        *duel.sim.of::<Vitals>(duel.target),
        duel.sim.ammo(duel.shooter, PISTOL),
    );
    duel.fire(duel.shot());
    assert_eq!(duel.sim.hits().refused(HitRefusal::Cancelled), 1);
    assert_eq!(duel.counted(), 0);
    assert_eq!(*duel.sim.of::<Vitals>(duel.target), before.0);
    assert!(duel.sim.sent_events(duel.target).is_empty());
    assert_eq!(
        duel.sim.ammo(duel.shooter, PISTOL),
        before.1 - 1,
        "the shot was fired all the same"
    );
}

#[test]
fn every_reason_of_refusal_has_a_name_of_its_own() {
    let mut names: Vec<&str> = HitRefusal::ALL.iter().map(|reason| reason.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 17, "a new reason needs a test of its own here");
    assert_eq!(HitRefusal::ALL.len(), 17);
}

#[test]
fn a_rename_or_a_new_row_of_the_table_does_not_stand_between_a_shot_and_its_target() {
    let mut duel = Duel::new();
    let other = PlayerName::parse("Somebody Else").unwrap();
    duel.sim.wish(duel.target, PlayerWish::Rename(other));
    let stronger = decitick_components::combat::Weapon {
        damage: 30,
        ..weapon_table().find(PISTOL).unwrap().clone()
    };
    duel.sim
        .wish_world(WorldRequest::Weapon(std::sync::Arc::new(stronger)));
    duel.sim.ticks(3);
    duel.expect_counted(duel.shot());
    assert_eq!(duel.sim.vitals(duel.target), (70, 0));
}
