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
