//! A gamemode that answers as it likes: it spawns players elsewhere or not at all, and changes damage or cancels it.

use decitick_components::gamemode::{Hit, Judge, SpawnVerdict};

use crate::world_plan::spawn_point;

/// The one who answers, by a number that changes with every answer.
#[derive(Debug)]
pub struct Mood(pub u8);

impl Mood {
    fn next(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(5).wrapping_add(3);
        self.0
    }
}

impl Judge for Mood {
    fn player_requests_spawn(&mut self, _player: bevy_ecs::entity::Entity) -> SpawnVerdict {
        match self.next() % 8 {
            0 => SpawnVerdict::Wait,
            1 | 2 => SpawnVerdict::At(spawn_point(self.0)),
            _ => SpawnVerdict::Usual,
        }
    }

    fn player_damage(&mut self, hit: &Hit) -> Option<u16> {
        match self.next() % 8 {
            0 => None,
            1 => Some(0),
            2 => Some(u16::MAX),
            _ => Some(hit.amount),
        }
    }
}
