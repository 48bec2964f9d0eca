//! The one table of console commands. Grammar, help, completion and history all read it.

use decitick_protocol::escape_for_display;
use serde::Serialize;

use super::{
    arguments,
    command::ConsoleCommand,
    error::ArgumentFault,
    grammar::first_word,
    text_table::{Layout, TextTable},
};

/// A command as people see it, and how its arguments are read.
#[derive(Debug, Serialize)]
pub struct CommandInfo {
    /// The word that calls it.
    pub name: &'static str,
    /// The name with its arguments; those in brackets may be left out.
    pub usage: &'static str,
    /// What it does, on one line.
    pub help: &'static str,
    /// A line that works.
    pub example: &'static str,
    /// Whether its arguments may be a secret: such a line goes into no history and no log.
    #[serde(skip)]
    pub secret: bool,
    /// Reads what follows the name.
    #[serde(skip)]
    pub(super) parse: fn(&str) -> Result<ConsoleCommand, ArgumentFault>,
}

/// `help`, which is also what an unknown command falls back on.
static HELP: CommandInfo = command(
    "help",
    "help [COMMAND]",
    "lists the commands, or describes one",
    "help kick",
    arguments::help,
);

/// Every command, in the order in which `help` lists them.
pub static COMMANDS: &[&CommandInfo] = &[
    &HELP,
    &command(
        "status",
        "status",
        "uptime, players, world, tick times, traffic, hits and drops",
        "status --json",
        arguments::status,
    ),
    &command(
        "players",
        "players",
        "who is connected, with address, phase, round trip, loss, queue and idle time",
        "players",
        arguments::players,
    ),
    &command(
        "kick",
        "kick ID [REASON]",
        "ends the session of a player; REASON has at most 64 bytes",
        "kick 5 language",
        arguments::kick,
    ),
    &command(
        "ban",
        "ban IP_OR_RANGE [SECONDS] [REASON]",
        "bans an address or range and ends its sessions; 0 seconds, or none: for good; REASON has at most 20 bytes",
        "ban 203.0.113.0/24 3600 spam",
        arguments::ban,
    ),
    &command(
        "unban",
        "unban IP_OR_RANGE",
        "lifts a ban",
        "unban 203.0.113.0/24",
        arguments::unban,
    ),
    &command("bans", "bans", "lists the bans", "bans", arguments::bans),
    &CommandInfo {
        secret: true,
        ..command(
            "password",
            "password [set TEXT | clear]",
            "sets or clears the server password; alone it says only whether one is set",
            "password set correct horse",
            arguments::password,
        )
    },
    &command(
        "say",
        "say TEXT",
        "shows a line of at most 512 bytes to every player",
        "say restart at noon",
        arguments::say,
    ),
    &command(
        "mode",
        "mode TEXT",
        "sets the mode text of the server query, at most 32 bytes; none: clears it",
        "mode Deathmatch",
        arguments::mode,
    ),
    &command(
        "time",
        "time [HH:MM]",
        "sets the time of day; alone it tells the time, whether the clock runs, and the weather",
        "time 06:30",
        arguments::time,
    ),
    &command(
        "weather",
        "weather N",
        "sets the weather, a number of the game from 0 to 255",
        "weather 8",
        arguments::weather,
    ),
    &command(
        "clock",
        "clock run MS | freeze",
        "lets time go by, a minute of the world in MS milliseconds, or stops it",
        "clock run 1000",
        arguments::clock,
    ),
    &command(
        "spawn",
        "spawn ID",
        "puts a player into the world at the next spawn point, even one that is there already",
        "spawn 5",
        arguments::spawn,
    ),
    &command(
        "grant",
        "grant ID NAME",
        "grants a player something that gamemodes ask for, such as admin, until it leaves",
        "grant 5 admin",
        arguments::grant,
    ),
    &command(
        "revoke",
        "revoke ID NAME",
        "takes back what was granted",
        "revoke 5 admin",
        arguments::revoke,
    ),
    &command(
        "resource",
        "resource list | start NAME | stop NAME | restart NAME",
        "gamemode resources: what each costs, and its last error; starts, stops or reads one again",
        "resource restart freeroam",
        arguments::resource,
    ),
    &CommandInfo {
        secret: true,
        ..command(
            "eval",
            "eval RHAI",
            "runs an expression with the gamemode API and prints its value",
            "eval players::count()",
            arguments::eval,
        )
    },
    &command(
        "identity",
        "identity",
        "the server's public key in hexadecimal",
        "identity",
        arguments::identity,
    ),
    &command(
        "drops",
        "drops",
        "every discarded datagram by its reason, and whether the ledger balances",
        "drops",
        arguments::drops,
    ),
    &command(
        "limits",
        "limits [IP]",
        "what the limit tables hold, or what they hold for one address",
        "limits 203.0.113.7",
        arguments::limits,
    ),
    &command(
        "entities",
        "entities [COMPONENT ...] [without COMPONENT ...] [where COMPONENT.field OP VALUE] [limit N]",
        "entities that have these components, each with what it is",
        "entities Phase where Vitals.health < 20",
        arguments::entities,
    ),
    &command(
        "inspect",
        "inspect ENTITY [COMPONENT]",
        "every component of an entity, field by field; ENTITY is 12v3, a player's id, thing:N or zone:N",
        "inspect 5 Motion",
        arguments::inspect,
    ),
    &command(
        "set",
        "set ENTITY COMPONENT.field VALUE",
        "changes a field; what is a secret, or kept in order by the server, is refused with the reason",
        "set 5 Vitals.health 50",
        arguments::set,
    ),
    &command(
        "watch",
        "watch ENTITY COMPONENT [SECONDS]",
        "tells of changes as they happen, for 10 seconds unless SECONDS are given",
        "watch 5 Motion 30",
        arguments::watch,
    ),
    &command(
        "resources",
        "resources [NAME]",
        "lists the ECS resources, or shows one field by field",
        "resources Clock",
        arguments::resources,
    ),
    &command(
        "systems",
        "systems",
        "the systems of a tick in order, with what each took in the last 100 ticks",
        "systems",
        arguments::systems,
    ),
    &command(
        "slow",
        "slow",
        "the last slow ticks, with the system, gamemode or connection that cost most",
        "slow",
        arguments::slow,
    ),
    &command(
        "why",
        "why ID ID",
        "why the first player does not see the second",
        "why 3 4",
        arguments::why,
    ),
    &command(
        "trace",
        "trace ID [SECONDS]",
        "packets of a player as they come and go, for 10 seconds unless SECONDS are given",
        "trace 5 30",
        arguments::trace,
    ),
    &command(
        "netsim",
        "netsim [loss P] [delay MS] [jitter MS] [dup P] | off",
        "makes the network bad, both ways, for everybody; alone it tells how bad",
        "netsim loss 5 delay 80 jitter 20",
        arguments::netsim,
    ),
    &command(
        "complete",
        "complete [LINE]",
        "what may stand next on a line; consoles ask it when Tab is pressed",
        "complete kick",
        arguments::complete,
    ),
    &command(
        "shutdown",
        "shutdown [SECONDS] [REASON]",
        "announces a stop and stops, at once unless SECONDS are given; REASON has at most 64 bytes",
        "shutdown 60 update",
        arguments::shutdown,
    ),
];

const fn command(
    name: &'static str,
    usage: &'static str,
    help: &'static str,
    example: &'static str,
    parse: fn(&str) -> Result<ConsoleCommand, ArgumentFault>,
) -> CommandInfo {
    CommandInfo {
        name,
        usage,
        help,
        example,
        secret: false,
        parse,
    }
}

/// The command of exactly this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static CommandInfo> {
    COMMANDS.iter().copied().find(|info| info.name == name)
}

/// The command whose name is most like `word`, upper and lower case alike: one that begins with it, else the one that
/// takes the fewest edits. Only the first 32 characters count.
#[must_use]
pub fn nearest(word: &str) -> &'static CommandInfo {
    let word: String = word.chars().take(32).flat_map(char::to_lowercase).collect();
    let distance = |info: &CommandInfo| {
        let begins_with_it = !word.is_empty() && info.name.starts_with(&word);
        (!begins_with_it, strsim::damerau_levenshtein(&word, info.name))
    };
    COMMANDS
        .iter()
        .copied()
        .min_by_key(|info| distance(info))
        .unwrap_or(&HELP)
}

/// Whether a line may hold a secret and must stay out of histories: its command says so, or it looks like a
/// misspelling of one that does.
#[must_use]
pub fn may_hold_secret(line: &str) -> bool {
    let (word, _) = first_word(line);
    !word.is_empty() && find(word).unwrap_or_else(|| nearest(word)).secret
}

/// What `help` prints: every command with its usage.
#[must_use]
pub fn help_overview(layout: Layout) -> String {
    let mut table = TextTable::default();
    for info in COMMANDS {
        table.row([info.usage.to_owned(), info.help.to_owned()]);
    }
    format!(
        "{}\n\n--json at the end of a command gives one JSON value. `help COMMAND` gives an example.",
        table.text(layout)
    )
}

/// What `help COMMAND` prints.
#[must_use]
pub fn help_for(info: &CommandInfo) -> String {
    format!("{}\n  {}\nexample: {}", info.usage, info.help, info.example)
}

/// A word of the operator as it may stand in an answer.
pub(super) fn shown(word: &str) -> String {
    escape_for_display(word, 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_name_of_its_own_a_usage_that_starts_with_it_and_an_example_that_parses() {
        let mut names: Vec<&str> = COMMANDS.iter().map(|info| info.name).collect();
        for info in COMMANDS {
            assert_eq!(info.usage.split(' ').next(), Some(info.name));
            assert!(super::super::parse(info.example).is_ok(), "{}", info.example);
            assert!(!info.help.contains('\n'), "{}", info.name);
            assert!(
                help_overview(Layout::WIDE).contains(info.usage) && help_for(info).contains(info.example)
            );
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COMMANDS.len());
    }

    #[test]
    fn a_misspelt_command_finds_the_one_that_was_meant() {
        let meant = [
            ("stauts", "status"),
            ("stat", "status"),
            ("plyers", "players"),
            ("KICK", "kick"),
            ("unbann", "unban"),
            ("bna", "ban"),
            ("passwd", "password"),
            ("shut", "shutdown"),
            ("shutdwon", "shutdown"),
            ("hlep", "help"),
            ("wether", "weather"),
            ("tme", "time"),
            ("respawn", "spawn"),
            ("cl", "clock"),
        ];
        for (word, name) in meant {
            assert_eq!(nearest(word).name, name, "{word}");
        }
        assert!(!nearest(&"x".repeat(4096)).name.is_empty());
    }

    #[test]
    fn lines_with_secrets_are_known_even_when_misspelt() {
        for line in [
            "password set x",
            "  password",
            "pasword set x",
            "PASSWORD set x",
            "passwd x",
        ] {
            assert!(may_hold_secret(line), "{line}");
        }
        for line in ["", "players", "say password", "kick 5 password"] {
            assert!(!may_hold_secret(line), "{line}");
        }
    }
}
