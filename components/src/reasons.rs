//! Why things end or are dropped: one enum each, so that every end and every discarded datagram has exactly one name.

use std::fmt;

pub use decitick_protocol::RejectReason;

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CloseReason {
    /// The client said goodbye.
    Bye,
    /// Nothing came for 15 s.
    Timeout,
    /// The server decided.
    Kick,
    /// The lane could not be kept: a full critical queue, or acknowledgements that stalled.
    Overflow,
    /// The server stops.
    Shutdown,
}

impl CloseReason {
    /// The word that scripts and logs use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bye => "bye",
            Self::Timeout => "timeout",
            Self::Kick => "kick",
            Self::Overflow => "overflow",
            Self::Shutdown => "shutdown",
        }
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An enum of reasons, each with a stable name.
macro_rules! named_reasons {
    (
        $(#[$about:meta])* $reason:ident {
            $($(#[$doc:meta])* $variant:ident = $name:literal,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $reason { $($(#[$doc])* $variant,)* }

        impl $reason {
            /// Every reason, in the order in which they are listed.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name that the console, logs and metrics use.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }

        impl std::fmt::Display for $reason {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(crate) use named_reasons;

named_reasons! {
    /// Why a datagram was discarded. Each discarded datagram is counted under exactly one of these.
    DropReason {
        /// No bytes at all.
        Empty = "empty",
        /// More than 1,200 bytes.
        Oversized = "oversized",
        /// Its first byte is no packet a client sends.
        UnknownPacket = "unknown_packet",
        /// Not as long as its layout says.
        WrongLength = "wrong_length",
        /// A hello of another protocol version.
        WrongVersion = "wrong_version",
        /// A query without the magic.
        NotAQuery = "not_a_query",
        /// The address asked too often, the whole server was asked too often, or the table is full.
        QueryLimited = "query_limited",
        /// The address holds no slot.
        UnknownAddress = "unknown_address",
        /// The session token is not the one bound to the address.
        WrongToken = "wrong_token",
        /// The connection's packet budget is used up.
        PacketBudget = "packet_budget",
        /// The queue to the tick is full.
        QueueFull = "queue_full",
        /// A hello with a valid cookie, more than its address or all addresses together may send.
        HelloLimited = "hello_limited",
        /// A credential proof over its verification budget.
        CredentialBudget = "credential_budget",
        /// The session ended between the door and the tick.
        SessionGone = "session_gone",
        /// It does not decode.
        Malformed = "malformed",
        /// The phase of the connection does not allow it.
        WrongPhase = "wrong_phase",
        /// A lane event further ahead than the window.
        BeyondWindow = "beyond_window",
        /// A repeated hello over its limit.
        RepeatedHelloLimited = "repeated_hello_limited",
        /// A refusal over its limit: the hello gets no answer.
        RefusalLimited = "refusal_limited",
        /// An admission attempt over its limit.
        AdmissionLimited = "admission_limited",
        /// A credential proof that already opened a connection, or a full table of used proofs.
        ProofUsed = "proof_used",
        /// The key of a new server password is still being derived.
        PasswordPending = "password_pending",
        /// The pool of random bytes was empty: the hello gets no answer and may come again.
        NoEntropy = "no_entropy",
        /// The server has just started, and the auth resource has not had its first turn.
        Starting = "starting",
        /// The server stops.
        Stopping = "stopping",
        /// A state frame that a newer one had overtaken.
        StaleFrame = "stale_frame",
        /// A state frame whose number is further ahead than frames can have been sent.
        SequenceLeap = "sequence_leap",
        /// A state frame inside the settle window after a spawn or a teleport.
        Settling = "settling",
        /// A state frame outside the world's bounds.
        OutOfBounds = "out_of_bounds",
        /// A state frame that moves faster than the world allows.
        TooFast = "too_fast",
        /// A state frame of another area less than a second after the last change of area.
        AreaTooSoon = "area_too_soon",
        /// The simulated network lost it.
        Simulated = "simulated",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drop_reason_has_a_name_of_its_own() {
        let mut names: Vec<&str> = DropReason::ALL.iter().map(|reason| reason.name()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
