//! What comes in goes through a bad network first, when one is simulated: datagrams that the door passed are lost, held
//! back or doubled before anything of the tick sees them. What goes out is the shell's to delay, which has a clock for it.
//!
//! A datagram that was held back counts as received when it is let through, so that round trips show the delay. It is one
//! of those that are queued meanwhile; a copy counts as one more that was received.

use std::time::Duration;

use bevy_app::{App, Plugin};
use bevy_ecs::{
    resource::Resource,
    schedule::IntoScheduleConfigs,
    system::{Res, ResMut},
};
use decitick_components::{
    clock::Clock,
    entropy::Entropy,
    mailbox::{Batch, HelloTicket, Inbox, Route},
    netsim::{Dice, HeldBack, Impairment, Netsim},
    reasons::DropReason,
    tally::Tally,
};

use crate::{
    receive::take_worker_answers,
    script::begin_tick,
    tick::{Tick, TickSystems},
};

/// Simulates a bad network for what comes in.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetsimPlugin;

impl Plugin for NetsimPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<HeldInbound>().add_systems(
            Tick,
            impair_inbound
                .in_set(TickSystems::Receive)
                .after(take_worker_answers)
                .after(begin_tick),
        );
    }
}

/// What is held back on its way in: how each is reached, and the ticket of a hello.
#[derive(Resource, Debug, Default)]
pub(crate) struct HeldInbound(HeldBack<(Route, Option<HelloTicket>)>);

pub(crate) fn impair_inbound(
    netsim: Res<'_, Netsim>,
    clock: Res<'_, Clock>,
    mut held: ResMut<'_, HeldInbound>,
    mut inbox: ResMut<'_, Inbox>,
    mut entropy: ResMut<'_, Entropy>,
    mut tally: ResMut<'_, Tally>,
) {
    if netsim.0.is_none() && held.0.is_empty() {
        return;
    }
    let HeldInbound(held) = &mut *held;
    let impairment = netsim.0.unwrap_or_default();
    let mut dice = Dice::new(entropy.nonzero_u64().unwrap_or(clock.tick));
    let Inbox { sessions, hellos, .. } = &mut *inbox;
    for batch in [&mut *sessions, &mut *hellos] {
        hold_back(batch, impairment, &mut dice, held, &mut tally);
        batch.clear();
    }
    // Once it is over, whatever is held back goes at once.
    let until = if netsim.0.is_some() {
        clock.since_start
    } else {
        Duration::MAX
    };
    while let Some((due, (route, ticket), bytes)) = held.pop_due(until) {
        let arrived = due.min(clock.since_start);
        let batch = if ticket.is_some() {
            &mut *hellos
        } else {
            &mut *sessions
        };
        if !batch.push(route, arrived, &bytes, ticket) {
            discard(&mut tally, DropReason::QueueFull);
        }
    }
    tally.held_back = held.len() as u64;
}

fn hold_back(
    batch: &Batch,
    impairment: Impairment,
    dice: &mut Dice,
    held: &mut HeldBack<(Route, Option<HelloTicket>)>,
    tally: &mut Tally,
) {
    for (datagram, bytes) in batch.iter() {
        let [first, second] = impairment.fate(dice);
        if first.is_none() {
            discard(tally, DropReason::Simulated);
        }
        tally.duplicated += u64::from(second.is_some());
        for delay in [first, second].into_iter().flatten() {
            let due = datagram.arrived + delay;
            if !held.push(due, (datagram.route, datagram.ticket), bytes) {
                discard(tally, DropReason::QueueFull);
            }
        }
    }
}

/// Takes one from the queue and drops it.
fn discard(tally: &mut Tally, reason: DropReason) {
    tally.taken += 1;
    tally.dropped.add(reason);
}
