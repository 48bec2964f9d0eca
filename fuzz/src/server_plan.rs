//! What a run of the `server_step` target does, as the fuzzer draws it.

use arbitrary::Arbitrary;

use crate::{HelloPlan, SessionPlan, address};

#[derive(Arbitrary, Debug)]
pub enum Step {
    Tick,
    Ticks(u8),
    /// The server stood still.
    Jump {
        seconds: u8,
    },
    /// The wall clock moved, maybe backwards.
    Wall {
        seconds: i32,
    },
    Join {
        peer: u8,
        credential: u8,
    },
    Hello {
        peer: u8,
        plan: HelloPlan,
    },
    Session {
        peer: u8,
        plan: SessionPlan,
    },
    /// The same plan from every peer.
    All {
        plan: SessionPlan,
    },
    Many {
        peer: u8,
        plan: SessionPlan,
        count: u8,
    },
    Raw {
        peer: u8,
        bytes: Vec<u8>,
    },
    Console {
        line: String,
    },
    Command(Command),
    Workers {
        fail: bool,
    },
    /// Reports of sent packets that are old or about nothing.
    ForgedReports {
        player: u16,
        event: u32,
    },
    /// No random bytes in the next tick.
    EmptyPool,
}

#[derive(Arbitrary, Debug)]
pub enum Command {
    Kick(u8),
    BanPeer(u8),
    BanRange(u32, u8),
    Unban(u8),
    Say(String),
    Mode(String),
    Password(bool),
    Show(u8),
    Limits(u8),
    Shutdown(u8),
}

#[derive(Arbitrary, Debug)]
pub struct Plan {
    pub strict_names: bool,
    pub loopback_exempt: bool,
    pub resends_per_tick: u8,
    pub max_speed: u8,
    pub steps: Vec<Step>,
}

impl Command {
    /// The console line of a command.
    pub fn line(&self) -> String {
        match self {
            Self::Kick(id) => format!("kick {} because", id % 8),
            Self::BanPeer(peer) => format!("ban {} 60 out", address(*peer).ip()),
            Self::BanRange(bits, prefix) => {
                format!("ban {}/{} 1", std::net::Ipv4Addr::from(*bits), prefix % 33)
            }
            Self::Unban(peer) => format!("unban {}", address(*peer).ip()),
            Self::Say(text) => format!("say {text}"),
            Self::Mode(text) => format!("mode {text}"),
            Self::Password(set) => if *set {
                "password set open sesame"
            } else {
                "password clear"
            }
            .to_owned(),
            Self::Show(which) => {
                let shown = [
                    "status",
                    "players --json",
                    "bans",
                    "drops --json",
                    "limits",
                    "help",
                    "identity",
                    "password",
                ];
                shown[usize::from(*which) % shown.len()].to_owned()
            }
            Self::Limits(peer) => format!("limits {} --json", address(*peer).ip()),
            Self::Shutdown(seconds) => format!("shutdown {seconds} bye"),
        }
    }
}
