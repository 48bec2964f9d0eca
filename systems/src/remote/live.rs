//! The server as it goes on, for people who look at it (docs/page.md).

use bevy_ecs::world::World;
use decitick_components::{clock::Clock, live::LiveRequest};

/// What viewers are told of.
#[derive(Default)]
pub(super) struct Board;

impl Board {
    /// Takes in what the viewers who are told in this tick want to see.
    pub(super) fn sample<'v>(&mut self, _world: &mut World, _viewers: impl Iterator<Item = &'v mut Viewer>) {}
}

/// Somebody who looks.
pub(super) struct Viewer {
    next: u64,
}

impl Viewer {
    pub(super) fn new(id: u64, _request: LiveRequest, world: &World) -> Self {
        Self {
            next: world.resource::<Clock>().tick + id % 5,
        }
    }

    pub(super) fn event(&mut self, world: &World, _board: &Board) -> Option<String> {
        let tick = world.resource::<Clock>().tick;
        if tick < self.next {
            return None;
        }
        self.next = tick + 5;
        Some(format!(r#"{{"tick":{tick}}}"#))
    }
}
