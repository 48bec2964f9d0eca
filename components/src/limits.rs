//! Bounds on what peers may ask for: token buckets, tables of them with a hard capacity, and every number with
//! the sentence it comes from.

use bevy_reflect::Reflect;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, Ipv6Addr},
    time::Duration,
};

/// Rate and burst of a bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BucketRule {
    /// Takes that are possible at once.
    pub burst: f64,
    /// Takes that come back each second.
    pub per_second: f64,
}

impl BucketRule {
    /// `burst` at once, then `per_second`.
    #[must_use]
    pub const fn new(burst: f64, per_second: f64) -> Self {
        Self { burst, per_second }
    }
}

/// Admission attempts per IP: 5 at once, then 1 per 2 s (docs/protocol.md 1.1).
pub const ADMISSION: BucketRule = BucketRule::new(5.0, 0.5);
/// Answers to repeated hellos per IP: 8 at once, 2 per s (docs/protocol.md 1.1).
pub const REPEATED_HELLO: BucketRule = BucketRule::new(8.0, 2.0);
/// Signed refusals per IP: 8 at once, 2 per s (docs/protocol.md 1.1).
pub const SIGNED_REFUSAL: BucketRule = BucketRule::new(8.0, 2.0);
/// Wrong passwords per IP: 5 at once, then 1 per 30 s (docs/protocol.md 1.1).
pub const WRONG_PASSWORD: BucketRule = BucketRule::new(5.0, 1.0 / 30.0);
/// Wrong passwords of all addresses that found no room in the table: 5 at once and 1 per s (docs/protocol.md 1.1).
pub const WRONG_PASSWORD_SHARED: BucketRule = BucketRule::new(5.0, 1.0);
/// Query answers per IP: 4 at once and 1 per s (docs/protocol.md 1.1).
pub const QUERY_PER_IP: BucketRule = BucketRule::new(4.0, 1.0);
/// Query answers in all: 1,000 a second (docs/protocol.md 1.1).
pub const QUERY_TOTAL: BucketRule = BucketRule::new(1000.0, 1000.0);
/// Hellos with a valid cookie per IP that reach the tick: more than any client sends, less than would cost anything.
pub const HELLO_PER_IP: BucketRule = BucketRule::new(32.0, 16.0);
/// Hellos with a valid cookie in all, exempt addresses too: what signing and judging may cost a second.
pub const HELLO_TOTAL: BucketRule = BucketRule::new(4000.0, 4000.0);
/// Credential verifications in all: 2,000 a second.
pub const CREDENTIAL_TOTAL: BucketRule = BucketRule::new(2000.0, 2000.0);
/// ChatSend per connection: 10 at once, 2 per s (docs/protocol.md 2.1).
pub const CHAT: BucketRule = BucketRule::new(10.0, 2.0);
/// ClientEvent per connection: 20 at once, 10 per s (docs/protocol.md 2.1).
pub const CLIENT_EVENT: BucketRule = BucketRule::new(20.0, 10.0);
/// ViewAction per connection: 10 at once, 5 per s (docs/protocol.md 2.1).
pub const VIEW_ACTION: BucketRule = BucketRule::new(10.0, 5.0);
/// HitReport per connection: 40 at once, 20 per s (docs/protocol.md 2.1).
pub const HIT_REPORT: BucketRule = BucketRule::new(40.0, 20.0);
/// AuthAssertion per connection: 3 at once, then 1 per 2 s (docs/protocol.md 1.1).
pub const ASSERTION: BucketRule = BucketRule::new(3.0, 0.5);
/// AuthAssertions of a connection in all, valid or not (docs/protocol.md 1.1).
pub const ASSERTIONS_PER_CONNECTION: u8 = 10;
/// Assertions that are judged in a tick; each may cost a signature's verification. The others wait.
pub const ASSERTIONS_PER_TICK: usize = 32;
/// Entries of every limit table (docs/protocol.md 1.1).
pub const TABLE_ENTRIES: usize = 4096;
/// One-second windows in a row with a drop after which a connection is kicked (docs/protocol.md 2.2).
pub const FLOOD_WINDOWS: u32 = 10;
/// Resends per connection and tick (docs/protocol.md 1.1).
pub const RESENDS_PER_CONNECTION: usize = 32;
/// PlayerLeave packets a recipient gets per tick (docs/protocol.md 1.5).
pub const LEAVES_PER_TICK: usize = 32;
/// Silence after which a session ends (docs/protocol.md 1.1).
pub const CLIENT_TIMEOUT: Duration = Duration::from_secs(15);
/// Stalled acknowledgements after which a session ends (docs/protocol.md 1.1).
pub const ACK_STALL: Duration = Duration::from_secs(15);
/// Time between two keepalives of a connection (docs/protocol.md 1.5).
pub const KEEPALIVE_PERIOD: Duration = Duration::from_secs(1);
/// Credential proofs that are remembered (docs/protocol.md 1.1).
pub const USED_PROOFS: usize = 4096;
/// Sessions from one address above which a warning is logged (behind a proxy everybody shares one).
pub const SESSIONS_PER_ADDRESS_WARNING: usize = 20;

/// A token bucket: it starts full. A plain value; its rule and the time are arguments.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
pub struct TokenBucket {
    tokens: f64,
    updated: Duration,
}

impl TokenBucket {
    /// A full bucket.
    #[must_use]
    pub const fn full(rule: &BucketRule, now: Duration) -> Self {
        Self {
            tokens: rule.burst,
            updated: now,
        }
    }

    fn refill(&mut self, rule: &BucketRule, now: Duration) {
        let passed = now.saturating_sub(self.updated).as_secs_f64();
        self.tokens = (self.tokens + passed * rule.per_second).min(rule.burst);
        self.updated = self.updated.max(now);
    }

    /// Takes one; `false`, and nothing is taken, when there is none.
    pub fn take(&mut self, rule: &BucketRule, now: Duration) -> bool {
        self.refill(rule, now);
        // A hair of tolerance: a wait that was told to the peer must suffice in spite of rounding.
        let enough = self.tokens >= 1.0 - 1e-6;
        if enough {
            self.tokens -= 1.0;
        }
        enough
    }

    /// How long until one can be taken; zero when one can be taken now.
    #[must_use]
    pub fn wait(&self, rule: &BucketRule, now: Duration) -> Duration {
        let mut copy = *self;
        copy.refill(rule, now);
        if copy.tokens >= 1.0 - 1e-6 {
            return Duration::ZERO;
        }
        Duration::from_secs_f64((1.0 - copy.tokens) / rule.per_second)
    }

    /// When it will be full again.
    fn full_at(&self, rule: &BucketRule) -> Duration {
        self.updated + Duration::from_secs_f64(((rule.burst - self.tokens) / rule.per_second).max(0.0))
    }
}

/// What a table says to an asker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// One was taken.
    Allowed,
    /// The asker must wait.
    Limited,
    /// The table is full of others that are still limited.
    NoRoom,
}

/// A table of token buckets by IP with a hard capacity. Entries whose bucket has refilled are given up when room
/// is needed; an entry that still limits somebody is never evicted.
#[derive(Clone, Debug)]
pub struct LimitTable {
    rule: BucketRule,
    capacity: usize,
    entries: BTreeMap<IpAddr, TokenBucket>,
    by_refill: BTreeSet<(Duration, IpAddr)>,
    refused: u64,
}

impl LimitTable {
    /// An empty table.
    #[must_use]
    pub const fn new(rule: BucketRule, capacity: usize) -> Self {
        Self {
            rule,
            capacity,
            entries: BTreeMap::new(),
            by_refill: BTreeSet::new(),
            refused: 0,
        }
    }

    /// Takes one from the bucket of `key` (made by [`limit_key`]).
    pub fn take(&mut self, key: IpAddr, now: Duration) -> Allowance {
        let mut bucket = match self.entries.get(&key).copied() {
            Some(bucket) => {
                self.by_refill.remove(&(bucket.full_at(&self.rule), key));
                bucket
            }
            None if self.make_room(now) => TokenBucket::full(&self.rule, now),
            None => {
                self.refused += 1;
                return Allowance::NoRoom;
            }
        };
        let taken = bucket.take(&self.rule, now);
        self.by_refill.insert((bucket.full_at(&self.rule), key));
        self.entries.insert(key, bucket);
        if taken {
            Allowance::Allowed
        } else {
            self.refused += 1;
            Allowance::Limited
        }
    }

    /// How long `key` must wait; `None` when it has no entry and there is no room for one.
    pub fn wait(&mut self, key: IpAddr, now: Duration) -> Option<Duration> {
        match self.entries.get(&key) {
            Some(bucket) => Some(bucket.wait(&self.rule, now)),
            None => self.make_room(now).then_some(Duration::ZERO),
        }
    }

    /// Takes that `key` has left, if it has an entry.
    #[must_use]
    pub fn left(&self, key: IpAddr, now: Duration) -> Option<f64> {
        self.entries.get(&key).map(|bucket| {
            let mut copy = *bucket;
            copy.refill(&self.rule, now);
            copy.tokens
        })
    }

    fn make_room(&mut self, now: Duration) -> bool {
        while self.entries.len() >= self.capacity {
            match self.by_refill.first() {
                Some(&(full_at, key)) if full_at <= now => {
                    self.by_refill.pop_first();
                    self.entries.remove(&key);
                }
                _ => return false,
            }
        }
        true
    }

    /// Gives up every entry whose bucket has refilled, at most `most` of them.
    pub fn reclaim(&mut self, now: Duration, most: usize) {
        for _ in 0..most {
            match self.by_refill.first() {
                Some(&(full_at, key)) if full_at <= now => {
                    self.by_refill.pop_first();
                    self.entries.remove(&key);
                }
                _ => return,
            }
        }
    }

    /// Entries held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Entries it can hold.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.capacity
    }

    /// How often it refused since the start.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Its rule.
    #[must_use]
    pub const fn rule(&self) -> &BucketRule {
        &self.rule
    }
}

/// What a per-IP limit counts an address as: an IPv4 address as itself, an IPv6 address by its prefix
/// (64 bits unless configured otherwise; docs/protocol.md 0).
#[must_use]
pub fn limit_key(ip: IpAddr, ipv6_prefix: u8) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => IpAddr::V4(ip),
        IpAddr::V6(ip) => {
            let kept = u32::from(ipv6_prefix.min(128));
            let mask = u128::MAX.checked_shl(128 - kept).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & mask))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: BucketRule = BucketRule::new(2.0, 1.0);

    fn ip(n: u32) -> IpAddr {
        IpAddr::V4(n.into())
    }

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        let mut bucket = TokenBucket::full(&RULE, Duration::ZERO);
        assert!(bucket.take(&RULE, Duration::ZERO) && bucket.take(&RULE, Duration::ZERO));
        assert!(!bucket.take(&RULE, Duration::from_millis(999)));
        assert_eq!(bucket.wait(&RULE, Duration::from_millis(999)).as_millis(), 1);
        assert!(bucket.take(&RULE, Duration::from_secs(1)));
        assert!(!bucket.take(&RULE, Duration::from_secs(1)));
    }

    #[test]
    fn a_bucket_never_exceeds_its_burst_and_a_clock_that_stands_gives_nothing() {
        let mut bucket = TokenBucket::full(&RULE, Duration::from_secs(10));
        let later = Duration::from_secs(1000);
        assert!(bucket.take(&RULE, later) && bucket.take(&RULE, later));
        assert!(!bucket.take(&RULE, Duration::from_secs(5)));
    }

    #[test]
    fn a_full_table_reclaims_entries_whose_bucket_has_refilled() {
        let mut table = LimitTable::new(RULE, 3);
        for n in 0..3 {
            assert_eq!(table.take(ip(n), Duration::ZERO), Allowance::Allowed);
        }
        assert_eq!(table.take(ip(9), Duration::from_millis(999)), Allowance::NoRoom);
        assert_eq!(table.take(ip(9), Duration::from_secs(1)), Allowance::Allowed);
        assert_eq!(table.len(), 3);
    }

    #[test]
    fn a_table_limits_each_address_by_itself() {
        let mut table = LimitTable::new(RULE, 3);
        let now = Duration::from_secs(7);
        let taken = [
            table.take(ip(1), now),
            table.take(ip(1), now),
            table.take(ip(1), now),
        ];
        assert_eq!(
            taken,
            [Allowance::Allowed, Allowance::Allowed, Allowance::Limited]
        );
        assert_eq!(table.take(ip(2), now), Allowance::Allowed);
        assert_eq!(table.wait(ip(1), now), Some(Duration::from_secs(1)));
    }

    #[test]
    fn ipv6_addresses_count_by_their_prefix_and_mapped_ones_as_ipv4() {
        let key = |text: &str| limit_key(text.parse().unwrap(), 64);
        assert_eq!(key("2001:db8:1:2:3::4"), key("2001:db8:1:2:ffff::1"));
        assert_ne!(key("2001:db8:1:2::"), key("2001:db8:1:3::"));
        assert_eq!(key("::ffff:10.0.0.1"), key("10.0.0.1"));
    }
}
