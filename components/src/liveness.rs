//! Whether a client is there, and how far away it is.

use bevy_ecs::reflect::ReflectComponent;
use bevy_reflect::Reflect;
use std::time::Duration;

use bevy_ecs::component::Component;

/// When the last well-formed datagram with the session token arrived, since the start.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Reflect)]
#[reflect(Component)]
pub struct LastSeen(pub Duration);

/// The round trip of a connection: first sample as is, then (7 x rtt + sample) / 8 (docs/protocol.md 1.5).
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component)]
pub struct SmoothedRtt(Option<Duration>);

impl SmoothedRtt {
    /// What a keepalive carries while nothing was measured.
    pub const NOT_MEASURED: u16 = u16::MAX;
    /// The largest round trip a keepalive carries.
    pub const LARGEST: u16 = u16::MAX - 1;

    /// Adds a sample.
    pub fn sample(&mut self, sample: Duration) {
        self.0 = Some(match self.0 {
            None => sample,
            Some(rtt) => (rtt * 7 + sample) / 8,
        });
    }

    /// The smoothed round trip, if measured.
    #[must_use]
    pub const fn measured(&self) -> Option<Duration> {
        self.0
    }

    /// The round trip as a keepalive shows it, in milliseconds.
    #[must_use]
    pub fn wire_millis(&self) -> u16 {
        self.0.map_or(Self::NOT_MEASURED, |rtt| {
            u16::try_from(rtt.as_millis())
                .unwrap_or(Self::LARGEST)
                .min(Self::LARGEST)
        })
    }
}

/// The keepalive of a connection: only the last one can be answered, and only once.
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component)]
pub struct Keepalive {
    /// When the next one is due, since the start.
    pub due: Duration,
    #[reflect(ignore)]
    last: Option<SentKeepalive>,
    /// Keepalives sent.
    pub sent: u32,
    /// Keepalives answered.
    pub answered: u32,
}

#[derive(Clone, Copy, Debug)]
struct SentKeepalive {
    nonce: u32,
    at: Option<Duration>,
}

impl Keepalive {
    /// One whose first keepalive is due then.
    #[must_use]
    pub const fn starting(due: Duration) -> Self {
        Self {
            due,
            last: None,
            sent: 0,
            answered: 0,
        }
    }

    /// Remembers that a keepalive with `nonce` goes out.
    pub const fn sending(&mut self, nonce: u32) {
        self.last = Some(SentKeepalive { nonce, at: None });
        self.sent = self.sent.saturating_add(1);
    }

    /// The keepalive with `nonce` was handed to the kernel at `at`.
    pub fn sent_at(&mut self, nonce: u32, at: Duration) {
        if let Some(last) = &mut self.last
            && last.nonce == nonce
        {
            last.at = Some(at);
        }
    }

    /// A pong with `nonce` arrived at `arrived`: the round trip, if it answers the last keepalive for the first
    /// time and the time of sending is known.
    pub fn answer(&mut self, nonce: u32, arrived: Duration) -> Option<Duration> {
        let last = self.last?;
        if last.nonce != nonce {
            return None;
        }
        self.last = None;
        self.answered = self.answered.saturating_add(1);
        last.at.map(|at| arrived.saturating_sub(at))
    }

    /// Share of keepalives that were not answered, in percent; the one that may still be answered is left out.
    #[must_use]
    pub fn loss_percent(&self) -> f64 {
        let awaited = u32::from(self.last.is_some());
        let settled = self.sent.saturating_sub(awaited);
        if settled == 0 {
            return 0.0;
        }
        100.0 * f64::from(settled.saturating_sub(self.answered)) / f64::from(settled)
    }
}

/// What went through a connection.
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component)]
pub struct Traffic {
    /// Datagrams taken from it.
    pub datagrams_in: u64,
    /// The last tick in which something came from its address, and how many datagrams that were.
    pub last_tick: (u64, u32),
    /// When it joined, since the start.
    pub joined_at: Duration,
}

impl Traffic {
    /// Counts a datagram that came from its address in this tick, whatever becomes of it.
    pub const fn came(&mut self, tick: u64) {
        let (last, count) = self.last_tick;
        let count = if last == tick { count } else { 0 };
        self.last_tick = (tick, count.saturating_add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn the_first_sample_is_taken_as_is_and_later_ones_are_smoothed() {
        let mut rtt = SmoothedRtt::default();
        assert_eq!(rtt.wire_millis(), 65535);
        rtt.sample(ms(80));
        assert_eq!(rtt.wire_millis(), 80);
        rtt.sample(ms(160));
        assert_eq!(rtt.wire_millis(), 90);
        let mut far = SmoothedRtt::default();
        far.sample(Duration::from_secs(70));
        assert_eq!(far.wire_millis(), 65534);
    }

    #[test]
    fn only_the_last_keepalive_is_answered_and_only_once() {
        let mut keepalive = Keepalive::default();
        keepalive.sending(1);
        keepalive.sent_at(1, ms(10));
        keepalive.sending(2);
        keepalive.sent_at(1, ms(11));
        keepalive.sent_at(2, ms(1010));
        assert_eq!(keepalive.answer(1, ms(1050)), None);
        assert_eq!(keepalive.answer(2, ms(1050)), Some(ms(40)));
        assert_eq!(keepalive.answer(2, ms(1060)), None);
    }

    #[test]
    fn a_pong_whose_keepalive_was_never_reported_sent_gives_no_sample() {
        let mut keepalive = Keepalive::default();
        keepalive.sending(5);
        assert_eq!(keepalive.answer(5, ms(50)), None);
    }
}
