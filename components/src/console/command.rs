//! What a console line asks for, once it is understood: a command with its arguments, all within their bounds. How lines
//! are read is in `grammar.rs`, the table of names and usages in `commands.rs`.

use std::{
    net::IpAddr,
    num::{NonZeroU16, NonZeroU32},
};

use decitick_protocol::{KICK_REASON_LEN, Password, ShownText};

use super::{
    commands::CommandInfo,
    selection::{EntitiesQuery, EntityWord, FieldWord},
};
use crate::{
    bans::{BanRange, BanReason},
    netsim::Impairment,
    script::ResourceName,
};

/// The longest announced stop: a day.
pub const MAX_SHUTDOWN_SECONDS: u32 = 86_400;

/// What a KickNotify tells: at most 64 bytes (docs/protocol.md 1.5).
pub type NoticeText = ShownText<0, KICK_REASON_LEN>;
/// What `say` shows: what a ChatMessage can carry, 1 to 512 bytes (docs/protocol.md 2.3).
pub type SayText = ShownText<1, 512>;
/// The mode of a query answer: at most 32 bytes (docs/protocol.md 1.3).
pub type ModeText = ShownText<0, 32>;
/// What `grant` grants: a name that gamemodes ask for, 1 to 32 bytes.
pub type GrantName = ShownText<1, 32>;

/// A command with its arguments, all within their bounds.
#[derive(Clone, Debug)]
pub enum ConsoleCommand {
    /// Lists the commands, or describes one.
    Help(Option<&'static CommandInfo>),
    /// How the server is.
    Status,
    /// Who is connected.
    Players,
    /// Ends a session.
    Kick {
        /// Whose: the player of an id, or a connection as `12v3`, which is never somebody else.
        session: EntityWord,
        /// What the player is told; may be empty.
        reason: NoticeText,
    },
    /// Bans an address or range.
    Ban {
        /// Whom.
        range: BanRange,
        /// For how long; `None`: for good.
        seconds: Option<NonZeroU32>,
        /// What the banned are told; may be empty.
        reason: BanReason,
    },
    /// Lifts a ban.
    Unban {
        /// Whose.
        range: BanRange,
    },
    /// Lists the bans.
    Bans,
    /// The server password.
    Password(PasswordAction),
    /// Shows a line to every player.
    Say(SayText),
    /// Sets the mode text of the query.
    Mode(ModeText),
    /// The time of day.
    Time(TimeAction),
    /// Sets the weather.
    Weather(u8),
    /// Whether the world's clock runs.
    Clock(ClockAction),
    /// Puts a player into the world at the next spawn point.
    Spawn {
        /// The player's id, below 1,000.
        id: u16,
    },
    /// The server's public key.
    Identity,
    /// The drop ledger.
    Drops,
    /// The limit tables.
    Limits {
        /// The address that is asked for, canonical.
        ip: Option<IpAddr>,
    },
    /// Gamemode resources.
    Resource(ResourceAction),
    /// Runs an expression with the gamemode API.
    Eval(String),
    /// Grants something to a player for its session.
    Grant {
        /// The player's id, below 1,000.
        id: u16,
        /// What.
        name: GrantName,
    },
    /// Takes it back.
    Revoke {
        /// The player's id, below 1,000.
        id: u16,
        /// What.
        name: GrantName,
    },
    /// Entities with these components.
    Entities(EntitiesQuery),
    /// Every component of an entity, or one.
    Inspect {
        /// Which.
        entity: EntityWord,
        /// The component's short name or whole path; none: all of them.
        component: Option<String>,
    },
    /// Changes a field of a component.
    Set {
        /// Whose.
        entity: EntityWord,
        /// Which.
        field: FieldWord,
        /// To what, as it was written; not empty.
        value: String,
    },
    /// Tells of changes of a component as they happen.
    Watch {
        /// Whose.
        entity: EntityWord,
        /// The component's short name or whole path.
        component: String,
        /// How long, 1 to 3,600.
        seconds: u32,
    },
    /// ECS resources, or one of them.
    Resources {
        /// Its short name or whole path.
        name: Option<String>,
    },
    /// The schedule with the time of each system.
    Systems,
    /// The last slow ticks.
    Slow,
    /// Why one player does not see another.
    Why {
        /// Who should see, an id below 1,000.
        viewer: u16,
        /// Whom, an id below 1,000.
        seen: u16,
    },
    /// Packets of a connection as they come and go.
    Trace {
        /// The player's id, below 1,000.
        id: u16,
        /// How long, 1 to 3,600.
        seconds: u32,
    },
    /// A simulated bad network.
    Netsim(NetsimAction),
    /// What may stand next on a line.
    Complete(String),
    /// Stops the server.
    Shutdown {
        /// After how many seconds, at most [`MAX_SHUTDOWN_SECONDS`].
        seconds: u32,
        /// What the players are told; may be empty.
        reason: NoticeText,
    },
}

impl ConsoleCommand {
    /// Whether it changes nothing and is answered once: what an edge may run that is for reading.
    #[must_use]
    pub const fn only_reads(&self) -> bool {
        match self {
            Self::Help(_)
            | Self::Status
            | Self::Players
            | Self::Bans
            | Self::Password(PasswordAction::Show)
            | Self::Time(TimeAction::Show)
            | Self::Identity
            | Self::Drops
            | Self::Limits { .. }
            | Self::Resource(ResourceAction::List)
            | Self::Entities(_)
            | Self::Inspect { .. }
            | Self::Resources { .. }
            | Self::Systems
            | Self::Slow
            | Self::Why { .. }
            | Self::Netsim(NetsimAction::Show)
            | Self::Complete(_) => true,
            Self::Kick { .. }
            | Self::Ban { .. }
            | Self::Unban { .. }
            | Self::Password(_)
            | Self::Say(_)
            | Self::Mode(_)
            | Self::Time(_)
            | Self::Weather(_)
            | Self::Clock(_)
            | Self::Spawn { .. }
            | Self::Resource(_)
            | Self::Eval(_)
            | Self::Grant { .. }
            | Self::Revoke { .. }
            | Self::Set { .. }
            | Self::Watch { .. }
            | Self::Trace { .. }
            | Self::Netsim(_)
            | Self::Shutdown { .. } => false,
        }
    }
}

/// What to do with the server password.
#[derive(Clone, Debug)]
pub enum PasswordAction {
    /// Say whether one is set.
    Show,
    /// Set it. The type does not show itself in logs.
    Set(Password),
    /// Take it away.
    Clear,
}

/// What to do with gamemode resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceAction {
    /// List them.
    List,
    /// Read and start one.
    Start(ResourceName),
    /// Stop one, and those that need it.
    Stop(ResourceName),
    /// Read one again, and put it in the place of the one that runs.
    Restart(ResourceName),
}

/// What to do with the time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeAction {
    /// Tell it, with clock and weather.
    Show,
    /// Set it.
    Set {
        /// 0..=23.
        hours: u8,
        /// 0..=59.
        minutes: u8,
    },
}

/// What to do with the simulated bad network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetsimAction {
    /// Tell what is simulated.
    Show,
    /// Simulate this from now on.
    Set(Impairment),
    /// Simulate nothing.
    Off,
}

/// What to do with the world's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockAction {
    /// Let it run: a minute of the world lasts this many milliseconds.
    Run(NonZeroU16),
    /// Stop it.
    Freeze,
}

#[cfg(test)]
mod tests {
    use super::super::{commands::COMMANDS, grammar::parse};

    #[test]
    fn what_changes_something_or_goes_on_is_told_from_what_only_reads() {
        for line in [
            "help",
            "status",
            "players",
            "bans",
            "password",
            "time",
            "identity",
            "drops",
            "limits",
            "resource list",
            "entities",
            "inspect 5",
            "resources",
            "systems",
            "slow",
            "why 1 2",
            "netsim",
            "complete x",
        ] {
            assert!(parse(line).unwrap().command.only_reads(), "{line}");
        }
        for info in COMMANDS {
            let changes = info.usage.contains("set ") || ["watch", "trace", "eval"].contains(&info.name);
            assert!(
                !(changes && parse(info.example).unwrap().command.only_reads()),
                "{}",
                info.name
            );
        }
        for line in [
            "password clear",
            "time 06:00",
            "resource stop x",
            "netsim off",
            "netsim loss 1",
            "mode",
        ] {
            assert!(!parse(line).unwrap().command.only_reads(), "{line}");
        }
    }
}
