//! How the arguments of each command are read. Every function gets what follows the name, without the blanks
//! around it; the table in `commands.rs` says which function belongs to which name.

mod diagnosis;
mod inspection;
mod scripts;
mod words;
mod world;

use std::{
    net::{IpAddr, SocketAddr},
    num::NonZeroU32,
};

use decitick_protocol::Password;

pub(super) use self::diagnosis::{complete, netsim, slow, systems, trace, why};
pub(super) use self::inspection::{entities, inspect, resources, set, watch};
pub(super) use self::scripts::{eval, grant, resource, revoke};
use self::words::{ban_range, looks_like_number, nothing_in, player_id, required, text, whole_number};
pub(super) use self::world::{clock, spawn, time, weather};
use super::{
    command::{ConsoleCommand, MAX_SHUTDOWN_SECONDS, PasswordAction},
    commands::{self, shown},
    error::ArgumentFault,
    grammar::first_word,
    selection::EntityWord,
};
use crate::bans::BanReason;

type Parsed = Result<ConsoleCommand, ArgumentFault>;

pub(super) fn help(arguments: &str) -> Parsed {
    let (word, rest) = first_word(arguments);
    nothing_in(rest)?;
    match commands::find(word) {
        Some(info) => Ok(ConsoleCommand::Help(Some(info))),
        None if word.is_empty() => Ok(ConsoleCommand::Help(None)),
        None => Err(ArgumentFault::UnknownCommand {
            word: shown(word),
            nearest: commands::nearest(word).name,
        }),
    }
}

pub(super) fn status(arguments: &str) -> Parsed {
    nothing_in(arguments)?;
    Ok(ConsoleCommand::Status)
}

pub(super) fn players(arguments: &str) -> Parsed {
    nothing_in(arguments)?;
    Ok(ConsoleCommand::Players)
}

pub(super) fn kick(arguments: &str) -> Parsed {
    let (word, reason) = required("ID", arguments)?;
    let session = match EntityWord::parse(word) {
        Ok(entity @ EntityWord::Entity { .. }) => entity,
        _ => EntityWord::Player(player_id(word)?),
    };
    Ok(ConsoleCommand::Kick {
        session,
        reason: text("REASON", reason)?,
    })
}

pub(super) fn ban(arguments: &str) -> Parsed {
    let (range, rest) = required("IP_OR_RANGE", arguments)?;
    let range = ban_range(range)?;
    let (second, after) = first_word(rest);
    let (seconds, reason) = if looks_like_number(second) {
        (whole_number("SECONDS", second, 0..=u32::MAX)?, after)
    } else {
        (0, rest)
    };
    let reason = BanReason::parse(reason).map_err(ArgumentFault::Ban)?;
    Ok(ConsoleCommand::Ban {
        range,
        seconds: NonZeroU32::new(seconds),
        reason,
    })
}

pub(super) fn unban(arguments: &str) -> Parsed {
    let (range, rest) = required("IP_OR_RANGE", arguments)?;
    nothing_in(rest)?;
    Ok(ConsoleCommand::Unban {
        range: ban_range(range)?,
    })
}

pub(super) fn bans(arguments: &str) -> Parsed {
    nothing_in(arguments)?;
    Ok(ConsoleCommand::Bans)
}

pub(super) fn password(arguments: &str) -> Parsed {
    let action = match first_word(arguments) {
        ("", _) => PasswordAction::Show,
        ("clear", "") => PasswordAction::Clear,
        ("clear", _) => return Err(ArgumentFault::TooMany),
        ("set", "") => return Err(ArgumentFault::Missing { argument: "TEXT" }),
        ("set", text) => {
            PasswordAction::Set(Password::parse(text).map_err(|fault| ArgumentFault::Password {
                message: fault.to_string(),
            })?)
        }
        _ => {
            return Err(ArgumentFault::NoneOf {
                words: &["set TEXT", "clear"],
            });
        }
    };
    Ok(ConsoleCommand::Password(action))
}

pub(super) fn say(arguments: &str) -> Parsed {
    required("TEXT", arguments)?;
    Ok(ConsoleCommand::Say(text("TEXT", arguments)?))
}

pub(super) fn mode(arguments: &str) -> Parsed {
    Ok(ConsoleCommand::Mode(text("TEXT", arguments)?))
}

pub(super) fn identity(arguments: &str) -> Parsed {
    nothing_in(arguments)?;
    Ok(ConsoleCommand::Identity)
}

pub(super) fn drops(arguments: &str) -> Parsed {
    nothing_in(arguments)?;
    Ok(ConsoleCommand::Drops)
}

pub(super) fn limits(arguments: &str) -> Parsed {
    let (ip, rest) = first_word(arguments);
    nothing_in(rest)?;
    if ip.is_empty() {
        return Ok(ConsoleCommand::Limits { ip: None });
    }
    // As `players` shows it, with its port, too.
    let address = ip
        .parse::<IpAddr>()
        .or_else(|_| ip.parse::<SocketAddr>().map(|address| address.ip()));
    match address {
        Ok(ip) => Ok(ConsoleCommand::Limits {
            ip: Some(ip.to_canonical()),
        }),
        Err(_) => Err(ArgumentFault::Address { word: shown(ip) }),
    }
}

/// The first word must be a number: a stop cannot be taken back, so nothing is guessed.
pub(super) fn shutdown(arguments: &str) -> Parsed {
    let (seconds, reason) = first_word(arguments);
    let seconds = if seconds.is_empty() {
        0
    } else {
        whole_number("SECONDS", seconds, 0..=MAX_SHUTDOWN_SECONDS)?
    };
    Ok(ConsoleCommand::Shutdown {
        seconds,
        reason: text("REASON", reason)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{super::grammar::parse, *};

    pub(super) fn read(line: &str) -> ConsoleCommand {
        parse(line)
            .unwrap_or_else(|error| panic!("{line}: {error}"))
            .command
    }

    pub(super) fn refused(line: &str) -> String {
        parse(line).expect_err(line).to_string()
    }

    #[test]
    fn commands_without_arguments_take_none() {
        for name in ["status", "players", "bans", "identity", "drops"] {
            assert!(parse(name).is_ok());
            assert!(refused(&format!("{name} now")).contains("usage: "), "{name}");
        }
        assert!(matches!(read("  status \t"), ConsoleCommand::Status));
    }

    #[test]
    fn kick_takes_an_id_below_the_number_of_players_and_a_reason_that_is_never_cut() {
        let kicked = |line| {
            let ConsoleCommand::Kick { session, reason } = read(line) else {
                panic!("{line}")
            };
            (session.to_string(), reason.as_str().to_owned())
        };
        let both = |session: &str, reason: &str| (session.to_owned(), reason.to_owned());
        assert_eq!(
            kicked("kick 5  a  spaced reason "),
            both("player:5", "a  spaced reason")
        );
        assert_eq!(kicked("kick 999"), both("player:999", ""));
        assert_eq!(kicked("kick 12v3 bye"), both("12v3", "bye"));
        for bad in [
            "kick",
            "kick 1000",
            "kick -1",
            "kick +1",
            "kick Bob",
            "kick 5v",
            "kick thing:5",
            "kick 1.0",
            "kick 99999999999999",
        ] {
            assert!(refused(bad).contains("ID"), "{bad}");
        }
        assert!(parse(&format!("kick 5 {}", "x".repeat(64))).is_ok());
        assert!(refused(&format!("kick 5 {}", "x".repeat(65))).contains("65 bytes"));
        for bad in [
            "kick 5 a\u{1b}[2J",
            "kick 5 a\r\nb",
            "kick 5 \u{2066}x",
            "kick 5 a\u{200d}b",
        ] {
            assert!(refused(bad).contains("U+"), "{bad:?}");
        }
    }

    #[test]
    fn ban_reads_seconds_only_where_a_number_stands() {
        let table = [
            ("ban 192.0.2.7", "192.0.2.7", None, ""),
            ("ban 192.0.2.7 0", "192.0.2.7", None, ""),
            ("ban 192.0.2.7 60", "192.0.2.7", Some(60), ""),
            ("ban 192.0.2.7 60 two words", "192.0.2.7", Some(60), "two words"),
            ("ban 192.0.2.7 spam", "192.0.2.7", None, "spam"),
            ("ban 192.0.2.7 spam 60", "192.0.2.7", None, "spam 60"),
            ("ban 192.0.2.7 0 7 strikes", "192.0.2.7", None, "7 strikes"),
            ("ban 192.0.2.7 ...", "192.0.2.7", None, "..."),
            ("ban 192.0.2.9/24 1 x", "192.0.2.0/24", Some(1), "x"),
            ("ban ::ffff:192.0.2.7 1", "192.0.2.7", Some(1), ""),
            ("ban 2001:db8::1 4294967295", "2001:db8::/64", Some(u32::MAX), ""),
        ];
        for (line, wanted, wanted_seconds, wanted_reason) in table {
            let ConsoleCommand::Ban {
                range,
                seconds,
                reason,
            } = read(line)
            else {
                panic!("{line}")
            };
            let found = (
                range.to_string(),
                seconds.map(NonZeroU32::get),
                reason.as_str().to_owned(),
            );
            assert_eq!(
                found,
                (wanted.to_owned(), wanted_seconds, wanted_reason.to_owned()),
                "{line}"
            );
        }
    }

    #[test]
    fn a_ban_that_is_not_right_is_refused() {
        for bad in [
            "ban 192.0.2.7 -5",
            "ban 192.0.2.7 1.5 x",
            "ban 192.0.2.7 4294967296",
            "ban 192.0.2.7 +5",
        ] {
            assert!(refused(bad).contains("SECONDS"), "{bad}");
        }
        for bad in [
            "ban",
            "unban",
            "ban nonsense 60 x",
            "ban 300.1.1.1 60 x",
            "unban 192.0.2.0/33",
            "unban 1.2.3.4 x",
        ] {
            assert!(refused(bad).contains("IP_OR_RANGE"), "{bad}");
        }
        assert!(parse(&format!("ban 192.0.2.7 60 {}", "x".repeat(20))).is_ok());
        assert!(refused(&format!("ban 192.0.2.7 60 {}", "x".repeat(21))).contains("21 bytes"));
        assert!(refused(&format!("ban {} 60", "9".repeat(4000))).len() < 300);
    }

    #[test]
    fn a_password_is_set_whole_and_shows_in_no_debug_text_and_no_error() {
        assert!(matches!(
            read("password"),
            ConsoleCommand::Password(PasswordAction::Show)
        ));
        assert!(matches!(
            read("password clear"),
            ConsoleCommand::Password(PasswordAction::Clear)
        ));
        let set = read("password set hunter2  hunter3");
        assert!(matches!(&set, ConsoleCommand::Password(PasswordAction::Set(_))));
        assert!(!format!("{set:?}").contains("hunter"), "{set:?}");
        assert!(parse(&format!("password set {}", "h".repeat(64))).is_ok());
        let bad = [
            "password hunter2".to_owned(),
            "password Set hunter2".to_owned(),
            "password clear hunter2".to_owned(),
            "password set".to_owned(),
            "password set hunter2\u{7}x".to_owned(),
            format!("password set hunter2{}", "h".repeat(64)),
            "pasword set hunter2".to_owned(),
        ];
        for line in bad {
            let error = parse(&line).unwrap_err();
            assert!(
                !error.to_string().contains("hunter") && !format!("{error:?}").contains("hunter"),
                "{error:?}"
            );
        }
    }

    #[test]
    fn texts_keep_their_inner_blanks_and_their_bounds() {
        let ConsoleCommand::Say(text) = read("say  hello   there") else {
            panic!()
        };
        assert_eq!(text.as_str(), "hello   there");
        assert!(refused("say").contains("TEXT is missing"));
        assert!(parse(&format!("say {}", "x".repeat(512))).is_ok());
        assert!(refused(&format!("say {}", "x".repeat(513))).contains("513 bytes"));
        let ConsoleCommand::Mode(mode) = read("mode") else {
            panic!()
        };
        assert_eq!(mode.as_str(), "");
        assert!(parse(&format!("mode {}", "ж".repeat(16))).is_ok());
        assert!(refused(&format!("mode {}", "x".repeat(33))).contains("33 bytes"));
    }

    #[test]
    fn shutdown_guesses_nothing() {
        assert!(matches!(
            read("shutdown"),
            ConsoleCommand::Shutdown { seconds: 0, .. }
        ));
        let ConsoleCommand::Shutdown { seconds: 60, reason } = read("shutdown 60 new version") else {
            panic!()
        };
        assert_eq!(reason.as_str(), "new version");
        for bad in ["shutdown now", "shutdown -1", "shutdown 86401", "shutdown -h now"] {
            assert!(refused(bad).contains("SECONDS"), "{bad}");
        }
    }

    #[test]
    fn limits_takes_an_address_and_counts_a_mapped_one_as_ipv4() {
        assert!(matches!(read("limits"), ConsoleCommand::Limits { ip: None }));
        let ConsoleCommand::Limits { ip: Some(ip) } = read("limits ::ffff:192.0.2.7") else {
            panic!()
        };
        assert_eq!(ip.to_string(), "192.0.2.7");
        assert!(refused("limits 192.0.2.0/24").contains("no IP address"));
    }
}
