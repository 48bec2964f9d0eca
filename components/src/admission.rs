//! What admission remembers: the server's password, the limit tables and the credential proofs that were used.

use crate::inspection::summary;
use bevy_reflect::Reflect;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    time::Duration,
};

use bevy_ecs::resource::Resource;
use decitick_protocol::PasswordKey;

use crate::limits::{
    ADMISSION, LimitTable, REPEATED_HELLO, SIGNED_REFUSAL, TABLE_ENTRIES, TokenBucket, USED_PROOFS,
    WRONG_PASSWORD, WRONG_PASSWORD_SHARED,
};

/// The password a newcomer must prove, as its derived key.
#[derive(Resource, Debug, Default)]
pub enum ServerPassword {
    /// None is needed.
    #[default]
    None,
    /// The key of a new password is being derived: new hellos get no answer.
    Deriving {
        /// The worker's request; an answer to an older one is ignored.
        request: u64,
    },
    /// Proofs are checked with this key.
    Set(PasswordKey),
}

impl ServerPassword {
    /// Whether a newcomer needs a password, or will once its key is derived.
    #[must_use]
    pub const fn required(&self) -> bool {
        !matches!(self, Self::None)
    }
}

/// The tables of the handshake that live on the tick. Each is apart from the others, so that no flood of one
/// kind blinds another.
#[derive(Resource, Debug)]
pub struct HandshakeLimits {
    /// Admission attempts.
    pub admissions: LimitTable,
    /// Answers to repeated hellos.
    pub repeated_hellos: LimitTable,
    /// Signed refusals.
    pub refusals: LimitTable,
    /// Wrong passwords.
    pub passwords: PasswordLimits,
}

impl Default for HandshakeLimits {
    fn default() -> Self {
        Self {
            admissions: LimitTable::new(ADMISSION, TABLE_ENTRIES),
            repeated_hellos: LimitTable::new(REPEATED_HELLO, TABLE_ENTRIES),
            refusals: LimitTable::new(SIGNED_REFUSAL, TABLE_ENTRIES),
            passwords: PasswordLimits::default(),
        }
    }
}

impl HandshakeLimits {
    /// Entries of a table that are given up in one call at most.
    const TIDIED: usize = 64;

    /// Gives up what limits nobody any more, a few entries at a time.
    pub fn tidy(&mut self, now: Duration) {
        for table in [
            &mut self.admissions,
            &mut self.repeated_hellos,
            &mut self.refusals,
        ] {
            table.reclaim(now, Self::TIDIED);
        }
        self.passwords.tidy(now, Self::TIDIED);
    }
}

/// Wrong passwords per IP; addresses without room share one bucket.
#[derive(Debug)]
pub struct PasswordLimits {
    table: LimitTable,
    shared: TokenBucket,
    counted: BTreeMap<Option<IpAddr>, CountedProofs>,
}

impl Default for PasswordLimits {
    fn default() -> Self {
        Self {
            table: LimitTable::new(WRONG_PASSWORD, TABLE_ENTRIES),
            shared: TokenBucket::full(&WRONG_PASSWORD_SHARED, Duration::ZERO),
            counted: BTreeMap::new(),
        }
    }
}

impl PasswordLimits {
    /// How long `key` must wait before a password of it is checked; zero: now.
    pub fn wait(&mut self, key: IpAddr, now: Duration) -> Duration {
        match self.table.wait(key, now) {
            Some(wait) => wait,
            None => self.shared.wait(&WRONG_PASSWORD_SHARED, now),
        }
    }

    /// Counts a wrong proof, unless this very proof was counted and its cookie still lives.
    pub fn count_wrong(&mut self, key: IpAddr, proof: &[u8; 32], cookie_dies: Duration, now: Duration) {
        let roomy = self.table.wait(key, now).is_some();
        let holder = roomy.then_some(key);
        if self.counted.len() > TABLE_ENTRIES {
            self.counted.retain(|_, proofs| proofs.alive(now));
        }
        if !self
            .counted
            .entry(holder)
            .or_default()
            .count(proof, cookie_dies, now)
        {
            return;
        }
        if roomy {
            self.table.take(key, now);
        } else {
            self.shared.take(&WRONG_PASSWORD_SHARED, now);
        }
    }

    /// Gives up at most `most` entries that limit nobody any more, and counted proofs whose cookie is dead.
    fn tidy(&mut self, now: Duration, most: usize) {
        self.table.reclaim(now, most);
        let mut dead = 0;
        self.counted.retain(|_, proofs| {
            let goes = dead < most && !proofs.alive(now);
            dead += usize::from(goes);
            !goes
        });
    }

    /// The table, for those who look.
    #[must_use]
    pub const fn table(&self) -> &LimitTable {
        &self.table
    }
}

/// The wrong proofs of one holder that were counted and whose cookie lives. Never more than can be counted
/// while a cookie lives: the burst and what refills in 20 s, with a margin.
#[derive(Debug, Default)]
struct CountedProofs(Vec<([u8; 32], Duration)>);

impl CountedProofs {
    const MOST: usize = 32;

    fn count(&mut self, proof: &[u8; 32], cookie_dies: Duration, now: Duration) -> bool {
        self.0.retain(|&(_, dies)| dies > now);
        if self.0.iter().any(|(counted, _)| counted == proof) {
            return false;
        }
        if self.0.len() >= Self::MOST {
            self.0.remove(0);
        }
        self.0.push((*proof, cookie_dies));
        true
    }

    fn alive(&self, now: Duration) -> bool {
        self.0.iter().any(|&(_, dies)| dies > now)
    }
}

/// Nonces of credential proofs that opened a connection, each kept until its cookie dies.
#[derive(Resource, Debug, Default)]
pub struct UsedProofs {
    nonces: BTreeMap<[u8; 32], Duration>,
    by_death: BTreeSet<(Duration, [u8; 32])>,
}

impl UsedProofs {
    /// Whether a proof with `nonce` may open a connection: it did not before, and there is room to remember it.
    pub fn may_open(&mut self, nonce: &[u8; 32], now: Duration) -> bool {
        while let Some(&(dies, dead)) = self.by_death.first()
            && dies <= now
        {
            self.by_death.pop_first();
            self.nonces.remove(&dead);
        }
        !self.nonces.contains_key(nonce) && self.nonces.len() < USED_PROOFS
    }

    /// Remembers a proof until its cookie dies.
    pub fn remember(&mut self, nonce: [u8; 32], cookie_dies: Duration) {
        if self.nonces.insert(nonce, cookie_dies).is_none() {
            self.by_death.insert((cookie_dies, nonce));
        }
    }

    /// Proofs held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nonces.len()
    }

    /// Whether none is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nonces.is_empty()
    }
}

#[derive(Reflect)]
struct ShownTable {
    entries: usize,
    capacity: usize,
    refused: u64,
    burst: f64,
    per_second: f64,
}

impl ShownTable {
    fn of(table: &LimitTable) -> Self {
        Self {
            entries: table.len(),
            capacity: table.capacity(),
            refused: table.refused(),
            burst: table.rule().burst,
            per_second: table.rule().per_second,
        }
    }
}

summary!(|limits: HandshakeLimits| {
    admissions: ShownTable = ShownTable::of(&limits.admissions),
    repeated_hellos: ShownTable = ShownTable::of(&limits.repeated_hellos),
    refusals: ShownTable = ShownTable::of(&limits.refusals),
    wrong_passwords: ShownTable = ShownTable::of(limits.passwords.table()),
});

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn ip(n: u32) -> IpAddr {
        IpAddr::V4(n.into())
    }

    #[test]
    fn the_same_wrong_proof_counts_once_and_another_counts_again() {
        let mut limits = PasswordLimits::default();
        for _ in 0..20 {
            limits.count_wrong(ip(1), &[1; 32], secs(20), secs(1));
        }
        assert_eq!(limits.wait(ip(1), secs(1)), Duration::ZERO);
        for n in 2..=5 {
            limits.count_wrong(ip(1), &[n; 32], secs(20), secs(1));
        }
        assert_eq!(limits.wait(ip(1), secs(1)), secs(30));
        assert_eq!(limits.wait(ip(2), secs(1)), Duration::ZERO);
    }

    #[test]
    fn addresses_without_room_share_one_bucket() {
        let mut limits = PasswordLimits::default();
        for n in 0..4096u32 {
            limits.count_wrong(ip(n), &[1; 32], secs(20), secs(0));
        }
        for n in 0..5u8 {
            assert_eq!(limits.wait(ip(900_000), secs(1)), Duration::ZERO);
            limits.count_wrong(ip(900_000 + u32::from(n)), &[n; 32], secs(20), secs(1));
        }
        assert_eq!(limits.wait(ip(900_009), secs(1)), secs(1));
    }

    #[test]
    fn a_used_proof_is_refused_until_its_cookie_dies_and_a_full_table_refuses_all() {
        let mut used = UsedProofs::default();
        used.remember([1; 32], secs(20));
        assert!(!used.may_open(&[1; 32], Duration::from_millis(19_999)));
        assert!(used.may_open(&[1; 32], secs(20)));
        for n in 0..4096u32 {
            let mut nonce = [0; 32];
            nonce[..4].copy_from_slice(&n.to_le_bytes());
            used.remember(nonce, secs(40));
        }
        assert!(!used.may_open(&[9; 32], secs(21)));
        assert!(used.may_open(&[9; 32], secs(40)));
        assert!(used.is_empty());
    }
}
