//! Why a client does not send what the program asked it to.

use std::fmt;

use decitick_protocol::{MAX_BODY_PART, POSITION_LIMIT};

use super::lane_out::LaneFull;

/// Why the client does not send what the program asked it to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// There is no session: not yet, or no longer.
    NoSession,
    /// The login is undecided, and until then the server drops it (docs/protocol.md 1.5).
    LoginPending,
    /// The login is decided, so an assertion comes too late.
    LoginDecided,
    /// The view is not open, or its page was refused.
    ViewNotOpen {
        /// Number of the view.
        view_id: u16,
    },
    /// The player has no body, so it has no position either.
    NotSpawned,
    /// The frame holds a float that is not finite, or a position beyond 20,000.
    BadFrame,
    /// The text or the event is not one the packet can carry.
    BadEvent {
        /// What is wrong with it.
        fault: String,
    },
    /// The hit holds a float that is not finite, or a body part above 6.
    BadHit,
    /// The player does not hold the weapon: it is neither the fists nor in the last SetWeapons.
    WeaponNotHeld {
        /// Number of the weapon.
        weapon: u8,
    },
    /// The client's lane is full.
    LaneFull(LaneFull),
}

impl fmt::Display for SendError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSession => write!(
                out,
                "there is no session: wait for the notice that the client joined"
            ),
            Self::LoginPending => write!(
                out,
                "the login is undecided and the server would drop it: wait for AuthAccepted"
            ),
            Self::LoginDecided => write!(
                out,
                "the login is decided already: the server takes an assertion only before AuthAccepted"
            ),
            Self::ViewNotOpen { view_id } => write!(
                out,
                "view {view_id} is not open: the views that are can be asked for"
            ),
            Self::NotSpawned => write!(
                out,
                "the player has no body: ask for one and wait for SpawnPlayer"
            ),
            Self::BadFrame => {
                write!(
                    out,
                    "the frame is not finite, or its position is beyond {POSITION_LIMIT} m"
                )
            }
            Self::BadEvent { fault } => write!(out, "the event cannot be sent: {fault}"),
            Self::BadHit => write!(
                out,
                "the hit is not finite, or its body part is above {MAX_BODY_PART}"
            ),
            Self::WeaponNotHeld { weapon } => write!(
                out,
                "the player does not hold weapon {weapon}: report the hit with one that SetWeapons gave, or with 0"
            ),
            Self::LaneFull(full) => full.fmt(out),
        }
    }
}

impl std::error::Error for SendError {}
