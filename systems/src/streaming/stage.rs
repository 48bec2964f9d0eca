//! What can be seen in this tick, and its records: players on the stage, things as its props.

use bevy_ecs::{
    entity::Entity,
    query::With,
    resource::Resource,
    system::{Local, Query, Res, ResMut},
};
use decitick_components::{
    body::{Dimension, FrameGate, Motion, Space, Vitals},
    clock::Clock,
    connection::Connection,
    grid::{BodyIndex, Grid},
    phase::Phase,
    session::{PlayerId, PlayerToken, SlotTable},
    settings::Settings,
    thing::{Placement, ThingBook, ThingId},
    view::View,
};
use decitick_protocol::{ENTITY_FRAME_LEN, EntityFrame, REMOTE_FRAME_LEN, RemoteFrame, Vec3};

use super::choose::Member;

/// Ticks after which one who stands still is sent again.
const STILL_PERIOD: u64 = 10;
/// Bytes of one record in a RemotePlayerSync.
const PLAYER_RECORD: usize = REMOTE_FRAME_LEN;
/// Bytes of one record in an EntitySync.
const THING_RECORD: usize = ENTITY_FRAME_LEN;
/// Where a player's record holds what is news: what comes before is its number, generation and sequence number.
const PLAYER_NEWS: usize = 12;

/// One who sees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Viewer {
    pub(super) id: PlayerId,
    pub(super) entity: Entity,
    pub(super) space: Space,
    pub(super) position: Vec3,
}

/// Everybody in the world in this tick, and those who only watch.
#[derive(Resource, Debug, Default)]
pub(crate) struct Stage {
    /// Who sees, by ascending id.
    pub(super) viewers: Vec<Viewer>,
    /// Who is seen, by ascending id.
    pub(super) players: Vec<Member<PlayerId>>,
    /// The record of each player id.
    pub(super) records: Vec<PlayerRecord>,
}

/// What is sent of one player.
#[derive(Clone, Debug)]
pub(super) struct PlayerRecord {
    pub(super) bytes: [u8; PLAYER_RECORD],
    /// Whether it is to be sent in this tick.
    pub(super) changed: bool,
    pub(super) space: Space,
    /// Index among the players; `None`: not in the world.
    pub(super) index: Option<u16>,
    pub(super) entity: Entity,
}

impl Stage {
    pub(super) fn record(&self, id: PlayerId) -> Option<&PlayerRecord> {
        self.records.get(usize::from(id.0))
    }

    /// Where a player stands among those who are seen.
    pub(super) fn index(&self, id: PlayerId) -> Option<usize> {
        self.record(id)?.index.map(usize::from)
    }
}

type Bodies<'w, 's> = Query<
    'w,
    's,
    (
        &'static Phase,
        &'static PlayerToken,
        &'static Motion,
        &'static Dimension,
        &'static Vitals,
        &'static View,
        &'static FrameGate,
    ),
    With<Connection>,
>;

/// Gathers who is in the world and who watches, and writes each one's record once.
pub(crate) fn set_stage(
    clock: Res<'_, Clock>,
    settings: Res<'_, Settings>,
    slots: Res<'_, SlotTable>,
    mut stage: ResMut<'_, Stage>,
    mut index: ResMut<'_, BodyIndex>,
    bodies: Bodies<'_, '_>,
    mut fresh: Local<'_, Vec<u8>>,
) {
    let Stage {
        viewers,
        players,
        records,
    } = &mut *stage;
    viewers.clear();
    players.clear();
    index.restart(settings.streaming.radius);
    records.resize_with(usize::from(slots.open()), PlayerRecord::nobody);
    for record in records.iter_mut() {
        record.index = None;
        record.changed = false;
    }
    for (id, entity) in slots.iter() {
        let Ok((phase, generation, motion, dimension, vitals, view, gate)) = bodies.get(entity) else {
            continue;
        };
        if !view.open {
            continue;
        }
        let space = Space::of(motion, *dimension);
        let position = motion.position;
        viewers.push(Viewer {
            id,
            entity,
            space,
            position,
        });
        if *phase != Phase::Spawned {
            continue;
        }
        let place = u16::try_from(players.len()).ok();
        index.add(space, position, entity);
        players.push(Member { id, space, position });
        fresh.clear();
        remote_frame(id, *generation, motion, *vitals).encode_record(&mut fresh);
        if let Some(record) = records.get_mut(usize::from(id.0)) {
            record.index = place;
            record.entity = entity;
            record.space = space;
            let still_turn = (clock.tick + u64::from(id.0)).is_multiple_of(STILL_PERIOD);
            // Until the first frame of a session there is no sequence number that others could judge by.
            record.changed = record.update(&fresh, still_turn) && gate.has_taken();
        }
    }
    index.finish();
}

impl PlayerRecord {
    const fn nobody() -> Self {
        Self {
            bytes: [0; PLAYER_RECORD],
            changed: false,
            space: Space {
                dimension: 0,
                area: 0,
            },
            index: None,
            entity: Entity::PLACEHOLDER,
        }
    }

    /// Takes the record of this tick, and tells whether it is to be sent. A new sequence number alone is no news: whoever
    /// stands still sends frames all the same, and is repeated to others only once a second.
    fn update(&mut self, fresh: &[u8], still_turn: bool) -> bool {
        let Ok(bytes) = <[u8; PLAYER_RECORD]>::try_from(fresh) else {
            return false;
        };
        let news = bytes.get(PLAYER_NEWS..) != self.bytes.get(PLAYER_NEWS..);
        self.bytes = bytes;
        news || still_turn
    }
}

fn remote_frame(id: PlayerId, generation: PlayerToken, motion: &Motion, vitals: Vitals) -> RemoteFrame {
    RemoteFrame {
        player_id: u32::from(id.0),
        player_token: generation.0,
        seq: motion.sequence,
        position: motion.position,
        velocity: motion.velocity,
        heading: motion.heading,
        area: motion.area,
        keys: motion.keys,
        weapon: motion.weapon,
        stance: motion.stance,
        health: vitals.health,
    }
}

/// Every thing in this tick.
#[derive(Resource, Debug, Default)]
pub(crate) struct Props {
    /// By ascending number.
    pub(super) things: Vec<Member<ThingId>>,
    pub(super) entities: Vec<Entity>,
    pub(super) grid: Grid,
    pub(super) records: Vec<ThingRecord>,
    cell: f32,
}

/// What is sent of one thing.
#[derive(Clone, Debug)]
pub(super) struct ThingRecord {
    pub(super) bytes: [u8; THING_RECORD],
    /// Whether it is to be sent in this tick.
    pub(super) changed: bool,
}

impl Props {
    /// Where a thing stands among all.
    pub(super) fn index(&self, id: ThingId) -> Option<usize> {
        self.things.binary_search_by_key(&id, |thing| thing.id).ok()
    }
}

/// Gathers every thing and writes the record of those that moved. The grid stays as it is while none did.
pub(crate) fn set_props(
    clock: Res<'_, Clock>,
    settings: Res<'_, Settings>,
    book: Res<'_, ThingBook>,
    mut props: ResMut<'_, Props>,
    things: Query<'_, '_, (&Placement, &Dimension)>,
    mut fresh: Local<'_, Vec<u8>>,
) {
    let Props {
        things: members,
        entities,
        grid,
        records,
        cell,
    } = &mut *props;
    let mut count = 0;
    let mut moved = *cell != settings.streaming.radius || members.len() != book.len();
    members.truncate(book.len());
    entities.clear();
    for (id, entity) in book.iter() {
        let Ok((placement, dimension)) = things.get(entity) else {
            continue;
        };
        let member = Member {
            id,
            space: placement.space(*dimension),
            position: placement.position,
        };
        let record = thing_record(&clock, id, placement, &mut fresh);
        match (members.get_mut(count), records.get_mut(count)) {
            (Some(place), Some(kept)) => {
                moved |= *place != member;
                *place = member;
                *kept = record;
            }
            _ => {
                members.truncate(count);
                members.push(member);
                records.truncate(count);
                records.push(record);
            }
        }
        entities.push(entity);
        count += 1;
    }
    members.truncate(count);
    records.truncate(count);
    if moved {
        *cell = settings.streaming.radius;
        grid.restart(*cell);
        for (item, member) in (0u32..).zip(members.iter()) {
            grid.add(member.space, member.position, item);
        }
        grid.finish();
    }
}

fn thing_record(clock: &Clock, id: ThingId, placement: &Placement, fresh: &mut Vec<u8>) -> ThingRecord {
    // One that stands now is repeated once a second if it ever moved: its last frame may have been lost.
    let still_turn = placement.moved_tick > 0 && (clock.tick + u64::from(id.0)).is_multiple_of(STILL_PERIOD);
    let changed = still_turn || (placement.moved_tick == clock.tick && clock.tick > 0);
    let mut bytes = [0; THING_RECORD];
    if changed {
        fresh.clear();
        EntityFrame {
            entity_id: id.0,
            tick: (clock.tick & u64::from(u32::MAX)) as u32,
            position: placement.position,
            velocity: placement.velocity,
            heading: placement.heading,
        }
        .encode_record(fresh);
        if let Ok(encoded) = <[u8; THING_RECORD]>::try_from(fresh.as_slice()) {
            bytes = encoded;
        }
    }
    ThingRecord { bytes, changed }
}
