//! Which state frames of a session are believed: newer ones, near where the server put the body, and not faster than
//! the world allows (docs/protocol.md 2.3).

use std::time::Duration;

use bevy_ecs::component::Component;
use decitick_protocol::Vec3;

use super::{PositionHistory, distance};

/// Which frames of a session are taken.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameGate {
    newest: Option<Taken>,
    settle: Option<SettleWindow>,
    area_claimed_at: Option<Duration>,
    /// When the client was last put back for moving too fast, since the start.
    pub put_back_at: Option<Duration>,
}

/// The last frame that was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Taken {
    sequence: u32,
    at: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct SettleWindow {
    target: Vec3,
    left_area: Option<u8>,
    until: Duration,
}

/// Distance from the target at which a settle window closes (docs/protocol.md 2.3).
const SETTLED_WITHIN: f32 = 10.0;
/// Frames that a client can send in a second: its packet budget, and as many again.
const FRAMES_A_SECOND: u64 = 400;
/// Frames that may be missing besides.
const SPARE_FRAMES: u64 = 1_000;
/// The span that speed is measured over.
const SECOND: Duration = Duration::from_secs(1);
/// Silence that a mover is given credit for: after more of it, a long way is no loss of packets but a leap.
const LONGEST_GAP: Duration = Duration::from_secs(3);

impl FrameGate {
    /// Time between two changes of area that a client may make by itself. Whoever shoots must have been where it is seen
    /// for as long (docs/protocol.md 2.3, 2.5).
    pub const AREA_PERIOD: Duration = SECOND;

    /// Whether `sequence` is newer than the last taken one, by serial-number arithmetic.
    #[must_use]
    pub fn is_newer(&self, sequence: u32) -> bool {
        self.newest.is_none_or(|last| {
            let ahead = sequence.wrapping_sub(last.sequence);
            ahead != 0 && ahead < 0x8000_0000
        })
    }

    /// Whether a newer `sequence` is further ahead than frames can have been sent since the last one taken. With leaps of
    /// half the circle a client could stand still for others while it walks: they drop what looks older (docs/protocol.md
    /// 2.6).
    #[must_use]
    pub fn leaps(&self, sequence: u32, now: Duration) -> bool {
        self.newest.is_some_and(|last| {
            let sent = now
                .saturating_sub(last.at)
                .as_secs()
                .saturating_mul(FRAMES_A_SECOND);
            u64::from(sequence.wrapping_sub(last.sequence)) > sent.saturating_add(SPARE_FRAMES)
        })
    }

    /// Opens the window in which frames are ignored until the client is near `target`. When the server moved the body to
    /// another area, frames of the one it left are on their way and do not count as near.
    pub fn open_settle_window(
        &mut self,
        target: Vec3,
        left_area: Option<u8>,
        now: Duration,
        length: Duration,
    ) {
        self.settle = (!length.is_zero()).then(|| SettleWindow {
            target,
            left_area,
            until: now + length,
        });
    }

    /// Whether a frame at `position` in `area` is still ignored; a frame near the target, or the end of the window, closes
    /// it. A client that lets the window run out is still judged by the way from its target ([`FrameGate::too_fast`]): to
    /// ignore a position is no way to travel.
    pub fn settling(&mut self, position: Vec3, area: u8, now: Duration) -> bool {
        let Some(window) = self.settle else { return false };
        let followed = window.left_area != Some(area) && distance(position, window.target) <= SETTLED_WITHIN;
        if !followed && now < window.until {
            return true;
        }
        self.settle = None;
        false
    }

    /// Whether a frame at `position` moves faster than `max_speed` over the last second, judged by where the body was a
    /// second ago, or when it was last heard of.
    #[must_use]
    pub fn too_fast(history: &PositionHistory, position: Vec3, now: Duration, max_speed: f32) -> bool {
        let Some(then) = history.position_at(now.saturating_sub(SECOND), now) else {
            return false;
        };
        let silent = history
            .newest_at()
            .map_or(Duration::ZERO, |newest| now.saturating_sub(newest));
        let seconds = silent.clamp(SECOND, LONGEST_GAP).as_secs_f32();
        max_speed > 0.0 && distance(position, then) > max_speed * seconds
    }

    /// Whether the client may be in `area` now, when its body is in `current`: it may change by itself once a second.
    pub fn may_enter(&mut self, current: u8, area: u8, now: Duration) -> bool {
        if area == current {
            return true;
        }
        let soon = self
            .area_claimed_at
            .is_some_and(|at| now.saturating_sub(at) < Self::AREA_PERIOD);
        if !soon {
            self.area_claimed_at = Some(now);
        }
        !soon
    }

    /// When the client last changed its area by itself.
    #[must_use]
    pub const fn area_claimed_at(&self) -> Option<Duration> {
        self.area_claimed_at
    }

    /// Takes a frame that arrived at `now`: its sequence is the newest.
    pub const fn take(&mut self, sequence: u32, now: Duration) {
        self.newest = Some(Taken { sequence, at: now });
    }

    /// Whether a frame was taken in this session.
    #[must_use]
    pub const fn has_taken(&self) -> bool {
        self.newest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(x: f32) -> Vec3 {
        Vec3 { x, y: 0.0, z: 0.0 }
    }

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn newer_is_decided_by_serial_number_arithmetic() {
        let mut gate = FrameGate::default();
        assert!(gate.is_newer(0));
        gate.take(u32::MAX, ms(0));
        assert!(gate.is_newer(0) && gate.is_newer(5));
        assert!(!gate.is_newer(u32::MAX) && !gate.is_newer(u32::MAX - 1));
        assert!(!gate.is_newer(u32::MAX.wrapping_add(0x8000_0000)));
    }

    #[test]
    fn a_number_may_be_as_far_ahead_as_frames_can_have_been_lost() {
        let mut gate = FrameGate::default();
        assert!(!gate.leaps(0x9000_0000, ms(0)), "any number may be the first");
        gate.take(u32::MAX, ms(0));
        assert!(!gate.leaps(999, ms(0)) && gate.leaps(1_000, ms(0)));
        assert!(!gate.leaps(1_399, ms(1_000)) && gate.leaps(0x7000_0000, ms(60_000)));
        let an_hour = Duration::from_secs(3600);
        assert!(
            !gate.leaps(60 * 3600, an_hour),
            "dead for an hour, and 60 frames a second all the time"
        );
    }

    #[test]
    fn a_settle_window_ends_near_the_target_or_in_time() {
        let mut gate = FrameGate::default();
        gate.open_settle_window(at(100.0), None, ms(0), ms(2000));
        assert!(gate.settling(at(0.0), 0, ms(1999)));
        assert!(!gate.settling(at(91.0), 0, ms(1999)));
        assert!(!gate.settling(at(0.0), 0, ms(1999)));
        gate.open_settle_window(at(100.0), None, ms(0), ms(2000));
        assert!(!gate.settling(at(0.0), 0, ms(2000)));
        gate.open_settle_window(at(100.0), None, ms(0), ms(0));
        assert!(!gate.settling(at(0.0), 0, ms(0)));
    }

    #[test]
    fn a_frame_of_the_area_that_was_left_has_not_followed_however_near() {
        let mut gate = FrameGate::default();
        gate.open_settle_window(at(100.0), Some(0), ms(0), ms(2000));
        assert!(gate.settling(at(100.0), 0, ms(1)));
        assert!(!gate.settling(at(100.0), 7, ms(2)));
    }

    /// Where a body that took these steps a tenth of a second apart may be next, in metres.
    fn allowed(steps: &[f32], now: u64) -> f32 {
        let mut history = PositionHistory::default();
        for (n, &x) in (0u64..).zip(steps) {
            history.record(ms(n * 100), at(x));
        }
        let fits = |x: f32| !FrameGate::too_fast(&history, at(x), ms(now), 200.0);
        (0..4000u16)
            .map(f32::from)
            .filter(|&x| fits(x))
            .fold(0.0, f32::max)
    }

    #[test]
    fn speed_is_judged_by_where_the_body_was_a_second_ago() {
        assert!(
            (allowed(&[0.0], 100) - 200.0).abs() < 1.0,
            "at once after a spawn"
        );
        assert!(
            (allowed(&[0.0, 195.0], 125) - 200.0).abs() < 1.0,
            "a second leap is as far from a second ago"
        );
        let walk: Vec<f32> = (0..30u8).map(|n| f32::from(n) * 20.0).collect();
        assert!((allowed(&walk, 3000) - 600.0).abs() < 1.0, "200 m/s all the time");
    }

    #[test]
    fn silence_is_no_way_to_travel() {
        assert!((allowed(&[0.0, 0.0], 2100) - 400.0).abs() < 1.0, "2 s of loss");
        assert!(
            (allowed(&[0.0, 0.0], 60_000) - 600.0).abs() < 1.0,
            "a minute counts as 3 s"
        );
        let mut history = PositionHistory::default();
        history.record(ms(0), at(0.0));
        assert!(
            !FrameGate::too_fast(&history, at(9000.0), ms(100), 0.0),
            "0: no check"
        );
    }

    #[test]
    fn an_area_is_changed_once_a_second() {
        let mut gate = FrameGate::default();
        assert!(gate.may_enter(0, 0, ms(0)) && gate.may_enter(0, 7, ms(10)));
        assert!(!gate.may_enter(7, 0, ms(1009)) && gate.may_enter(7, 7, ms(1009)));
        assert!(gate.may_enter(7, 0, ms(1010)));
    }
}
