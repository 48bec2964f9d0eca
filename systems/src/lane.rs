//! Lane events leave, for the first time or again, within the limits of a tick (docs/protocol.md 2.1).

pub(crate) mod broadcast;

use bevy_ecs::reflect::ReflectResource;
use bevy_reflect::Reflect;
use std::time::Duration;

use bevy_app::{App, Plugin};
use bevy_ecs::{
    entity::Entity,
    resource::Resource,
    schedule::IntoScheduleConfigs,
    system::{Query, Res, ResMut},
};
use decitick_components::{
    clock::Clock,
    connection::Peer,
    lane::{Due, OutboundLane},
    limits::RESENDS_PER_CONNECTION,
    liveness::SmoothedRtt,
    mailbox::{Outbox, Stamp, Stamped},
    session::{PlayerId, PlayerToken, SlotTable},
    settings::Settings,
    tally::Tally,
};
use decitick_protocol::write_event_id;

use crate::tick::{Tick, TickSystems};

/// Adds the systems of [`TickSystems::Deliver`].
#[derive(Clone, Copy, Debug, Default)]
pub struct LanePlugin;

impl Plugin for LanePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ResendTurn>()
            .add_systems(Tick, (resend, send_new).chain().in_set(TickSystems::Deliver));
    }
}

/// Whose turn it is to be served first when the total per tick does not suffice, and room for the count.
#[derive(Resource, Debug, Default, Reflect)]
#[reflect(Resource)]
struct ResendTurn {
    first: usize,
    waiting: Vec<(Entity, usize)>,
}

fn resend(
    clock: Res<'_, Clock>,
    settings: Res<'_, Settings>,
    slots: Res<'_, SlotTable>,
    mut turn: ResMut<'_, ResendTurn>,
    mut outbox: ResMut<'_, Outbox>,
    mut tally: ResMut<'_, Tally>,
    mut connections: Query<'_, '_, (&Peer, &SmoothedRtt, &mut OutboundLane)>,
) {
    let now = clock.since_start;
    let mut waiting = std::mem::take(&mut turn.waiting);
    waiting.clear();
    for (_, entity) in slots.iter() {
        let Ok((_, rtt, lane)) = connections.get(entity) else {
            continue;
        };
        let due = lane.due_count(now, resend_timeout(rtt), RESENDS_PER_CONNECTION);
        if due > 0 {
            waiting.push((entity, due));
        }
    }
    let budget = usize::try_from(settings.limits.resends_per_tick).unwrap_or(usize::MAX);
    share_fairly(&mut waiting, budget, turn.first);
    turn.first = turn.first.wrapping_add(1);
    for &(entity, allowed) in &waiting {
        let Ok((peer, rtt, mut lane)) = connections.get_mut(entity) else {
            continue;
        };
        let sent = lane.resend(now, resend_timeout(rtt), allowed, |due| {
            push(&mut outbox, peer, &due, None);
        });
        tally.resends += sent as u64;
    }
    turn.waiting = waiting;
}

fn resend_timeout(rtt: &SmoothedRtt) -> Duration {
    OutboundLane::resend_timeout(rtt.measured())
}

/// Cuts what each asks for so that all together stay within `budget`: everybody gets the same share, what one
/// does not need goes to the others, and a rest that cannot be divided goes round from tick to tick.
fn share_fairly(waiting: &mut [(Entity, usize)], budget: usize, first: usize) {
    let wanted: usize = waiting.iter().map(|(_, due)| due).sum();
    if wanted <= budget {
        return;
    }
    let mut by_need: Vec<usize> = (0..waiting.len()).collect();
    by_need.sort_by_key(|&index| waiting.get(index).map_or(0, |(_, due)| *due));
    let mut left = budget;
    let mut askers = waiting.len();
    let mut share = 0;
    for &index in &by_need {
        share = left / askers.max(1);
        let Some((_, due)) = waiting.get(index) else {
            continue;
        };
        if *due > share {
            break;
        }
        left -= due;
        askers -= 1;
    }
    let mut rest = left.saturating_sub(share * askers);
    let count = waiting.len();
    for offset in 0..count {
        let Some((_, due)) = waiting.get_mut((first + offset) % count) else {
            continue;
        };
        if *due > share {
            let extra = usize::from(rest > 0);
            rest -= extra;
            *due = share + extra;
        }
    }
}

fn send_new(
    clock: Res<'_, Clock>,
    slots: Res<'_, SlotTable>,
    mut outbox: ResMut<'_, Outbox>,
    mut tally: ResMut<'_, Tally>,
    mut connections: Query<'_, '_, (&Peer, &PlayerId, &PlayerToken, &mut OutboundLane)>,
) {
    for (_, entity) in slots.iter() {
        let Ok((peer, &player, &generation, mut lane)) = connections.get_mut(entity) else {
            continue;
        };
        if !lane.has_backlog() {
            continue;
        }
        tally.lane_discarded += lane.take_discarded();
        while let Some(due) = lane.next_new(clock.since_start) {
            let stamp = Stamp {
                player,
                generation,
                what: Stamped::Event(due.event_id),
            };
            push(&mut outbox, peer, &due, Some(stamp));
        }
    }
}

fn push(outbox: &mut Outbox, peer: &Peer, due: &Due, stamp: Option<Stamp>) {
    outbox.push_with(peer.0, None, stamp, |out| {
        let start = out.len();
        out.extend_from_slice(&due.datagram);
        if let Some(datagram) = out.get_mut(start..) {
            write_event_id(datagram, due.event_id);
        }
    });
}

/// Makes what this module keeps known to the inspector.
pub(crate) fn show(app: &mut App) {
    app.register_type::<ResendTurn>();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(dues: &[usize]) -> Vec<(Entity, usize)> {
        (1..)
            .map(|n| Entity::from_raw_u32(n).unwrap())
            .zip(dues.iter().copied())
            .collect()
    }

    fn shared(dues: &[usize], budget: usize, first: usize) -> Vec<usize> {
        let mut list = waiting(dues);
        share_fairly(&mut list, budget, first);
        list.into_iter().map(|(_, due)| due).collect()
    }

    #[test]
    fn everybody_gets_all_when_the_budget_suffices() {
        assert_eq!(shared(&[32, 1, 7], 40, 0), [32, 1, 7]);
    }

    #[test]
    fn a_short_budget_is_shared_equally_and_small_needs_are_met() {
        assert_eq!(shared(&[32, 2, 32], 22, 0), [10, 2, 10]);
    }

    #[test]
    fn the_indivisible_rest_goes_round() {
        assert_eq!(shared(&[9, 9, 9], 10, 0), [4, 3, 3]);
        assert_eq!(shared(&[9, 9, 9], 10, 1), [3, 4, 3]);
        assert_eq!(shared(&[9, 9, 9], 10, 2), [3, 3, 4]);
    }

    #[test]
    fn a_thousand_stalled_clients_never_exceed_the_budget() {
        for budget in [0, 1, 999, 8000, 31_999] {
            let total: usize = shared(&[32; 1000], budget, 77).iter().sum();
            assert_eq!(total, budget);
        }
    }
}
