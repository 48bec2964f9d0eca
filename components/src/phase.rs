//! Where a connection stands in its life.

use bevy_ecs::component::Component;
use bevy_ecs::reflect::ReflectComponent;
use bevy_reflect::Reflect;

/// The phase of a connection. Immutable, so that every change is an insert that an observer sees.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Reflect)]
#[reflect(Component)]
#[component(immutable)]
pub enum Phase {
    /// It holds a slot and waits for the auth resource; for everybody else there is no player.
    PreAuth,
    /// It joined and is not in the world.
    #[default]
    PreSpawn,
    /// It is in the world.
    Spawned,
}

impl Phase {
    /// Its name, as consoles show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PreAuth => "pre_auth",
            Self::PreSpawn => "pre_spawn",
            Self::Spawned => "spawned",
        }
    }

    /// Whether other players know of it.
    #[must_use]
    pub const fn joined(self) -> bool {
        !matches!(self, Self::PreAuth)
    }
}
