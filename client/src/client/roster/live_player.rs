//! One live generation of a player id: its name, whether it is in view, and where it was last seen.

use std::time::Duration;

use decitick_protocol::{PlayerStreamIn, RemoteFrame, Vec3};

use super::super::breach::Fault;
use super::super::counters::RecordDrop;
use super::super::grace::{Lateness, OutOfView};
use super::super::serial::is_newer;

/// The live generation of one player id.
#[derive(Debug, Clone, PartialEq)]
pub struct LivePlayer {
    token: u32,
    /// When the generation became known, so that older ones were gone.
    known_since: Duration,
    pub(super) name: Option<Box<str>>,
    view: View,
    last_seq: Option<u32>,
}

/// Whether the player is streamed in.
#[derive(Debug, Clone, PartialEq)]
enum View {
    Never,
    In(Sighting),
    Out(OutOfView),
}

/// A player in view as it was last seen: at its stream-in, or in its newest frame.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Sighting {
    /// Where it was, in metres.
    pub position: Vec3,
    /// How it moved, in metres per second; zero at a stream-in.
    pub velocity: Vec3,
    /// Where it looked, in radians within [-pi, pi).
    pub heading: f32,
    /// The interior it was in; 0 is outside.
    pub area: u8,
    /// The weapon in its hand; 0 is none.
    pub weapon: u8,
    /// Its health; 0 from its death on.
    pub health: u8,
}

impl LivePlayer {
    pub(super) const fn new(token: u32, known_since: Duration) -> Self {
        Self {
            token,
            known_since,
            name: None,
            view: View::Never,
            last_seq: None,
        }
    }

    /// The player's generation.
    #[must_use]
    pub const fn player_token(&self) -> u32 {
        self.token
    }

    /// The player's name; `None` while the PlayerJoin of this generation is still on its way.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether the player is streamed in.
    #[must_use]
    pub const fn is_in_view(&self) -> bool {
        matches!(self.view, View::In(_))
    }

    /// How the player was last seen; `None` while it is not in view.
    #[must_use]
    pub const fn sighting(&self) -> Option<&Sighting> {
        match &self.view {
            View::In(sighting) => Some(sighting),
            View::Never | View::Out(_) => None,
        }
    }

    pub(super) const fn known_since(&self) -> Duration {
        self.known_since
    }

    pub(super) fn enter(&mut self, event: &PlayerStreamIn) {
        self.view = View::In(Sighting {
            position: event.position,
            velocity: Vec3::ZERO,
            heading: event.heading,
            area: event.area,
            weapon: event.weapon,
            health: event.health,
        });
    }

    pub(super) fn leave_view(&mut self, now: Duration) {
        self.view = View::Out(OutOfView::new(now));
    }

    pub(super) const fn fall(&mut self) {
        if let View::In(sighting) = &mut self.view {
            sighting.health = 0;
        }
    }

    /// Takes a frame of this generation that arrived at `now`, or says why it does not count and what that shows.
    pub(super) fn see(
        &mut self,
        now: Duration,
        frame: &RemoteFrame,
    ) -> (Result<(), RecordDrop>, Option<Fault>) {
        let sighting = match &mut self.view {
            View::In(sighting) => sighting,
            View::Never => return (Err(RecordDrop::NotInView), None),
            View::Out(out) => {
                return match out.judge(now) {
                    Lateness::Excused => (Err(RecordDrop::NotInView), None),
                    Lateness::Late => (Err(RecordDrop::AfterStreamOut), None),
                    Lateness::Fault => (Err(RecordDrop::AfterStreamOut), Some(Fault::FramesAfterStreamOut)),
                };
            }
        };
        if self.last_seq.is_some_and(|last| !is_newer(frame.seq, last)) {
            return (Err(RecordDrop::StaleFrame), None);
        }
        self.last_seq = Some(frame.seq);
        *sighting = Sighting {
            position: frame.position,
            velocity: frame.velocity,
            heading: frame.heading,
            area: frame.area,
            weapon: frame.weapon,
            health: frame.health,
        };
        (Ok(()), None)
    }
}
