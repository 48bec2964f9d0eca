//! What a client knows, for the program to ask. Nothing here changes anything.

use std::time::Duration;

use decitick_protocol::PlayerSync;

use super::notices::{EndReason, Welcome};
use super::own::{OwnState, WeaponTable};
use super::roster::Roster;
use super::session::Body;
use super::things::Things;
use super::views::OpenView;
use super::{Client, State};

impl Client {
    /// What ServerHello told, once the server accepted the client and until the end.
    #[must_use]
    pub fn welcome(&self) -> Option<&Welcome> {
        Some(&self.session()?.welcome)
    }

    /// Whether the player has a body.
    #[must_use]
    pub fn is_spawned(&self) -> bool {
        self.session()
            .is_some_and(|session| session.body == Body::Spawned)
    }

    /// Whether the login is undecided (docs/protocol.md 1.5).
    #[must_use]
    pub fn is_auth_pending(&self) -> bool {
        self.session().is_some_and(|session| session.auth_pending)
    }

    /// Why the client ended; `None` while it has not.
    #[must_use]
    pub const fn end_reason(&self) -> Option<&EndReason> {
        match &self.state {
            State::Ended { reason, .. } => Some(reason),
            _ => None,
        }
    }

    /// Who is on the server and in view, while there is a session.
    #[must_use]
    pub fn roster(&self) -> Option<&Roster> {
        Some(&self.session()?.roster)
    }

    /// The round trip in milliseconds as the server last measured it.
    #[must_use]
    pub fn rtt_ms(&self) -> Option<u16> {
        self.session()?.rtt_ms
    }

    /// Number and time of the last PlayerSync sent.
    #[must_use]
    pub fn last_sync(&self) -> Option<(u32, Duration)> {
        self.session()?.frames.last_sent
    }

    /// Highest event id of the client's own lane that the server acknowledged, and how many are outstanding.
    #[must_use]
    pub fn lane_progress(&self) -> Option<(u32, usize)> {
        let lane = &self.session()?.lane_out;
        Some((lane.acked(), lane.outstanding()))
    }

    /// The last frame that was sent of the body the player has; `None` while none was.
    #[must_use]
    pub fn last_frame(&self) -> Option<&PlayerSync> {
        self.session()?.frames.sent.as_ref()
    }

    /// What the player knows of itself: health, money, weapons.
    #[must_use]
    pub fn own(&self) -> Option<&OwnState> {
        Some(&self.session()?.own)
    }

    /// What weapons do on this server; empty while the server has not told.
    #[must_use]
    pub fn weapon_table(&self) -> Option<&WeaponTable> {
        Some(&self.session()?.weapon_table)
    }

    /// The entities in view, while there is a session.
    #[must_use]
    pub fn things(&self) -> Option<&Things> {
        Some(&self.session()?.things)
    }

    /// The views that are shown, by rising number: open by the server's word, with a page that is safe
    /// ([`is_safe_page`](super::is_safe_page)), and neither failed nor closed on this side.
    pub fn open_views(&self) -> impl Iterator<Item = (u16, &OpenView)> {
        self.session()
            .into_iter()
            .flat_map(|session| session.views.shown())
    }

    /// The time of day in the world at `now`: hour (0..=23) and minute (0..=59). It runs on by itself as the server said,
    /// not corrected for the way that took.
    #[must_use]
    pub fn world_time(&self, now: Duration) -> Option<(u8, u8)> {
        Some(self.session()?.clock.time(now))
    }
}
