//! Wishes about things and zones, and things whose time is over.

use std::collections::BTreeMap;

use bevy_ecs::{
    entity::Entity,
    message::{MessageCursor, MessageReader, Messages},
    query::QueryState,
    system::{Commands, Local, Res},
    world::World,
};
use decitick_components::{
    body::{Dimension, is_place},
    clock::Clock,
    lane::OutboundLane,
    requests::{ThingRequest, ZoneRequest},
    thing::{
        EndsAt, PlacedThings, Placement, ThingBook, ThingData, ThingId, ThingKind, ThingSpec, TriggerRadius,
    },
    view::View,
    zone::ZoneBook,
};
use decitick_protocol::{EntityData, EntityDespawn, EntityPayload, ServerLaneEvent, normalise_heading};

use crate::lane::broadcast::{encoded, push_critical};

pub(crate) fn apply_thing_requests(
    world: &mut World,
    ends: &mut QueryState<(&'static ThingId, &'static EndsAt)>,
    mut requested: Local<'_, MessageCursor<ThingRequest>>,
) {
    place_first_things(world);
    let requests: Vec<ThingRequest> = requested
        .read(world.resource::<Messages<ThingRequest>>())
        .cloned()
        .collect();
    let mut gone = over(world, ends);
    for request in requests {
        match request {
            ThingRequest::Create(id, spec) => create(world, id, *spec),
            ThingRequest::Destroy(id) => gone.push(id),
            ThingRequest::Move(id, motion) => {
                if let Some(mut held) = thing(world, id).and_then(|entity| world.get_mut(entity)) {
                    *held = motion;
                }
            }
            ThingRequest::Place {
                thing: id,
                position,
                heading,
                area,
                dimension,
            } => {
                if !is_place(position, heading) {
                    tracing::warn!(
                        thing = id.0,
                        ?position,
                        heading,
                        reason = "no_place",
                        "a thing was not moved: there is no such place"
                    );
                    continue;
                }
                let tick = world.resource::<Clock>().tick;
                let placement = Placement {
                    position,
                    heading: normalise_heading(heading),
                    area,
                    moved_tick: tick,
                    ..Placement::default()
                };
                if let Some(entity) = thing(world, id) {
                    world.entity_mut(entity).insert((placement, Dimension(dimension)));
                }
            }
            ThingRequest::Data(id, data) => set_data(world, id, data),
        }
    }
    destroy(world, gone);
}

fn thing(world: &World, id: ThingId) -> Option<Entity> {
    world.resource::<ThingBook>().find(id)
}

/// What assets/things.ron places, in the first tick.
fn place_first_things(world: &mut World) {
    if world.resource::<PlacedThings>().0.is_empty() {
        return;
    }
    let placed = std::mem::take(&mut world.resource_mut::<PlacedThings>().0);
    for spec in placed {
        if let Some(id) = world.resource_mut::<ThingBook>().reserve() {
            create(world, id, spec);
        }
    }
}

fn create(world: &mut World, id: ThingId, spec: ThingSpec) {
    if !is_place(spec.position, spec.heading) {
        tracing::warn!(thing = id.0, position = ?spec.position, heading = spec.heading, reason = "no_place", "a thing was not made: there is no such place");
        world.resource_mut::<ThingBook>().forgo();
        return;
    }
    let now = world.resource::<Clock>().since_start;
    let mut thing = world.spawn((
        id,
        ThingKind {
            kind: spec.kind,
            model: spec.model,
        },
        Placement {
            position: spec.position,
            heading: normalise_heading(spec.heading),
            area: spec.area,
            ..Placement::default()
        },
        Dimension(spec.dimension),
        spec.motion,
        ThingData(spec.data),
    ));
    if let Some(radius) = spec.trigger_radius {
        thing.insert(TriggerRadius(radius));
    }
    if let Some(lifetime) = spec.lifetime {
        thing.insert(EndsAt(now.saturating_add(lifetime)));
    }
}

/// Things whose time is over.
fn over(world: &World, ends: &mut QueryState<(&'static ThingId, &'static EndsAt)>) -> Vec<ThingId> {
    let now = world.resource::<Clock>().since_start;
    ends.iter(world)
        .filter(|(_, end)| end.0 <= now)
        .map(|(&id, _)| id)
        .collect()
}

/// Removes things, and tells those who have them in view at once.
fn destroy(world: &mut World, mut gone: Vec<ThingId>) {
    gone.sort_unstable();
    gone.dedup();
    let gone: Vec<_> = gone
        .into_iter()
        .filter_map(|id| {
            world.despawn(thing(world, id)?);
            let packet = EntityDespawn { entity_id: id.0 };
            Some((id, encoded(&ServerLaneEvent::EntityDespawn(packet), false)))
        })
        .collect();
    if gone.is_empty() {
        return;
    }
    let mut lost = Vec::new();
    let mut viewers = world.query::<(&mut View, &mut OutboundLane)>();
    for (mut view, mut lane) in viewers.iter_mut(world) {
        lost.clear();
        lost.extend(
            view.things
                .ids()
                .iter()
                .filter_map(|id| gone.binary_search_by_key(id, |&(gone, _)| gone).ok()),
        );
        for (id, event) in lost.iter().filter_map(|&index: &usize| gone.get(index)) {
            view.things.remove(*id);
            push_critical(&mut lane, event);
        }
    }
}

fn set_data(world: &mut World, id: ThingId, data: EntityPayload) {
    let Some(entity) = thing(world, id) else { return };
    let event = encoded(
        &ServerLaneEvent::EntityData(EntityData {
            entity_id: id.0,
            data: data.clone(),
        }),
        false,
    );
    world.entity_mut(entity).insert(ThingData(data));
    let mut viewers = world.query::<(&View, &mut OutboundLane)>();
    for (view, mut lane) in viewers.iter_mut(world) {
        if view.things.contains(id) {
            push_critical(&mut lane, &event);
        }
    }
}

pub(crate) fn apply_zone_requests(
    mut requested: MessageReader<'_, '_, ZoneRequest>,
    book: Res<'_, ZoneBook>,
    mut commands: Commands<'_, '_>,
) {
    let mut made = BTreeMap::new();
    for request in requested.read() {
        match *request {
            ZoneRequest::Create(id, zone) => {
                made.insert(id, commands.spawn((id, zone)).id());
            }
            ZoneRequest::Destroy(id) => {
                if let Some(entity) = made.remove(&id).or_else(|| book.find(id)) {
                    commands.entity(entity).try_despawn();
                }
            }
        }
    }
}
