//! PlayerLeave packets that are on their way: each goes out on three ticks in a row, at most 32 a tick.

use crate::inspection::summary;
use std::collections::VecDeque;

use bevy_ecs::resource::Resource;

use crate::{
    limits::LEAVES_PER_TICK,
    session::{PlayerId, PlayerToken},
};

/// Ticks in a row on which a departure is told (docs/protocol.md 2.3).
pub const LEAVE_REPEATS: u8 = 3;

/// Who left and is still being told of.
#[derive(Resource, Debug, Default)]
pub struct Departures {
    telling: Vec<(PlayerId, PlayerToken, u8)>,
    waiting: VecDeque<(PlayerId, PlayerToken)>,
}

impl Departures {
    /// Adds somebody who left. While an earlier holder of the id still waits, the newer generation takes its place:
    /// to a client the departure of a generation is that of every earlier one too (docs/protocol.md 2.6), and what
    /// waits is never more than there are ids, however many come and go.
    pub fn add(&mut self, player: PlayerId, generation: PlayerToken) {
        match self.waiting.iter_mut().find(|(waiting, _)| *waiting == player) {
            Some((_, earlier)) => *earlier = generation,
            None => self.waiting.push_back((player, generation)),
        }
    }

    /// Whether there is nobody to tell of.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.telling.is_empty() && self.waiting.is_empty()
    }

    /// Moves a tick on and returns whom to tell of in it.
    pub fn step(&mut self) -> &[(PlayerId, PlayerToken, u8)] {
        self.telling.retain(|&(_, _, left)| left > 0);
        while self.telling.len() < LEAVES_PER_TICK {
            let Some((player, generation)) = self.waiting.pop_front() else {
                break;
            };
            self.telling.push((player, generation, LEAVE_REPEATS));
        }
        for (_, _, left) in &mut self.telling {
            *left -= 1;
        }
        &self.telling
    }
}

summary!(|departures: Departures| {
    telling: usize = departures.telling.len(),
    waiting: usize = departures.waiting.len(),
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_departure_is_told_on_three_ticks_in_a_row() {
        let mut departures = Departures::default();
        departures.add(PlayerId(3), PlayerToken(9));
        for _ in 0..3 {
            assert_eq!(departures.step().len(), 1);
        }
        assert!(departures.step().is_empty() && departures.is_empty());
    }

    #[test]
    fn of_an_id_that_waits_only_the_newest_generation_is_told_of() {
        let mut departures = Departures::default();
        for n in 0..100 {
            departures.add(PlayerId(n), PlayerToken(1));
        }
        departures.step();
        for generation in 2..5000 {
            departures.add(PlayerId(99), PlayerToken(generation));
        }
        let mut told: Vec<_> =
            std::iter::from_fn(|| (!departures.is_empty()).then(|| departures.step().to_vec()))
                .flatten()
                .filter(|(player, ..)| *player == PlayerId(99))
                .map(|(_, generation, _)| generation.0)
                .collect();
        told.dedup();
        assert_eq!(told, [4999]);
    }

    #[test]
    fn an_id_that_changes_hands_waits_once_with_its_newest_generation() {
        let mut departures = Departures::default();
        for generation in 1..=10_000 {
            departures.add(PlayerId(3), PlayerToken(generation));
        }
        assert_eq!(departures.step(), [(PlayerId(3), PlayerToken(10_000), 2)]);
    }

    #[test]
    fn at_most_thirty_two_are_told_a_tick_and_nobody_is_forgotten() {
        let mut departures = Departures::default();
        for n in 0..100 {
            departures.add(PlayerId(n), PlayerToken(1));
        }
        let mut told = vec![0; 100];
        for _ in 0..12 {
            let now = departures.step();
            assert!(now.len() <= 32);
            for &(player, _, _) in now {
                told[usize::from(player.0)] += 1;
            }
        }
        assert!(told.iter().all(|&times| times == 3));
    }
}
