//! Values of an entity that change, components that come and go. One event a tick at most.

use bevy_ecs::{change_detection::Tick, component::ComponentId, entity::Entity, world::World};
use bevy_reflect::TypeRegistry;
use decitick_components::remote::{ComponentsOf, ListOf, RemoteError, codes};

use super::super::{
    EVENT_BYTES,
    json::{self, JsonText},
    types::{ValueFault, component, components_of, value_text},
};

/// What is watched of an entity.
pub(super) struct EntityWatch {
    entity: Entity,
    /// What was told already.
    since: Tick,
    watched: Watched,
}

enum Watched {
    Values {
        strict: bool,
        components: Vec<WatchedComponent>,
        /// Those that are not known, with the error.
        unknown: Vec<(String, RemoteError)>,
    },
    /// Type paths that were there.
    List(Vec<&'static str>),
}

struct WatchedComponent {
    path: String,
    there: bool,
}

impl EntityWatch {
    /// Tells which values change from now on.
    pub(super) fn of_values(
        of: ComponentsOf,
        world: &World,
        registry: &TypeRegistry,
    ) -> Result<Self, RemoteError> {
        Ok(Self {
            entity: of.entity.0,
            since: world.read_change_tick(),
            watched: values(of, world, registry)?,
        })
    }

    /// Tells which components come and go from now on.
    pub(super) fn of_list(of: ListOf, world: &World, registry: &TypeRegistry) -> Result<Self, RemoteError> {
        let entity = of.entity.0;
        Ok(Self {
            entity,
            since: world.read_change_tick(),
            watched: Watched::List(components_of(entity, world, registry)?),
        })
    }

    /// What changed since the last look, if anything did.
    ///
    /// # Errors
    /// The watch ends: the entity is gone, or an event would be too large.
    pub(super) fn event(
        &mut self,
        world: &World,
        registry: &TypeRegistry,
    ) -> Result<Option<String>, RemoteError> {
        let now = world.read_change_tick();
        let since = std::mem::replace(&mut self.since, now);
        match &mut self.watched {
            Watched::List(told) => {
                let there = components_of(self.entity, world, registry)?;
                let added: Vec<_> = there.iter().filter(|path| !told.contains(path)).collect();
                let removed: Vec<_> = told.iter().filter(|path| !there.contains(path)).collect();
                if added.is_empty() && removed.is_empty() {
                    return Ok(None);
                }
                let event = format!(
                    r#"{{"added":{},"removed":{}}}"#,
                    json::list(&added),
                    json::list(&removed)
                );
                *told = there;
                Ok(Some(event))
            }
            Watched::Values {
                strict,
                components,
                unknown,
            } => {
                let changes = changes(self.entity, components, (since, now), world, registry)?;
                let Some((values, removed)) = changes else {
                    return Ok(None);
                };
                let mut event = JsonText::map(2 * EVENT_BYTES);
                event.entry("components", &values)?;
                event.entry("removed", &json::list(&removed))?;
                if !*strict {
                    let mut errors = JsonText::map(EVENT_BYTES);
                    for (path, error) in unknown {
                        errors.entry(path, &json::error(error))?;
                    }
                    event.entry("errors", &errors.end())?;
                }
                Ok(Some(event.end()))
            }
        }
    }
}

fn values(of: ComponentsOf, world: &World, registry: &TypeRegistry) -> Result<Watched, RemoteError> {
    let entity = of.entity.0;
    let held = world
        .get_entity(entity)
        .map_err(|_| RemoteError::entity_not_found(entity))?;
    let (mut components, mut unknown) = (Vec::new(), Vec::new());
    for path in of.components {
        match component(registry, world, &path) {
            Some(known) => {
                let there = known.id.is_some_and(|id| held.contains_id(id));
                components.push(WatchedComponent { path, there });
            }
            None => {
                let error = RemoteError::unknown_component(&path);
                if of.strict {
                    return Err(error);
                }
                unknown.push((path, error));
            }
        }
    }
    Ok(Watched::Values {
        strict: of.strict,
        components,
        unknown,
    })
}

/// The values that changed as a map, and the components that went; nothing when nothing did.
fn changes(
    entity: Entity,
    components: &mut [WatchedComponent],
    (since, now): (Tick, Tick),
    world: &World,
    registry: &TypeRegistry,
) -> Result<Option<(String, Vec<String>)>, RemoteError> {
    let held = world
        .get_entity(entity)
        .map_err(|_| RemoteError::entity_not_found(entity))?;
    let mut values = JsonText::map(EVENT_BYTES);
    let mut removed = Vec::new();
    let mut changed = false;
    for watched in components {
        let Some(known) = component(registry, world, &watched.path) else {
            continue;
        };
        let ticks = known
            .id
            .and_then(|id: ComponentId| held.get_change_ticks_by_id(id));
        let was_there = std::mem::replace(&mut watched.there, ticks.is_some());
        match ticks {
            Some(ticks) if ticks.is_changed(since, now) || !was_there => {
                let Some(value) = known.reflect.reflect(held) else {
                    continue;
                };
                changed = true;
                match value_text(value.as_partial_reflect(), registry, values.room()) {
                    Ok(text) => values.entry(&watched.path, &text)?,
                    Err(ValueFault::TooLarge) => return Err(RemoteError::too_large(EVENT_BYTES)),
                    Err(fault) => {
                        return Err(fault.error(codes::COMPONENT_ERROR, &watched.path, EVENT_BYTES));
                    }
                }
            }
            None if was_there => removed.push(watched.path.clone()),
            _ => {}
        }
    }
    if !changed && removed.is_empty() {
        return Ok(None);
    }
    Ok(Some((values.end(), removed)))
}
