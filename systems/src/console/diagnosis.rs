//! Commands that answer why: slow ticks, who sees whom, what a connection says, a simulated bad network.

use bevy_ecs::world::World;
use decitick_components::{console::NetsimAction, session::PlayerId};

use super::{Answer, Asked, failed};

pub(super) fn systems(_world: &World) -> Answer {
    failed("not built yet")
}

pub(super) fn slow(_world: &World) -> Answer {
    failed("not built yet")
}

pub(super) fn why(_world: &World, _viewer: PlayerId, _seen: PlayerId) -> Answer {
    failed("not built yet")
}

/// `None` once the answer goes on.
pub(super) fn trace(_world: &mut World, _id: PlayerId, _seconds: u32, _asked: Asked) -> Option<Answer> {
    Some(failed("not built yet"))
}

pub(super) fn netsim(_world: &mut World, _action: NetsimAction) -> Answer {
    failed("not built yet")
}
