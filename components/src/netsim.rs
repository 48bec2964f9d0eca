//! A bad network, simulated on the server's own traffic: how bad it is, what becomes of a datagram in it, and the queue of
//! those that are held back. Who loses and delays what is for the systems and the shell.

use std::{cmp::Ordering, collections::BinaryHeap, time::Duration};

use bevy_ecs::resource::Resource;

/// How bad the network is, each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Impairment {
    /// Datagrams that are lost, 0 to 100 of 100.
    pub loss_percent: u16,
    /// Milliseconds that each datagram is held back, at most [`Impairment::MAX_MS`].
    pub delay_ms: u16,
    /// Up to so many milliseconds more, at random, at most [`Impairment::MAX_MS`]. Datagrams may overtake each other.
    pub jitter_ms: u16,
    /// Datagrams that come twice, 0 to 100 of 100.
    pub duplicate_percent: u16,
}

impl Impairment {
    /// The most that a delay or a jitter may be.
    pub const MAX_MS: u16 = 2_000;

    /// Whether it leaves the network as it is.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// What becomes of one datagram: how long it and its second copy are held back. None of both: it is lost.
    pub fn fate(&self, dice: &mut Dice) -> [Option<Duration>; 2] {
        if dice.happens(self.loss_percent) {
            return [None, None];
        }
        let first = self.held(dice);
        let second = dice.happens(self.duplicate_percent).then(|| self.held(dice));
        [Some(first), second]
    }

    fn held(&self, dice: &mut Dice) -> Duration {
        let jitter = Duration::from_micros(dice.below(u64::from(self.jitter_ms) * 1_000 + 1));
        Duration::from_millis(u64::from(self.delay_ms)) + jitter
    }
}

/// What the console asked for; none: the network is as it is.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Netsim(pub Option<Impairment>);

/// Chance for what is simulated, from a seed (SplitMix64). Good enough to lose datagrams by, and for nothing that must not
/// be foreseen.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Throws of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`, which is not 0; about evenly spread.
    const fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    /// Whether something happens that does in so many of 100 cases.
    const fn happens(&mut self, percent: u16) -> bool {
        percent > 0 && self.below(100) < percent as u64
    }
}

/// Datagrams that are held back, each until it is due; bounded in number and bytes.
#[derive(Debug)]
pub struct HeldBack<T> {
    waiting: BinaryHeap<Waiting<T>>,
    bytes: usize,
    pushed: u64,
}

#[derive(Debug)]
struct Waiting<T> {
    due: Duration,
    /// Of two that are due at once, the one that came first goes first.
    order: u64,
    item: T,
    bytes: Vec<u8>,
}

impl<T> HeldBack<T> {
    /// Datagrams that are held back at most: what 1,000 players send in more than the longest delay.
    pub const MOST: usize = 65_536;
    /// Their bytes at most.
    pub const MOST_BYTES: usize = 32 * 1024 * 1024;

    /// Holds a datagram back until `due`; `false`, and nothing changes, when there is no room.
    #[must_use]
    pub fn push(&mut self, due: Duration, item: T, bytes: &[u8]) -> bool {
        let fits = self.waiting.len() < Self::MOST && self.bytes + bytes.len() <= Self::MOST_BYTES;
        if fits {
            self.bytes += bytes.len();
            self.pushed += 1;
            self.waiting.push(Waiting {
                due,
                order: self.pushed,
                item,
                bytes: bytes.to_vec(),
            });
        }
        fits
    }

    /// When the next one is due.
    #[must_use]
    pub fn next_due(&self) -> Option<Duration> {
        self.waiting.peek().map(|waiting| waiting.due)
    }

    /// Takes the next one that is due by `now`: when it was, and what it is.
    pub fn pop_due(&mut self, now: Duration) -> Option<(Duration, T, Vec<u8>)> {
        if self.next_due()? > now {
            return None;
        }
        let Waiting { due, item, bytes, .. } = self.waiting.pop()?;
        self.bytes -= bytes.len();
        if self.waiting.is_empty() {
            // Nobody else holds back anything most of the time.
            self.waiting.shrink_to_fit();
        }
        Some((due, item, bytes))
    }

    /// How many are held back.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl<T> Default for HeldBack<T> {
    fn default() -> Self {
        Self {
            waiting: BinaryHeap::new(),
            bytes: 0,
            pushed: 0,
        }
    }
}

impl<T> Ord for Waiting<T> {
    /// The greatest is the one that is due first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.due, other.order).cmp(&(self.due, self.order))
    }
}

impl<T> PartialOrd for Waiting<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Waiting<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Waiting<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(amount: u64) -> Duration {
        Duration::from_millis(amount)
    }

    #[test]
    fn each_datagram_meets_what_the_figures_say_about_as_often_as_they_say() {
        let impairment = Impairment {
            loss_percent: 20,
            delay_ms: 50,
            jitter_ms: 30,
            duplicate_percent: 10,
        };
        let mut dice = Dice::new(7);
        let fates: Vec<_> = (0..10_000).map(|_| impairment.fate(&mut dice)).collect();
        let lost = fates.iter().filter(|fate| fate[0].is_none()).count();
        let twice = fates.iter().filter(|fate| fate[1].is_some()).count();
        assert!(
            (1_800..2_200).contains(&lost) && (650..950).contains(&twice),
            "{lost} {twice}"
        );
        let held: Vec<Duration> = fates.into_iter().flatten().flatten().collect();
        assert!(held.iter().all(|held| (ms(50)..=ms(80)).contains(held)));
        assert!(held.iter().any(|held| *held < ms(55)) && held.iter().any(|held| *held > ms(75)));
    }

    #[test]
    fn a_network_that_is_as_it_is_holds_nothing_back() {
        let mut dice = Dice::new(1);
        let all = (0..100).map(|_| Impairment::default().fate(&mut dice));
        assert!(all.into_iter().all(|fate| fate == [Some(Duration::ZERO), None]));
        let lost = Impairment {
            loss_percent: 100,
            duplicate_percent: 100,
            ..Impairment::default()
        };
        assert_eq!(lost.fate(&mut dice), [None, None]);
    }

    #[test]
    fn what_is_due_comes_in_its_order_and_the_rest_stays() {
        let mut held = HeldBack::default();
        for (due, name) in [(30, "c"), (10, "a"), (10, "b"), (90, "d")] {
            assert!(held.push(ms(due), name, name.as_bytes()));
        }
        assert_eq!(held.next_due(), Some(ms(10)));
        let due: Vec<&str> = std::iter::from_fn(|| held.pop_due(ms(30)))
            .map(|(_, name, _)| name)
            .collect();
        assert_eq!(due, ["a", "b", "c"]);
        assert_eq!((held.len(), held.next_due()), (1, Some(ms(90))));
    }

    #[test]
    fn no_more_is_held_back_than_there_is_room_for() {
        let mut held = HeldBack::default();
        let large = vec![0; HeldBack::<()>::MOST_BYTES - 1];
        assert!(held.push(ms(1), (), &large) && held.push(ms(1), (), &[0]));
        assert!(!held.push(ms(1), (), &[0]) && held.push(ms(1), (), &[]));
        assert!(held.pop_due(ms(1)).is_some() && held.push(ms(1), (), &[0; 9]));
        while held.push(ms(2), (), &[]) {}
        assert_eq!(held.len(), HeldBack::<()>::MOST);
    }
}
