//! `world.query`: which entities, and what of each. The entities are fixed at once; their values are shown as they are
//! when their turn comes, and who is gone by then is left out.

use std::vec::IntoIter;

use bevy_ecs::{
    archetype::ArchetypeEntity,
    component::ComponentId,
    entity::Entity,
    resource::IsResource,
    world::{EntityRef, World},
};
use bevy_reflect::TypeRegistry;
use decitick_components::remote::{ComponentSelector, RemoteError, RemoteQuery, RemoteResult, codes};

use super::{
    ANSWER_BYTES, Budget,
    json::JsonText,
    types::{ValueFault, component, component_by_id, value_text},
};

/// A query that is being answered.
pub(super) struct QueryJob {
    /// The request.
    pub id: u64,
    entities: IntoIter<Entity>,
    required: Vec<ComponentId>,
    /// Beside the required ones; none: whatever an entity holds.
    optional: Option<Vec<ComponentId>>,
    /// Type paths with what they mean; nothing holds what is unknown.
    has: Vec<(String, Option<ComponentId>)>,
    rows: JsonText,
}

impl QueryJob {
    pub(super) fn new(
        id: u64,
        query: RemoteQuery,
        world: &World,
        registry: &TypeRegistry,
    ) -> Result<Self, RemoteError> {
        let RemoteQuery { data, filter, strict } = query;
        // Unknown components: hard requirements that nothing meets, or of no effect.
        let ids = |paths: &[String]| -> Result<(Vec<ComponentId>, bool), RemoteError> {
            let mut ids = Vec::with_capacity(paths.len());
            for path in paths {
                match component(registry, world, path).and_then(|known| known.id) {
                    Some(id) => ids.push(id),
                    None if strict => {
                        return Err(RemoteError::new(
                            codes::COMPONENT_ERROR,
                            format!("Component `{path}` isn't registered or used in the world"),
                        ));
                    }
                    None => {}
                }
            }
            let all = ids.len() == paths.len();
            Ok((ids, all))
        };
        let (required, all_known) = ids(&data.components)?;
        let (with, all_with_known) = ids(&filter.with)?;
        let (without, _) = ids(&filter.without)?;
        let optional = match &data.option {
            ComponentSelector::All => None,
            ComponentSelector::Paths(paths) => Some(ids(paths)?.0),
        };
        ids(&data.has)?;
        let has = data
            .has
            .into_iter()
            .map(|path| {
                let id = component(registry, world, &path).and_then(|known| known.id);
                (path, id)
            })
            .collect();
        let entities = if all_known && all_with_known {
            matching(world, &required, &with, &without)
        } else {
            Vec::new()
        };
        Ok(Self {
            id,
            entities: entities.into_iter(),
            required,
            optional,
            has,
            rows: JsonText::list(ANSWER_BYTES),
        })
    }

    /// Shows entities as far as the budget goes; the answer once it is complete.
    pub(super) fn go_on(
        &mut self,
        world: &World,
        registry: &TypeRegistry,
        budget: &mut Budget,
    ) -> Option<RemoteResult> {
        while !budget.is_spent() {
            let Some(entity) = self.entities.next() else {
                let rows = std::mem::replace(&mut self.rows, JsonText::list(0));
                return Some(Ok(rows.end()));
            };
            let before = self.rows.len();
            match self.add(entity, world, registry) {
                Ok(values) => budget.spend(values, self.rows.len().saturating_sub(before)),
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }

    /// Shows one entity; how many values that took.
    fn add(&mut self, entity: Entity, world: &World, registry: &TypeRegistry) -> Result<usize, RemoteError> {
        let Ok(held) = world.get_entity(entity) else {
            return Ok(1);
        };
        if !self.required.iter().all(|&id| held.contains_id(id)) {
            return Ok(1);
        }
        let (components, values) = self.components(held, world, registry)?;
        let mut row = JsonText::map(ANSWER_BYTES);
        row.entry("entity", &entity.to_bits().to_string())?;
        row.entry("components", &components)?;
        if !self.has.is_empty() {
            let mut has = JsonText::map(ANSWER_BYTES);
            for (path, id) in &self.has {
                let holds = id.is_some_and(|id| held.contains_id(id));
                has.entry(path, if holds { "true" } else { "false" })?;
            }
            row.entry("has", &has.end())?;
        }
        self.rows.item(&row.end())?;
        Ok(values.saturating_add(self.has.len()).max(1))
    }

    fn components(
        &self,
        held: EntityRef<'_>,
        world: &World,
        registry: &TypeRegistry,
    ) -> Result<(String, usize), RemoteError> {
        let mut components = JsonText::map(self.rows.room());
        let mut values = 0;
        let optional: &[ComponentId] = match &self.optional {
            Some(optional) => optional,
            None => held.archetype().components(),
        };
        let others = optional.iter().filter(|id| !self.required.contains(id));
        for &id in self.required.iter().chain(others) {
            let Some(known) = component_by_id(registry, world, id) else {
                continue;
            };
            let Some(value) = known.reflect.reflect(held) else {
                continue;
            };
            values += 1;
            match value_text(value.as_partial_reflect(), registry, components.room()) {
                Ok(text) => components.entry(known.path, &text)?,
                Err(ValueFault::TooLarge) => return Err(RemoteError::too_large(ANSWER_BYTES)),
                // One that cannot be shown does not keep the others from being.
                Err(ValueFault::Unshowable(_)) => {}
            }
        }
        Ok((components.end(), values))
    }
}

/// Entities that hold these components, those of resources left out.
fn matching(
    world: &World,
    required: &[ComponentId],
    with: &[ComponentId],
    without: &[ComponentId],
) -> Vec<Entity> {
    let resource = world.components().component_id::<IsResource>();
    world
        .archetypes()
        .iter()
        .filter(|archetype| {
            required.iter().chain(with).all(|&id| archetype.contains(id))
                && !without.iter().chain(&resource).any(|&id| archetype.contains(id))
        })
        .flat_map(|archetype| archetype.entities().iter().map(ArchetypeEntity::id))
        .collect()
}
