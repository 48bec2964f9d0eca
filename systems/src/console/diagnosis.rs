//! Commands that answer why: slow ticks, who sees whom, what a connection says, a simulated bad network.

use std::time::Duration;

use bevy_ecs::world::World;
use decitick_components::{
    anatomy::TickAnatomy,
    clock::Clock,
    console::{
        ConsoleStream, ConsoleStreams, MAX_STREAMS, NetsimAction, NetsimAnswer, ReverseAnswer, SlowAnswer,
        SlowRow, StreamSubject, SystemsAnswer, WhyAnswer,
    },
    netsim::{Impairment, Netsim},
    session::{PlayerId, SlotTable},
    tally::Tally,
};

use super::{Answer, Asked, failed, nobody_has, rendered};
use crate::streaming::explain;

pub(super) fn systems(world: &World) -> Answer {
    let anatomy = world.resource::<TickAnatomy>();
    if anatomy.recent_ticks() == 0 {
        return failed("no tick was measured yet; ask again in a second");
    }
    rendered(SystemsAnswer::from(anatomy))
}

pub(super) fn slow(world: &World) -> Answer {
    let now = world.resource::<Clock>().unix_seconds();
    let slow = world.resource::<TickAnatomy>().slow.iter();
    rendered(SlowAnswer {
        ticks: slow.map(|tick| SlowRow::new(tick, now)).collect(),
    })
}

pub(super) fn why(world: &World, viewer: PlayerId, seen: PlayerId) -> Answer {
    let reverse = explain(world, seen, viewer);
    rendered(WhyAnswer {
        viewer: viewer.0,
        seen: seen.0,
        sight: explain(world, viewer, seen),
        reverse: ReverseAnswer {
            sees: reverse.sees,
            reason: reverse.reason,
        },
    })
}

/// `None` once the answer goes on.
pub(super) fn trace(world: &mut World, id: PlayerId, seconds: u32, asked: Asked) -> Option<Answer> {
    let Some(entity) = world.resource::<SlotTable>().holder(id) else {
        return Some(nobody_has(id));
    };
    let now = world.resource::<Clock>().since_start;
    let begun = world.resource_mut::<ConsoleStreams>().begin(ConsoleStream {
        id: asked.id,
        json: asked.json,
        layout: asked.layout,
        ends: now + Duration::from_secs(u64::from(seconds)),
        subject: StreamSubject::Trace { entity },
    });
    if begun {
        return None;
    }
    Some(failed(format!(
        "{MAX_STREAMS} answers go on already, on all consoles together; end one first"
    )))
}

pub(super) fn netsim(world: &mut World, action: NetsimAction) -> Answer {
    let wanted = match action {
        NetsimAction::Show => return rendered(answer(world)),
        NetsimAction::Off => None,
        NetsimAction::Set(impairment) => Some(impairment).filter(|wanted| !wanted.is_none()),
    };
    let before = std::mem::replace(&mut world.resource_mut::<Netsim>().0, wanted);
    match wanted {
        Some(wanted) if before.is_none() => warn(wanted),
        None if before.is_some() => tracing::info!("the bad network is not simulated any more"),
        _ => {}
    }
    rendered(answer(world))
}

/// Whoever reads the log later must know why everybody had a bad connection.
fn warn(wanted: Impairment) {
    tracing::warn!(
        loss_percent = wanted.loss_percent,
        delay_ms = wanted.delay_ms,
        jitter_ms = wanted.jitter_ms,
        duplicate_percent = wanted.duplicate_percent,
        "a bad network is simulated for everybody until `netsim off`"
    );
}

pub(super) fn answer(world: &World) -> NetsimAnswer {
    NetsimAnswer::new(*world.resource::<Netsim>(), world.resource::<Tally>().held_back)
}
