//! Links into the page: each is good for one use and a minute, and only whoever has the token gets one.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use decitick_components::secret::Secret;

/// How long a link is good.
pub(crate) const LINK_SECONDS: u64 = 60;
/// Links that are good at once; beyond them the oldest goes.
const AT_ONCE: usize = 16;
/// Random bytes of a ticket.
const BYTES: usize = 32;

/// The tickets that can be used; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Tickets(Arc<Mutex<VecDeque<Ticket>>>);

#[derive(Debug)]
struct Ticket {
    word: Secret<String>,
    ends: Instant,
}

impl Tickets {
    /// A new ticket: 64 hex digits.
    pub(super) fn issue(&self, now: Instant) -> io::Result<String> {
        let mut random = [0; BYTES];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let word = hex(&random);
        let mut tickets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tickets.retain(|ticket| ticket.ends > now);
        if tickets.len() >= AT_ONCE {
            tickets.pop_front();
        }
        tickets.push_back(Ticket {
            word: Secret::new(word.clone()),
            ends: now + Duration::from_secs(LINK_SECONDS),
        });
        Ok(word)
    }

    /// Uses a ticket up; whether it was good.
    pub(super) fn spend(&self, word: &str, now: Instant) -> bool {
        let word = Secret::new(word.to_owned());
        let mut tickets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tickets.retain(|ticket| ticket.ends > now);
        let found = tickets.iter().position(|ticket| ticket.word == word);
        found.and_then(|index| tickets.remove(index)).is_some()
    }
}

/// Bytes as lower-case hex digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_ticket_is_good_once_and_for_a_minute() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        let word = tickets.issue(now).unwrap();
        assert!(!tickets.spend(&word.to_uppercase(), now) && !tickets.spend("", now));
        assert!(tickets.spend(&word, now + 59 * SECOND));
        assert!(!tickets.spend(&word, now + 59 * SECOND), "it is used up");
        let late = tickets.issue(now).unwrap();
        assert!(!tickets.spend(&late, now + 60 * SECOND));
        assert!(late.len() == 64 && late != word);
        assert!(!format!("{tickets:?}").contains(&word));
    }

    #[test]
    fn the_oldest_of_many_goes() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        let words: Vec<String> = (0..=AT_ONCE).map(|_| tickets.issue(now).unwrap()).collect();
        assert!(!tickets.spend(&words[0], now));
        assert!(words[1..].iter().all(|word| tickets.spend(word, now)));
    }
}
