//! Things move by themselves, and notice who comes near; zones notice who comes and goes.

use bevy_app::{App, Plugin};
use bevy_ecs::{
    entity::Entity,
    message::MessageWriter,
    query::With,
    schedule::IntoScheduleConfigs,
    system::{Local, Query, Res},
};
use decitick_components::{
    body::{Dimension, Motion, Space},
    clock::Clock,
    connection::Connection,
    grid::BodyIndex,
    messages::{ThingTriggered, ZoneEntered, ZoneLeft},
    phase::Phase,
    thing::{Inside, Placement, ThingId, ThingMotion, TriggerRadius, heading_of},
    zone::{Zone, ZoneBook, ZoneId, ZoneShape},
};
use decitick_protocol::Vec3;

use crate::tick::{Tick, TickSystems};

/// Moves things, and watches triggers and zones.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThingsPlugin;

impl Plugin for ThingsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Tick,
            move_things
                .in_set(TickSystems::Simulate)
                .after(crate::spawn::grant_spawns),
        )
        .add_systems(
            Tick,
            (watch_triggers, watch_zones)
                .chain()
                .in_set(TickSystems::Simulate)
                .after(crate::streaming::set_stage),
        );
    }
}

type Bodies<'w, 's> = Query<'w, 's, (&'static Phase, &'static Motion, &'static Dimension), With<Connection>>;

/// Every thing that moves goes on for the time of this tick.
pub(crate) fn move_things(
    clock: Res<'_, Clock>,
    bodies: Bodies<'_, '_>,
    mut things: Query<'_, '_, (&mut Placement, &Dimension, &mut ThingMotion), With<ThingId>>,
) {
    let seconds = clock.step.as_secs_f32();
    for (mut placement, dimension, mut motion) in &mut things {
        if motion.is_still() {
            // One that has just come to rest says so once.
            if placement.velocity != Vec3::ZERO {
                placement.velocity = Vec3::ZERO;
                placement.moved_tick = clock.tick;
            }
            continue;
        }
        let followed = match &*motion {
            ThingMotion::Follow { player, .. } => followed(&bodies, *player, placement.space(*dimension)),
            _ => None,
        };
        let advance = motion.advance(placement.position, seconds, followed);
        if advance.position != placement.position || advance.velocity != placement.velocity {
            placement.position = advance.position;
            placement.velocity = advance.velocity;
            placement.heading = heading_of(advance.velocity, placement.heading);
            placement.moved_tick = clock.tick;
        }
    }
}

fn followed(bodies: &Bodies<'_, '_>, player: Entity, space: Space) -> Option<Vec3> {
    let (phase, motion, dimension) = bodies.get(player).ok()?;
    let there = *phase == Phase::Spawned && Space::of(motion, *dimension) == space;
    there.then_some(motion.position)
}

/// Work that triggers may make in one tick, and zones as much; what is left waits for the next.
const WORK_PER_TICK: usize = 500_000;
/// Work of asking about one trigger or zone, of looking at one body, and of one body that is inside.
const ASKING: usize = 20;
const INSIDE: usize = 16;

/// Where a watch goes on in the next tick when one tick did not suffice.
#[derive(Debug, Default)]
pub(crate) struct Round {
    places: Vec<Entity>,
    next: usize,
    found: Vec<Entity>,
}

impl Round {
    /// Visits the entities in turn, from where the last tick stopped, until the work of a tick is done. `look` puts who is
    /// inside into the list it gets, and tells how many bodies it looked at.
    fn go(
        &mut self,
        places: impl Iterator<Item = Entity>,
        mut look: impl FnMut(Entity, &mut Vec<Entity>) -> usize,
    ) {
        self.places.clear();
        self.places.extend(places);
        let count = self.places.len();
        let mut work = 0;
        for _ in 0..count {
            self.next = if self.next < count { self.next } else { 0 };
            let Some(&place) = self.places.get(self.next) else {
                return;
            };
            self.next += 1;
            self.found.clear();
            let looked_at = look(place, &mut self.found);
            work += ASKING + looked_at + self.found.len() * INSIDE;
            if work >= WORK_PER_TICK {
                return;
            }
        }
    }
}

type Triggers<'w, 's> = Query<
    'w,
    's,
    (
        &'static ThingId,
        &'static Placement,
        &'static Dimension,
        &'static TriggerRadius,
        &'static mut Inside,
    ),
>;

/// Whoever comes within the radius of a thing triggers it once, and again after having been away.
pub(crate) fn watch_triggers(
    bodies: Res<'_, BodyIndex>,
    triggers: Query<'_, '_, Entity, With<TriggerRadius>>,
    mut things: Triggers<'_, '_>,
    mut round: Local<'_, Round>,
    mut triggered: MessageWriter<'_, ThingTriggered>,
) {
    round.go(triggers.iter(), |entity, found| {
        let Ok((&thing, placement, dimension, radius, mut inside)) = things.get_mut(entity) else {
            return 0;
        };
        let space = placement.space(*dimension);
        let looked_at = bodies.near(space, placement.position, radius.0, found);
        inside.replace(found, |player, came| {
            if came {
                triggered.write(ThingTriggered { thing, player });
            }
        });
        looked_at
    });
}

/// Whoever comes into a zone and whoever goes is told of.
pub(crate) fn watch_zones(
    index: Res<'_, BodyIndex>,
    connections: Query<'_, '_, (), With<Connection>>,
    book: Res<'_, ZoneBook>,
    mut zones: Query<'_, '_, (&ZoneId, &Zone, &mut Inside)>,
    mut round: Local<'_, Round>,
    mut entered: MessageWriter<'_, ZoneEntered>,
    mut left: MessageWriter<'_, ZoneLeft>,
) {
    round.go(book.iter().map(|(_, entity)| entity), |entity, found| {
        let Ok((&zone, region, mut inside)) = zones.get_mut(entity) else {
            return 0;
        };
        let looked_at = match region.shape {
            ZoneShape::Sphere { centre, radius } => index.near(region.space, centre, radius, found),
            ZoneShape::Box { least, most } => index.within(region.space, least, most, found),
        };
        inside.replace(found, |player, came| {
            if came {
                entered.write(ZoneEntered { zone, player });
            } else if connections.contains(player) {
                left.write(ZoneLeft { zone, player });
            }
        });
        looked_at
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_does_not_fit_a_tick_goes_on_in_the_next() {
        let places: Vec<Entity> = (1..=5).filter_map(Entity::from_raw_u32).collect();
        let mut round = Round::default();
        let mut seen = Vec::new();
        for _ in 0..3 {
            round.go(places.iter().copied(), |place, _| {
                seen.push(place);
                WORK_PER_TICK / 2
            });
        }
        let turn: Vec<Entity> = places.iter().cycle().take(6).copied().collect();
        assert_eq!(seen, turn);
    }

    #[test]
    fn nothing_is_visited_twice_in_a_tick() {
        let places: Vec<Entity> = (1..=3).filter_map(Entity::from_raw_u32).collect();
        let mut count = 0;
        Round::default().go(places.iter().copied(), |_, _| {
            count += 1;
            0
        });
        assert_eq!(count, 3);
    }
}
