//! Links into the page. Whoever can read the token makes one without asking the server: it says when it was made and is
//! signed. So `decitick page` tells nothing to whatever listens where the server should; and the server needs to
//! remember only which links were used.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use decitick_components::secret::Secret;

use crate::access_token::AccessToken;

/// How long a link is good.
pub(crate) const LINK_SECONDS: u64 = 60;
const LINK_MS: u64 = LINK_SECONDS * 1000;
/// Used links that are remembered at once; while there are more, no other is taken.
const REMEMBERED: usize = 1024;
/// Random bytes of a ticket.
const BYTES: usize = 16;

/// A ticket made at this Unix millisecond: what a link holds.
pub(crate) fn ticket(token: &AccessToken, now_ms: u64) -> io::Result<String> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let claim = format!("{now_ms:x}.{}", hex(&random));
    let signature = sign(token, &claim);
    Ok(format!("{claim}.{signature}"))
}

fn sign(token: &AccessToken, claim: &str) -> String {
    hex(&token.authenticate(format!("decitick live page link\n{claim}").as_bytes()))
}

/// Judges tickets, each once; clones share what they remember.
#[derive(Clone, Debug)]
pub(super) struct Tickets {
    token: Arc<AccessToken>,
    /// Tickets from before were perhaps used already.
    since_ms: u64,
    /// Until when each used one would have been good, oldest first, and its claim.
    used: Arc<Mutex<VecDeque<(u64, String)>>>,
}

impl Tickets {
    /// Of a server that starts at this Unix millisecond.
    pub(super) fn new(token: Arc<AccessToken>, now_ms: u64) -> Self {
        Self {
            token,
            since_ms: now_ms,
            used: Arc::default(),
        }
    }

    /// Uses a ticket up; whether it was good at this Unix millisecond.
    pub(super) fn spend(&self, ticket: &str, now_ms: u64) -> bool {
        let Some((claim, signature)) = ticket.rsplit_once('.') else {
            return false;
        };
        if Secret::new(signature.as_bytes()) != Secret::new(sign(&self.token, claim).as_bytes()) {
            return false;
        }
        let made = claim
            .split_once('.')
            .map(|(made, _)| u64::from_str_radix(made, 16));
        let Some(Ok(made_ms)) = made else {
            return false;
        };
        let ends_ms = made_ms.saturating_add(LINK_MS);
        if made_ms < self.since_ms || made_ms > now_ms || now_ms >= ends_ms {
            return false;
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|&(ends_ms, _)| now_ms < ends_ms);
        if used.len() >= REMEMBERED || used.iter().any(|(_, other)| other == claim) {
            return false;
        }
        used.push_back((ends_ms, claim.to_owned()));
        true
    }
}

/// Bytes as lower-case hex digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000_000;

    fn token(text: &str) -> Arc<AccessToken> {
        Arc::new(AccessToken::of(text.to_owned()))
    }

    #[test]
    fn a_ticket_is_good_once_and_for_a_minute() {
        let token = token("a");
        let tickets = Tickets::new(Arc::clone(&token), NOW);
        let make = |now_ms| ticket(&token, now_ms).unwrap();
        let word = make(NOW);
        assert!(tickets.spend(&word, NOW + 59_999));
        assert!(!tickets.spend(&word, NOW + 59_999), "it is used up");
        assert!(!tickets.clone().spend(&word, NOW), "by clones too");
        let late = make(NOW);
        assert!(!tickets.spend(&late, NOW + 60_000));
        assert!(!tickets.spend(&make(NOW + 1), NOW), "from the future");
        assert!(late != word && !format!("{tickets:?}").contains("\"a\""));
    }

    #[test]
    fn a_ticket_from_before_the_start_could_have_been_used() {
        let token = token("a");
        let word = ticket(&token, NOW - 1).unwrap();
        assert!(!Tickets::new(Arc::clone(&token), NOW).spend(&word, NOW));
        assert!(Tickets::new(token, NOW - 1).spend(&word, NOW));
    }

    #[test]
    fn nothing_that_was_not_made_with_the_token_is_a_ticket() {
        let token = token("a");
        let tickets = Tickets::new(Arc::clone(&token), NOW);
        let word = ticket(&token, NOW).unwrap();
        for index in 0..word.len() {
            let mut changed = word.clone().into_bytes();
            changed[index] ^= 1;
            let Ok(changed) = String::from_utf8(changed) else {
                continue;
            };
            assert!(!tickets.spend(&changed, NOW), "{changed}");
        }
        for other in [
            "",
            ".",
            "..",
            "0..",
            &word[1..],
            &word.to_uppercase(),
            &format!("{word}0"),
        ] {
            assert!(!tickets.spend(other, NOW), "{other}");
        }
        let other = AccessToken::of("b".to_owned());
        assert!(!tickets.spend(&ticket(&other, NOW).unwrap(), NOW));
        assert!(tickets.spend(&word, NOW));
    }

    #[test]
    fn what_is_remembered_is_bounded_and_forgotten() {
        let token = token("a");
        let tickets = Tickets::new(Arc::clone(&token), NOW);
        let make = |now_ms| ticket(&token, now_ms).unwrap();
        for _ in 0..REMEMBERED {
            assert!(tickets.spend(&make(NOW), NOW));
        }
        assert!(!tickets.spend(&make(NOW), NOW));
        assert!(tickets.spend(&make(NOW + LINK_MS), NOW + LINK_MS));
        assert_eq!(tickets.used.lock().unwrap().len(), 1);
    }
}
