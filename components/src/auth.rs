//! Who waits for a login, and what is known of the resource that decides (docs/protocol.md 1.5, PreAuth).
//!
//! Nothing here judges an assertion or a password; these are the words for it.

use crate::inspection::summary;
use bevy_ecs::reflect::ReflectResource;
use bevy_reflect::Reflect;
use std::{collections::VecDeque, time::Duration};

use bevy_ecs::{component::Component, entity::Entity, message::Message, resource::Resource};
use decitick_protocol::CompactJwt;

use crate::{
    limits::{ASSERTION, ASSERTIONS_PER_CONNECTION, TokenBucket},
    profile::Account,
    secret::Secret,
};

/// A ticket that a login page takes to an identity site; the site signs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The provider it was issued for, by its id.
    pub provider: String,
    /// The text that the assertion's `nonce` must equal.
    pub text: Secret<String>,
}

/// The login of a connection: it matters while the connection is in PreAuth.
#[derive(Component, Clone, Debug, Default)]
pub struct Login {
    /// When the connection has waited long enough, since the start.
    pub deadline: Duration,
    /// The run of the auth resource that decides; another run knows nothing of this connection. `None`: no resource does,
    /// and whoever put the connection into PreAuth takes it out again.
    pub judge: Option<u64>,
    /// The current ticket. Any assertion within the limits spends it.
    pub ticket: Option<Ticket>,
    bucket: Option<TokenBucket>,
    taken: u8,
}

impl Login {
    /// A login that begins.
    #[must_use]
    pub fn beginning(judge: u64, deadline: Duration) -> Self {
        Self {
            deadline,
            judge: Some(judge),
            ..Self::default()
        }
    }

    /// Takes one assertion; `false` when it is over a limit: 3 at once, then 1 per 2 s, 10 in all, valid or not.
    pub fn take_assertion(&mut self, now: Duration) -> bool {
        let within = self.taken < ASSERTIONS_PER_CONNECTION
            && self
                .bucket
                .get_or_insert_with(|| TokenBucket::full(&ASSERTION, now))
                .take(&ASSERTION, now);
        self.taken += u8::from(within);
        within
    }
}

/// The auth resource as the handshake knows it.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Resource)]
pub struct AuthResource {
    /// The run that decides now; `None` while the resource is not running.
    pub running: Option<u64>,
    /// Whether resources had their first turn; before it nobody knows whether it will run.
    pub known: bool,
}

/// A connection holds a slot and waits for the auth resource.
#[derive(Message, Clone, Copy, Debug)]
pub struct LoginBegan {
    /// The connection.
    pub entity: Entity,
}

/// An assertion within the limits, with the ticket that it spent.
#[derive(Clone, Debug)]
pub struct AssertionReceived {
    /// The connection.
    pub entity: Entity,
    /// The token of the identity site.
    pub jwt: CompactJwt,
    /// The connection's ticket when it came.
    pub ticket: Option<Ticket>,
}

/// Assertions that wait to be judged, oldest first: at most 10 a connection.
#[derive(Resource, Debug, Default)]
pub struct AssertionQueue(pub VecDeque<AssertionReceived>);

/// What came of an assertion (docs/protocol.md 1.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssertionOutcome {
    /// The provider, by its id, and whom it says this is: 1..=128 bytes without control characters.
    Accepted {
        /// The provider.
        provider: String,
        /// The subject.
        subject: String,
    },
    /// Malformed, an unknown issuer, a bad signature, a bad or missing claim, or good for too long.
    Invalid,
    /// Signed for another server.
    Audience,
    /// There was no ticket, or another one, or one for another provider.
    Ticket,
    /// No longer good, or not yet.
    Expired,
}

impl AssertionOutcome {
    /// The word that scripts use.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Accepted { .. } => "accepted",
            Self::Invalid => "invalid",
            Self::Audience => "audience",
            Self::Ticket => "ticket",
            Self::Expired => "expired",
        }
    }
}

/// An assertion was judged.
#[derive(Message, Clone, Debug)]
pub struct AssertionJudged {
    /// The connection.
    pub entity: Entity,
    /// What came of it.
    pub outcome: AssertionOutcome,
}

/// What the auth resource wishes for a connection in PreAuth. It has no effect on any other.
#[derive(Message, Clone, Debug)]
pub struct LoginRequest {
    /// The connection.
    pub entity: Entity,
    /// What is to happen.
    pub wish: LoginWish,
}

/// What can be wished. A refusal is the end of the session, asked for as any other.
#[derive(Clone, Debug)]
pub enum LoginWish {
    /// Let it join, as this account if one is named.
    Accept(Option<Account>),
    /// This is its ticket from now on.
    Issue(Ticket),
}

summary!(|login: Login| {
    deadline: Duration = login.deadline,
    judge: Option<u64> = login.judge,
    has_ticket: bool = login.ticket.is_some(),
    assertions: u8 = login.taken,
});
summary!(|queue: AssertionQueue| { waiting: usize = queue.0.len() });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_assertions_come_at_once_then_one_in_two_seconds_and_ten_in_all() {
        let mut login = Login::default();
        let at_once = |login: &mut Login, ms| {
            (0..20)
                .filter(|_| login.take_assertion(Duration::from_millis(ms)))
                .count()
        };
        assert_eq!(at_once(&mut login, 0), 3);
        assert_eq!(at_once(&mut login, 1_999), 0);
        assert_eq!(at_once(&mut login, 2_000), 1);
        assert_eq!(at_once(&mut login, 60_000), 3);
        assert_eq!(at_once(&mut login, 120_000), 3);
        assert_eq!(at_once(&mut login, 600_000), 0, "ten are all there are");
    }
}
