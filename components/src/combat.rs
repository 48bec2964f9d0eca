//! Weapons, what they do, and why a claimed hit does not count (docs/protocol.md 2.5).
//!
//! The weapon table is read from assets/weapons.ron by the shell; who shoots whom is judged by the systems.

mod hits;

use crate::inspection::summary;
use bevy_ecs::reflect::ReflectComponent;
use bevy_ecs::reflect::ReflectResource;
use bevy_reflect::Reflect;
use std::time::Duration;

use bevy_ecs::{component::Component, resource::Resource};
use decitick_protocol::{MAX_BODY_PART, MAX_WEAPON_SLOTS, WeaponAmmo, WeaponProperty};

pub use hits::{HitRefusal, HitTally};

/// The weapon that everybody holds: bare hands.
pub const FIST: u8 = 0;

/// One weapon of the table.
#[derive(Clone, Debug, PartialEq, Reflect)]
pub struct Weapon {
    /// Its id, 0..=46.
    pub id: u8,
    /// Its name, 1..=32 bytes.
    pub name: String,
    /// Health points that one hit takes before the body part counts.
    pub damage: u16,
    /// Metres that it reaches.
    pub range: f32,
    /// Least time between two shots in milliseconds, at least 1.
    pub interval_ms: u16,
    /// Rounds in a magazine; 0: it needs no ammunition.
    pub clip: u16,
    /// Projectiles of one shot, each of which may hit, at least 1.
    pub pellets: u8,
}

impl Weapon {
    /// The highest id: WeaponProperties carries at most 47 (docs/protocol.md 2.3).
    pub const MOST_ID: u8 = 46;
    /// No range is longer, in metres: the world is not wider.
    pub const MOST_RANGE: f32 = 40_000.0;

    /// Whether it can be told to clients and used: an id of 0..=46, a range of 0..=40,000 m, an interval and pellets.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.id <= Self::MOST_ID
            && (0.0..=Self::MOST_RANGE).contains(&self.range)
            && self.interval_ms > 0
            && self.pellets > 0
    }

    /// What clients are told of it.
    #[must_use]
    pub const fn property(&self) -> WeaponProperty {
        WeaponProperty {
            weapon: self.id,
            damage: self.damage,
            range: self.range,
            interval_ms: self.interval_ms,
        }
    }

    /// Credit that one hit costs: the interval of a shot, shared by its pellets.
    #[must_use]
    pub fn cost(&self) -> Duration {
        self.interval() / u32::from(self.pellets.max(1))
    }

    fn interval(&self) -> Duration {
        Duration::from_millis(u64::from(self.interval_ms))
    }
}

/// The weapon table, by id.
#[derive(Resource, Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Resource)]
pub struct WeaponTable(Vec<Weapon>);

impl WeaponTable {
    /// A table of these weapons; of two with one id the first counts.
    #[must_use]
    pub fn new(mut weapons: Vec<Weapon>) -> Self {
        weapons.sort_by_key(|weapon| weapon.id);
        weapons.dedup_by_key(|weapon| weapon.id);
        Self(weapons)
    }

    /// The weapon with an id.
    #[must_use]
    pub fn find(&self, id: u8) -> Option<&Weapon> {
        let place = self.0.binary_search_by_key(&id, |weapon| weapon.id).ok()?;
        self.0.get(place)
    }

    /// Puts a weapon in the place of the one with its id, or adds it.
    pub fn replace(&mut self, weapon: Weapon) {
        match self.0.binary_search_by_key(&weapon.id, |held| held.id) {
            Ok(place) => {
                if let Some(held) = self.0.get_mut(place) {
                    *held = weapon;
                }
            }
            Err(place) => self.0.insert(place, weapon),
        }
    }

    /// Every weapon, by rising id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Weapon> {
        self.0.iter()
    }
}

/// Share of a weapon's damage that a hit in each body part takes: torso, groin, left arm, right arm, left leg, right
/// leg, head.
const BODY_PART_FACTORS: [f32; MAX_BODY_PART as usize + 1] = [1.0, 1.0, 0.8, 0.8, 0.8, 0.8, 2.0];

/// What a hit takes: the weapon's damage times the factor of the body part, rounded.
#[must_use]
pub fn damage_of(weapon: &Weapon, body_part: u8) -> u16 {
    let factor = BODY_PART_FACTORS
        .get(usize::from(body_part))
        .copied()
        .unwrap_or(1.0);
    // A float beyond the range of the number becomes its largest value.
    (f32::from(weapon.damage) * factor).round() as u16
}

/// The weapons a player holds, owned by the server. Bare hands are held without being listed.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
pub struct Weapons(Vec<WeaponAmmo>);

/// There is no slot left for another weapon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotsFull;

impl Weapons {
    /// Weapons that can be held at once.
    pub const MOST: usize = MAX_WEAPON_SLOTS;

    /// Gives a weapon with ammunition, or more ammunition for one that is held.
    ///
    /// # Errors
    /// [`SlotsFull`]: all thirteen slots hold other weapons.
    pub fn give(&mut self, weapon: u8, ammo: u16) -> Result<(), SlotsFull> {
        if weapon == FIST {
            // Held without being listed.
        } else if let Some(held) = self.0.iter_mut().find(|held| held.weapon == weapon) {
            held.ammo = held.ammo.saturating_add(ammo);
        } else if self.0.len() < Self::MOST {
            self.0.push(WeaponAmmo { weapon, ammo });
        } else {
            return Err(SlotsFull);
        }
        Ok(())
    }

    /// Takes all weapons; `false` when none was held.
    pub fn clear(&mut self) -> bool {
        let held = !self.0.is_empty();
        self.0.clear();
        held
    }

    /// Whether a weapon is held.
    #[must_use]
    pub fn holds(&self, weapon: u8) -> bool {
        weapon == FIST || self.0.iter().any(|held| held.weapon == weapon)
    }

    /// Ammunition of a weapon that is held.
    #[must_use]
    pub fn ammo(&self, weapon: u8) -> u16 {
        self.0
            .iter()
            .find(|held| held.weapon == weapon)
            .map_or(0, |held| held.ammo)
    }

    /// Uses up one round of a weapon; `false` when there is none.
    pub fn fire(&mut self, weapon: u8) -> bool {
        let round = self
            .0
            .iter_mut()
            .find(|held| held.weapon == weapon && held.ammo > 0);
        round.map(|held| held.ammo -= 1).is_some()
    }

    /// What is held, in the order it was given.
    #[must_use]
    pub fn held(&self) -> &[WeaponAmmo] {
        &self.0
    }
}

/// How often a player may still hit. The credit is time: every hit costs its share of the weapon's interval, whatever
/// the weapon, so that changing weapons gains nothing; it refills as time passes and holds at most a second.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component)]
pub struct ShotCredit {
    /// When all hits so far will be paid for, since the start.
    paid_at: Duration,
    /// Weapon of the round whose pellets may still hit, and how many of them.
    open_round: (u8, u8),
}

impl ShotCredit {
    /// The most credit, unless one shot alone costs more.
    const MOST: Duration = Duration::from_secs(1);
    /// What may be missing of a shot's credit: reports are judged from tick to tick, so that two come up to a tick (and a
    /// hair) too near to each other, and a slow weapon must not lose shots at its own rate by that.
    const TOLERANCE: Duration = Duration::from_millis(110);

    /// Takes the credit of one hit with `weapon` at `now`; `false`, and nothing is taken, when there is not enough.
    pub fn take(&mut self, weapon: &Weapon, now: Duration) -> bool {
        let paid_at = self.paid_at.max(now) + weapon.cost();
        let within = paid_at - now <= Self::MOST.max(weapon.interval() + Self::TOLERANCE);
        if within {
            self.paid_at = paid_at;
        }
        within
    }

    /// Whether a hit with `weapon` begins a round; else it is another pellet of the last one.
    pub fn begins_round(&mut self, weapon: &Weapon) -> bool {
        let (open, pellets) = self.open_round;
        let begins = open != weapon.id || pellets == 0;
        let left = if begins { weapon.pellets } else { pellets };
        self.open_round = (weapon.id, left.saturating_sub(1));
        begins
    }
}

#[derive(Reflect)]
struct HeldWeapon {
    weapon: u8,
    ammo: u16,
}

summary!(|weapons: Weapons| {
    held: Vec<HeldWeapon> = weapons
        .0
        .iter()
        .map(|held| HeldWeapon { weapon: held.weapon, ammo: held.ammo })
        .collect(),
});

#[cfg(test)]
mod tests {
    use super::*;

    fn weapon(id: u8, damage: u16, interval_ms: u16, pellets: u8) -> Weapon {
        Weapon {
            id,
            name: "Test".to_owned(),
            damage,
            range: 10.0,
            interval_ms,
            clip: 7,
            pellets,
        }
    }

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn hits(credit: &mut ShotCredit, weapon: &Weapon, now: Duration) -> usize {
        (0..1000).filter(|_| credit.take(weapon, now)).count()
    }

    #[test]
    fn credit_is_a_second_of_shots_and_refills_at_the_interval() {
        let pistol = weapon(22, 8, 250, 1);
        let mut credit = ShotCredit::default();
        assert_eq!(hits(&mut credit, &pistol, ms(5000)), 4);
        assert_eq!(hits(&mut credit, &pistol, ms(5249)), 0);
        assert_eq!(hits(&mut credit, &pistol, ms(5250)), 1);
        assert_eq!(hits(&mut credit, &pistol, ms(60_000)), 4, "no more is saved up");
    }

    #[test]
    fn a_slow_weapon_has_one_shot_and_every_pellet_of_it() {
        let slow = weapon(1, 8, 3000, 1);
        let mut credit = ShotCredit::default();
        assert_eq!(hits(&mut credit, &slow, ms(0)), 1);
        assert_eq!(hits(&mut credit, &slow, ms(2889)), 0);
        assert_eq!(hits(&mut credit, &slow, ms(3000)), 1);
        let shotgun = weapon(25, 8, 1000, 8);
        assert_eq!(hits(&mut ShotCredit::default(), &shotgun, ms(0)), 8);
    }

    #[test]
    fn changing_weapons_gains_no_credit() {
        let (one, other) = (weapon(22, 8, 500, 1), weapon(23, 8, 500, 1));
        let mut credit = ShotCredit::default();
        let taken = (0..10)
            .filter(|n| credit.take(if n % 2 == 0 { &one } else { &other }, ms(0)))
            .count();
        assert_eq!(taken, 2);
    }

    #[test]
    fn a_round_is_used_up_once_for_all_its_pellets() {
        let shotgun = weapon(25, 8, 1000, 3);
        let mut credit = ShotCredit::default();
        let rounds: Vec<bool> = (0..7).map(|_| credit.begins_round(&shotgun)).collect();
        assert_eq!(rounds, [true, false, false, true, false, false, true]);
        assert!(
            credit.begins_round(&weapon(22, 8, 1, 1)),
            "another weapon, another round"
        );
    }

    #[test]
    fn ammunition_adds_up_and_thirteen_slots_are_all() {
        let mut weapons = Weapons::default();
        assert!(weapons.holds(FIST) && !weapons.holds(22));
        for id in 1..=13 {
            assert_eq!(weapons.give(id, 1), Ok(()));
        }
        assert_eq!(weapons.give(14, 1), Err(SlotsFull));
        assert_eq!(weapons.give(3, u16::MAX), Ok(()));
        assert_eq!(weapons.ammo(3), u16::MAX);
        assert!(weapons.fire(4) && !weapons.fire(4) && !weapons.fire(14));
        assert!(weapons.clear() && !weapons.clear() && !weapons.holds(3));
    }

    #[test]
    fn a_body_part_counts_by_its_factor() {
        let pistol = weapon(22, 25, 250, 1);
        let taken: Vec<u16> = (0..=6).map(|part| damage_of(&pistol, part)).collect();
        assert_eq!(taken, [25, 25, 20, 20, 20, 20, 50]);
        assert_eq!(damage_of(&weapon(1, u16::MAX, 1, 1), 6), u16::MAX);
    }

    #[test]
    fn a_table_finds_by_id_and_replaces() {
        let mut table = WeaponTable::new(vec![weapon(5, 1, 1, 1), weapon(2, 2, 1, 1), weapon(5, 3, 1, 1)]);
        assert_eq!(table.iter().map(|weapon| weapon.id).collect::<Vec<u8>>(), [2, 5]);
        assert_eq!(table.find(5).map(|weapon| weapon.damage), Some(1));
        table.replace(weapon(5, 9, 1, 1));
        table.replace(weapon(3, 7, 1, 1));
        assert_eq!(
            table
                .iter()
                .map(|weapon| (weapon.id, weapon.damage))
                .collect::<Vec<_>>(),
            [(2, 2), (3, 7), (5, 9)]
        );
        assert!(table.find(4).is_none());
    }
}
