//! What can be wrong with a console line, said with the command's usage and the mend.

use std::fmt;

use decitick_protocol::TextFault;

use super::{
    commands::CommandInfo,
    grammar::MAX_LINE,
    selection::{MAX_SELECTED, MAX_TYPE_NAME},
};
use crate::bans::BanFault;

/// Why a line is no command. Its text never holds what the operator wrote as a password.
#[derive(Clone, Debug)]
pub enum ConsoleError {
    /// There is no word on the line.
    Empty,
    /// The line has more than [`MAX_LINE`] bytes.
    LineTooLong {
        /// Bytes it has.
        bytes: usize,
    },
    /// No command has this name.
    UnknownCommand {
        /// The word, escaped for display and capped.
        word: String,
        /// The name of the command that is nearest.
        nearest: &'static str,
    },
    /// The command is known; one of its arguments is not right.
    Argument {
        /// The command.
        command: &'static CommandInfo,
        /// What is wrong.
        fault: ArgumentFault,
    },
}

/// What is wrong with an argument. Argument names are those of the usage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentFault {
    /// It is not there.
    Missing {
        /// Its name.
        argument: &'static str,
    },
    /// There is something after the last argument.
    TooMany,
    /// It is no whole number of that range.
    NotInRange {
        /// Its name.
        argument: &'static str,
        /// The least value.
        least: u32,
        /// The greatest value.
        greatest: u32,
    },
    /// It is no time of day.
    TimeOfDay {
        /// Its name.
        argument: &'static str,
    },
    /// The text does not fit.
    Text {
        /// Its name.
        argument: &'static str,
        /// What is wrong.
        fault: TextFault,
    },
    /// It is no IP address.
    Address {
        /// The word, escaped for display and capped.
        word: String,
    },
    /// It is no range or no reason of a ban.
    Ban(BanFault),
    /// It is no password; says why, not what was written.
    Password {
        /// What is wrong.
        message: String,
    },
    /// It is no command that `help` could describe.
    UnknownCommand {
        /// The word, escaped for display and capped.
        word: String,
        /// The name of the command that is nearest.
        nearest: &'static str,
    },
    /// It is no name of a resource.
    ResourceName,
    /// It names no entity.
    Entity {
        /// The word, escaped for display and capped.
        word: String,
    },
    /// It is no name that a component or an ECS resource can have.
    TypeName {
        /// Its name.
        argument: &'static str,
    },
    /// A component is named without a field of it.
    Field,
    /// More components and conditions than one question may have.
    TooManySelected,
    /// It is none of the words that may stand there.
    NoneOf {
        /// The words.
        words: &'static [&'static str],
    },
}

impl fmt::Display for ConsoleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no command on the line; `help` lists the commands"),
            Self::LineTooLong { bytes } => {
                write!(
                    f,
                    "the line has {bytes} bytes and may have {MAX_LINE}; shorten it"
                )
            }
            Self::UnknownCommand { word, nearest } => {
                write!(
                    f,
                    "unknown command \"{word}\"; the nearest is `{nearest}`; `help` lists all of them"
                )
            }
            Self::Argument { command, fault } => {
                write!(
                    f,
                    "{}: {fault}\nusage: {}\nexample: {}",
                    command.name, command.usage, command.example
                )
            }
        }
    }
}

impl std::error::Error for ConsoleError {}

impl fmt::Display for ArgumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { argument } => write!(f, "{argument} is missing"),
            Self::TooMany => f.write_str("there is more on the line than it takes"),
            Self::NotInRange {
                argument,
                least,
                greatest,
            } => {
                write!(f, "{argument} must be a whole number from {least} to {greatest}")
            }
            Self::TimeOfDay { argument } => {
                write!(f, "{argument} must be a time of day from 00:00 to 23:59")
            }
            Self::Text { argument, fault } => write!(f, "{argument}: {fault}"),
            Self::Address { word } => {
                write!(
                    f,
                    "\"{word}\" is no IP address; write one like 203.0.113.7 or 2001:db8::1"
                )
            }
            Self::Ban(fault) => fault.fmt(f),
            Self::Password { message } => f.write_str(message),
            Self::UnknownCommand { word, nearest } => {
                write!(f, "there is no command \"{word}\"; the nearest is `{nearest}`")
            }
            Self::ResourceName => f.write_str(
                "NAME is the name of a folder in scripts/: 1 to 64 lower-case letters, digits, '_' and '-'",
            ),
            Self::Entity { word } => write!(
                f,
                "\"{word}\" names no entity; write 12v3, a player's id, thing:N or zone:N"
            ),
            Self::TypeName { argument } => write!(
                f,
                "{argument} must be a name such as Vitals, of at most {MAX_TYPE_NAME} letters, digits, '_' and ':'"
            ),
            Self::Field => f.write_str("a field is wanted after the component, as in Vitals.health"),
            Self::TooManySelected => write!(
                f,
                "at most {MAX_SELECTED} components and conditions fit one question"
            ),
            Self::NoneOf { words } => write!(f, "it must be followed by one of: {}", words.join(", ")),
        }
    }
}
