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
};
use decitick_protocol::{PlayerSync, Vec3, normalise_heading};

use crate::{
    teleport::{Moved, MovedItem, teleport},
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
            judge(&frame, &mut moved.gate, &settings.world, arrived)
        } else {
            Err(DropReason::WrongPhase)
        };
        match verdict {
            Ok(()) => {
                moved.gate.take(frame.seq, frame.position, arrived);
                moved.history.record(arrived, frame.position);
                *motion = motion_of(&frame);
                tally.handled += 1;
            }
            Err(reason) => {
                tally.dropped.add(reason);
                if reason == DropReason::TooFast {
                    put_back(&motion, &mut moved, &settings.world, arrived);
                }
            }
        }
    }
}

fn judge(
    frame: &PlayerSync,
    gate: &mut FrameGate,
    world: &WorldSettings,
    arrived: Duration,
) -> Result<(), DropReason> {
    if !gate.is_newer(frame.seq) {
        return Err(DropReason::StaleFrame);
    }
    if gate.settling(frame.position, arrived) {
        return Err(DropReason::Settling);
    }
    if out_of_bounds(frame.position, world.bounds) {
        return Err(DropReason::OutOfBounds);
    }
    if gate.too_fast(frame.position, arrived, world.max_speed) {
        return Err(DropReason::TooFast);
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

/// Sends a client that moved too fast back to where it was last taken, at most once a second.
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
    teleport(motion, moved, now, settle);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(seq: u32, x: f32) -> PlayerSync {
        PlayerSync {
            seq,
            position: Vec3 { x, y: 0.0, z: 10.0 },
            velocity: Vec3::default(),
            heading: 0.0,
            area: 0,
            keys: 0,
            weapon: 0,
            stance: 0,
        }
    }

    #[test]
    fn an_older_frame_a_far_one_and_a_fast_one_are_refused() {
        let world = WorldSettings {
            bounds: 1000.0,
            max_speed: 200.0,
            ..Default::default()
        };
        let mut gate = FrameGate::default();
        let now = Duration::from_secs(5);
        assert_eq!(judge(&frame(2, 0.0), &mut gate, &world, now), Ok(()));
        gate.take(2, frame(2, 0.0).position, now);
        assert_eq!(
            judge(&frame(2, 0.0), &mut gate, &world, now),
            Err(DropReason::StaleFrame)
        );
        assert_eq!(
            judge(&frame(3, 1000.5), &mut gate, &world, now),
            Err(DropReason::OutOfBounds)
        );
        assert_eq!(
            judge(&frame(3, 201.0), &mut gate, &world, now),
            Err(DropReason::TooFast)
        );
        assert_eq!(judge(&frame(3, 200.0), &mut gate, &world, now), Ok(()));
    }
}
