//! The cookie of the handshake: proof that a sender receives at its address, without remembering anybody.
//!
//! A cookie is a keyed hash of the address and of the window of ten seconds it was issued in. It is taken in that window
//! and in the next, so it lives more than 10 and at most 20 seconds (docs/protocol.md 1.1). Only the server that holds
//! the key can make or judge one, so the hash is no part of the wire.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use siphasher::sip::SipHasher24;
use subtle::ConstantTimeEq;

use crate::constants::COOKIE_WINDOW;

/// The secret under all cookies of a server process: 16 random bytes, drawn at its start.
#[derive(Clone)]
pub struct CookieKey(SipHasher24);

impl CookieKey {
    /// A key of 16 random bytes.
    #[must_use]
    pub fn new(key: [u8; 16]) -> Self {
        Self(SipHasher24::new_with_key(&key))
    }

    /// The cookie of an address; never 0. `now` is the time since the server started.
    #[must_use]
    pub fn issue(&self, now: Duration, address: SocketAddr) -> u64 {
        self.of_window(window(now), address)
    }

    /// When a cookie dies, as time since the server started; none when it is not valid now for this address. At the
    /// very moment of its death it is no longer valid.
    #[must_use]
    pub fn judge(&self, now: Duration, address: SocketAddr, cookie: u64) -> Option<Duration> {
        if cookie == 0 {
            return None;
        }
        let current = window(now);
        [Some(current), current.checked_sub(1)]
            .into_iter()
            .flatten()
            .find_map(|issued| {
                let expected = self.of_window(issued, address);
                bool::from(expected.ct_eq(&cookie))
                    .then(|| COOKIE_WINDOW.saturating_mul(as_factor(issued + 2)))
            })
    }

    fn of_window(&self, window: u64, address: SocketAddr) -> u64 {
        let ip = match canonical(address).ip() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        };
        let mut message = [0; 26];
        let parts = ip
            .into_iter()
            .chain(address.port().to_le_bytes())
            .chain(window.to_le_bytes());
        for (to, from) in message.iter_mut().zip(parts) {
            *to = from;
        }
        // 0 says "no cookie" in a hello.
        self.0.hash(&message).max(1)
    }
}

impl fmt::Debug for CookieKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("CookieKey(..)")
    }
}

/// The address a peer is known by: an IPv4-mapped IPv6 address is the IPv4 address in it, and scope and flow are
/// cleared (docs/protocol.md 0).
#[must_use]
pub fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

const fn window(now: Duration) -> u64 {
    now.as_secs() / COOKIE_WINDOW.as_secs()
}

/// Windows as a factor of a duration. A server that runs for 1,300 years keeps the last one.
fn as_factor(windows: u64) -> u32 {
    u32::try_from(windows).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NANOSECOND: Duration = Duration::from_nanos(1);

    fn key() -> CookieKey {
        CookieKey::new(*b"0123456789abcdef")
    }

    fn address(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_cookie_of_a_windows_first_moment_dies_after_exactly_20_s() {
        let peer = address("192.0.2.7:4000");
        let issued = Duration::from_secs(120);
        let death = Duration::from_secs(140);
        let cookie = key().issue(issued, peer);
        assert_eq!(key().judge(issued, peer, cookie), Some(death));
        assert_eq!(key().judge(Duration::from_secs(130), peer, cookie), Some(death));
        assert_eq!(key().judge(death - NANOSECOND, peer, cookie), Some(death));
        assert_eq!(key().judge(death, peer, cookie), None);
        assert_eq!(key().judge(death + COOKIE_WINDOW, peer, cookie), None);
    }

    #[test]
    fn a_cookie_of_a_windows_last_moment_lives_10_s() {
        let peer = address("192.0.2.7:4000");
        let issued = Duration::from_secs(130) - NANOSECOND;
        let cookie = key().issue(issued, peer);
        assert_eq!(
            key().judge(issued + COOKIE_WINDOW, peer, cookie),
            Some(Duration::from_secs(140))
        );
        assert_eq!(
            key().judge(issued + COOKIE_WINDOW + NANOSECOND, peer, cookie),
            None
        );
    }

    #[test]
    fn cookies_work_from_the_first_moment_and_not_before_their_window() {
        let peer = address("192.0.2.7:4000");
        let first = key().issue(Duration::ZERO, peer);
        assert_eq!(
            key().judge(Duration::ZERO, peer, first),
            Some(Duration::from_secs(20))
        );
        assert_eq!(key().judge(Duration::from_secs(20), peer, first), None);
        let later = key().issue(Duration::from_secs(50), peer);
        assert_eq!(key().judge(Duration::from_secs(49), peer, later), None);
    }

    #[test]
    fn a_cookie_belongs_to_one_ip_one_port_and_one_key() {
        let now = Duration::from_secs(33);
        let cookie = key().issue(now, address("192.0.2.7:4000"));
        for other in [
            "192.0.2.8:4000",
            "192.0.2.7:4001",
            "[2001:db8::7]:4000",
            "[::192.0.2.7]:4000",
        ] {
            assert_eq!(key().judge(now, address(other), cookie), None, "{other}");
        }
        let stranger = CookieKey::new([0; 16]);
        assert_eq!(stranger.judge(now, address("192.0.2.7:4000"), cookie), None);
        assert_eq!(key().judge(now, address("192.0.2.7:4000"), cookie ^ 1), None);
    }

    #[test]
    fn a_mapped_ipv4_address_is_the_ipv4_address_in_it() {
        let now = Duration::from_secs(33);
        let (plain, mapped) = (address("192.0.2.7:4000"), address("[::ffff:192.0.2.7]:4000"));
        assert_eq!(canonical(mapped), plain);
        assert_eq!(key().issue(now, mapped), key().issue(now, plain));
        assert!(key().judge(now, mapped, key().issue(now, plain)).is_some());
    }

    #[test]
    fn scope_and_flow_are_no_part_of_an_address() {
        let scoped = SocketAddr::V6(std::net::SocketAddrV6::new(
            "fe80::1".parse().expect("an address"),
            9,
            5,
            3,
        ));
        assert_eq!(canonical(scoped), address("[fe80::1]:9"));
        assert_eq!(
            key().issue(Duration::ZERO, scoped),
            key().issue(Duration::ZERO, address("[fe80::1]:9"))
        );
    }

    #[test]
    fn zero_is_never_issued_and_never_valid() {
        let mut seen = std::collections::BTreeSet::new();
        for port in 0..=u16::MAX {
            let peer = SocketAddr::new(IpAddr::from([198, 51, 100, 1]), port);
            let cookie = key().issue(Duration::ZERO, peer);
            assert_ne!(cookie, 0);
            assert_eq!(key().judge(Duration::ZERO, peer, 0), None);
            seen.insert(cookie);
        }
        assert_eq!(seen.len(), 65_536, "every port has its own");
    }

    #[test]
    fn a_clock_at_its_very_end_is_survived() {
        let peer = address("192.0.2.7:4000");
        let cookie = key().issue(Duration::MAX, peer);
        assert!(key().judge(Duration::MAX, peer, cookie).is_some());
    }
}
