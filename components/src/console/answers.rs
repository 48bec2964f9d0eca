//! What commands answer: plain values with documented keys for JSON (serde) and a text for people.
//!
//! Keys carry their units and are stable; docs/console.md lists them. Whatever a player or a file wrote is escaped
//! in the text. A system fills these values; nothing here looks at the world.

mod completion;
mod diagnosis;
mod drops;
mod inspection;
mod limits;
mod lists;
mod resources;
mod shown;
mod status;
mod world;

use serde::{Serialize, Serializer};

pub use self::{
    completion::{Candidate, CompletionAnswer},
    diagnosis::{
        NetsimAnswer, ReverseAnswer, SightAnswer, SightReason, SlowAnswer, SlowRow, SystemRow, SystemsAnswer,
        TraceAnswer, TraceFields, TraceRow, TraceValue, WhyAnswer,
    },
    drops::{DropsAnswer, ReasonCounts, SentAnswer},
    inspection::{
        ChangeRow, ChangesAnswer, EcsResourceAnswer, EcsResourceRow, EcsResourcesAnswer, EntitiesAnswer,
        EntityRow, HiddenRow, InspectAnswer, WatchEndAnswer,
    },
    limits::{AddressLimits, AddressTableRow, LimitTableRow, LimitsAnswer},
    lists::{BanRow, BansAnswer, PlayerRow, PlayersAnswer},
    resources::{ResourceRow, ResourcesAnswer},
    shown::Shown,
    status::{StatusAnswer, TickAnswer},
    world::{HitsAnswer, WorldAnswer},
};
use super::{
    commands::{COMMANDS, CommandInfo, help_for, help_overview},
    error::ConsoleError,
    text_table::Layout,
};

/// Characters of a player's or operator's text that an answer shows.
const SHOWN_CHARACTERS: usize = 64;

/// What an answer says to people. Its other form is JSON, by serde.
pub trait AnswerText {
    /// The text, laid out for its reader: lines without a line end at the last.
    fn text(&self, layout: Layout) -> String;
}

/// One digit after the point is all that a rate or a share is good for.
fn tenths<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((value * 10.0).round() / 10.0)
}

/// The answer of a command that did something: `{"message": "..."}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoneAnswer {
    /// What was done, one line.
    pub message: String,
}

impl AnswerText for DoneAnswer {
    fn text(&self, _: Layout) -> String {
        self.message.clone()
    }
}

/// The answer of a command that failed: `{"error": "..."}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorAnswer {
    /// What is wrong and how to mend it.
    pub error: String,
}

impl AnswerText for ErrorAnswer {
    fn text(&self, _: Layout) -> String {
        self.error.clone()
    }
}

impl From<&ConsoleError> for ErrorAnswer {
    fn from(error: &ConsoleError) -> Self {
        Self {
            error: error.to_string(),
        }
    }
}

/// The answer of `password`: whether one is set, and nothing else about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PasswordAnswer {
    /// Whether a password is set.
    pub set: bool,
}

impl AnswerText for PasswordAnswer {
    fn text(&self, _: Layout) -> String {
        if self.set {
            "a password is set"
        } else {
            "no password is set"
        }
        .to_owned()
    }
}

/// The answer of `help`: every command, or the one that was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct HelpAnswer {
    /// The commands.
    pub commands: Vec<&'static CommandInfo>,
}

impl HelpAnswer {
    /// About one command, or all of them.
    #[must_use]
    pub fn new(command: Option<&'static CommandInfo>) -> Self {
        Self {
            commands: command.map_or_else(|| COMMANDS.to_vec(), |info| vec![info]),
        }
    }
}

impl AnswerText for HelpAnswer {
    fn text(&self, layout: Layout) -> String {
        match self.commands.as_slice() {
            [info] => help_for(info),
            _ => help_overview(layout),
        }
    }
}

/// The answer of `identity`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IdentityAnswer {
    /// The server's public key, 64 lower-case hexadecimal digits.
    pub public_key: String,
}

impl IdentityAnswer {
    /// Of this public key.
    #[must_use]
    pub fn new(public_key: &[u8; 32]) -> Self {
        Self {
            public_key: public_key.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }
}

impl AnswerText for IdentityAnswer {
    fn text(&self, _: Layout) -> String {
        self.public_key.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::parse, *};

    fn json(value: &impl Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[test]
    fn small_answers_say_the_same_in_text_and_json() {
        let identity = IdentityAnswer::new(&[0xAB; 32]);
        assert_eq!(identity.text(Layout::WIDE), "ab".repeat(32));
        assert_eq!(
            json(&identity),
            format!("{{\"public_key\":\"{}\"}}", "ab".repeat(32))
        );
        assert_eq!(json(&PasswordAnswer { set: true }), "{\"set\":true}");
        let done = DoneAnswer {
            message: "player 5 was kicked".to_owned(),
        };
        assert_eq!(json(&done), "{\"message\":\"player 5 was kicked\"}");
        let error = ErrorAnswer::from(&parse("kick 1000").unwrap_err());
        assert!(
            error.text(Layout::WIDE).contains("usage: kick ID [REASON]")
                && json(&error).starts_with("{\"error\":")
        );
    }

    #[test]
    fn help_lists_every_command_or_describes_one() {
        assert_eq!(HelpAnswer::new(None).commands.len(), COMMANDS.len());
        let kick = HelpAnswer::new(COMMANDS.iter().copied().find(|info| info.name == "kick"));
        assert!(kick.text(Layout::WIDE).contains("example: kick 5"));
        let keys: serde_json::Value = serde_json::from_str(&json(&kick)).unwrap();
        assert_eq!(keys["commands"][0]["usage"], "kick ID [REASON]");
        assert_eq!(keys["commands"][0].as_object().unwrap().len(), 4);
    }
}
