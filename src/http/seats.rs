//! How many connections there are, in all and of each IP.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use decitick_components::limits::limit_key;

use super::HttpLimits;

/// The seats of a server.
#[derive(Clone, Debug)]
pub(crate) struct Seats {
    limits: HttpLimits,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_ip: BTreeMap<IpAddr, usize>,
}

/// One connection's seat; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Seats,
    /// What it counts as; none for addresses that are exempt.
    key: Option<IpAddr>,
}

impl Seats {
    pub(crate) fn new(limits: HttpLimits) -> Self {
        Self {
            limits,
            taken: Arc::default(),
        }
    }

    /// A seat for an address; none when it or the server has too many.
    pub(crate) fn take(&self, ip: IpAddr) -> Option<Seat> {
        let key = limit_key(ip, self.limits.ipv6_prefix);
        let exempt = self.limits.loopback_exempt && ip.to_canonical().is_loopback();
        let mut taken = self.lock();
        if taken.all >= self.limits.connections {
            return None;
        }
        if !exempt {
            let of_ip = taken.by_ip.entry(key).or_default();
            if *of_ip >= self.limits.connections_per_ip {
                return None;
            }
            *of_ip = of_ip.saturating_add(1);
        }
        taken.all = taken.all.saturating_add(1);
        drop(taken);
        Some(Seat {
            seats: self.clone(),
            key: (!exempt).then_some(key),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.lock();
        taken.all = taken.all.saturating_sub(1);
        let Some(key) = self.key else { return };
        if let Some(of_ip) = taken.by_ip.get_mut(&key) {
            *of_ip = of_ip.saturating_sub(1);
            if *of_ip == 0 {
                taken.by_ip.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(limits: HttpLimits) -> impl Fn(&str) -> Option<Seat> {
        let seats = Seats::new(limits);
        move |ip| seats.take(ip.parse().unwrap())
    }

    #[test]
    fn an_ip_has_its_number_of_seats_and_gets_them_back() {
        let take = seats(HttpLimits {
            connections_per_ip: 2,
            ..HttpLimits::default()
        });
        let first = take("192.0.2.1").unwrap();
        let _second = take("::ffff:192.0.2.1").unwrap();
        assert!(
            take("192.0.2.1").is_none(),
            "a mapped address is the IPv4 address"
        );
        let _other = take("192.0.2.2").unwrap();
        let _a = take("2001:db8::1").unwrap();
        let _b = take("2001:db8::ffff:0:0:1").unwrap();
        assert!(take("2001:db8::3").is_none(), "all of a /64 are one");
        assert!(take("2001:db8:0:1::1").is_some());
        drop(first);
        let _again = take("192.0.2.1").unwrap();
        assert!(take("192.0.2.1").is_none());
    }

    #[test]
    fn the_limit_in_all_holds_for_everybody_and_the_one_per_ip_not_for_loopback() {
        let limits = HttpLimits {
            connections: 3,
            connections_per_ip: 1,
            ..HttpLimits::default()
        };
        let take = seats(limits);
        let _local = [take("127.0.0.1"), take("127.0.0.1"), take("::1")].map(Option::unwrap);
        assert!(take("127.0.0.1").is_none() && take("192.0.2.1").is_none());
        let take = seats(HttpLimits {
            loopback_exempt: false,
            ..limits
        });
        let _local = take("127.0.0.1").unwrap();
        assert!(take("127.0.0.1").is_none());
    }

    #[test]
    fn what_is_given_back_leaves_nothing_behind() {
        let seats = Seats::new(HttpLimits::default());
        drop(seats.take("192.0.2.1".parse().unwrap()));
        assert!(seats.lock().all == 0 && seats.lock().by_ip.is_empty());
    }
}
