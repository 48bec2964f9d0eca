//! Commands that look into entities and resources by reflection.

use bevy_ecs::world::World;
use decitick_components::console::{EntitiesQuery, EntityWord, FieldWord};

use super::{Answer, Asked, failed};

pub(super) fn entities(_world: &mut World, _query: &EntitiesQuery) -> Answer {
    failed("not built yet")
}

pub(super) fn inspect(_world: &mut World, _entity: EntityWord, _component: Option<&str>) -> Answer {
    failed("not built yet")
}

pub(super) fn set(_world: &mut World, _entity: EntityWord, _field: &FieldWord, _value: &str) -> Answer {
    failed("not built yet")
}

/// `None` once the answer goes on.
pub(super) fn watch(
    _world: &mut World,
    _entity: EntityWord,
    _component: &str,
    _seconds: u32,
    _asked: Asked,
) -> Option<Answer> {
    Some(failed("not built yet"))
}

pub(super) fn resources(_world: &mut World, _name: Option<&str>) -> Answer {
    failed("not built yet")
}
