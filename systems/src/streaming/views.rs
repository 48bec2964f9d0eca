//! Views follow the world: a fifth of them per tick, each by a few changes.

use bevy_ecs::{
    entity::Entity,
    system::{Local, Query, Res, SystemParam},
};
use decitick_components::{
    body::{Appearance, Motion, Vitals},
    clock::Clock,
    grid::BodyIndex,
    lane::{LaneEvent, OutboundLane},
    session::{PlayerId, PlayerToken, SlotTable},
    settings::Settings,
    thing::{Placement, ThingData, ThingId, ThingKind},
    view::{CHANGES_PER_TICK, View},
};
use decitick_protocol::{EntityDespawn, EntitySpawn, PlayerStreamIn, PlayerStreamOut, ServerLaneEvent};

use super::{
    choose::{Choice, Viewpoint},
    stage::{Props, Stage},
};
use crate::lane::broadcast::{encoded, push_critical};

/// The share of viewers whose view is recomputed in a tick.
const VIEW_PERIOD: u64 = 5;
/// Changes that players leave to things which wait for theirs.
const KEPT_FOR_THINGS: usize = 2;

type Actors<'w, 's> = Query<
    'w,
    's,
    (
        &'static PlayerToken,
        &'static Motion,
        &'static Vitals,
        &'static Appearance,
    ),
>;
type Things<'w, 's> = Query<'w, 's, (&'static Placement, &'static ThingKind, &'static ThingData)>;

/// Storage that is used again for every viewer and tick.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    players: Choice<PlayerId>,
    things: Choice<ThingId>,
    player_arrivals: Events,
    player_departures: Events,
    thing_arrivals: Events,
}

/// Lane events of this tick by index, each encoded once however many lanes it goes to.
#[derive(Debug, Default)]
struct Events {
    by_index: Vec<Option<LaneEvent>>,
    made: Vec<usize>,
}

impl Events {
    fn forget(&mut self) {
        for index in self.made.drain(..) {
            if let Some(event) = self.by_index.get_mut(index) {
                *event = None;
            }
        }
    }

    fn get_or_make(&mut self, index: usize, make: impl FnOnce() -> Option<LaneEvent>) -> Option<LaneEvent> {
        if self.by_index.len() <= index {
            self.by_index.resize_with(index + 1, || None);
        }
        let place = self.by_index.get_mut(index)?;
        if place.is_none() {
            *place = make();
            self.made.push(index);
        }
        place.clone()
    }
}

/// What is looked up to tell of somebody or something new.
#[derive(SystemParam)]
pub(crate) struct Looks<'w, 's> {
    slots: Res<'w, SlotTable>,
    actors: Actors<'w, 's>,
    things: Things<'w, 's>,
}

/// Recomputes the views whose turn it is, and those that have changes left over.
pub(crate) fn update_views(
    clock: Res<'_, Clock>,
    settings: Res<'_, Settings>,
    stage: Res<'_, Stage>,
    bodies: Res<'_, BodyIndex>,
    props: Res<'_, Props>,
    looks: Looks<'_, '_>,
    mut viewers: Query<'_, '_, (&mut View, &mut OutboundLane)>,
    mut scratch: Local<'_, Scratch>,
) {
    scratch.player_arrivals.forget();
    scratch.player_departures.forget();
    scratch.thing_arrivals.forget();
    let streaming = &settings.streaming;
    for viewer in &stage.viewers {
        let Ok((mut view, mut lane)) = viewers.get_mut(viewer.entity) else {
            continue;
        };
        let turn = (clock.tick + u64::from(viewer.id.0)).is_multiple_of(VIEW_PERIOD);
        if !turn && !view.unsettled {
            continue;
        }
        let kept = if view.things_waiting { KEPT_FOR_THINGS } else { 0 };
        let point = Viewpoint {
            own: Some(viewer.id),
            space: viewer.space,
            position: viewer.position,
            radius: streaming.radius,
            limit: usize::from(streaming.limit),
        };
        scratch
            .players
            .decide(&point, view.players.ids(), &stage.players, bodies.grid(), |id| {
                stage.index(id)
            });
        let mut budget = CHANGES_PER_TICK - kept;
        let players_wait = scratch.change_players(&mut budget, &mut view, &mut lane, &stage, &looks);
        budget += kept;
        let point = Viewpoint {
            own: None,
            space: point.space,
            position: point.position,
            radius: point.radius,
            limit: usize::from(streaming.entity_limit),
        };
        scratch
            .things
            .decide(&point, view.things.ids(), &props.things, &props.grid, |id| {
                props.index(id)
            });
        view.things_waiting = scratch.change_things(&mut budget, &mut view, &mut lane, &props, &looks);
        view.unsettled = players_wait || view.things_waiting;
    }
}

impl Scratch {
    /// Makes the changes that the budget allows; whether some of those that cannot wait for their turn are left over.
    /// Swaps wait: they bring somebody nearer into view, and the next turn knows better who is near.
    fn change_players(
        &mut self,
        budget: &mut usize,
        view: &mut View,
        lane: &mut OutboundLane,
        stage: &Stage,
        looks: &Looks<'_, '_>,
    ) -> bool {
        let (leave, enter, swaps) = spend(budget, &self.players);
        for &id in leave.iter().chain(swaps.iter().map(|(out, _)| out)) {
            view.players.remove(id);
            let event = self
                .player_departures
                .get_or_make(usize::from(id.0), || stream_out(id, looks));
            tell(lane, event);
        }
        for &id in enter.iter().chain(swaps.iter().map(|(_, into)| into)) {
            view.players.insert(id);
            let event = self
                .player_arrivals
                .get_or_make(usize::from(id.0), || stream_in(id, stage, looks));
            tell(lane, event);
        }
        leave.len() < self.players.leave.len() || enter.len() < self.players.enter.len()
    }

    /// The same for things.
    fn change_things(
        &mut self,
        budget: &mut usize,
        view: &mut View,
        lane: &mut OutboundLane,
        props: &Props,
        looks: &Looks<'_, '_>,
    ) -> bool {
        let (leave, enter, swaps) = spend(budget, &self.things);
        for &id in leave.iter().chain(swaps.iter().map(|(out, _)| out)) {
            view.things.remove(id);
            let gone = EntityDespawn { entity_id: id.0 };
            push_critical(lane, &encoded(&ServerLaneEvent::EntityDespawn(gone), false));
        }
        for &id in enter.iter().chain(swaps.iter().map(|(_, into)| into)) {
            let Some(index) = props.index(id) else { continue };
            view.things.insert(id);
            let event = self
                .thing_arrivals
                .get_or_make(index, || entity_spawn(id, *props.entities.get(index)?, looks));
            tell(lane, event);
        }
        leave.len() < self.things.leave.len() || enter.len() < self.things.enter.len()
    }
}

/// What a choice may change within the budget, which falls by it: who leaves, who enters, then swaps, two changes each.
/// Those who leave take no more than half of it while others wait, so that a crowd that comes and goes keeps nobody out.
fn spend<'a, Id>(budget: &mut usize, choice: &'a Choice<Id>) -> (&'a [Id], &'a [Id], &'a [(Id, Id)]) {
    let kept = choice.enter.len().min(*budget / 2);
    let leave = first(&choice.leave, *budget - kept);
    *budget -= leave.len();
    let enter = first(&choice.enter, *budget);
    *budget -= enter.len();
    let swaps = first(&choice.swaps, *budget / 2);
    *budget -= swaps.len() * 2;
    (leave, enter, swaps)
}

fn first<T>(all: &[T], most: usize) -> &[T] {
    all.get(..most).unwrap_or(all)
}

fn tell(lane: &mut OutboundLane, event: Option<LaneEvent>) {
    if let Some(event) = event {
        push_critical(lane, &event);
    }
}

fn stream_in(id: PlayerId, stage: &Stage, looks: &Looks<'_, '_>) -> Option<LaneEvent> {
    let (generation, motion, vitals, look) = looks.actors.get(stage.record(id)?.entity).ok()?;
    Some(encoded(
        &ServerLaneEvent::PlayerStreamIn(PlayerStreamIn {
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
        }),
        false,
    ))
}

fn stream_out(id: PlayerId, looks: &Looks<'_, '_>) -> Option<LaneEvent> {
    let (generation, ..) = looks.actors.get(looks.slots.holder(id)?).ok()?;
    Some(encoded(
        &ServerLaneEvent::PlayerStreamOut(PlayerStreamOut {
            player_id: u32::from(id.0),
            player_token: generation.0,
        }),
        false,
    ))
}

fn entity_spawn(id: ThingId, entity: Entity, looks: &Looks<'_, '_>) -> Option<LaneEvent> {
    let (placement, kind, data) = looks.things.get(entity).ok()?;
    Some(encoded(
        &ServerLaneEvent::EntitySpawn(EntitySpawn {
            entity_id: id.0,
            kind: kind.kind,
            model: kind.model,
            position: placement.position,
            heading: placement.heading,
            area: placement.area,
            data: data.0.clone(),
        }),
        false,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(leave: u16, enter: u16, swaps: u16) -> Choice<u16> {
        let mut choice = Choice::default();
        choice.leave.extend(0..leave);
        choice.enter.extend(0..enter);
        choice.swaps.extend((0..swaps).map(|n| (n, n)));
        choice
    }

    /// How many leave, enter and swap, and what is left of a budget of eight.
    fn spent(choice: &Choice<u16>) -> (usize, usize, usize, usize) {
        let mut budget = CHANGES_PER_TICK;
        let (leave, enter, swaps) = spend(&mut budget, choice);
        (leave.len(), enter.len(), swaps.len(), budget)
    }

    #[test]
    fn a_crowd_that_leaves_keeps_nobody_out() {
        assert_eq!(spent(&choice(50, 50, 0)), (4, 4, 0, 0));
        assert_eq!(spent(&choice(50, 1, 0)), (7, 1, 0, 0));
        assert_eq!(spent(&choice(50, 0, 9)), (8, 0, 0, 0));
    }

    #[test]
    fn what_nobody_leaves_for_goes_to_those_who_enter_and_then_to_swaps_of_two_changes_each() {
        assert_eq!(spent(&choice(1, 50, 9)), (1, 7, 0, 0));
        assert_eq!(spent(&choice(1, 2, 9)), (1, 2, 2, 1));
        assert_eq!(spent(&choice(0, 0, 1)), (0, 0, 1, 6));
    }
}
