//! What the commands that look into the world name: an entity, components, conditions. Words only: whether there is
//! such an entity or component is for the world to say.

use std::fmt;

use super::error::ArgumentFault;

/// Bytes of the longest name of a component or resource that is looked for.
pub const MAX_TYPE_NAME: usize = 200;
/// Components and conditions that one question may name.
pub const MAX_SELECTED: usize = 16;
/// Entities that an answer shows unless `limit` says otherwise.
pub const DEFAULT_ENTITIES: usize = 50;
/// Entities that an answer shows at most.
pub const MAX_ENTITIES: usize = 1_000;

/// How a person names an entity: `12v3`, `5` or `player:5`, `thing:7`, `zone:3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityWord {
    /// By its index and generation, as every answer writes it.
    Entity {
        /// Index.
        index: u32,
        /// Generation.
        generation: u32,
    },
    /// The connection that holds this player id.
    Player(u16),
    /// The thing of this number.
    Thing(u32),
    /// The zone of this number.
    Zone(u32),
}

impl EntityWord {
    /// Reads a word.
    ///
    /// # Errors
    /// [`ArgumentFault::Entity`] for anything that is written otherwise.
    pub fn parse(word: &str) -> Result<Self, ArgumentFault> {
        let number = |digits: &str| -> Option<u32> {
            (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
                .then(|| digits.parse().ok())
                .flatten()
        };
        let player = |digits: &str| {
            let id = u16::try_from(number(digits)?).ok()?;
            (id < decitick_protocol::MAX_PLAYERS).then_some(Self::Player(id))
        };
        let read = || -> Option<Self> {
            if let Some((kind, digits)) = word.split_once(':') {
                return match kind {
                    "player" => player(digits),
                    "thing" => number(digits).map(Self::Thing),
                    "zone" => number(digits).map(Self::Zone),
                    _ => None,
                };
            }
            match word.split_once('v') {
                Some((index, generation)) => Some(Self::Entity {
                    index: number(index)?,
                    generation: number(generation)?,
                }),
                None => player(word),
            }
        };
        read().ok_or_else(|| ArgumentFault::Entity {
            word: super::commands::shown(word),
        })
    }
}

impl fmt::Display for EntityWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entity { index, generation } => write!(f, "{index}v{generation}"),
            Self::Player(id) => write!(f, "player:{id}"),
            Self::Thing(number) => write!(f, "thing:{number}"),
            Self::Zone(number) => write!(f, "zone:{number}"),
        }
    }
}

/// A component, or a field inside it: `Vitals.health`, `Motion.position.x`. The path may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldWord {
    /// The component: its short name, or its whole type path.
    pub component: String,
    /// What follows the first dot after the name, without it.
    pub path: String,
}

/// How `where` compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=` or `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
}

impl Comparison {
    /// Every sign.
    pub const SIGNS: &'static [&'static str] = &["=", "!=", "<", "<=", ">", ">="];

    /// Reads a sign.
    #[must_use]
    pub fn parse(sign: &str) -> Option<Self> {
        Some(match sign {
            "=" | "==" => Self::Equal,
            "!=" => Self::NotEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            _ => return None,
        })
    }
}

/// A condition of `where`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldCondition {
    /// What is compared; its path is not empty.
    pub field: FieldWord,
    /// How.
    pub comparison: Comparison,
    /// With what, as it was written: a number, `true`, `false`, or a text with or without quotes.
    pub value: String,
}

/// Which entities `entities` shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntitiesQuery {
    /// Components that they have. None: any entity that is no resource and no observer.
    pub with: Vec<String>,
    /// Components that they lack.
    pub without: Vec<String>,
    /// Conditions that all hold.
    pub conditions: Vec<FieldCondition>,
    /// How many are shown, 1 to [`MAX_ENTITIES`]; none: [`DEFAULT_ENTITIES`].
    pub limit: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entity_is_named_by_its_id_or_by_what_people_call_it() {
        let named = [
            (
                "12v3",
                EntityWord::Entity {
                    index: 12,
                    generation: 3,
                },
            ),
            ("5", EntityWord::Player(5)),
            ("player:999", EntityWord::Player(999)),
            ("thing:70000", EntityWord::Thing(70_000)),
            ("zone:1", EntityWord::Zone(1)),
        ];
        for (word, entity) in named {
            assert_eq!(EntityWord::parse(word), Ok(entity), "{word}");
        }
        for word in [
            "",
            "v",
            "1v",
            "v1",
            "1v-2",
            "+1v2",
            "1000",
            "player:1000",
            "thing:",
            "thing:99999999999",
            "Bob",
            "12v3v4",
            "cat:1",
        ] {
            assert!(EntityWord::parse(word).is_err(), "{word}");
        }
    }
}
