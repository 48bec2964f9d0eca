//! The parameters of each method, as serde reads them from a request. A list that is too long, or a name that is, is an
//! error of the parameters.

use std::fmt;

use bevy_ecs::entity::{Entity, EntityGeneration, EntityIndex};
use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Unexpected, Visitor},
};

use crate::{console::EntityWord, live::LiveRequest};

/// Type paths that one list of a question may hold.
pub const MAX_NAMES: usize = 64;
/// Bytes of the longest type path.
pub const MAX_NAME_BYTES: usize = 512;

/// A question that is answered once.
#[derive(Clone, Debug, PartialEq)]
pub enum RemoteQuestion {
    /// `world.get_components`: components of one entity.
    GetComponents(ComponentsOf),
    /// `world.query`: entities that hold components, with their values.
    Query(RemoteQuery),
    /// `world.list_components`: the components of an entity; of none, all that can be asked for.
    ListComponents(Option<ListOf>),
    /// `world.get_resources`: one resource.
    GetResource(ResourceOf),
    /// `world.list_resources`: all resources that can be asked for.
    ListResources,
    /// `registry.schema`: what the types look like.
    Schema(SchemaFilter),
    /// `schedule.list`: the schedules.
    ListSchedules,
    /// `decitick.command`: a console command that only reads.
    Command(CommandOf),
}

/// A question that is answered with each change, until the asker leaves.
#[derive(Clone, Debug, PartialEq)]
pub enum RemoteWatch {
    /// `world.get_components+watch`: values that changed, components that went.
    Components(ComponentsOf),
    /// `world.list_components+watch`: components that came and went.
    ListComponents(ListOf),
    /// `decitick.live+watch`: the server as it goes on, twice a second.
    Live(LiveRequest),
}

/// An entity, from its 64 bits as a number or from `12v3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteEntity(pub Entity);

/// Components of an entity.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ComponentsOf {
    /// The entity.
    pub entity: RemoteEntity,
    /// Type paths of the components, at most [`MAX_NAMES`].
    #[serde(deserialize_with = "names")]
    pub components: Vec<String>,
    /// Whether one that is not there is an error of the whole question.
    #[serde(default)]
    pub strict: bool,
}

/// A console command.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CommandOf {
    /// The line, as at the console; `--json` may be left out.
    pub command: String,
}

/// An entity whose components are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct ListOf {
    /// The entity.
    pub entity: RemoteEntity,
}

/// A resource.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ResourceOf {
    /// Its type path.
    pub resource: String,
}

/// Which entities, and what of them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct RemoteQuery {
    /// What of them.
    pub data: QueryData,
    /// Which.
    #[serde(default)]
    pub filter: QueryFilter,
    /// Whether an unknown component is an error of the whole question.
    #[serde(default)]
    pub strict: bool,
}

/// What a query tells of each entity.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct QueryData {
    /// Components it must hold, with their values.
    #[serde(default, deserialize_with = "names")]
    pub components: Vec<String>,
    /// Components whose values are told where it holds them.
    #[serde(default)]
    pub option: ComponentSelector,
    /// Components of which it is told whether it holds them.
    #[serde(default, deserialize_with = "names")]
    pub has: Vec<String>,
}

/// Some components, or all that can be shown.
#[derive(Clone, Debug, PartialEq)]
pub enum ComponentSelector {
    /// `"all"`.
    All,
    /// These type paths.
    Paths(Vec<String>),
}

impl Default for ComponentSelector {
    fn default() -> Self {
        Self::Paths(Vec::new())
    }
}

/// Which entities a query tells of.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct QueryFilter {
    /// Components they must not hold.
    #[serde(default, deserialize_with = "names")]
    pub without: Vec<String>,
    /// Components they must hold.
    #[serde(default, deserialize_with = "names")]
    pub with: Vec<String>,
}

/// Which types a schema tells of.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct SchemaFilter {
    /// Not those of these crates.
    #[serde(default, deserialize_with = "names")]
    pub without_crates: Vec<String>,
    /// Only those of these crates; all when there are none.
    #[serde(default, deserialize_with = "names")]
    pub with_crates: Vec<String>,
    /// By what a type is registered as.
    #[serde(default)]
    pub type_limit: TypeLimit,
}

/// Types by what they are registered as: `Component`, `Resource`, `Default`, ...
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct TypeLimit {
    /// Not those that are one of these.
    #[serde(default, deserialize_with = "names")]
    pub without: Vec<String>,
    /// Only those that are one of these; all when there are none.
    #[serde(default, deserialize_with = "names")]
    pub with: Vec<String>,
}

impl<'de> Deserialize<'de> for RemoteEntity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bits;

        impl Visitor<'_> for Bits {
            type Value = RemoteEntity;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an entity: its bits as a number, or \"12v3\"")
            }

            fn visit_u64<E: Error>(self, bits: u64) -> Result<RemoteEntity, E> {
                Entity::try_from_bits(bits)
                    .map(RemoteEntity)
                    .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(bits), &self))
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<RemoteEntity, E> {
                let Ok(EntityWord::Entity { index, generation }) = EntityWord::parse(word) else {
                    return Err(E::custom("an entity is its bits as a number, or \"12v3\""));
                };
                let index = EntityIndex::from_raw_u32(index)
                    .ok_or_else(|| E::custom("no entity has an index so high"))?;
                let generation = EntityGeneration::from_bits(generation);
                Ok(RemoteEntity(Entity::from_index_and_generation(index, generation)))
            }
        }

        deserializer.deserialize_any(Bits)
    }
}

impl<'de> Deserialize<'de> for ComponentSelector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Selector;

        impl<'de> Visitor<'de> for Selector {
            type Value = ComponentSelector;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"all\" or a list of type paths")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<ComponentSelector, E> {
                if word == "all" {
                    Ok(ComponentSelector::All)
                } else {
                    Err(E::custom("`option` is \"all\" or a list of type paths"))
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<ComponentSelector, A::Error> {
                bounded(list).map(ComponentSelector::Paths)
            }
        }

        deserializer.deserialize_any(Selector)
    }
}

/// A list of at most [`MAX_NAMES`] names of at most [`MAX_NAME_BYTES`].
fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Names;

    impl<'de> Visitor<'de> for Names {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {MAX_NAMES} names")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<String>, A::Error> {
            bounded(list)
        }
    }

    deserializer.deserialize_seq(Names)
}

fn bounded<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Vec<String>, A::Error> {
    let mut names = Vec::new();
    while let Some(name) = list.next_element::<String>()? {
        if names.len() >= MAX_NAMES {
            return Err(A::Error::custom(format_args!(
                "a list has at most {MAX_NAMES} names"
            )));
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(A::Error::custom(format_args!(
                "a name has at most {MAX_NAME_BYTES} bytes"
            )));
        }
        names.push(name);
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read<T: for<'de> Deserialize<'de>>(value: serde_json::Value) -> Result<T, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn an_entity_is_its_bits_or_its_index_and_generation() {
        let entity = Entity::from_index_and_generation(
            EntityIndex::from_raw_u32(12).unwrap(),
            EntityGeneration::from_bits(3),
        );
        for word in [json!(entity.to_bits()), json!("12v3")] {
            assert_eq!(read(word.clone()), Ok(RemoteEntity(entity)), "{word}");
        }
        assert_eq!(entity.to_string(), "12v3");
        for word in [
            json!("12"),
            json!("player:1"),
            json!("12v"),
            json!("4294967295v0"),
            json!(-1),
            json!(1.5),
            json!(0),
            json!(null),
            json!([1]),
        ] {
            assert!(read::<RemoteEntity>(word.clone()).is_err(), "{word}");
        }
    }

    #[test]
    fn a_query_has_defaults_for_everything_but_its_data() {
        assert_eq!(read(json!({"data": {}})), Ok(RemoteQuery::default()));
        assert!(read::<RemoteQuery>(json!({})).is_err());
        let all: RemoteQuery = read(json!({"data": {"option": "all"}})).unwrap();
        assert_eq!(all.data.option, ComponentSelector::All);
        assert!(read::<RemoteQuery>(json!({"data": {"option": "some"}})).is_err());
    }

    #[test]
    fn lists_and_names_are_bounded() {
        let list = |count: usize| json!({"data": {"option": vec!["a"; count], "has": vec!["a"; count]}});
        assert!(read::<RemoteQuery>(list(MAX_NAMES)).is_ok());
        assert!(read::<RemoteQuery>(list(MAX_NAMES + 1)).is_err());
        let name = |bytes: usize| json!({"with": ["a".repeat(bytes)]});
        assert!(read::<QueryFilter>(name(MAX_NAME_BYTES)).is_ok());
        assert!(read::<QueryFilter>(name(MAX_NAME_BYTES + 1)).is_err());
    }
}
