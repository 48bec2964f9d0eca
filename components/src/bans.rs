//! Who may not join: ranges of addresses with a reason and an end (docs/protocol.md 1.5 and 1.6).
//!
//! Pure values. The file the list is kept in belongs to the shell, the refusal of a hello and the
//! kick of the players already on belong to the systems; the time is an argument.

use std::{
    collections::BTreeMap,
    fmt,
    net::{IpAddr, Ipv4Addr},
};

use bevy_ecs::resource::Resource;
use decitick_protocol::text::is_control_or_format;
use ipnet::{IpNet, Ipv4Net};

/// The most bytes a ban's reason may have: it must fit ConnectReject and KickNotify both.
pub const BAN_REASON_MAX: usize = 20;

/// A bare IPv6 address bans this many leading bits: a subscriber holds the whole /64.
const IPV6_SUBSCRIBER_PREFIX: u8 = 64;

/// An address range, host bits zero, IPv4-mapped IPv6 written as the IPv4 it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BanRange(IpNet);

impl BanRange {
    /// Reads `192.0.2.7`, `192.0.2.0/24`, `2001:db8::1` (its /64) or `2001:db8::/32`.
    ///
    /// Host bits are cut off.
    ///
    /// # Errors
    ///
    /// [`BanFault`] when the text is no address, has a bad prefix length, or is an IPv4-mapped
    /// range wider than IPv4.
    pub fn parse(text: &str) -> Result<Self, BanFault> {
        let (address_text, prefix_text) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address_text.parse().map_err(|_| BanFault::Address {
            text: text.to_owned(),
        })?;
        let Some(prefix_text) = prefix_text else {
            return Ok(Self::of_address(address));
        };
        let prefix = parse_prefix(prefix_text).ok_or_else(|| BanFault::Prefix {
            text: text.to_owned(),
        })?;
        let range = match mapped_ipv4(address) {
            Some(inner) => {
                // The first 96 bits of a mapped address are fixed; what is left is the IPv4 prefix.
                let inner_prefix = prefix.checked_sub(96).ok_or_else(|| BanFault::MappedRange {
                    text: text.to_owned(),
                })?;
                Ipv4Net::new(inner, inner_prefix).map(IpNet::V4)
            }
            None => IpNet::new(address, prefix),
        };
        range
            .map(|range| Self(range.trunc()))
            .map_err(|_| BanFault::Prefix {
                text: text.to_owned(),
            })
    }

    /// What a ban of this one address covers: itself, or the /64 of an IPv6 address.
    pub fn of_address(address: IpAddr) -> Self {
        let address = address.to_canonical();
        let prefix = match address {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => IPV6_SUBSCRIBER_PREFIX,
        };
        // Both are valid prefix lengths, so the fallback (the address alone) is never taken.
        Self(IpNet::new(address, prefix).map_or_else(|_| IpNet::from(address), |range| range.trunc()))
    }

    /// Whether an address lies in the range; IPv4-mapped IPv6 counts as IPv4.
    pub fn contains(self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }

    /// The range as a network.
    pub const fn network(self) -> IpNet {
        self.0
    }
}

/// A range of one IPv4 address is written bare, everything else with its prefix length.
impl fmt::Display for BanRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpNet::V4(range) if range.prefix_len() == 32 => range.addr().fmt(formatter),
            range => range.fmt(formatter),
        }
    }
}

/// Why somebody is banned: at most [`BAN_REASON_MAX`] bytes, no control or format characters; may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BanReason(String);

impl BanReason {
    /// Takes a text as a reason. It is never cut.
    ///
    /// # Errors
    ///
    /// [`BanFault::ReasonLength`] and [`BanFault::ReasonCharacter`].
    pub fn parse(text: &str) -> Result<Self, BanFault> {
        if text.len() > BAN_REASON_MAX {
            return Err(BanFault::ReasonLength { bytes: text.len() });
        }
        match text.chars().find(|&character| is_control_or_format(character)) {
            Some(character) => Err(BanFault::ReasonCharacter { character }),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

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

/// What is wrong with a ban as somebody wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BanFault {
    /// The text is no IP address.
    Address {
        /// The text.
        text: String,
    },
    /// The prefix length is no number, or too large for the address.
    Prefix {
        /// The text.
        text: String,
    },
    /// A range of IPv4-mapped addresses that reaches beyond them.
    MappedRange {
        /// The text.
        text: String,
    },
    /// The reason is too long for the packets that carry it.
    ReasonLength {
        /// Its length.
        bytes: usize,
    },
    /// The reason has a control or format character.
    ReasonCharacter {
        /// The first of them.
        character: char,
    },
}

impl fmt::Display for BanFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { text } => write!(
                formatter,
                "{text:?} is no IP address or range; write one like 192.0.2.7, 192.0.2.0/24 or 2001:db8::/64"
            ),
            Self::Prefix { text } => write!(
                formatter,
                "{text:?} has a bad prefix length; it is 0 to 32 for IPv4 and 0 to 128 for IPv6"
            ),
            Self::MappedRange { text } => write!(
                formatter,
                "{text:?} is a range of IPv4-mapped addresses wider than IPv4; write the IPv4 range"
            ),
            Self::ReasonLength { bytes } => write!(
                formatter,
                "the reason has {bytes} bytes; at most {BAN_REASON_MAX} fit the packets, so shorten it"
            ),
            Self::ReasonCharacter { character } => write!(
                formatter,
                "the reason has the control or format character U+{:04X}; take it out",
                u32::from(*character)
            ),
        }
    }
}

impl std::error::Error for BanFault {}

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

fn mapped_ipv4(address: IpAddr) -> Option<Ipv4Addr> {
    match address {
        IpAddr::V4(_) => None,
        IpAddr::V6(inner) => inner.to_ipv4_mapped(),
    }
}

/// Digits only, so that `+24` and an empty text are no prefix length.
fn parse_prefix(text: &str) -> Option<u8> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

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
    fn ranges_are_read_and_written_in_one_canonical_form() {
        for (text, canonical) in [
            ("192.0.2.7", "192.0.2.7"),
            ("192.0.2.7/32", "192.0.2.7"),
            ("192.0.2.7/24", "192.0.2.0/24"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2:3::/48", "2001:db8:1::/48"),
            ("2001:db8::1/128", "2001:db8::1/128"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7/120", "192.0.2.0/24"),
            ("::1", "::/64"),
        ] {
            let range = BanRange::parse(text).unwrap();
            assert_eq!(range.to_string(), canonical, "{text}");
            assert_eq!(
                BanRange::parse(canonical).unwrap(),
                range,
                "{canonical} reads back"
            );
        }
    }

    #[test]
    fn what_is_no_range_is_refused_with_the_text_named() {
        for text in [
            "",
            "nonsense",
            "192.0.2",
            "192.0.2.7/33",
            "2001:db8::/129",
            "192.0.2.7/+8",
            "192.0.2.7/",
            "192.0.2.7/8/8",
            "::ffff:192.0.2.7/95",
            "fe80::1%eth0",
            " 192.0.2.7",
            "192.0.2.7/256",
        ] {
            let fault = BanRange::parse(text).unwrap_err();
            assert!(fault.to_string().contains(&format!("{text:?}")), "{fault}");
        }
    }

    #[test]
    fn reasons_are_bounded_and_hold_no_controls() {
        assert!(BanReason::parse("12345678901234567890").is_ok());
        assert_eq!(
            BanReason::parse("123456789012345678901"),
            Err(BanFault::ReasonLength { bytes: 21 })
        );
        assert_eq!(
            BanReason::parse("a\u{1b}b"),
            Err(BanFault::ReasonCharacter { character: '\u{1b}' })
        );
        assert_eq!(
            BanReason::parse("a\u{2066}"),
            Err(BanFault::ReasonCharacter {
                character: '\u{2066}'
            })
        );
        assert_eq!(BanReason::parse("").unwrap().as_str(), "");
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
