//! Who may not join: ranges of addresses with a reason and an end (docs/protocol.md 1.5 and 1.6).
//!
//! Pure values. The file the list is kept in belongs to the shell, the refusal of a hello and the
//! kick of the players already on belong to the systems; the time is an argument.

use crate::inspection::summary;
use bevy_reflect::Reflect;
use std::{collections::BTreeMap, net::IpAddr};

use bevy_ecs::resource::Resource;
use ipnet::IpNet;

mod range;

pub use range::{BAN_REASON_MAX, BanFault, BanRange, BanReason};

/// One ban.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ban {
    /// The addresses it covers.
    pub range: BanRange,
    /// What those who try are told.
    pub reason: BanReason,
    /// The Unix second at which it has ended; `None` never ends.
    pub expiry: Option<u64>,
}

impl Ban {
    /// Whether the ban still holds at this Unix second.
    pub fn holds(&self, now_unix: u64) -> bool {
        self.expiry.is_none_or(|expiry| expiry > now_unix)
    }

    /// What ConnectReject says in `ban_seconds`: the seconds left, at least 1; 0 for a permanent one.
    pub fn remaining_seconds(&self, now_unix: u64) -> u32 {
        self.expiry.map_or(0, |expiry| {
            u32::try_from(expiry.saturating_sub(now_unix))
                .unwrap_or(u32::MAX)
                .max(1)
        })
    }
}

/// Every ban of the server, at most one for a range.
///
/// A look-up costs one step per prefix length in use (at most 33 for IPv4, 129 for IPv6), however
/// many bans there are.
#[derive(Resource, Clone, Debug, Default, PartialEq, Eq)]
pub struct BanList {
    bans: BTreeMap<BanRange, Ban>,
    /// How many bans have this kind of address and prefix length.
    prefixes: BTreeMap<(Family, u8), usize>,
}

impl BanList {
    /// Adds a ban; one of exactly the same range is replaced and returned.
    pub fn insert(&mut self, ban: Ban) -> Option<Ban> {
        let range = ban.range;
        let replaced = self.bans.insert(range, ban);
        if replaced.is_none() {
            *self.prefixes.entry(prefix_key(range)).or_insert(0) += 1;
        }
        replaced
    }

    /// Lifts the ban of exactly this range; false when there is none.
    pub fn remove(&mut self, range: BanRange) -> bool {
        if self.bans.remove(&range).is_none() {
            return false;
        }
        let key = prefix_key(range);
        if let Some(count) = self.prefixes.get_mut(&key) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.prefixes.remove(&key);
            }
        }
        true
    }

    /// The ban that keeps this address out the longest, if one holds now.
    pub fn find(&self, address: IpAddr, now_unix: u64) -> Option<&Ban> {
        let address = address.to_canonical();
        let family = Family::of(address);
        self.prefixes
            .range((family, 0)..=(family, u8::MAX))
            .filter_map(|(&(_, prefix), _)| {
                let range = IpNet::new(address, prefix).ok()?.trunc();
                self.bans.get(&BanRange(range))
            })
            .filter(|ban| ban.holds(now_unix))
            // None never ends, so it is the latest end of all.
            .max_by_key(|ban| ban.expiry.unwrap_or(u64::MAX))
    }

    /// Forgets what has ended; returns how many.
    pub fn prune(&mut self, now_unix: u64) -> usize {
        let ended: Vec<BanRange> = self
            .iter()
            .filter(|ban| !ban.holds(now_unix))
            .map(|ban| ban.range)
            .collect();
        for &range in &ended {
            self.remove(range);
        }
        ended.len()
    }

    /// Every ban, by range, those that ended included until they are pruned.
    pub fn iter(&self) -> impl Iterator<Item = &Ban> {
        self.bans.values()
    }

    /// How many bans there are.
    pub fn len(&self) -> usize {
        self.bans.len()
    }

    /// Whether nobody is banned.
    pub fn is_empty(&self) -> bool {
        self.bans.is_empty()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    V4,
    V6,
}

impl Family {
    const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::V4,
            IpAddr::V6(_) => Self::V6,
        }
    }
}

fn prefix_key(range: BanRange) -> (Family, u8) {
    (Family::of(range.0.addr()), range.0.prefix_len())
}

#[derive(Reflect)]
struct ShownBan {
    address: String,
    reason: String,
    expiry: Option<u64>,
}

summary!(|list: BanList| {
    bans: Vec<ShownBan> = list
        .iter()
        .map(|ban| ShownBan {
            address: ban.range.to_string(),
            reason: ban.reason.as_str().to_owned(),
            expiry: ban.expiry,
        })
        .collect(),
});

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn ban(range: &str, expiry: Option<u64>) -> Ban {
        Ban {
            range: BanRange::parse(range).unwrap(),
            reason: BanReason::default(),
            expiry,
        }
    }

    #[test]
    fn an_address_is_found_by_every_range_that_holds_it() {
        let mut list = BanList::default();
        list.insert(ban("192.0.2.0/24", Some(50)));
        list.insert(ban("2001:db8::1", None));
        assert!(list.find(ip("192.0.2.99"), 49).is_some());
        assert!(
            list.find(ip("::ffff:192.0.2.99"), 49).is_some(),
            "a mapped address is the IPv4 it holds"
        );
        assert!(list.find(ip("192.0.3.0"), 49).is_none());
        assert!(
            list.find(ip("2001:db8::ffff"), 0).is_some(),
            "the twin in the same /64"
        );
        assert!(list.find(ip("2001:db8:0:1::1"), 0).is_none());
    }

    #[test]
    fn the_most_lasting_match_counts_and_ended_ones_never() {
        let mut list = BanList::default();
        list.insert(ban("192.0.2.7", Some(100)));
        list.insert(ban("192.0.2.0/24", Some(200)));
        assert_eq!(list.find(ip("192.0.2.7"), 99).unwrap().expiry, Some(200));
        assert_eq!(list.find(ip("192.0.2.7"), 199).unwrap().remaining_seconds(199), 1);
        assert!(
            list.find(ip("192.0.2.7"), 200).is_none(),
            "ended at that very second"
        );
        list.insert(ban("192.0.0.0/16", None));
        assert_eq!(
            list.find(ip("192.0.2.7"), 0).unwrap().expiry,
            None,
            "for ever is the longest"
        );
        assert_eq!(list.find(ip("192.0.2.7"), 0).unwrap().remaining_seconds(0), 0);
    }

    #[test]
    fn one_range_has_one_ban_and_a_lift_takes_that_range_only() {
        let mut list = BanList::default();
        assert!(list.insert(ban("192.0.2.7", Some(5))).is_none());
        assert_eq!(
            list.insert(ban("::ffff:192.0.2.7", None)).unwrap().expiry,
            Some(5)
        );
        list.insert(ban("192.0.2.0/24", None));
        assert_eq!(list.len(), 2);
        assert!(list.remove(BanRange::parse("192.0.2.7").unwrap()));
        assert!(!list.remove(BanRange::parse("192.0.2.7").unwrap()));
        assert!(list.find(ip("192.0.2.7"), 0).is_some(), "the /24 still holds it");
        assert!(list.remove(BanRange::parse("192.0.2.0/24").unwrap()));
        assert!(list.find(ip("192.0.2.7"), 0).is_none());
        assert_eq!(list, BanList::default(), "nothing is left behind");
    }

    #[test]
    fn pruning_drops_what_has_ended_and_keeps_the_rest() {
        let mut list = BanList::default();
        list.insert(ban("192.0.2.1", Some(10)));
        list.insert(ban("192.0.2.2", Some(11)));
        list.insert(ban("192.0.2.3", None));
        assert_eq!(list.prune(10), 1);
        assert_eq!(
            list.iter().map(|ban| ban.range.to_string()).collect::<Vec<_>>(),
            ["192.0.2.2", "192.0.2.3"]
        );
    }
}
