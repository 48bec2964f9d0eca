//! The names players may bear (docs/protocol.md 1.4), and when two of them are the same.

use std::fmt;

use crate::constants::NAME_LEN;
use crate::error::DecodeError;
use crate::reader::Reader;
use crate::text::{Text, is_control_or_format};

/// Fewest Unicode scalar values of a name.
pub const NAME_MIN_CHARS: usize = 3;
/// Most Unicode scalar values of a name.
pub const NAME_MAX_CHARS: usize = 32;

/// A player's name as a packet carries it: 1 to 64 bytes of UTF-8.
pub type NameText = Text<1, NAME_LEN>;

/// A name that keeps the rules of docs/protocol.md 1.4: 3 to 32 scalar values and at most 64 bytes, words separated
/// by single spaces, no other white space, no control and no format characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlayerName(String);

impl PlayerName {
    /// Takes a name that keeps the rules.
    ///
    /// # Errors
    /// [`NameFault`] says which rule it breaks.
    pub fn parse(text: &str) -> Result<Self, NameFault> {
        let chars = text.chars().count();
        if chars < NAME_MIN_CHARS {
            return Err(NameFault::TooFewCharacters { count: chars });
        }
        if chars > NAME_MAX_CHARS {
            return Err(NameFault::TooManyCharacters { count: chars });
        }
        if text.len() > NAME_LEN {
            return Err(NameFault::TooManyBytes { length: text.len() });
        }
        if let Some(character) = text.chars().find(|&character| is_control_or_format(character)) {
            return Err(NameFault::ControlOrFormat { character });
        }
        if let Some(character) = text
            .chars()
            .find(|&character| character.is_whitespace() && character != ' ')
        {
            return Err(NameFault::WhiteSpace { character });
        }
        if text.starts_with(' ') || text.ends_with(' ') || text.contains("  ") {
            return Err(NameFault::Spacing);
        }
        Ok(Self(text.to_owned()))
    }

    /// Takes the name field of a ClientHello.
    ///
    /// # Errors
    /// [`NameFault`]; each is answered with `invalid_name`.
    pub fn from_field(field: &[u8; NAME_LEN]) -> Result<Self, NameFault> {
        match Reader::new(field).padded_text("name", NAME_LEN) {
            Ok(text) => Self::parse(text),
            Err(DecodeError::NotUtf8 { .. }) => Err(NameFault::NotUtf8),
            Err(_) => Err(NameFault::NonzeroPadding),
        }
    }

    /// The name as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What two names are compared by: full Unicode case folding without normalisation, `_` equal to a space.
    #[must_use]
    pub fn fold_key(&self) -> String {
        caseless::default_case_fold_str(&self.0.replace('_', " "))
    }

    /// The name in the field of a ClientHello.
    #[must_use]
    pub fn to_field(&self) -> [u8; NAME_LEN] {
        crate::text::name_field(&self.0).unwrap_or([0; NAME_LEN])
    }

    /// The name as a packet about the player carries it.
    #[must_use]
    pub fn to_text(&self) -> NameText {
        NameText::from(self)
    }
}

impl fmt::Display for PlayerName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Why a name is refused with `invalid_name` (docs/protocol.md 1.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameFault {
    /// Fewer than three scalar values.
    TooFewCharacters {
        /// How many.
        count: usize,
    },
    /// More than 32 scalar values.
    TooManyCharacters {
        /// How many.
        count: usize,
    },
    /// More than 64 bytes.
    TooManyBytes {
        /// How many.
        length: usize,
    },
    /// Not UTF-8.
    NotUtf8,
    /// Something other than zeros follows the first zero of the field.
    NonzeroPadding,
    /// A control or format character.
    ControlOrFormat {
        /// The first one.
        character: char,
    },
    /// White space other than U+0020.
    WhiteSpace {
        /// The first one.
        character: char,
    },
    /// A space at either end, or two in a row.
    Spacing,
}

impl fmt::Display for NameFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooFewCharacters { count } => {
                write!(
                    out,
                    "the name has {count} characters: at least {NAME_MIN_CHARS} are needed"
                )
            }
            Self::TooManyCharacters { count } => {
                write!(
                    out,
                    "the name has {count} characters: at most {NAME_MAX_CHARS} are allowed"
                )
            }
            Self::TooManyBytes { length } => {
                write!(
                    out,
                    "the name has {length} bytes of UTF-8: at most {NAME_LEN} are allowed"
                )
            }
            Self::NotUtf8 => out.write_str("the name is not UTF-8"),
            Self::NonzeroPadding => out.write_str("bytes follow the zero that ends the name"),
            Self::ControlOrFormat { character } => {
                write!(
                    out,
                    "the name holds the control or format character U+{:04X}: remove it",
                    u32::from(character)
                )
            }
            Self::WhiteSpace { character } => {
                write!(
                    out,
                    "the name holds the white space U+{:04X}: only U+0020 is allowed",
                    u32::from(character)
                )
            }
            Self::Spacing => {
                out.write_str("the words of a name are separated by single spaces, with none at its ends")
            }
        }
    }
}

impl std::error::Error for NameFault {}
