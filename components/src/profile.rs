//! Names: who is called what, and who holds a name.

use crate::inspection::summary;
use std::{collections::BTreeMap, fmt};

use bevy_ecs::{
    component::Component, entity::Entity, lifecycle::HookContext, resource::Resource, world::DeferredWorld,
};
use decitick_protocol::PlayerName;

use crate::settings::NamePolicy;

mod strict;

/// The name of a player. Immutable: a rename is an insert, and the hooks keep the [`NameBook`].
#[derive(Component, Clone, Debug, PartialEq, Eq)]
#[component(immutable, on_insert = enter_name, on_discard = strike_name)]
pub struct DisplayName(pub PlayerName);

impl fmt::Display for DisplayName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

/// Whom the auth resource says a player is: 1..=300 bytes without control characters. It comes with acceptance and stays.
#[derive(Component, Clone, Debug, PartialEq, Eq)]
#[component(immutable)]
pub struct Account(pub std::sync::Arc<str>);

/// What the operator granted to a player for this session: names that mean something to gamemodes, sorted. A change is
/// an insert.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
#[component(immutable)]
pub struct Granted(pub std::sync::Arc<[Box<str>]>);

/// Which names are held, by the key under which they compare (docs/protocol.md 1.4).
#[derive(Resource, Debug, Default)]
pub struct NameBook {
    policy: NamePolicy,
    holders: BTreeMap<String, Entity>,
}

/// Why the strict policy refuses a name that the core rule allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrictFault {
    /// It holds a character that shows as nothing.
    InvisibleFiller,
    /// It is not in normalisation form NFKC.
    NotNormalised,
}

impl NameBook {
    /// An empty book under a policy.
    #[must_use]
    pub const fn new(policy: NamePolicy) -> Self {
        Self {
            policy,
            holders: BTreeMap::new(),
        }
    }

    /// Whether the policy allows the name at all.
    ///
    /// # Errors
    /// Why not; never under [`NamePolicy::Core`], whose rule is part of parsing a [`PlayerName`].
    pub fn judge(&self, name: &PlayerName) -> Result<(), StrictFault> {
        match self.policy {
            NamePolicy::Core => Ok(()),
            NamePolicy::Strict => strict::judge(name.as_str()),
        }
    }

    /// Who holds a name that compares equal.
    #[must_use]
    pub fn holder(&self, name: &PlayerName) -> Option<Entity> {
        self.holders.get(&self.key(name)).copied()
    }

    /// Names held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.holders.len()
    }

    /// Whether no name is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.holders.is_empty()
    }

    fn key(&self, name: &PlayerName) -> String {
        match self.policy {
            NamePolicy::Core => name.fold_key(),
            NamePolicy::Strict => strict::key(&name.fold_key()),
        }
    }
}

fn enter_name(mut world: DeferredWorld<'_>, context: HookContext) {
    let Some(DisplayName(name)) = world.get::<DisplayName>(context.entity).cloned() else {
        return;
    };
    if let Some(mut book) = world.get_resource_mut::<NameBook>() {
        let key = book.key(&name);
        book.holders.insert(key, context.entity);
    }
}

fn strike_name(mut world: DeferredWorld<'_>, context: HookContext) {
    let Some(DisplayName(name)) = world.get::<DisplayName>(context.entity).cloned() else {
        return;
    };
    if let Some(mut book) = world.get_resource_mut::<NameBook>() {
        let key = book.key(&name);
        if book.holders.get(&key) == Some(&context.entity) {
            book.holders.remove(&key);
        }
    }
}

summary!(|name: DisplayName| { name: String = name.0.as_str().to_owned() });
summary!(|account: Account| { account: String = account.0.to_string() });
summary!(|granted: Granted| { names: Vec<String> = granted.0.iter().map(ToString::to_string).collect() });
summary!(|book: NameBook| {
    policy: NamePolicy = book.policy,
    holders: BTreeMap<String, Entity> = book.holders.clone(),
});

#[cfg(test)]
mod tests {
    use bevy_ecs::world::World;

    use super::*;

    fn name(text: &str) -> PlayerName {
        PlayerName::parse(text).unwrap()
    }

    #[test]
    fn a_name_is_held_in_every_case_and_freed_with_its_connection() {
        let mut world = World::new();
        world.insert_resource(NameBook::new(NamePolicy::Core));
        let holder = world.spawn(DisplayName(name("Иван_Петров"))).id();
        assert_eq!(
            world.resource::<NameBook>().holder(&name("ИВАН ПЕТРОВ")),
            Some(holder)
        );
        world.despawn(holder);
        assert!(world.resource::<NameBook>().is_empty());
    }

    #[test]
    fn a_rename_gives_the_old_name_back() {
        let mut world = World::new();
        world.insert_resource(NameBook::new(NamePolicy::Core));
        let holder = world.spawn(DisplayName(name("First"))).id();
        world.entity_mut(holder).insert(DisplayName(name("Second")));
        let book = world.resource::<NameBook>();
        assert_eq!(book.holder(&name("first")), None);
        assert_eq!(book.holder(&name("second")), Some(holder));
    }

    #[test]
    fn the_strict_policy_sees_through_look_alikes() {
        let mut world = World::new();
        world.insert_resource(NameBook::new(NamePolicy::Strict));
        let holder = world.spawn(DisplayName(name("Paul"))).id();
        let cyrillic_twin = name("Раul");
        assert_eq!(world.resource::<NameBook>().holder(&cyrillic_twin), Some(holder));
        let core = NameBook::new(NamePolicy::Core);
        assert_eq!(core.holder(&cyrillic_twin), None);
    }
}
