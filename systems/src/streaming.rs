//! Who sees whom, and the frames of those in view (docs/protocol.md 2.4).
//!
//! The frame of a player is written once per tick and copied for everybody who sees it. Views are recomputed for
//! a fifth of the viewers per tick.

mod choose;

use std::collections::BTreeMap;

use bevy_app::{App, Plugin};
use bevy_ecs::{
    entity::Entity,
    query::With,
    resource::Resource,
    schedule::IntoScheduleConfigs,
    system::{Query, Res, ResMut},
};
use decitick_components::{
    body::{Appearance, Motion, Vitals},
    clock::Clock,
    connection::{Connection, Peer},
    lane::{LaneEvent, OutboundLane},
    mailbox::Outbox,
    phase::Phase,
    session::{PlayerId, PlayerToken, SlotTable},
    settings::Settings,
    view::{CHANGES_PER_TICK, View},
};
use decitick_protocol::{
    MAX_REMOTE_FRAMES, PacketId, PlayerStreamIn, PlayerStreamOut, RemoteFrame, ServerLaneEvent, Vec3,
};

use crate::{
    lane::broadcast::{encoded, push_critical},
    tick::{Tick, TickSystems},
};
use choose::{Choice, choose};

/// Streams players to each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamingPlugin;

impl Plugin for StreamingPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Stage>()
            .add_systems(
                Tick,
                (set_stage, update_views)
                    .chain()
                    .in_set(TickSystems::Simulate)
                    .after(crate::chat::relay_chat),
            )
            .add_systems(
                Tick,
                send_frames
                    .in_set(TickSystems::Encode)
                    .after(crate::encode::tell_departures)
                    .before(crate::encode::tell_door),
            );
    }
}

/// The share of viewers whose view is recomputed in a tick.
const VIEW_PERIOD: u64 = 5;
/// Ticks after which a player who stands still is sent again.
const STILL_PERIOD: u64 = 10;
/// Bytes of one record in a RemotePlayerSync.
const RECORD: usize = 46;

/// One player who is in the world, as others may see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Actor {
    pub(super) id: PlayerId,
    pub(super) entity: Entity,
    pub(super) position: Vec3,
    pub(super) area: u8,
}

/// Everybody in the world in this tick, by ascending id, and their records.
#[derive(Resource, Debug, Default)]
struct Stage {
    actors: Vec<Actor>,
    records: BTreeMap<PlayerId, Record>,
    candidates: Vec<(u32, PlayerId)>,
}

#[derive(Debug)]
struct Record {
    bytes: Vec<u8>,
    changed: bool,
}

type Actors<'w, 's> = Query<
    'w,
    's,
    (
        &'static Phase,
        &'static PlayerToken,
        &'static Motion,
        &'static Vitals,
        &'static Appearance,
    ),
    With<Connection>,
>;

/// Gathers who is in the world and writes each one's record once.
fn set_stage(
    clock: Res<'_, Clock>,
    slots: Res<'_, SlotTable>,
    mut stage: ResMut<'_, Stage>,
    actors: Actors<'_, '_>,
) {
    let Stage {
        actors: list,
        records,
        ..
    } = &mut *stage;
    list.clear();
    records.retain(|id, _| slots.holder(*id).is_some());
    for (id, entity) in slots.iter() {
        let Ok((phase, generation, motion, vitals, _)) = actors.get(entity) else {
            continue;
        };
        if *phase != Phase::Spawned {
            records.remove(&id);
            continue;
        }
        list.push(Actor {
            id,
            entity,
            position: motion.position,
            area: motion.area,
        });
        let record = records.entry(id).or_insert_with(|| Record {
            bytes: Vec::with_capacity(RECORD),
            changed: true,
        });
        let still_turn = (clock.tick + u64::from(id.0)).is_multiple_of(STILL_PERIOD);
        record.changed = motion.changed_tick == clock.tick || still_turn;
        if record.changed {
            record.bytes.clear();
            remote_frame(id, *generation, motion, *vitals).encode_record(&mut record.bytes);
        }
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

/// Recomputes the views whose turn it is, and those that have changes left over.
fn update_views(
    clock: Res<'_, Clock>,
    settings: Res<'_, Settings>,
    mut stage: ResMut<'_, Stage>,
    actors: Actors<'_, '_>,
    mut viewers: Query<'_, '_, (&mut View, &mut OutboundLane)>,
) {
    let Stage {
        actors: list,
        candidates,
        ..
    } = &mut *stage;
    let mut arrivals: BTreeMap<PlayerId, LaneEvent> = BTreeMap::new();
    let mut departures: BTreeMap<PlayerId, LaneEvent> = BTreeMap::new();
    for viewer in list.iter() {
        let Ok((mut view, mut lane)) = viewers.get_mut(viewer.entity) else {
            continue;
        };
        let turn = (clock.tick + u64::from(viewer.id.0)).is_multiple_of(VIEW_PERIOD);
        if !turn && !view.unsettled {
            continue;
        }
        let Choice { leave, enter } = choose(viewer, list, &view, &settings.streaming, candidates);
        view.unsettled = leave.len() + enter.len() > CHANGES_PER_TICK;
        let changes = leave
            .iter()
            .map(|id| (*id, false))
            .chain(enter.iter().map(|id| (*id, true)));
        for (id, enters) in changes.take(CHANGES_PER_TICK) {
            if enters {
                view.insert(id);
                if let Some(event) = cached(&mut arrivals, id, list, &actors, stream_in) {
                    push_critical(&mut lane, &event);
                }
            } else {
                view.remove(id);
                if let Some(event) = cached(&mut departures, id, list, &actors, stream_out) {
                    push_critical(&mut lane, &event);
                }
            }
        }
    }
}

/// The event about a player, encoded once per tick however many lanes it goes to.
fn cached(
    events: &mut BTreeMap<PlayerId, LaneEvent>,
    id: PlayerId,
    list: &[Actor],
    actors: &Actors<'_, '_>,
    make: impl Fn(PlayerId, PlayerToken, &Motion, &Vitals, &Appearance) -> ServerLaneEvent,
) -> Option<LaneEvent> {
    if let Some(event) = events.get(&id) {
        return Some(event.clone());
    }
    let index = list.binary_search_by_key(&id, |actor| actor.id).ok()?;
    let (_, &generation, motion, vitals, look) = actors.get(list.get(index)?.entity).ok()?;
    let event = encoded(&make(id, generation, motion, vitals, look), false);
    events.insert(id, event.clone());
    Some(event)
}

fn stream_in(
    id: PlayerId,
    generation: PlayerToken,
    motion: &Motion,
    vitals: &Vitals,
    look: &Appearance,
) -> ServerLaneEvent {
    ServerLaneEvent::PlayerStreamIn(PlayerStreamIn {
        player_id: u32::from(id.0),
        player_token: generation.0,
        skin: look.skin,
        variant: look.variant,
        walking_style: look.walking_style,
        position: motion.position,
        heading: motion.heading,
        area: motion.area,
        health: vitals.health,
        armour: vitals.armour,
        weapon: motion.weapon,
    })
}

fn stream_out(
    id: PlayerId,
    generation: PlayerToken,
    _: &Motion,
    _: &Vitals,
    _: &Appearance,
) -> ServerLaneEvent {
    ServerLaneEvent::PlayerStreamOut(PlayerStreamOut {
        player_id: u32::from(id.0),
        player_token: generation.0,
    })
}

/// Copies the records of those in view that changed, in full packets.
fn send_frames(
    stage: Res<'_, Stage>,
    mut outbox: ResMut<'_, Outbox>,
    viewers: Query<'_, '_, (&Peer, &View)>,
) {
    for viewer in &stage.actors {
        let Ok((peer, view)) = viewers.get(viewer.entity) else {
            continue;
        };
        let mut records = view
            .players()
            .iter()
            .filter_map(|id| stage.records.get(id))
            .filter(|record| record.changed)
            .peekable();
        while records.peek().is_some() {
            outbox.push_with(peer.0, None, None, |out| {
                let count_at = out.len() + 1;
                out.extend_from_slice(&[PacketId::RemotePlayerSync as u8, 0]);
                let mut count = 0;
                for record in records.by_ref().take(MAX_REMOTE_FRAMES) {
                    out.extend_from_slice(&record.bytes);
                    count += 1;
                }
                if let Some(place) = out.get_mut(count_at) {
                    *place = count;
                }
            });
        }
    }
}
