//! The entities in view: what each is, where it is, and how new its newest frame is (docs/protocol.md 2.3, 2.4).

use std::collections::BTreeMap;
use std::time::Duration;

use decitick_protocol::{EntityData, EntityFrame, EntityKind, EntityPayload, EntitySpawn, Vec3};

use super::breach::Fault;
use super::counters::RecordDrop;
use super::grace::{Lateness, OutOfView};
use super::serial::is_newer;

/// Most entities a client keeps track of at once; far above what a server streams to one player.
pub(super) const CAPACITY: usize = 4096;

/// An entity in view, as its spawn, its data and its newest frame left it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Thing {
    /// What it is.
    pub kind: EntityKind,
    /// Its model.
    pub model: u32,
    /// Where it is, in metres.
    pub position: Vec3,
    /// How it moves, in metres per second; zero until the first frame.
    pub velocity: Vec3,
    /// Where it faces, in radians within [-pi, pi).
    pub heading: f32,
    /// The interior it is in; 0 is outside.
    pub area: u8,
    /// What the scripts say about it: one MessagePack value.
    pub data: EntityPayload,
    /// Server tick of the newest frame that was taken, from before the spawn too.
    tick: Option<u32>,
}

/// An entity that was despawned.
#[derive(Debug, Clone)]
struct Gone {
    out: OutOfView,
    tick: Option<u32>,
}

/// What a frame of an entity meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ThingVerdict {
    /// Whether the frame counts.
    pub(super) taken: Result<(), RecordDrop>,
    /// What the frame shows the server to have done.
    pub(super) fault: Option<Fault>,
}

/// The entities in view, and for a while those that were. At most 4,096 of each are held.
#[derive(Debug, Default)]
pub struct Things {
    live: BTreeMap<u32, Thing>,
    gone: BTreeMap<u32, Gone>,
    /// An entity found no room, so of an unknown one nothing can be said.
    overflowed: bool,
}

impl Things {
    /// The entity with this id, when it is in view.
    #[must_use]
    pub fn thing(&self, entity_id: u32) -> Option<&Thing> {
        self.live.get(&entity_id)
    }

    /// Every entity in view, by rising id.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Thing)> {
        self.live.iter().map(|(entity_id, thing)| (*entity_id, thing))
    }

    /// How many entities are in view.
    #[must_use]
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Whether no entity is in view.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// Takes an EntitySpawn. Of one that is there already the newer description counts.
    pub(super) fn spawn(&mut self, event: &EntitySpawn) -> Result<Option<Fault>, RecordDrop> {
        let before = self.live.get(&event.entity_id);
        if before.is_none() && self.live.len() >= CAPACITY {
            self.overflowed = true;
            return Err(RecordDrop::EntityTableFull);
        }
        let fault = before.map(|_| Fault::EntitySpawnTwice);
        // Ticks are the server's, so a frame from before the entity was last seen stays an old one.
        let gone = self.gone.remove(&event.entity_id);
        let tick = before.map_or_else(|| gone.and_then(|gone| gone.tick), |thing| thing.tick);
        let thing = Thing {
            kind: event.kind,
            model: event.model,
            position: event.position,
            velocity: Vec3::ZERO,
            heading: event.heading,
            area: event.area,
            data: event.data.clone(),
            tick,
        };
        self.live.insert(event.entity_id, thing);
        Ok(fault)
    }

    /// Takes an EntityDespawn at `now`.
    pub(super) fn despawn(&mut self, entity_id: u32, now: Duration) -> Option<Fault> {
        let Some(thing) = self.live.remove(&entity_id) else {
            return self.unless_overflowed(Fault::EntityDespawnUnseen);
        };
        if self.gone.len() >= CAPACITY {
            let oldest = self.gone.iter().min_by_key(|(_, gone)| gone.out.since());
            let oldest = oldest.map(|(entity_id, _)| *entity_id);
            oldest.and_then(|entity_id| self.gone.remove(&entity_id));
        }
        let out = OutOfView::new(now);
        let tick = thing.tick;
        self.gone.insert(entity_id, Gone { out, tick });
        None
    }

    /// Takes an EntityData.
    pub(super) fn describe(&mut self, event: &EntityData) -> Option<Fault> {
        match self.live.get_mut(&event.entity_id) {
            Some(thing) => {
                thing.data = event.data.clone();
                None
            }
            None => self.unless_overflowed(Fault::EntityDataUnseen),
        }
    }

    /// Takes one record of an EntitySync that arrived at `now`.
    pub(super) fn frame(&mut self, now: Duration, frame: &EntityFrame) -> ThingVerdict {
        let Some(thing) = self.live.get_mut(&frame.entity_id) else {
            return self.judge_unseen(now, frame.entity_id);
        };
        let newer = thing.tick.is_none_or(|newest| is_newer(frame.tick, newest));
        if newer {
            thing.tick = Some(frame.tick);
            thing.position = frame.position;
            thing.velocity = frame.velocity;
            thing.heading = frame.heading;
        }
        ThingVerdict {
            taken: if newer {
                Ok(())
            } else {
                Err(RecordDrop::StaleFrame)
            },
            fault: None,
        }
    }

    fn judge_unseen(&mut self, now: Duration, entity_id: u32) -> ThingVerdict {
        let gone = self.gone.get_mut(&entity_id);
        let (reason, fault) = match gone.map_or(Lateness::Excused, |gone| gone.out.judge(now)) {
            Lateness::Excused => (RecordDrop::EntityUnknown, None),
            Lateness::Late => (RecordDrop::EntityAfterDespawn, None),
            Lateness::Fault => (
                RecordDrop::EntityAfterDespawn,
                self.unless_overflowed(Fault::EntityFramesAfterDespawn),
            ),
        };
        ThingVerdict {
            taken: Err(reason),
            fault,
        }
    }

    fn unless_overflowed(&self, fault: Fault) -> Option<Fault> {
        (!self.overflowed).then_some(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn spawn(entity_id: u32) -> EntitySpawn {
        EntitySpawn {
            entity_id,
            kind: EntityKind::Object,
            model: 7,
            position: Vec3::ZERO,
            heading: 0.5,
            area: 0,
            data: EntityPayload::nil(),
        }
    }

    fn frame(entity_id: u32, tick: u32) -> EntityFrame {
        EntityFrame {
            entity_id,
            tick,
            position: Vec3::new(tick as f32, 0.0, 0.0),
            velocity: Vec3::new(10.0, 0.0, 0.0),
            heading: 1.0,
        }
    }

    fn taken(things: &mut Things, now: Duration, tick: u32) -> Result<(), RecordDrop> {
        things.frame(now, &frame(11, tick)).taken
    }

    #[test]
    fn a_frame_counts_between_spawn_and_despawn_and_only_when_newer() {
        let mut things = Things::default();
        assert_eq!(taken(&mut things, ms(0), 1), Err(RecordDrop::EntityUnknown));
        assert_eq!(things.spawn(&spawn(11)), Ok(None));
        assert_eq!(taken(&mut things, ms(0), u32::MAX), Ok(()));
        assert_eq!(taken(&mut things, ms(0), u32::MAX), Err(RecordDrop::StaleFrame));
        assert_eq!(
            taken(&mut things, ms(0), u32::MAX - 1),
            Err(RecordDrop::StaleFrame)
        );
        assert_eq!(taken(&mut things, ms(0), 1), Ok(()), "ticks go on over the wrap");
        assert_eq!(things.despawn(11, ms(0)), None);
        assert_eq!(taken(&mut things, ms(1), 2), Err(RecordDrop::EntityUnknown));
    }

    #[test]
    fn a_thing_is_where_its_spawn_and_then_its_newest_frame_put_it() {
        let mut things = Things::default();
        things.spawn(&spawn(11)).unwrap();
        assert_eq!(things.thing(11).unwrap().position, Vec3::ZERO);
        things.frame(ms(0), &frame(11, 5)).taken.unwrap();
        things.frame(ms(0), &frame(11, 4)).taken.unwrap_err();
        let thing = things.thing(11).unwrap();
        assert_eq!(
            (thing.position.x, thing.velocity.x, thing.heading),
            (5.0, 10.0, 1.0)
        );
        let data = EntityPayload::parse(vec![0x2A]).unwrap();
        let event = EntityData {
            entity_id: 11,
            data: data.clone(),
        };
        assert_eq!(things.describe(&event), None);
        assert_eq!(things.thing(11).unwrap().data, data);
        assert_eq!((things.len(), things.is_empty()), (1, false));
    }

    #[test]
    fn a_frame_from_before_a_despawn_stays_old_after_the_next_spawn() {
        let mut things = Things::default();
        things.spawn(&spawn(11)).unwrap();
        taken(&mut things, ms(0), 50).unwrap();
        things.despawn(11, ms(0));
        things.spawn(&spawn(11)).unwrap();
        assert_eq!(taken(&mut things, ms(0), 49), Err(RecordDrop::StaleFrame));
        assert_eq!(taken(&mut things, ms(0), 51), Ok(()));
    }

    #[test]
    fn frames_long_after_a_despawn_are_a_fault_unless_a_spawn_explains_them() {
        let mut things = Things::default();
        things.spawn(&spawn(11)).unwrap();
        things.despawn(11, ms(1_000));
        let late = |things: &mut Things, now| things.frame(ms(now), &frame(11, 9));
        assert_eq!(late(&mut things, 2_999).taken, Err(RecordDrop::EntityUnknown));
        let first = late(&mut things, 3_000);
        assert_eq!(
            (first.taken, first.fault),
            (Err(RecordDrop::EntityAfterDespawn), None)
        );
        assert_eq!(late(&mut things, 5_999).fault, None);
        assert_eq!(
            late(&mut things, 6_000).fault,
            Some(Fault::EntityFramesAfterDespawn)
        );
        things.spawn(&spawn(11)).unwrap();
        assert_eq!(late(&mut things, 6_000).taken, Ok(()));
    }

    #[test]
    fn a_second_spawn_and_news_of_what_is_not_there_are_faults() {
        let mut things = Things::default();
        things.spawn(&spawn(11)).unwrap();
        assert_eq!(things.spawn(&spawn(11)), Ok(Some(Fault::EntitySpawnTwice)));
        things.despawn(11, ms(0));
        assert_eq!(things.despawn(11, ms(0)), Some(Fault::EntityDespawnUnseen));
        let event = EntityData {
            entity_id: 11,
            data: EntityPayload::nil(),
        };
        assert_eq!(things.describe(&event), Some(Fault::EntityDataUnseen));
    }

    #[test]
    fn both_tables_are_bounded_and_what_found_no_room_is_not_held_against_the_server() {
        let mut things = Things::default();
        for id in 0..4096 {
            things.spawn(&spawn(id)).unwrap();
        }
        assert_eq!(things.spawn(&spawn(4096)), Err(RecordDrop::EntityTableFull));
        assert_eq!(things.despawn(4096, ms(0)), None);
        things.despawn(0, ms(0));
        assert_eq!(things.spawn(&spawn(4096)), Ok(None), "a despawn makes room");

        let mut flow = Things::default();
        for id in 0..5000 {
            flow.spawn(&spawn(id)).unwrap();
            flow.despawn(id, ms(u64::from(id)));
        }
        assert_eq!((flow.live.len(), flow.gone.len()), (0, 4096));
        assert!(!flow.gone.contains_key(&903) && flow.gone.contains_key(&904));
    }
}
