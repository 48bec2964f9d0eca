//! The pulse of the tick: beaten by it, felt by everybody else without waiting for it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use bevy_app::{App, Last, Plugin};
use bevy_ecs::{resource::Resource, system::Res};
use decitick_components::{auth::AuthResource, server::Lifecycle};

use crate::socket::Epoch;

/// The tick's end of the pulse.
#[derive(Resource, Debug)]
pub struct Heart(pub Arc<Pulse>);

/// Beats at the end of every tick; the [`Heart`] must be there.
#[derive(Clone, Copy, Debug, Default)]
pub struct PulsePlugin;

impl Plugin for PulsePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Last, beat);
    }
}

fn beat(heart: Res<'_, Heart>, scripts: Res<'_, AuthResource>, lifecycle: Res<'_, Lifecycle>) {
    let stops = lifecycle.stopping || lifecycle.stop_at.is_some();
    heart.0.beat(scripts.known, stops);
}

/// How long a tick may be silent before the server counts as unhealthy.
const SILENCE: Duration = Duration::from_secs(2);

/// The pulse.
#[derive(Debug)]
pub struct Pulse {
    epoch: Epoch,
    /// Milliseconds from the epoch to the last beat; 0: none yet.
    beaten: AtomicU64,
    scripts_ready: AtomicBool,
    stops: AtomicBool,
}

/// How the server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It ticks.
    Ticks,
    /// The last tick ended so long ago; the start, when there was none.
    Silent(Duration),
}

impl Pulse {
    /// A pulse that was not beaten yet.
    #[must_use]
    pub const fn new(epoch: Epoch) -> Self {
        Self {
            epoch,
            beaten: AtomicU64::new(0),
            scripts_ready: AtomicBool::new(false),
            stops: AtomicBool::new(false),
        }
    }

    /// A tick ended. `scripts_ready`: gamemodes had their first turn; `stops`: a stop is wanted or has begun.
    pub fn beat(&self, scripts_ready: bool, stops: bool) {
        let now = u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.scripts_ready.store(scripts_ready, Ordering::Relaxed);
        self.stops.store(stops, Ordering::Relaxed);
        self.beaten.store(now.max(1), Ordering::Release);
    }

    /// How the server is now.
    #[must_use]
    pub fn health(&self) -> Health {
        self.health_at(self.epoch.elapsed())
    }

    fn health_at(&self, now: Duration) -> Health {
        let beaten = Duration::from_millis(self.beaten.load(Ordering::Acquire));
        let silent = now.saturating_sub(beaten);
        if silent <= SILENCE {
            Health::Ticks
        } else {
            Health::Silent(silent)
        }
    }

    /// Why players should not be sent here now; nothing when they may come.
    #[must_use]
    pub fn unready(&self) -> Option<&'static str> {
        if self.beaten.load(Ordering::Acquire) == 0 {
            Some("starting: no tick yet")
        } else if self.stops.load(Ordering::Relaxed) {
            Some("stopping")
        } else if !self.scripts_ready.load(Ordering::Relaxed) {
            Some("starting: gamemodes have not had their first turn")
        } else if self.health() == Health::Ticks {
            None
        } else {
            Some("no tick of late")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pulse_that_stops_is_felt_after_two_seconds_and_comes_back() {
        let pulse = Pulse::new(Epoch::start());
        let second = Duration::from_secs(1);
        assert_eq!(pulse.health_at(second), Health::Ticks, "it has just started");
        assert_eq!(pulse.health_at(3 * second), Health::Silent(3 * second));
        pulse.beat(true, false);
        let beaten = Duration::from_millis(pulse.beaten.load(Ordering::Acquire));
        assert_eq!(pulse.health_at(beaten + 2 * second), Health::Ticks);
        assert_eq!(pulse.health_at(beaten + 5 * second), Health::Silent(5 * second));
        pulse.beat(true, false);
        assert_eq!(pulse.health(), Health::Ticks);
    }

    #[test]
    fn it_is_ready_between_the_first_turn_of_gamemodes_and_the_stop() {
        let pulse = Pulse::new(Epoch::start());
        assert_eq!(pulse.unready(), Some("starting: no tick yet"));
        pulse.beat(false, false);
        assert!(pulse.unready().is_some_and(|why| why.contains("first turn")));
        pulse.beat(true, false);
        assert_eq!(pulse.unready(), None);
        pulse.beat(true, true);
        assert_eq!(pulse.unready(), Some("stopping"));
    }
}
