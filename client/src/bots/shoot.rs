//! Whom a bot looks at and when it shoots: the nearest player in view within reach of its weapon, at a human pace. It
//! decides from what its client knows, and reports nothing itself.

use std::time::Duration;

use decitick_protocol::{HitReport, MAX_BODY_PART, Vec3, WeaponProperty};

use super::random::Random;
use crate::client::{FISTS, OwnState, Roster, WeaponTable};

/// What a shot of this bot would hit, as the bot last saw it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Target {
    pub(super) player_id: u32,
    pub(super) player_token: u32,
    pub(super) position: Vec3,
}

/// One bot's trigger finger.
#[derive(Debug, Clone)]
pub(super) struct Shooter {
    random: Random,
    /// Mean time between two shots; `None`: it never shoots.
    every: Option<Duration>,
    next_shot: Duration,
    weapon: Option<WeaponProperty>,
    target: Option<Target>,
}

impl Shooter {
    /// A body that spawned at `now` and takes its time before the first shot.
    pub(super) fn new(every: Option<Duration>, seed: u64, now: Duration) -> Self {
        let mut random = Random::new(seed);
        let wait = every.map_or(Duration::ZERO, |every| pause(every, &mut random));
        Self {
            random,
            every,
            next_shot: now + wait,
            weapon: None,
            target: None,
        }
    }

    /// Takes the weapon in hand that reaches farthest.
    pub(super) fn arm(&mut self, own: &OwnState, table: &WeaponTable) {
        self.weapon = best_weapon(own, table);
    }

    /// Number of the weapon in hand.
    pub(super) fn weapon(&self) -> u8 {
        self.weapon.map_or(FISTS, |row| row.weapon)
    }

    /// Where to look from `from` in `area` at `now`: at whom it shot last while that one stays in reach, and when the next
    /// shot is due at the nearest in reach. `None`: where it walks.
    pub(super) fn look(&mut self, now: Duration, from: Vec3, area: u8, roster: &Roster) -> Option<Vec3> {
        self.every?;
        let range = self.weapon?.range;
        self.target = if self.next_shot <= now {
            nearest(roster, from, area, range)
        } else {
            self.target
                .and_then(|target| still_there(roster, target, area))
                .filter(|target| distance(from, target.position) <= range)
        };
        self.target.map(|target| target.position)
    }

    /// The shot to report at `now` by a bot whose last frame told `origin`; `None` when it has no target, is not due or no
    /// longer reaches it.
    pub(super) fn shoot(&mut self, now: Duration, origin: Vec3) -> Option<HitReport> {
        let every = self.every?;
        let (row, target) = (self.weapon?, self.target?);
        if now < self.next_shot || distance(origin, target.position) > row.range {
            return None;
        }
        let interval = Duration::from_millis(u64::from(row.interval_ms));
        self.next_shot = now + pause(every, &mut self.random).max(interval);
        Some(HitReport {
            target_id: target.player_id,
            target_token: target.player_token,
            weapon: row.weapon,
            body_part: (self.random.next() % (u64::from(MAX_BODY_PART) + 1)) as u8,
            origin,
            hit: target.position,
        })
    }
}

/// Half to one and a half times `every`, as nobody shoots like clockwork.
fn pause(every: Duration, random: &mut Random) -> Duration {
    every.mul_f64(f64::from(random.between(0.5, 1.5)))
}

/// Of the held weapons that have rounds, and the fists, the one that reaches farthest. What reaches nowhere is no weapon.
fn best_weapon(own: &OwnState, table: &WeaponTable) -> Option<WeaponProperty> {
    let loaded = own.weapons().iter().filter(|held| held.ammo > 0);
    loaded
        .map(|held| held.weapon)
        .chain([FISTS])
        .filter_map(|weapon| table.weapon(weapon).copied())
        .filter(|row| row.range > 0.0)
        .max_by(|a, b| a.range.total_cmp(&b.range))
}

fn nearest(roster: &Roster, from: Vec3, area: u8, range: f32) -> Option<Target> {
    roster
        .in_view()
        .filter(|(_, _, seen)| seen.area == area && seen.health > 0)
        .map(|(player_id, player, seen)| {
            let target = Target {
                player_id,
                player_token: player.player_token(),
                position: seen.position,
            };
            (distance(from, seen.position), target)
        })
        .filter(|(away, _)| *away <= range)
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, target)| target)
}

/// The same target where it is seen by now; `None` when it is out of view, elsewhere or dead.
fn still_there(roster: &Roster, target: Target, area: u8) -> Option<Target> {
    let player = roster.player(target.player_id)?;
    let seen = player.sighting()?;
    let same = player.player_token() == target.player_token && seen.area == area && seen.health > 0;
    same.then_some(Target {
        position: seen.position,
        ..target
    })
}

fn distance(a: Vec3, b: Vec3) -> f32 {
    (a.x - b.x).hypot(a.y - b.y).hypot(a.z - b.z)
}

#[cfg(test)]
mod tests;
