//! Which state frames of a session are believed: newer ones, near where the server put the body, and not faster than
//! the world allows (docs/protocol.md 2.3).

use crate::inspection::{Place, summary};
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
    /// Numbers that may still be left out, besides those that time gives.
    spare: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct SettleWindow {
    target: Vec3,
    area: u8,
    left: Areas,
    until: Duration,
}

/// A set of areas.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Areas([u64; 4]);

impl Areas {
    const fn bit(area: u8) -> (usize, u64) {
        ((area >> 6) as usize, 1 << (area & 63))
    }

    fn set(&mut self, area: u8, held: bool) {
        let (word, bit) = Self::bit(area);
        if let Some(word) = self.0.get_mut(word) {
            *word = if held { *word | bit } else { *word & !bit };
        }
    }

    fn holds(self, area: u8) -> bool {
        let (word, bit) = Self::bit(area);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

impl Taken {
    /// How far ahead the next number may be at `now`.
    fn allowance(&self, now: Duration) -> u64 {
        let sent = now
            .saturating_sub(self.at)
            .as_millis()
            .saturating_mul(FRAMES_A_SECOND)
            / 1000;
        u64::try_from(sent).unwrap_or(u64::MAX).saturating_add(self.spare)
    }
}

/// Distance from the target at which a settle window closes (docs/protocol.md 2.3).
const SETTLED_WITHIN: f32 = 10.0;
/// Frames that a client can send in a second: its packet budget, and as many again.
const FRAMES_A_SECOND: u128 = 400;
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
            let ahead = u64::from(sequence.wrapping_sub(last.sequence));
            ahead > last.allowance(now)
        })
    }

    /// Opens the window in which frames are ignored until the client is near `target` in `area`. Frames of the area that the
    /// server took the body out of are on their way and do not count as near; so do those of the areas before, when one
    /// move follows another that the client has not followed yet.
    pub fn open_settle_window(
        &mut self,
        target: Vec3,
        (left_area, area): (u8, u8),
        now: Duration,
        length: Duration,
    ) {
        let open = self.settle.filter(|window| now < window.until);
        let mut left = open.map_or(Areas::default(), |window| window.left);
        left.set(left_area, true);
        if let Some(window) = open {
            left.set(window.area, true);
        }
        left.set(area, false);
        self.settle = (!length.is_zero()).then(|| SettleWindow {
            target,
            area,
            left,
            until: now + length,
        });
    }

    /// Whether a frame at `position` in `area` is still ignored; a frame near the target, or the end of the window, closes
    /// it. A client that lets the window run out is still judged by the way from its target ([`FrameGate::too_fast`]): to
    /// ignore a position is no way to travel.
    pub fn settling(&mut self, position: Vec3, area: u8, now: Duration) -> bool {
        let Some(window) = self.settle else { return false };
        let followed = !window.left.holds(area) && distance(position, window.target) <= SETTLED_WITHIN;
        if !followed && now < window.until {
            return true;
        }
        self.settle = None;
        false
    }

    /// Whether a frame at `position` moves faster than `max_speed` over the last second: judged by the way from where the
    /// body was a second ago or longer, and from where it was last, so that it cannot be in two places by turns. Each may
    /// be as far away as the time since it allows, one second at least and three at most.
    #[must_use]
    pub fn too_fast(history: &PositionHistory, position: Vec3, now: Duration, max_speed: f32) -> bool {
        let a_second_ago = now.saturating_sub(SECOND);
        let judged_by = [history.newest(), history.last_before(a_second_ago)];
        max_speed > 0.0
            && judged_by.into_iter().flatten().any(|(at, place)| {
                let seconds = now.saturating_sub(at).clamp(SECOND, LONGEST_GAP).as_secs_f32();
                distance(position, place) > max_speed * seconds
            })
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
    pub fn take(&mut self, sequence: u32, now: Duration) {
        let spare = self.newest.map_or(SPARE_FRAMES, |last| {
            let ahead = u64::from(sequence.wrapping_sub(last.sequence));
            last.allowance(now).saturating_sub(ahead).min(SPARE_FRAMES)
        });
        let at = self.newest.map_or(now, |last| last.at.max(now));
        self.newest = Some(Taken { sequence, at, spare });
    }

    /// Whether a frame was taken in this session.
    #[must_use]
    pub const fn has_taken(&self) -> bool {
        self.newest.is_some()
    }
}

summary!(|gate: FrameGate| {
    newest_sequence: Option<u32> = gate.newest.map(|taken| taken.sequence),
    newest_at: Option<Duration> = gate.newest.map(|taken| taken.at),
    settling_until: Option<Duration> = gate.settle.map(|window| window.until),
    settling_at: Option<Place> = gate.settle.map(|window| Place(window.target)),
    area_claimed_at: Option<Duration> = gate.area_claimed_at,
    put_back_at: Option<Duration> = gate.put_back_at,
});

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
        gate.open_settle_window(at(100.0), (0, 0), ms(0), ms(2000));
        assert!(gate.settling(at(0.0), 0, ms(1999)));
        assert!(!gate.settling(at(91.0), 0, ms(1999)));
        assert!(!gate.settling(at(0.0), 0, ms(1999)));
        gate.open_settle_window(at(100.0), (0, 0), ms(0), ms(2000));
        assert!(!gate.settling(at(0.0), 0, ms(2000)));
        gate.open_settle_window(at(100.0), (0, 0), ms(0), ms(0));
        assert!(!gate.settling(at(0.0), 0, ms(0)));
    }

    #[test]
    fn a_frame_of_the_area_that_was_left_has_not_followed_however_near() {
        let mut gate = FrameGate::default();
        gate.open_settle_window(at(100.0), (0, 7), ms(0), ms(2000));
        assert!(gate.settling(at(100.0), 0, ms(1)));
        assert!(!gate.settling(at(100.0), 7, ms(2)));

        gate.open_settle_window(at(100.0), (0, 7), ms(0), ms(2000));
        gate.open_settle_window(at(100.0), (7, 7), ms(10), ms(2000));
        assert!(
            gate.settling(at(100.0), 0, ms(20)),
            "the client has followed neither move"
        );
        gate.open_settle_window(at(100.0), (7, 5), ms(30), ms(2000));
        assert!(gate.settling(at(100.0), 0, ms(40)) && gate.settling(at(100.0), 7, ms(40)));
        assert!(!gate.settling(at(100.0), 5, ms(40)));
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
    fn leaps_do_not_add_up() {
        let mut gate = FrameGate::default();
        gate.take(0, ms(0));
        let mut sequence = 0u32;
        for n in 1..=10_000u64 {
            let now = ms(n * 5);
            let farthest = (1..=1_000).rev().find(|ahead| !gate.leaps(sequence + ahead, now));
            sequence += farthest.unwrap_or(0);
            gate.take(sequence, now);
        }
        assert!(sequence <= 1_000 + 50 * 400, "{sequence} in 50 s");
    }

    #[test]
    fn nobody_is_in_two_places_by_turns() {
        let mut history = PositionHistory::default();
        for n in 0..40u64 {
            // Here for half a second and far away for half a second.
            let x = if n % 10 < 5 { 0.0 } else { 6_000.0 };
            if !FrameGate::too_fast(&history, at(x), ms(n * 100), 200.0) {
                history.record(ms(n * 100), at(x));
            }
        }
        let (_, place) = history.newest().unwrap();
        assert!(place.x < 1.0);
    }

    #[test]
    fn frames_that_a_link_held_back_and_delivers_at_once_are_no_leap() {
        for (speed, held) in [(60.0, 3.0), (100.0, 2.0), (150.0, 2.5f32)] {
            let mut history = PositionHistory::default();
            for n in 0..20u16 {
                history.record(ms(u64::from(n) * 100), at(f32::from(n) * speed / 10.0));
            }
            let now = ms(1_900 + (held * 1000.0) as u64);
            for n in 20..(20 + (held * 10.0) as u16) {
                let place = at(f32::from(n) * speed / 10.0);
                assert!(
                    !FrameGate::too_fast(&history, place, now, 200.0),
                    "{speed} m/s held for {held} s: {place:?}"
                );
                history.record(now, place);
            }
        }
    }

    #[test]
    fn an_area_is_changed_once_a_second() {
        let mut gate = FrameGate::default();
        assert!(gate.may_enter(0, 0, ms(0)) && gate.may_enter(0, 7, ms(10)));
        assert!(!gate.may_enter(7, 0, ms(1009)) && gate.may_enter(7, 7, ms(1009)));
        assert!(gate.may_enter(7, 0, ms(1010)));
    }
}
