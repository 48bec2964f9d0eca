//! What goes on being told, one event a tick at most.

mod entity;

use bevy_ecs::world::World;
use bevy_reflect::TypeRegistry;
use decitick_components::remote::{RemoteError, RemoteWatch};

use self::entity::EntityWatch;
use super::live::{Board, Viewer};

/// Somebody who watches.
pub(super) struct Watch {
    /// The request.
    pub id: u64,
    watched: Watched,
}

enum Watched {
    Entity(EntityWatch),
    Live(Box<Viewer>),
}

impl Watch {
    /// A watch that tells what changes from now on.
    pub(super) fn new(
        id: u64,
        watch: RemoteWatch,
        world: &World,
        registry: &TypeRegistry,
    ) -> Result<Self, RemoteError> {
        let watched = match watch {
            RemoteWatch::Components(of) => Watched::Entity(EntityWatch::of_values(of, world, registry)?),
            RemoteWatch::ListComponents(of) => Watched::Entity(EntityWatch::of_list(of, world, registry)?),
            RemoteWatch::Live(request) => Watched::Live(Box::new(Viewer::new(id, request, world))),
        };
        Ok(Self { id, watched })
    }

    /// Who looks at the whole server, if this is one.
    pub(super) fn viewer(&self) -> Option<&Viewer> {
        match &self.watched {
            Watched::Live(viewer) => Some(viewer),
            Watched::Entity(_) => None,
        }
    }

    /// What changed since the last look, if anything did.
    ///
    /// # Errors
    /// The watch ends: the entity is gone, or an event would be too large.
    pub(super) fn event(
        &mut self,
        world: &World,
        registry: &TypeRegistry,
        board: &Board,
    ) -> Result<Option<String>, RemoteError> {
        match &mut self.watched {
            Watched::Entity(watch) => watch.event(world, registry),
            Watched::Live(viewer) => Ok(viewer.event(world, board)),
        }
    }
}
