//! What a bot counts in the measured window: round trips, keepalives, its own frames, and those it should get.

use std::time::Duration;

use super::{Bot, Plan};
use crate::bots::measure::Measurements;
use crate::bots::walk::WalkKind;
use crate::client::Roster;

/// Most frames a second that the server relays of one player (docs/protocol.md 2.3): one a tick.
const RELAYED_HZ: f64 = 10.0;
/// Frames a second that the server relays of a player that stands still (docs/protocol.md 2.4).
const STILL_HZ: f64 = 1.0;

/// The keepalives of the measured window: how many came between the first and the last.
#[derive(Debug, Default)]
pub(super) struct Keepalives {
    first: Option<Duration>,
    last: Duration,
    after_first: u64,
}

impl Bot {
    /// Opens the measured window.
    pub(in crate::bots) fn open_window(&mut self, now: Duration) {
        self.last_counted = now;
        self.keepalives = Keepalives::default();
    }

    /// Keepalives after the first of the window: how many came, and how many were due in that time.
    pub(in crate::bots) fn keepalives(&self) -> (u64, u64) {
        let Some(first) = self.keepalives.first else {
            return (0, 0);
        };
        let due = self.keepalives.last.saturating_sub(first).as_secs_f64().round() as u64;
        (self.keepalives.after_first, due.max(self.keepalives.after_first))
    }

    pub(super) fn take_ping(&mut self, now: Duration, rtt_ms: Option<u16>, measured: &mut Measurements) {
        if !measured.open {
            return;
        }
        if let Some(rtt_ms) = rtt_ms {
            measured.rtt.record(Duration::from_millis(u64::from(rtt_ms)));
        }
        match self.keepalives.first {
            None => self.keepalives.first = Some(now),
            Some(_) => self.keepalives.after_first += 1,
        }
        self.keepalives.last = now;
    }

    pub(super) fn note_frame_sent(&mut self, measured: &mut Measurements) {
        let Some((seq, at)) = self.client.last_sync() else {
            return;
        };
        if self.last_seq != Some(seq) {
            self.last_seq = Some(seq);
            measured.frame_sent(self.me.0, self.me.1, seq, at);
        }
    }

    /// Adds the frames that were to be expected since the last time: of each player in view at the rate its frames are
    /// relayed.
    pub(super) fn count_expected(&mut self, now: Duration, plan: &Plan, measured: &mut Measurements) {
        if !measured.open {
            return;
        }
        let hz = match plan.walk {
            WalkKind::Still => STILL_HZ,
            WalkKind::Random | WalkKind::Crowd => (1.0 / plan.frame_every.as_secs_f64()).min(RELAYED_HZ),
        };
        let in_view = self.client.roster().map_or(0, Roster::in_view_count);
        let seconds = now.saturating_sub(self.last_counted).as_secs_f64();
        measured.frames_expected += in_view as f64 * seconds * hz;
        self.last_counted = now;
    }
}
