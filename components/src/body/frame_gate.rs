//! Which state frames of a session are believed: newer ones, near where the server put the body, and not faster than
//! the world allows (docs/protocol.md 2.3).

use std::time::Duration;

use bevy_ecs::component::Component;
use decitick_protocol::Vec3;

use super::distance;

/// Which frames of a session are taken.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameGate {
    newest: Option<u32>,
    settle: Option<SettleWindow>,
    anchor: Option<SpeedAnchor>,
    /// When the client was last put back for moving too fast, since the start.
    pub put_back_at: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct SettleWindow {
    target: Vec3,
    until: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct SpeedAnchor {
    position: Vec3,
    at: Duration,
}

/// Distance from the target at which a settle window closes (docs/protocol.md 2.3).
const SETTLED_WITHIN: f32 = 10.0;

impl FrameGate {
    /// Whether `sequence` is newer than the last taken one, by serial-number arithmetic.
    #[must_use]
    pub const fn is_newer(&self, sequence: u32) -> bool {
        match self.newest {
            None => true,
            Some(newest) => {
                let ahead = sequence.wrapping_sub(newest);
                ahead != 0 && ahead < 0x8000_0000
            }
        }
    }

    /// Opens the window in which frames are ignored until the client is near `target`.
    pub fn open_settle_window(&mut self, target: Vec3, now: Duration, length: Duration) {
        self.settle = (!length.is_zero()).then(|| SettleWindow {
            target,
            until: now + length,
        });
        self.anchor = Some(SpeedAnchor {
            position: target,
            at: now,
        });
    }

    /// Whether a frame at `position` is still ignored; a frame near the target, or the end of the window, closes it.
    pub fn settling(&mut self, position: Vec3, now: Duration) -> bool {
        let Some(window) = self.settle else { return false };
        let arrived = distance(position, window.target) <= SETTLED_WITHIN;
        if !arrived && now < window.until {
            return true;
        }
        self.settle = None;
        if arrived {
            self.anchor = Some(SpeedAnchor { position, at: now });
        }
        // A client that let the window run out is still judged by the way from its target: to ignore a position
        // is no way to travel.
        false
    }

    /// Whether a frame at `position` moves faster than `max_speed` over the last second.
    #[must_use]
    pub fn too_fast(&self, position: Vec3, now: Duration, max_speed: f32) -> bool {
        let Some(anchor) = self.anchor else { return false };
        let seconds = now.saturating_sub(anchor.at).as_secs_f32().max(1.0);
        max_speed > 0.0 && distance(position, anchor.position) > max_speed * seconds
    }

    /// Takes a frame: its sequence is the newest, and once a second its position is what speed is judged by.
    pub fn take(&mut self, sequence: u32, position: Vec3, now: Duration) {
        self.newest = Some(sequence);
        match &self.anchor {
            Some(anchor) if now.saturating_sub(anchor.at) < Duration::from_secs(1) => {}
            _ => self.anchor = Some(SpeedAnchor { position, at: now }),
        }
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
        gate.take(u32::MAX, at(0.0), ms(0));
        assert!(gate.is_newer(0) && gate.is_newer(5));
        assert!(!gate.is_newer(u32::MAX) && !gate.is_newer(u32::MAX - 1));
        assert!(!gate.is_newer(u32::MAX.wrapping_add(0x8000_0000)));
    }

    #[test]
    fn a_settle_window_ends_near_the_target_or_in_time() {
        let mut gate = FrameGate::default();
        gate.open_settle_window(at(100.0), ms(0), ms(2000));
        assert!(gate.settling(at(0.0), ms(1999)));
        assert!(!gate.settling(at(91.0), ms(1999)));
        assert!(!gate.settling(at(0.0), ms(1999)));
        gate.open_settle_window(at(100.0), ms(0), ms(2000));
        assert!(!gate.settling(at(0.0), ms(2000)));
        gate.open_settle_window(at(100.0), ms(0), ms(0));
        assert!(!gate.settling(at(0.0), ms(0)));
    }

    #[test]
    fn a_settle_window_that_runs_out_is_no_way_to_travel() {
        let mut gate = FrameGate::default();
        gate.open_settle_window(at(0.0), ms(0), ms(2000));
        assert!(gate.settling(at(8000.0), ms(1900)));
        assert!(!gate.settling(at(8000.0), ms(2000)));
        assert!(gate.too_fast(at(8000.0), ms(2000), 200.0));
    }

    #[test]
    fn speed_is_judged_over_the_last_second() {
        let mut gate = FrameGate::default();
        gate.open_settle_window(at(0.0), ms(0), ms(0));
        assert!(!gate.too_fast(at(200.0), ms(100), 200.0));
        assert!(gate.too_fast(at(201.0), ms(100), 200.0));
        assert!(!gate.too_fast(at(400.0), ms(2000), 200.0));
        assert!(!gate.too_fast(at(9000.0), ms(100), 0.0));
        gate.take(1, at(200.0), ms(1000));
        assert!(gate.too_fast(at(401.0), ms(1100), 200.0));
    }
}
