//! What a ban is written with: a range of addresses and a reason, checked once.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr},
};

use decitick_protocol::text::is_control_or_format;
use ipnet::{IpNet, Ipv4Net};

/// The most bytes a ban's reason may have: it must fit ConnectReject and KickNotify both.
pub const BAN_REASON_MAX: usize = 20;

/// A bare IPv6 address bans this many leading bits: a subscriber holds the whole /64.
const IPV6_SUBSCRIBER_PREFIX: u8 = 64;

/// An address range, host bits zero, IPv4-mapped IPv6 written as the IPv4 it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BanRange(pub(super) IpNet);

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
}
