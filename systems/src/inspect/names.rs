//! Names of components, resources and fields: how they are found by what a person wrote, and listed.

use std::{collections::BTreeMap, fmt};

use bevy_ecs::{
    component::{ComponentId, ComponentInfo},
    world::{EntityRef, World},
};

use super::{path::fields_of, sight};

/// What a name is looked for among.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Components of entities.
    Component,
    /// ECS resources.
    Resource,
    /// Both.
    Any,
}

/// A component or resource that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its id in this world.
    pub id: ComponentId,
    /// Its short name: the path without modules.
    pub short: String,
    /// Its whole type path.
    pub path: String,
}

/// Why a name says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameFault {
    /// There is nothing of the name.
    Unknown {
        /// What was looked for.
        name: String,
        /// What is most like it.
        nearest: Option<String>,
        /// Among what.
        kind: Kind,
    },
    /// Several have it.
    Ambiguous {
        /// What was looked for.
        name: String,
        /// Their whole paths.
        paths: Vec<String>,
    },
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, nearest, kind } => {
                let what = if *kind == Kind::Resource {
                    "resource"
                } else {
                    "component"
                };
                write!(f, "there is no {what} {name:?}")?;
                match nearest {
                    Some(nearest) => write!(f, "; the nearest is `{nearest}`"),
                    None => Ok(()),
                }
            }
            Self::Ambiguous { name, paths } => {
                write!(
                    f,
                    "{name:?} may be any of {}; write the whole path",
                    paths.join(", ")
                )
            }
        }
    }
}

/// Whether a type is the engine's own. A queue of the server's messages is not.
#[must_use]
pub fn is_of_the_engine(path: &str) -> bool {
    path.starts_with("bevy_") && !path.contains("::Messages<decitick")
}

pub(super) fn path_of(info: &ComponentInfo) -> String {
    info.name().as_string()
}

impl Named {
    fn of(id: ComponentId, info: &ComponentInfo) -> Self {
        Self {
            id,
            short: info.name().shortname().to_string(),
            path: path_of(info),
        }
    }

    fn is_of(&self, world: &World, kind: Kind) -> bool {
        let resource = world.resource_entities().get(self.id).is_some();
        match kind {
            Kind::Component => !resource,
            Kind::Resource => resource,
            Kind::Any => true,
        }
    }

    fn is_of_the_engine(&self) -> bool {
        is_of_the_engine(&self.path)
    }
}

/// The component of an id, with its names.
#[must_use]
pub fn known_as(world: &World, id: ComponentId) -> Option<Named> {
    world.components().get_info(id).map(|info| Named::of(id, info))
}

/// Every component of an entity, by alphabet.
#[must_use]
pub fn components_of(world: &World, entity: EntityRef<'_>) -> Vec<Named> {
    let ids = entity.archetype().components().iter();
    let mut components: Vec<Named> = ids.filter_map(|&id| known_as(world, id)).collect();
    components.sort_by(|one, other| (&one.short, &one.path).cmp(&(&other.short, &other.path)));
    components
}

fn all(world: &World, kind: Kind) -> impl Iterator<Item = Named> {
    world
        .components()
        .iter_registered()
        .map(|(id, info)| Named::of(id, info))
        .filter(move |named| named.is_of(world, kind))
}

/// Finds a component or resource by its short name or its whole path.
///
/// # Errors
/// There is none of the name, or several have it.
pub fn find(world: &World, name: &str, kind: Kind) -> Result<Named, NameFault> {
    let mut found: Vec<Named> = all(world, kind)
        .filter(|named| named.path == name || named.short == name)
        .collect();
    if let Some(whole) = found.iter().position(|named| named.path == name) {
        return Ok(found.swap_remove(whole));
    }
    if found.len() > 1 {
        return Err(NameFault::Ambiguous {
            name: name.to_owned(),
            paths: found.into_iter().map(|named| named.path).collect(),
        });
    }
    found.pop().ok_or_else(|| NameFault::Unknown {
        name: name.to_owned(),
        nearest: nearest(name, all(world, kind).map(|named| named.short)),
        kind,
    })
}

/// Of some names the one that takes the fewest edits, upper and lower case alike.
pub(super) fn nearest(name: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let wanted: String = name.chars().take(64).flat_map(char::to_lowercase).collect();
    names.min_by_key(|name| strsim::damerau_levenshtein(&wanted, &name.to_lowercase()))
}

/// The short names of the components that entities may have, without the engine's own, by alphabet. Where two are alike
/// it is their whole paths.
#[must_use]
pub fn component_names(world: &World) -> Vec<String> {
    listed(world, Kind::Component)
}

/// The short names of the resources, without the engine's own, by alphabet.
#[must_use]
pub fn resource_names(world: &World) -> Vec<String> {
    listed(world, Kind::Resource)
}

fn listed(world: &World, kind: Kind) -> Vec<String> {
    let mut paths: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for named in all(world, kind).filter(|named| !named.is_of_the_engine()) {
        paths.entry(named.short).or_default().push(named.path);
    }
    let names = paths
        .into_iter()
        .flat_map(|(short, paths)| if paths.len() > 1 { paths } else { vec![short] });
    names.collect()
}

/// The names of the fields of a component or resource, as `Component.field` goes on; none when it has none, is hidden or
/// is not known.
#[must_use]
pub fn field_names(world: &World, name: &str) -> Vec<String> {
    let seen = find(world, name, Kind::Any)
        .ok()
        .and_then(|named| sight(world, named.id).ok());
    seen.map(|seen| fields_of(seen.form())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use bevy_app::App;
    use bevy_ecs::component::Component;
    use decitick_components::{ComponentsPlugin, connection::Connection};

    use super::{super::InspectPlugin, *};

    mod other {
        #[derive(bevy_ecs::component::Component)]
        pub(super) struct Motion;
    }

    #[derive(Component)]
    struct Unregistered;

    fn world() -> App {
        let mut app = App::new();
        app.add_plugins((ComponentsPlugin::default(), InspectPlugin));
        app.world_mut().spawn((Connection, Unregistered));
        app
    }

    #[test]
    fn a_name_is_short_or_whole_and_a_wrong_one_is_told_the_nearest() {
        let mut app = world();
        let vitals = find(app.world(), "Vitals", Kind::Component).unwrap();
        assert_eq!(vitals.path, "decitick_components::body::Vitals");
        assert_eq!(find(app.world(), &vitals.path, Kind::Any), Ok(vitals));
        let fault = find(app.world(), "vitls", Kind::Component)
            .unwrap_err()
            .to_string();
        assert_eq!(fault, "there is no component \"vitls\"; the nearest is `Vitals`");
        assert!(
            find(app.world(), "Clock", Kind::Component).is_err(),
            "a resource is no component"
        );
        assert!(find(app.world(), "Clock", Kind::Resource).is_ok());
        app.world_mut().spawn(other::Motion);
        let fault = find(app.world(), "Motion", Kind::Component)
            .unwrap_err()
            .to_string();
        assert!(
            fault.contains("decitick_components::body::Motion") && fault.contains("whole path"),
            "{fault}"
        );
    }

    #[test]
    fn names_are_listed_for_completion_without_the_engine() {
        let app = world();
        let components = component_names(app.world());
        assert!(
            components.is_sorted() && components.contains(&"Vitals".to_owned()),
            "{components:?}"
        );
        assert!(!components.contains(&"Observer".to_owned()), "{components:?}");
        let resources = resource_names(app.world());
        assert!(resources.contains(&"Clock".to_owned()) && !resources.contains(&"Vitals".to_owned()));
        assert_eq!(field_names(app.world(), "Vitals"), ["health", "armour"]);
        assert_eq!(
            field_names(app.world(), "OutboundLane").first().unwrap(),
            "acknowledged"
        );
        assert!(field_names(app.world(), "SessionToken").is_empty());
        assert!(field_names(app.world(), "Unregistered").is_empty());
        assert!(
            resources.contains(&"Messages<PlayerJoined>".to_owned()),
            "{resources:?}"
        );
    }
}
