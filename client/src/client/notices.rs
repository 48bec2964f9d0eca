//! What a client tells the program it belongs to.

use std::fmt;

use decitick_protocol::{EntityFrame, RejectReason, RemoteFrame, ServerHello, ServerLaneEvent};

use super::breach::Breach;

/// Something the program may want to know, in the order in which it happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ClientNotice {
    /// The server accepted the client. With `auth_pending` the login is still undecided.
    Joined(Welcome),
    /// An event of the server's lane: each once, in order.
    Event {
        /// Its place on the lane, from 1 on without a gap (together with [`ClientNotice::StaleEvent`]).
        event_id: u32,
        /// What it says. Of a PlayerJoin only the players that count.
        event: ServerLaneEvent,
    },
    /// An event of the lane about a generation that left or was replaced, or for a view that is not shown. It is only told
    /// so that the ids have no gap.
    StaleEvent {
        /// Its place on the lane.
        event_id: u32,
    },
    /// A player is gone: it left, or a newer generation took over its id.
    PlayerLeft {
        /// The player's id, which another player may hold by now.
        player_id: u32,
        /// The generation that is gone.
        player_token: u32,
    },
    /// The newest frame of a player in view.
    Frame(RemoteFrame),
    /// The newest frame of an entity in view.
    EntityFrame(EntityFrame),
    /// The server did what it must not, and no network explains it. What it was about is dropped or applied as always.
    Breach(Breach),
    /// The round trip in milliseconds as the server measures it; `None` while it has not.
    Ping(Option<u16>),
    /// It is over, and for good: a client never reconnects by itself. Always the last notice.
    Ended(EndReason),
}

/// What ServerHello told, without the session token, which only the client itself needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Welcome {
    /// The client's own player id, below MAX_PLAYERS.
    pub player_id: u32,
    /// The client's own generation.
    pub player_token: u32,
    /// Hour of the world's clock, 0..=23.
    pub hours: u8,
    /// Minute of the world's clock, 0..=59.
    pub minutes: u8,
    /// The world's weather.
    pub weather: u8,
    /// Drive-by intervals of the weapons 22..=33.
    pub driveby_interval: [u16; 12],
    /// Open garage doors, one bit per id.
    pub garage_doors: u64,
    /// TCP port of the client files at the server's address.
    pub client_files_port: u16,
    /// Whether the connection waits for the auth resource (docs/protocol.md 1.5).
    pub auth_pending: bool,
    /// The server's public key.
    pub server_key: [u8; 32],
}

impl From<&ServerHello> for Welcome {
    fn from(hello: &ServerHello) -> Self {
        Self {
            player_id: hello.player_id,
            player_token: hello.player_token,
            hours: hello.hours,
            minutes: hello.minutes,
            weather: hello.weather,
            driveby_interval: hello.driveby_interval,
            garage_doors: hello.garage_doors,
            client_files_port: hello.client_files_port,
            auth_pending: hello.auth_pending,
            server_key: hello.server_key,
        }
    }
}

/// Why an attempt or a session ended (docs/protocol.md 1.4, 1.5).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// No ServerHello within 3 s. A server of another protocol version looks like this too.
    NoAnswer,
    /// A key other than the expected one signed the ServerHello: this is not the server that was meant.
    IdentityChanged {
        /// The key that did sign.
        found: [u8; 32],
    },
    /// The server refused the client.
    Rejected {
        /// The reason.
        reason: RejectReason,
        /// The gamemode's or the ban's words; empty for every other reason. At most 20 bytes, safe to show.
        text: String,
        /// `banned`: seconds until the ban ends, 0 for ever. `password_attempts`: seconds until the next try.
        seconds: u32,
    },
    /// The server ended the session on purpose.
    Kicked {
        /// The reason, with invalid UTF-8 and what must not be shown replaced.
        reason: String,
    },
    /// The auth resource did not let the client in: a kick or silence while the login was undecided.
    LoginRefused {
        /// The reason, fit to be shown; `None` when the server went silent.
        reason: Option<String>,
    },
    /// No packet from the server for 15 s.
    Silence,
    /// The program said goodbye.
    Bye,
}

impl EndReason {
    /// The reason's stable name, for reports: `no_answer`, `rejected_name_taken`, `kicked`, ...
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::NoAnswer => "no_answer".to_owned(),
            Self::IdentityChanged { .. } => "identity_changed".to_owned(),
            Self::Rejected { reason, .. } => format!("rejected_{}", reason.name()),
            Self::Kicked { .. } => "kicked".to_owned(),
            Self::LoginRefused { .. } => "login_refused".to_owned(),
            Self::Silence => "silence".to_owned(),
            Self::Bye => "bye".to_owned(),
        }
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| decitick_protocol::escape_for_display(text, 64);
        match self {
            Self::NoAnswer => {
                write!(
                    out,
                    "the server gave no answer within 3 s: is the address right, and the version the same?"
                )
            }
            Self::IdentityChanged { found } => {
                write!(
                    out,
                    "another server answers at this address, with the key {}",
                    hex(found)
                )
            }
            Self::Rejected {
                reason,
                text,
                seconds,
            } => {
                write!(out, "the server refused the client: {}", reason.name())?;
                if !text.is_empty() {
                    write!(out, " ({})", shown(text))?;
                }
                if *seconds > 0 {
                    write!(out, ", {seconds} s to wait")
                } else {
                    Ok(())
                }
            }
            Self::Kicked { reason } => write!(out, "the server ended the session: {}", shown(reason)),
            Self::LoginRefused { reason: Some(reason) } => {
                write!(out, "the server refused the login: {}", shown(reason))
            }
            Self::LoginRefused { reason: None } => {
                write!(out, "the server went silent while the login was undecided")
            }
            Self::Silence => write!(out, "no packet from the server for 15 s"),
            Self::Bye => write!(out, "the client said goodbye"),
        }
    }
}

/// Lower-case hex, as keys are shown everywhere.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
