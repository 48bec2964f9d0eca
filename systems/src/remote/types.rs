//! What can be asked for: components and resources that are registered for reflection, and their values as JSON. What
//! is not registered does not exist here; that is how secrets stay out.

use std::any::TypeId;

use bevy_ecs::{
    component::ComponentId,
    entity::Entity,
    reflect::{ReflectComponent, ReflectResource},
    world::World,
};
use bevy_reflect::{
    PartialReflect, ReflectRef, ReflectSerialize, TypeRegistration, TypeRegistry,
    serde::{ReflectSerializerProcessor, TypedReflectSerializer},
};
use decitick_components::remote::RemoteError;
use serde::Serializer;

use super::json::Bounded;

/// A component or resource that can be shown.
pub(super) struct Known<'r> {
    /// Its type path.
    pub path: &'static str,
    pub type_id: TypeId,
    /// None while the world has not met it.
    pub id: Option<ComponentId>,
    pub reflect: &'r ReflectComponent,
}

/// The component of a type path.
pub(super) fn component<'r>(registry: &'r TypeRegistry, world: &World, path: &str) -> Option<Known<'r>> {
    known(registry.get_with_type_path(path)?, world)
}

/// The component of an id.
pub(super) fn component_by_id<'r>(
    registry: &'r TypeRegistry,
    world: &World,
    id: ComponentId,
) -> Option<Known<'r>> {
    let type_id = world.components().get_info(id)?.type_id()?;
    known(registry.get(type_id)?, world)
}

fn known<'r>(registration: &'r TypeRegistration, world: &World) -> Option<Known<'r>> {
    let type_id = registration.type_id();
    Some(Known {
        path: registration.type_info().type_path(),
        type_id,
        id: world.components().get_valid_id(type_id),
        reflect: registration.data::<ReflectComponent>()?,
    })
}

/// Whether it is a resource: registered as one, or one in this world.
pub(super) fn is_resource(known: &Known<'_>, world: &World, registry: &TypeRegistry) -> bool {
    registry.get_type_data::<ReflectResource>(known.type_id).is_some()
        || known
            .id
            .is_some_and(|id| world.resource_entities().get(id).is_some())
}

/// The type paths of all components that can be shown, in order.
pub(super) fn shown_components(registry: &TypeRegistry) -> Vec<&'static str> {
    let mut paths: Vec<_> = registry
        .iter_with_data::<ReflectComponent>()
        .map(|(registration, _)| registration.type_info().type_path())
        .collect();
    paths.sort_unstable();
    paths
}

/// The type paths of all resources that can be shown, in order.
pub(super) fn shown_resources(world: &World, registry: &TypeRegistry) -> Vec<&'static str> {
    let mut paths: Vec<_> = registry
        .iter()
        .filter_map(|registration| known(registration, world))
        .filter(|known| is_resource(known, world, registry))
        .map(|known| known.path)
        .collect();
    paths.sort_unstable();
    paths
}

/// The type paths of the components of an entity that can be shown, in order.
pub(super) fn components_of(
    entity: Entity,
    world: &World,
    registry: &TypeRegistry,
) -> Result<Vec<&'static str>, RemoteError> {
    let held = world
        .get_entity(entity)
        .map_err(|_| RemoteError::entity_not_found(entity))?;
    let mut paths: Vec<_> = held
        .archetype()
        .components()
        .iter()
        .filter_map(|&id| component_by_id(registry, world, id))
        .map(|known| known.path)
        .collect();
    paths.sort_unstable();
    Ok(paths)
}

/// Why a value has no text.
#[derive(Debug)]
pub(super) enum ValueFault {
    TooLarge,
    Unshowable(String),
}

impl ValueFault {
    pub(super) fn error(self, code: i32, path: &str, most: usize) -> RemoteError {
        match self {
            Self::TooLarge => RemoteError::too_large(most),
            Self::Unshowable(why) => RemoteError::unshowable(code, path, why),
        }
    }
}

/// A value as JSON of at most so many bytes.
pub(super) fn value_text(
    value: &dyn PartialReflect,
    registry: &TypeRegistry,
    most: usize,
) -> Result<String, ValueFault> {
    let mut bytes = Bounded::new(most);
    let serializer = TypedReflectSerializer::with_processor(value, registry, &Processor);
    match serde_json::to_writer(&mut bytes, &serializer) {
        Ok(()) => {
            String::from_utf8(bytes.into_bytes()).map_err(|error| ValueFault::Unshowable(error.to_string()))
        }
        Err(_) if bytes.full => Err(ValueFault::TooLarge),
        Err(error) => Err(ValueFault::Unshowable(error.to_string())),
    }
}

/// Entities as the protocol writes them, and as text what would otherwise make a whole component unshowable.
struct Processor;

impl ReflectSerializerProcessor for Processor {
    fn try_serialize<S: Serializer>(
        &self,
        value: &dyn PartialReflect,
        registry: &TypeRegistry,
        serializer: S,
    ) -> Result<Result<S::Ok, S>, S::Error> {
        if let Some(entity) = value.try_downcast_ref::<Entity>() {
            return serializer.serialize_u64(entity.to_bits()).map(Ok);
        }
        let opaque = matches!(value.reflect_ref(), ReflectRef::Opaque(_));
        let serializable = value
            .get_represented_type_info()
            .and_then(|info| registry.get(info.type_id()))
            .is_some_and(|registration| registration.data::<ReflectSerialize>().is_some());
        if opaque && !serializable {
            return serializer.collect_str(&format_args!("{value:?}")).map(Ok);
        }
        Ok(Err(serializer))
    }
}
