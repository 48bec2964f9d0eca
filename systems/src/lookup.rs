//! Who a connection is to others, looked up where a system has the whole world.

use bevy_ecs::{entity::Entity, world::World};
use decitick_components::session::{PlayerId, PlayerToken};

/// The id and generation of a connection; `None` when its session is gone.
pub(crate) fn identity(world: &World, connection: Entity) -> Option<(PlayerId, PlayerToken)> {
    let connection = world.get_entity(connection).ok()?;
    Some((*connection.get::<PlayerId>()?, *connection.get::<PlayerToken>()?))
}
