//! A shooter beside a roster that is filled by hand.

use decitick_protocol::{PlayerStreamIn, SetWeapons, WeaponAmmo, WeaponProperties};

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn row(weapon: u8, range: f32, interval_ms: u16) -> WeaponProperty {
    WeaponProperty {
        weapon,
        damage: 5,
        range,
        interval_ms,
    }
}

fn table() -> WeaponTable {
    let weapons = vec![
        row(0, 1.6, 250),
        row(21, 0.0, 1000),
        row(24, 35.0, 700),
        row(34, 300.0, 5_000),
    ];
    let mut table = WeaponTable::default();
    table.take(&WeaponProperties { weapons });
    table
}

fn holding(weapons: &[(u8, u16)]) -> OwnState {
    let weapons = weapons.iter().map(|&(weapon, ammo)| WeaponAmmo { weapon, ammo });
    let event = SetWeapons {
        weapons: weapons.collect(),
    };
    let mut own = OwnState::default();
    own.take_weapons(&event);
    own
}

/// A roster with players 1, 2, ... of generation 10 at these distances along x.
fn in_view(players: &[(f32, u8, u8)]) -> Roster {
    let mut roster = Roster::default();
    for (player_id, &(x, area, health)) in (1..).zip(players) {
        roster.admit(Duration::ZERO, player_id, 10).unwrap();
        roster.stream_in(&PlayerStreamIn {
            player_id,
            player_token: 10,
            skin: 0,
            variant: 0,
            walking_style: 0,
            position: Vec3::new(x, 0.0, 0.0),
            heading: 0.0,
            area,
            health,
            armour: 0,
            weapon: 0,
        });
    }
    roster
}

fn armed(every: Option<Duration>, weapons: &[(u8, u16)]) -> Shooter {
    let mut shooter = Shooter::new(every, 3, Duration::ZERO);
    shooter.arm(&holding(weapons), &table());
    shooter
}

#[test]
fn the_weapon_in_hand_is_the_loaded_one_that_reaches_farthest_and_else_the_fists() {
    for (held, expected) in [
        (&[][..], 0),
        (&[(24, 7), (34, 0)], 24),
        (&[(24, 7), (34, 1)], 34),
        (&[(21, 1)], 0),
        (&[(99, 5)], 0),
    ] {
        assert_eq!(armed(Some(SECOND), held).weapon(), expected, "{held:?}");
    }
    let mut untold = Shooter::new(Some(SECOND), 3, Duration::ZERO);
    untold.arm(&holding(&[(24, 7)]), &WeaponTable::default());
    let roster = in_view(&[(0.5, 0, 100)]);
    assert_eq!(untold.look(10 * SECOND, Vec3::ZERO, 0, &roster), None);
}

#[test]
fn the_target_is_the_nearest_living_one_in_reach_and_in_the_same_area() {
    let mut shooter = armed(Some(SECOND), &[(24, 7)]);
    let roster = in_view(&[
        (30.0, 0, 100),
        (20.0, 0, 100),
        (5.0, 1, 100),
        (4.0, 0, 0),
        (36.0, 0, 100),
    ]);
    let look = shooter.look(10 * SECOND, Vec3::ZERO, 0, &roster);
    assert_eq!(look, Some(Vec3::new(20.0, 0.0, 0.0)));
    let hit = shooter.shoot(10 * SECOND, Vec3::new(1.0, 0.0, 0.0)).unwrap();
    assert_eq!((hit.target_id, hit.target_token, hit.weapon), (2, 10, 24));
    assert_eq!((hit.origin.x, hit.hit.x), (1.0, 20.0));
}

#[test]
fn fists_reach_an_arm_and_no_farther() {
    let mut shooter = armed(Some(SECOND), &[]);
    let far = in_view(&[(1.7, 0, 100)]);
    assert_eq!(shooter.look(10 * SECOND, Vec3::ZERO, 0, &far), None);
    assert_eq!(shooter.shoot(10 * SECOND, Vec3::ZERO), None);
    let near = in_view(&[(1.5, 0, 100)]);
    assert!(shooter.look(10 * SECOND, Vec3::ZERO, 0, &near).is_some());
    assert_eq!(
        shooter.shoot(10 * SECOND, Vec3::new(-1.0, 0.0, 0.0)),
        None,
        "walked out of reach since"
    );
    assert_eq!(
        shooter.shoot(10 * SECOND, Vec3::ZERO).map(|hit| hit.weapon),
        Some(0)
    );
}

#[test]
fn shots_keep_their_mean_pace_and_never_the_weapon_s_interval() {
    let shots = |every, weapon| {
        let mut shooter = armed(Some(every), &[(weapon, 7)]);
        let roster = in_view(&[(1.0, 0, 100)]);
        let times: Vec<Duration> = (0..60_000)
            .map(|step| Duration::from_millis(step * 10))
            .filter(|now| {
                shooter.look(*now, Vec3::ZERO, 0, &roster);
                shooter.shoot(*now, Vec3::ZERO).is_some()
            })
            .collect();
        let least = times.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap();
        (times.len(), least)
    };
    let (count, least) = shots(SECOND * 2, 24);
    assert!(
        (270..330).contains(&count) && least >= SECOND,
        "{count} {least:?}"
    );
    let (count, least) = shots(Duration::from_millis(50), 24);
    assert!(
        (800..=858).contains(&count) && least >= Duration::from_millis(700),
        "{count} {least:?}"
    );
}

#[test]
fn every_body_part_is_hit_and_none_beyond() {
    let mut shooter = armed(Some(Duration::from_millis(1)), &[]);
    let roster = in_view(&[(1.0, 0, 100)]);
    let mut parts = [0; 7];
    for step in 1..=700 {
        let now = SECOND * step;
        shooter.look(now, Vec3::ZERO, 0, &roster);
        parts[usize::from(shooter.shoot(now, Vec3::ZERO).unwrap().body_part)] += 1;
    }
    assert!(parts.iter().all(|count| *count > 50), "{parts:?}");
}

#[test]
fn a_bot_keeps_its_eyes_on_whom_it_shot_while_that_one_is_there() {
    let mut shooter = armed(Some(SECOND * 2), &[(24, 7)]);
    let mut roster = in_view(&[(20.0, 0, 100), (25.0, 0, 100)]);
    let now = SECOND * 10;
    shooter.look(now, Vec3::ZERO, 0, &roster);
    shooter.shoot(now, Vec3::ZERO).unwrap();
    let soon = now + Duration::from_millis(100);
    assert!(shooter.look(soon, Vec3::ZERO, 0, &roster).is_some());
    roster.fall(1);
    assert_eq!(shooter.look(soon, Vec3::ZERO, 0, &roster), None, "it fell");
}

#[test]
fn a_pace_of_nothing_never_shoots_and_looks_where_it_walks() {
    let mut shooter = armed(None, &[(24, 7)]);
    let roster = in_view(&[(1.0, 0, 100)]);
    assert_eq!(shooter.look(SECOND * 100, Vec3::ZERO, 0, &roster), None);
    assert_eq!(shooter.shoot(SECOND * 100, Vec3::ZERO), None);
    assert_eq!(shooter.weapon(), 24);
}
