//! The entities in view and how new the newest frame of each is (docs/protocol.md 2.3, 2.4).

use std::collections::BTreeMap;

use super::counters::RecordDrop;
use super::serial::is_newer;

/// Most entities a client keeps track of at once; far above what a server streams to one player.
pub(super) const CAPACITY: usize = 4096;

/// The spawned entities, each with the tick of its newest frame.
#[derive(Debug, Default)]
pub(super) struct Things(BTreeMap<u32, Option<u32>>);

impl Things {
    /// Takes an EntitySpawn; a repeated one starts the entity anew.
    pub(super) fn spawn(&mut self, entity_id: u32) -> Result<(), RecordDrop> {
        if self.0.len() >= CAPACITY && !self.0.contains_key(&entity_id) {
            return Err(RecordDrop::EntityTableFull);
        }
        self.0.insert(entity_id, None);
        Ok(())
    }

    /// Takes an EntityDespawn.
    pub(super) fn despawn(&mut self, entity_id: u32) {
        self.0.remove(&entity_id);
    }

    /// Judges one record of an EntitySync.
    pub(super) fn frame(&mut self, entity_id: u32, tick: u32) -> Result<(), RecordDrop> {
        let newest = self.0.get_mut(&entity_id).ok_or(RecordDrop::EntityUnknown)?;
        if newest.is_some_and(|newest| !is_newer(tick, newest)) {
            return Err(RecordDrop::StaleFrame);
        }
        *newest = Some(tick);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_counts_between_spawn_and_despawn_and_only_when_newer() {
        let mut things = Things::default();
        assert_eq!(things.frame(11, 1), Err(RecordDrop::EntityUnknown));
        things.spawn(11).unwrap();
        assert_eq!(things.frame(11, 1000), Ok(()));
        assert_eq!(things.frame(11, 1000), Err(RecordDrop::StaleFrame));
        assert_eq!(things.frame(11, 1001), Ok(()));
        things.despawn(11);
        assert_eq!(things.frame(11, 1002), Err(RecordDrop::EntityUnknown));
    }

    #[test]
    fn the_table_is_bounded_and_a_despawn_makes_room() {
        let mut things = Things::default();
        for id in 0..4096 {
            things.spawn(id).unwrap();
        }
        assert_eq!(things.spawn(4096), Err(RecordDrop::EntityTableFull));
        assert_eq!(things.spawn(7), Ok(()), "one that is there already needs no room");
        things.despawn(0);
        assert_eq!(things.spawn(4096), Ok(()));
    }
}
