//! State frames of players are judged and taken (docs/protocol.md 2.3).

use std::time::Duration;

use bevy_app::{App, Plugin};
use bevy_ecs::{
    message::MessageReader,
    schedule::IntoScheduleConfigs,
    system::{Query, Res, ResMut},
};
use decitick_components::{
    body::{FrameGate, Motion},
    messages::FrameReceived,
    phase::Phase,
    reasons::DropReason,
    settings::{Settings, WorldSettings},
    tally::Tally,
    trace::Traces,
};
use decitick_protocol::{PlayerSync, Vec3, normalise_heading};

use crate::{
    teleport::{Moved, MovedItem},
    tick::{Tick, TickSystems},
};

/// Takes state frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct MotionPlugin;

impl Plugin for MotionPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Tick,
            take_frames
                .in_set(TickSystems::Simulate)
                .before(crate::combat::judge_hits),
        );
    }
}

/// Time between two corrections of a client that moves too fast.
const CORRECTION_PERIOD: Duration = Duration::from_secs(1);

/// Every frame of the tick is judged in order of arrival; the last one taken is what the tick relays.
pub(crate) fn take_frames(
    mut received: MessageReader<'_, '_, FrameReceived>,
    settings: Res<'_, Settings>,
    mut tally: ResMut<'_, Tally>,
    mut traces: ResMut<'_, Traces>,
    mut players: Query<'_, '_, (&Phase, &mut Motion, Moved)>,
) {
    for &FrameReceived {
        entity,
        frame,
        arrived,
    } in received.read()
    {
        let Ok((phase, mut motion, mut moved)) = players.get_mut(entity) else {
            tally.dropped.add(DropReason::SessionGone);
            continue;
        };
        let verdict = if *phase == Phase::Spawned {
            judge(&frame, &motion, &mut moved, &settings.world, arrived)
        } else {
            Err(DropReason::WrongPhase)
        };
        match verdict {
            Ok(()) => {
                moved.gate.take(frame.seq, arrived);
                moved.history.record(arrived, frame.position);
                *motion = motion_of(&frame);
                tally.handled += 1;
            }
            Err(reason) => {
                tally.dropped.add(reason);
                if !traces.is_idle() {
                    traces.frame_dropped(entity, frame.seq, reason);
                }
                if reason == DropReason::TooFast {
                    put_back(&motion, &mut moved, &settings.world, arrived);
                }
            }
        }
    }
}

fn judge(
    frame: &PlayerSync,
    motion: &Motion,
    moved: &mut MovedItem<'_, '_>,
    world: &WorldSettings,
    arrived: Duration,
) -> Result<(), DropReason> {
    if !moved.gate.is_newer(frame.seq) {
        return Err(DropReason::StaleFrame);
    }
    if moved.gate.leaps(frame.seq, arrived) {
        return Err(DropReason::SequenceLeap);
    }
    if moved.gate.settling(frame.position, frame.area, arrived) {
        return Err(DropReason::Settling);
    }
    if out_of_bounds(frame.position, world.bounds) {
        return Err(DropReason::OutOfBounds);
    }
    if FrameGate::too_fast(&moved.history, frame.position, arrived, world.max_speed) {
        return Err(DropReason::TooFast);
    }
    if !moved.gate.may_enter(motion.area, frame.area, arrived) {
        return Err(DropReason::AreaTooSoon);
    }
    Ok(())
}

fn out_of_bounds(position: Vec3, bounds: f32) -> bool {
    [position.x, position.y, position.z]
        .iter()
        .any(|component| component.abs() > bounds)
}

fn motion_of(frame: &PlayerSync) -> Motion {
    Motion {
        position: frame.position,
        velocity: frame.velocity,
        heading: normalise_heading(frame.heading),
        area: frame.area,
        keys: frame.keys,
        weapon: frame.weapon,
        stance: frame.stance,
        sequence: frame.seq,
    }
}

/// Sends a client that moved too fast back to where it was last taken, at most once a second. Its body did not move, so
/// what speed is judged by stays.
fn put_back(motion: &Motion, moved: &mut MovedItem<'_, '_>, world: &WorldSettings, now: Duration) {
    let recently = moved
        .gate
        .put_back_at
        .is_some_and(|at| now.saturating_sub(at) < CORRECTION_PERIOD);
    if recently {
        return;
    }
    moved.gate.put_back_at = Some(now);
    let settle = Duration::from_millis(u64::from(world.settle_ms));
    moved
        .gate
        .open_settle_window(motion.position, (motion.area, motion.area), now, settle);
    moved.tell_position(motion);
}
