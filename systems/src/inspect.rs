//! Answers questions about the world by reflection: which components there are, what an entity holds, what people call
//! it. It knows no console and no transport: whoever asks lays the answers out.
//!
//! Secrets never get here: a type that is hidden has no view, and a type that is neither registered nor summarised is
//! hidden.

mod label;
mod names;
mod path;
mod value;

use bevy_app::{App, Plugin};
use bevy_ecs::{
    component::ComponentId,
    entity::Entity,
    reflect::{AppTypeRegistry, ReflectComponent},
    world::{EntityRef, World},
};
use bevy_reflect::{PartialReflect, Reflect, TypeInfo, structs::DynamicStruct};
use decitick_components::inspection::{Hidden, InspectApp, Sight, Sights, register_types};

pub(crate) use label::rank;
pub use label::{EntityFault, entity_named, is_shown_as_entity, label};
pub use names::{
    Kind, NameFault, Named, component_names, components_of, field_names, find, is_of_the_engine, known_as,
    resource_names,
};
pub use path::{Form, PathFault, field_at, fields_of, settable_at, value_at};
pub use value::{Budget, shown};

use crate::{anatomy, encode, handshake, lane, liveness, netsim, remote, script, spawn, streaming};

/// Makes components and resources known to those who ask. Without it nothing is slower or faster, and every answer says
/// that a type is not registered.
#[derive(Clone, Copy, Debug, Default)]
pub struct InspectPlugin;

impl Plugin for InspectPlugin {
    fn build(&self, app: &mut App) {
        register_types(app);
        handshake::show(app);
        lane::show(app);
        liveness::show(app);
        spawn::show(app);
        streaming::show(app);
        script::show(app);
        app.keep_inside::<encode::LastQuery>("it is what the door was told last; `status` says the same")
            .keep_inside::<anatomy::Slots>("`systems` shows what was measured")
            .keep_inside::<netsim::HeldInbound>("it holds datagrams; `netsim` says how many are held back")
            .keep_inside::<remote::RemoteWork>("it is what is answered over several ticks");
    }
}

/// What can be seen of a component on an entity.
pub enum View<'w> {
    /// All of it.
    Whole(&'w dyn Reflect),
    /// A summary.
    Summary(DynamicStruct),
}

impl View<'_> {
    /// The value to look into.
    #[must_use]
    pub fn value(&self) -> &dyn PartialReflect {
        match self {
            Self::Whole(value) => value.as_partial_reflect(),
            Self::Summary(value) => value,
        }
    }
}

/// How a type is seen.
#[derive(Clone)]
pub enum Seen {
    /// All of it, by this.
    Whole(ReflectComponent, &'static TypeInfo),
    /// By a summary.
    Summary(decitick_components::inspection::SummaryOf),
}

impl Seen {
    /// What the type consists of, as far as it is seen.
    #[must_use]
    pub const fn form(&self) -> Form {
        match self {
            Self::Whole(_, info) => Form::Type(info),
            Self::Summary(summary) => Form::Summary(summary.fields),
        }
    }

    /// The value on an entity; none when it lacks the component.
    #[must_use]
    pub fn view<'w>(&self, entity: EntityRef<'w>) -> Option<View<'w>> {
        match self {
            Self::Whole(reflect, _) => reflect.reflect(entity).map(View::Whole),
            Self::Summary(summary) => (summary.of)(entity).map(View::Summary),
        }
    }
}

/// How a component or resource is seen.
///
/// # Errors
/// Why it is not.
pub fn sight(world: &World, id: ComponentId) -> Result<Seen, Hidden> {
    const UNKNOWN: Hidden = Hidden::Internal("it does not derive `Reflect`, or is not registered");
    const ENGINE: Hidden = Hidden::Internal("it belongs to the engine");
    let info = world.components().get_info(id).ok_or(UNKNOWN)?;
    let type_id = info.type_id().ok_or(UNKNOWN)?;
    match world
        .get_resource::<Sights>()
        .and_then(|sights| sights.of(type_id))
    {
        Some(Sight::Hidden(hidden)) => return Err(hidden),
        Some(Sight::Summary(summary)) => return Ok(Seen::Summary(summary)),
        None => {}
    }
    let engine = is_of_the_engine(&names::path_of(info));
    let unseen = if engine { ENGINE } else { UNKNOWN };
    let registry = world.get_resource::<AppTypeRegistry>().ok_or(unseen)?;
    let registry = registry.read();
    let reflect = registry
        .get_type_data::<ReflectComponent>(type_id)
        .ok_or(unseen)?;
    let registration = registry.get_type_info(type_id).ok_or(unseen)?;
    Ok(Seen::Whole(reflect.clone(), registration))
}

/// The entity that holds a resource.
#[must_use]
pub fn resource_entity(world: &World, id: ComponentId) -> Option<Entity> {
    world.resource_entities().get(id)
}
