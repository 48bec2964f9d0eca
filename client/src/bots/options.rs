//! What a run of bots is to do, and what of it is out of range.

use std::fmt;
use std::time::Duration;

use decitick_protocol::{MAX_PLAYERS, Password};

use super::{BotsError, Login, WalkKind};

/// Most hits a second that a server takes of one player for long (docs/protocol.md 2.1).
const MAX_SHOTS_PER_SECOND: f64 = 20.0;

/// Longest password of a bot's account, in bytes.
const LOGIN_PASSWORD_BYTES: usize = 128;

/// What a run is to do. `Debug` shows no password.
#[derive(Clone)]
pub struct BotsOptions {
    /// The server, as HOST:PORT.
    pub server: String,
    /// How many bots, 1..=1000.
    pub count: usize,
    /// How long they play once all have joined or failed to.
    pub duration: Duration,
    /// Frames a second that each sends, above 0 and at most 100. The server relays at most ten.
    pub rate_hz: f64,
    /// The server's password.
    pub password: Option<Password>,
    /// How they log in when the server asks for it; `None`: they do not, and fail.
    pub login: Option<Login>,
    /// The password of their accounts, 1..=128 bytes. They tell it to the server, or to the site that the server sends
    /// them to.
    pub login_password: String,
    /// How they walk.
    pub walk: WalkKind,
    /// Lines of chat a second, all bots together. Each goes to every player, so it costs the server a packet per player.
    /// 0: they say nothing.
    pub chat_per_second: f64,
    /// Hits a second that each bot reports while it has somebody in reach, 0..=20 and never faster than its weapon. 0: it
    /// never shoots.
    pub shots_per_second: f64,
    /// Attempts started a second, above 0.
    pub joins_per_second: f64,
    /// Attempts under way at once, at least 1.
    pub joins_at_once: usize,
}

impl BotsOptions {
    /// `count` bots at `server` with the usual rest: 30 s, 10 Hz, a random walk, a shot every two seconds, four lines of
    /// chat and 400 joins a second.
    #[must_use]
    pub fn new(server: impl Into<String>, count: usize) -> Self {
        Self {
            server: server.into(),
            count,
            duration: Duration::from_secs(30),
            rate_hz: 10.0,
            password: None,
            login: None,
            login_password: "decitick-bot".to_owned(),
            walk: WalkKind::default(),
            chat_per_second: 4.0,
            shots_per_second: 0.5,
            joins_per_second: 400.0,
            joins_at_once: 256,
        }
    }

    pub(super) fn check(&self) -> Result<(), BotsError> {
        let in_range = |value: f64, most: f64| value.is_finite() && value > 0.0 && value <= most;
        let fault = if self.count == 0 || self.count > usize::from(MAX_PLAYERS) {
            "the number of bots must be 1 to 1000"
        } else if !in_range(self.rate_hz, 100.0) {
            "the rate must be above 0 and at most 100 Hz"
        } else if !in_range(self.joins_per_second, 100_000.0) || self.joins_at_once == 0 {
            "the pace of joining must be above 0"
        } else if !(0.0..=1_000.0).contains(&self.chat_per_second) {
            "the lines of chat a second must be 0 to 1000"
        } else if !(0.0..=MAX_SHOTS_PER_SECOND).contains(&self.shots_per_second) {
            "the shots a second must be 0 to 20"
        } else if self.login_password.is_empty() || self.login_password.len() > LOGIN_PASSWORD_BYTES {
            "the password of the bots' accounts must have 1 to 128 bytes"
        } else if self.duration > Duration::from_secs(7 * 24 * 3600) {
            "the run must not last longer than a week"
        } else {
            return Ok(());
        };
        Err(BotsError::Options(fault))
    }

    /// Time between two lines of one bot.
    pub(super) fn chat_every(&self) -> Option<Duration> {
        let seconds = self.count as f64 / self.chat_per_second;
        // A single bot keeps within the two lines a second that a server takes (docs/protocol.md 2.1).
        Duration::try_from_secs_f64(seconds.max(1.0))
            .ok()
            .filter(|_| self.chat_per_second > 0.0)
    }

    /// Mean time between two shots of one bot; `None`: it never shoots. A pace of less than one in a day is none.
    pub(super) fn shot_every(&self) -> Option<Duration> {
        let seconds = 1.0 / self.shots_per_second;
        (seconds <= 86_400.0).then(|| Duration::from_secs_f64(seconds))
    }
}

impl fmt::Debug for BotsOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            server,
            count,
            duration,
            rate_hz,
            password,
            login,
            login_password: _,
            walk,
            chat_per_second,
            shots_per_second,
            joins_per_second,
            joins_at_once,
        } = self;
        out.debug_struct("BotsOptions")
            .field("server", server)
            .field("count", count)
            .field("duration", duration)
            .field("rate_hz", rate_hz)
            .field("password", password)
            .field("login", login)
            .field("walk", walk)
            .field("chat_per_second", chat_per_second)
            .field("shots_per_second", shots_per_second)
            .field("joins_per_second", joins_per_second)
            .field("joins_at_once", joins_at_once)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bots::{Unwatched, run_bots};

    #[test]
    fn options_out_of_range_are_refused_before_anything_is_sent() {
        let good = BotsOptions::new("127.0.0.1:9", 1);
        let bad = [
            BotsOptions {
                count: 0,
                ..good.clone()
            },
            BotsOptions {
                count: 1001,
                ..good.clone()
            },
            BotsOptions {
                rate_hz: 0.0,
                ..good.clone()
            },
            BotsOptions {
                rate_hz: f64::NAN,
                ..good.clone()
            },
            BotsOptions {
                rate_hz: 101.0,
                ..good.clone()
            },
            BotsOptions {
                joins_per_second: 0.0,
                ..good.clone()
            },
            BotsOptions {
                joins_at_once: 0,
                ..good.clone()
            },
            BotsOptions {
                chat_per_second: -1.0,
                ..good.clone()
            },
            BotsOptions {
                shots_per_second: 20.1,
                ..good.clone()
            },
            BotsOptions {
                shots_per_second: f64::NAN,
                ..good.clone()
            },
            BotsOptions {
                login_password: String::new(),
                ..good.clone()
            },
            BotsOptions {
                login_password: "a".repeat(129),
                ..good.clone()
            },
            BotsOptions {
                duration: Duration::MAX,
                ..good.clone()
            },
        ];
        for options in bad {
            assert!(
                matches!(run_bots(&options, &mut Unwatched), Err(BotsError::Options(_))),
                "{options:?}"
            );
        }
        assert!(good.check().is_ok());
    }

    #[test]
    fn all_bots_together_keep_the_chat_rate_and_a_single_one_its_own_limit() {
        let options = |count, chat_per_second| BotsOptions {
            chat_per_second,
            ..BotsOptions::new("x", count)
        };
        assert_eq!(options(1000, 4.0).chat_every(), Some(Duration::from_secs(250)));
        assert_eq!(options(1, 4.0).chat_every(), Some(Duration::from_secs(1)));
        assert_eq!(options(10, 0.0).chat_every(), None);
    }

    #[test]
    fn a_shot_a_second_is_the_pace_of_one_bot_and_none_is_none() {
        let every = |shots_per_second| {
            BotsOptions {
                shots_per_second,
                ..BotsOptions::new("x", 100)
            }
            .shot_every()
        };
        assert_eq!(every(0.5), Some(Duration::from_secs(2)));
        assert_eq!((every(0.0), every(f64::MIN_POSITIVE)), (None, None));
    }

    #[test]
    fn no_password_is_shown() {
        let options = BotsOptions {
            password: Password::parse("hunter2").ok(),
            login_password: "hunter3".to_owned(),
            ..BotsOptions::new("x", 1)
        };
        let shown = format!("{options:?}");
        assert!(shown.contains("\"x\"") && !shown.contains("hunter"), "{shown}");
    }
}
