//! Commands that look into entities and resources by reflection.

mod select;
mod set;
mod watch;

use bevy_ecs::{
    entity::Entity,
    world::{EntityRef, World},
};
use decitick_components::console::{
    EcsResourceAnswer, EcsResourceRow, EcsResourcesAnswer, EntityWord, HiddenRow, InspectAnswer, Shown,
};

use super::{Answer, failed, rendered};
use crate::inspect::{
    Budget, Kind, Named, Seen, components_of, entity_named, find, label, resource_entity, resource_names,
    shown, sight,
};

pub(super) use select::entities;
pub(super) use set::set;
pub(crate) use watch::tell_watches;
pub(super) use watch::{add_watch_system, watch, watch_is_over};

/// What a command found, or what to tell the one who asked.
type Found<T> = Result<T, String>;

pub(super) fn inspect(world: &mut World, entity: EntityWord, component: Option<&str>) -> Answer {
    match inspected(world, entity, component) {
        Ok(answer) => rendered(answer),
        Err(error) => failed(error),
    }
}

fn inspected(world: &World, word: EntityWord, component: Option<&str>) -> Found<InspectAnswer> {
    let entity = entity_of(world, word)?;
    let components = match component {
        Some(name) => vec![component_of(world, entity, name)?],
        None => components_of(world, entity),
    };
    Ok(inspect_components(world, entity, &components))
}

/// Every component of an entity, as `inspect` tells of it; `None` when there is no such entity.
pub(crate) fn inspect_entity(world: &World, entity: Entity) -> Option<InspectAnswer> {
    let entity = world.get_entity(entity).ok()?;
    Some(inspect_components(world, entity, &components_of(world, entity)))
}

fn inspect_components(world: &World, entity: EntityRef<'_>, components: &[Named]) -> InspectAnswer {
    let names = answer_names(components);
    let mut answer = InspectAnswer {
        entity: entity.id().to_string(),
        is: label(world, entity),
        components: Vec::new(),
        hidden: Vec::new(),
    };
    let mut budget = Budget::default();
    for (named, name) in components.iter().zip(names) {
        match sight(world, named.id) {
            Ok(seen) => answer
                .components
                .extend(value_of(&seen, entity, &mut budget).map(|value| (name, value))),
            Err(hidden) => answer.hidden.push(HiddenRow {
                name,
                secret: hidden.is_secret(),
                why: hidden.why().to_owned(),
            }),
        }
    }
    answer
}

fn value_of(seen: &Seen, entity: EntityRef<'_>, budget: &mut Budget) -> Option<Shown> {
    seen.view(entity).map(|view| shown(view.value(), budget))
}

/// Short names; where two are alike, whole paths.
fn answer_names(components: &[Named]) -> Vec<String> {
    let alike = |named: &Named| {
        components
            .iter()
            .filter(|other| other.short == named.short)
            .count()
            > 1
    };
    let name = |named: &Named| {
        if alike(named) {
            named.path.clone()
        } else {
            named.short.clone()
        }
    };
    components.iter().map(name).collect()
}

fn entity_of(world: &World, word: EntityWord) -> Found<EntityRef<'_>> {
    let entity = entity_named(world, word).map_err(|fault| fault.to_string())?;
    world.get_entity(entity).map_err(|error| error.to_string())
}

/// A component that an entity has, by its name.
fn component_of(world: &World, entity: EntityRef<'_>, name: &str) -> Found<Named> {
    let named = find(world, name, Kind::Any).map_err(|fault| fault.to_string())?;
    if entity.contains_id(named.id) {
        Ok(named)
    } else {
        Err(format!(
            "{} has no {}; `inspect {0}` shows what it has",
            entity.id(),
            named.short
        ))
    }
}

/// How a component is seen, or why `what` refuses it.
fn seen_for(world: &World, named: &Named, what: &str) -> Found<Seen> {
    sight(world, named.id).map_err(|hidden| {
        let word = if hidden.is_secret() { "secret" } else { "not shown" };
        format!("{what} refuses {}: it is {word}: {}", named.short, hidden.why())
    })
}

pub(super) fn resources(world: &mut World, name: Option<&str>) -> Answer {
    match name {
        Some(name) => match one_resource(world, name) {
            Ok(answer) => rendered(answer),
            Err(error) => failed(error),
        },
        None => rendered(all_resources(world)),
    }
}

fn all_resources(world: &World) -> EcsResourcesAnswer {
    let row = |name: String| {
        let (named, entity) = resource_of(world, &name).ok()?;
        let shown = match sight(world, named.id) {
            Ok(Seen::Whole(..)) => "whole",
            Ok(Seen::Summary(_)) => "summary",
            Err(hidden) if hidden.is_secret() => "secret",
            Err(_) => "internal",
        };
        Some(EcsResourceRow {
            name,
            entity: entity.to_string(),
            shown,
        })
    };
    EcsResourcesAnswer {
        resources: resource_names(world).into_iter().filter_map(row).collect(),
    }
}

fn one_resource(world: &World, name: &str) -> Found<EcsResourceAnswer> {
    let (named, entity) = resource_of(world, name)?;
    let seen = seen_for(world, &named, "`resources`")?;
    let held = world.get_entity(entity).map_err(|error| error.to_string())?;
    Ok(EcsResourceAnswer {
        resource: named.short,
        entity: entity.to_string(),
        value: value_of(&seen, held, &mut Budget::default()).unwrap_or(Shown::Nothing),
    })
}

fn resource_of(world: &World, name: &str) -> Found<(Named, Entity)> {
    let named = find(world, name, Kind::Resource).map_err(|fault| fault.to_string())?;
    let entity = resource_entity(world, named.id).ok_or_else(|| format!("{name} holds nothing now"))?;
    Ok((named, entity))
}
