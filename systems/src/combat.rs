//! Claimed hits are judged by what the server knows: who holds what, how often it can have fired, and where the target
//! was when the shooter saw it (docs/protocol.md 2.5).

use std::time::Duration;

use bevy_app::{App, Plugin};
use bevy_ecs::{
    entity::Entity,
    message::{MessageReader, MessageWriter},
    query::QueryData,
    schedule::IntoScheduleConfigs,
    system::{Query, Res, ResMut},
};
use decitick_components::{
    body::{Dimension, FrameGate, Motion, PositionHistory, Vitals, distance},
    clock::{Clock, TICK},
    combat::{HitRefusal, HitTally, ShotCredit, Weapon, WeaponTable, Weapons, damage_of},
    gamemode::{Gamemode, Hit},
    lane::OutboundLane,
    liveness::SmoothedRtt,
    messages::{HitReported, PlayerDied},
    phase::Phase,
    session::{PlayerId, PlayerToken, SlotTable},
};
use decitick_protocol::{HitReport, MAX_PLAYERS, ServerLaneEvent, SetVitals, Vec3};

use crate::{
    lane::broadcast::tell,
    tick::{Tick, TickSystems},
};

/// Judges hits.
#[derive(Clone, Copy, Debug, Default)]
pub struct CombatPlugin;

impl Plugin for CombatPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Tick,
            judge_hits
                .in_set(TickSystems::Simulate)
                .before(crate::death::take_bodies),
        );
    }
}

/// Metres between the attacker and where its shot came from.
const ORIGIN_WITHIN: f32 = 5.0;
/// Metres between the hit and where the target was.
const HIT_WITHIN: f32 = 3.0;

#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Fighter {
    generation: &'static PlayerToken,
    phase: &'static Phase,
    motion: &'static Motion,
    dimension: &'static Dimension,
    gate: &'static FrameGate,
    history: &'static PositionHistory,
    rtt: &'static SmoothedRtt,
    vitals: &'static mut Vitals,
    weapons: &'static mut Weapons,
    credit: &'static mut ShotCredit,
    lane: &'static mut OutboundLane,
}

impl FighterItem<'_, '_> {
    /// Health counts beside the phase: of two hits in one tick the first may have killed.
    fn stands(&self) -> bool {
        *self.phase == Phase::Spawned && self.vitals.health > 0
    }

    /// Whether it was near `place` when the server showed it so at `seen`. A frame waits for the end of its tick to be
    /// shown, so what was shown is up to a tick old: any place of that way counts.
    fn was_near(&self, place: Vec3, seen: Duration, now: Duration) -> bool {
        let at = |time: Duration| self.history.position_at(time, now);
        let (Some(from), Some(to)) = (at(seen.saturating_sub(TICK)), at(seen)) else {
            return false;
        };
        self.history.reaches(seen) && within(distance_to_way(place, from, to), HIT_WITHIN)
    }
}

/// Distance of a place from the straight way between two others.
fn distance_to_way(place: Vec3, from: Vec3, to: Vec3) -> f32 {
    let way = Vec3::new(to.x - from.x, to.y - from.y, to.z - from.z);
    let length = way.x * way.x + way.y * way.y + way.z * way.z;
    let along = (place.x - from.x) * way.x + (place.y - from.y) * way.y + (place.z - from.z) * way.z;
    let share = if length > 0.0 {
        (along / length).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let nearest = Vec3::new(
        way.x * share + from.x,
        way.y * share + from.y,
        way.z * share + from.z,
    );
    distance(place, nearest)
}

/// Judges the claims of the tick in the order they were made; each counts or is refused for one reason.
pub(crate) fn judge_hits(
    mut reported: MessageReader<'_, '_, HitReported>,
    clock: Res<'_, Clock>,
    slots: Res<'_, SlotTable>,
    table: Res<'_, WeaponTable>,
    mut gamemode: ResMut<'_, Gamemode>,
    mut tally: ResMut<'_, HitTally>,
    mut fighters: Query<'_, '_, Fighter>,
    mut deaths: MessageWriter<'_, PlayerDied>,
) {
    for &HitReported {
        entity: attacker,
        report,
        arrived,
    } in reported.read()
    {
        let age = clock.since_start.saturating_sub(arrived);
        let found = if age > PositionHistory::REACH {
            Err(HitRefusal::Outdated)
        } else {
            find_target(&report, attacker, &slots, &fighters)
        };
        let outcome = found.and_then(|target| {
            let Ok([mut shooter, mut victim]) = fighters.get_many_mut([attacker, target]) else {
                return Err(HitRefusal::Oneself);
            };
            let weapon = judge(&report, arrived, &table, &shooter, &victim)?;
            pay(weapon, clock.since_start, &mut shooter)?;
            let hit = Hit {
                player: target,
                attacker,
                weapon: weapon.id,
                amount: damage_of(weapon, report.body_part),
            };
            let amount = gamemode.0.player_damage(&hit).ok_or(HitRefusal::Cancelled)?;
            if hurt(&mut victim, amount) {
                deaths.write(PlayerDied {
                    entity: target,
                    killer: Some(attacker),
                    weapon: weapon.id,
                });
            }
            Ok(())
        });
        match outcome {
            Ok(()) => tally.counted += 1,
            Err(reason) => tally.refuse(reason),
        }
    }
}

fn find_target(
    report: &HitReport,
    attacker: Entity,
    slots: &SlotTable,
    fighters: &Query<'_, '_, Fighter>,
) -> Result<Entity, HitRefusal> {
    let shooter = fighters.get(attacker).map_err(|_| HitRefusal::AttackerDown)?;
    if *shooter.phase != Phase::Spawned || shooter.vitals.health == 0 {
        return Err(HitRefusal::AttackerDown);
    }
    let id = u16::try_from(report.target_id)
        .ok()
        .filter(|id| *id < MAX_PLAYERS)
        .ok_or(HitRefusal::NoSuchTarget)?;
    let target = slots.holder(PlayerId(id)).ok_or(HitRefusal::NoSuchTarget)?;
    let victim = fighters.get(target).map_err(|_| HitRefusal::NoSuchTarget)?;
    // Whoever waits in PreAuth is nobody to others.
    if !victim.phase.joined() {
        return Err(HitRefusal::NoSuchTarget);
    }
    if victim.generation.0 != report.target_token {
        return Err(HitRefusal::StaleTarget);
    }
    if target == attacker {
        return Err(HitRefusal::Oneself);
    }
    Ok(target)
}

fn judge<'a>(
    report: &HitReport,
    arrived: Duration,
    table: &'a WeaponTable,
    shooter: &FighterItem<'_, '_>,
    victim: &FighterItem<'_, '_>,
) -> Result<&'a Weapon, HitRefusal> {
    if !victim.stands() {
        return Err(HitRefusal::TargetDown);
    }
    if shooter.motion.area != victim.motion.area {
        return Err(HitRefusal::OtherArea);
    }
    if shooter.dimension != victim.dimension {
        return Err(HitRefusal::OtherDimension);
    }
    let weapon = table.find(report.weapon).ok_or(HitRefusal::UnknownWeapon)?;
    if !shooter.weapons.holds(weapon.id) {
        return Err(HitRefusal::WeaponNotHeld);
    }
    // A report from before the last spawn or teleport is about another place, or another life.
    let stood = shooter
        .history
        .position_at(arrived, arrived)
        .filter(|_| shooter.history.reaches(arrived))
        .ok_or(HitRefusal::Outdated)?;
    // Whoever shoots must have been there to be seen.
    let arrived_there = shooter.gate.area_claimed_at();
    if arrived_there.is_some_and(|at| arrived.saturating_sub(at) < FrameGate::AREA_PERIOD) {
        return Err(HitRefusal::JustArrived);
    }
    if !within(distance(report.origin, stood), ORIGIN_WITHIN) {
        return Err(HitRefusal::OriginTooFar);
    }
    // What the shooter saw had left the server half a round trip before it saw it, and the report took the other half.
    let seen = arrived.saturating_sub(shooter.rtt.measured().unwrap_or_default());
    if !victim.was_near(report.hit, seen, arrived) {
        return Err(HitRefusal::MissedTarget);
    }
    if !within(distance(report.origin, report.hit), weapon.range) {
        return Err(HitRefusal::OutOfRange);
    }
    Ok(weapon)
}

/// Coordinates may be any finite number, so a distance may be beyond what a float holds: that is never within.
fn within(distance: f32, most: f32) -> bool {
    distance <= most
}

/// What a hit costs the shooter: ammunition once per round, credit for every pellet. Credit runs on the time of the tick:
/// reports that waited for one another in the lane did not arrive in order.
fn pay(weapon: &Weapon, now: Duration, shooter: &mut FighterItem<'_, '_>) -> Result<(), HitRefusal> {
    let needs_rounds = weapon.clip > 0;
    let mut credit = *shooter.credit;
    let begins = credit.begins_round(weapon);
    if needs_rounds && begins && shooter.weapons.ammo(weapon.id) == 0 {
        return Err(HitRefusal::NoAmmunition);
    }
    if !credit.take(weapon, now) {
        return Err(HitRefusal::NoCredit);
    }
    if needs_rounds && begins {
        shooter.weapons.fire(weapon.id);
    }
    *shooter.credit = credit;
    Ok(())
}

/// Takes the damage and tells the victim; whether it died of it.
fn hurt(victim: &mut FighterItem<'_, '_>, amount: u16) -> bool {
    if amount == 0 {
        return false;
    }
    victim.vitals.hurt(amount);
    let Vitals { health, armour } = *victim.vitals;
    tell(
        &mut victim.lane,
        &ServerLaneEvent::SetVitals(SetVitals { health, armour }),
    );
    health == 0
}
