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
    zone::{Zone, ZoneId, ZoneShape},
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

/// Whoever comes within the radius of a thing triggers it once, and again after having been away.
pub(crate) fn watch_triggers(
    bodies: Res<'_, BodyIndex>,
    mut things: Query<'_, '_, (&ThingId, &Placement, &Dimension, &TriggerRadius, &mut Inside)>,
    mut found: Local<'_, Vec<Entity>>,
    mut triggered: MessageWriter<'_, ThingTriggered>,
) {
    for (&thing, placement, dimension, radius, mut inside) in &mut things {
        found.clear();
        bodies.near(
            placement.space(*dimension),
            placement.position,
            radius.0,
            &mut found,
        );
        if found.is_empty() && inside.entities().is_empty() {
            continue;
        }
        inside.replace(&mut found, |player, came| {
            if came {
                triggered.write(ThingTriggered { thing, player });
            }
        });
    }
}

/// Whoever comes into a zone and whoever goes is told of.
pub(crate) fn watch_zones(
    index: Res<'_, BodyIndex>,
    connections: Query<'_, '_, (), With<Connection>>,
    mut zones: Query<'_, '_, (&ZoneId, &Zone, &mut Inside)>,
    mut found: Local<'_, Vec<Entity>>,
    mut entered: MessageWriter<'_, ZoneEntered>,
    mut left: MessageWriter<'_, ZoneLeft>,
) {
    for (&zone, region, mut inside) in &mut zones {
        found.clear();
        match region.shape {
            ZoneShape::Sphere { centre, radius } => index.near(region.space, centre, radius, &mut found),
            ZoneShape::Box { least, most } => index.within(region.space, least, most, &mut found),
        }
        if found.is_empty() && inside.entities().is_empty() {
            continue;
        }
        inside.replace(&mut found, |player, came| {
            if came {
                entered.write(ZoneEntered { zone, player });
            } else if connections.contains(player) {
                left.write(ZoneLeft { zone, player });
            }
        });
    }
}
