//! Texts with bounds: parsed once, then known to be good.
//!
//! A name, a reason or a chat line that exists as one of these types fits its field and holds no character its field
//! forbids. What a text means, and who may use it, is not known here.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::constants::{KICK_REASON_LEN, NAME_LEN};
use crate::error::DecodeError;
use crate::player_name::PlayerName;
use crate::reader::{Reader, unpad};
use crate::writer::Writer;

/// Whether `character` is a control (Unicode category Cc) or a format character (Cf, the bidirectional marks among
/// them).
#[must_use]
pub fn is_control_or_format(character: char) -> bool {
    character.is_control()
        || (!character.is_ascii() && character.general_category() == GeneralCategory::Format)
}

/// `text` fit for one line of a log or a terminal: control, format, line and paragraph separator characters are shown
/// as `\u{..}`, and the whole has at most `max_chars` characters, the last of them `…` when something was cut.
#[must_use]
pub fn escape_for_display(text: &str, max_chars: usize) -> String {
    let mut shown = String::new();
    let mut count = 0;
    // Where to cut when the text turns out too long: the last end of a whole character that leaves room for the mark.
    let mut cut = 0;
    for character in text.chars() {
        let before = shown.len();
        if is_control_or_format(character) || matches!(character, '\u{2028}' | '\u{2029}') {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
        count += shown.get(before..).map_or(0, |added| added.chars().count());
        if count > max_chars {
            shown.truncate(cut);
            if max_chars > 0 {
                shown.push('…');
            }
            return shown;
        }
        if count < max_chars {
            cut = shown.len();
        }
    }
    shown
}

/// What characters a bounded text may hold.
pub trait TextRule {
    /// Whether a text with this character is refused.
    fn forbids(character: char) -> bool;
}

/// Any character of Unicode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AnyCharacter;
/// No control characters (Cc).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NoControls;
/// No control (Cc) and no format (Cf) characters: fit to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NoControlsOrFormats;

impl TextRule for AnyCharacter {
    fn forbids(_character: char) -> bool {
        false
    }
}

impl TextRule for NoControls {
    fn forbids(character: char) -> bool {
        character.is_control()
    }
}

impl TextRule for NoControlsOrFormats {
    fn forbids(character: char) -> bool {
        is_control_or_format(character)
    }
}

/// UTF-8 of `MIN..=MAX` bytes under a rule about its characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BoundedText<const MIN: usize, const MAX: usize, R> {
    text: String,
    rule: PhantomData<R>,
}

/// Bounded text with any characters.
pub type Text<const MIN: usize, const MAX: usize> = BoundedText<MIN, MAX, AnyCharacter>;
/// Bounded text without control characters.
pub type PlainText<const MIN: usize, const MAX: usize> = BoundedText<MIN, MAX, NoControls>;
/// Bounded text without control and format characters.
pub type ShownText<const MIN: usize, const MAX: usize> = BoundedText<MIN, MAX, NoControlsOrFormats>;

impl<const MIN: usize, const MAX: usize, R: TextRule> BoundedText<MIN, MAX, R> {
    /// Takes a text that keeps the bounds and the rule.
    ///
    /// # Errors
    /// [`TextFault`] says which one it breaks.
    pub fn parse(text: &str) -> Result<Self, TextFault> {
        Self::check(text)?;
        Ok(Self {
            text: text.to_owned(),
            rule: PhantomData,
        })
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text, without a copy.
    #[must_use]
    pub fn into_string(self) -> String {
        self.text
    }

    fn check(text: &str) -> Result<(), TextFault> {
        if text.len() < MIN {
            return Err(TextFault::TooShort {
                length: text.len(),
                minimum: MIN,
            });
        }
        if text.len() > MAX {
            return Err(TextFault::TooLong {
                length: text.len(),
                maximum: MAX,
            });
        }
        match text.chars().find(|&character| R::forbids(character)) {
            Some(character) => Err(TextFault::Forbidden { character }),
            None => Ok(()),
        }
    }

    fn decoded(field: &'static str, text: &str) -> Result<Self, DecodeError> {
        Self::parse(text).map_err(|fault| match fault {
            TextFault::Forbidden { .. } => DecodeError::ForbiddenCharacter { field },
            TextFault::TooShort { length, .. } | TextFault::TooLong { length, .. } => {
                DecodeError::BadLength {
                    field,
                    length,
                    minimum: MIN,
                    maximum: MAX,
                }
            }
        })
    }

    pub(crate) fn read_str8(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, DecodeError> {
        Self::decoded(field, reader.str8(field, MIN, MAX)?)
    }

    pub(crate) fn read_bytes16(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, DecodeError> {
        let bytes = reader.bytes16(field, MIN, MAX)?;
        let text = std::str::from_utf8(bytes).map_err(|_| DecodeError::NotUtf8 { field })?;
        Self::decoded(field, text)
    }

    pub(crate) fn read_padded(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, DecodeError> {
        Self::decoded(field, reader.padded_text(field, MAX)?)
    }

    pub(crate) fn write_str8(&self, writer: &mut Writer<'_>) {
        writer.str8(&self.text);
    }
}

impl<const MIN: usize, const MAX: usize, R: TextRule> TryFrom<&str> for BoundedText<MIN, MAX, R> {
    type Error = TextFault;

    fn try_from(text: &str) -> Result<Self, TextFault> {
        Self::parse(text)
    }
}

impl<const MIN: usize, const MAX: usize, R: TextRule> TryFrom<String> for BoundedText<MIN, MAX, R> {
    type Error = TextFault;

    fn try_from(text: String) -> Result<Self, TextFault> {
        Self::check(&text)?;
        Ok(Self {
            text,
            rule: PhantomData,
        })
    }
}

/// A name keeps stricter bounds than the field it stands in.
impl From<&PlayerName> for Text<1, NAME_LEN> {
    fn from(name: &PlayerName) -> Self {
        Self {
            text: name.as_str().to_owned(),
            rule: PhantomData,
        }
    }
}

/// The empty text, where the bounds allow one.
impl<const MAX: usize, R> Default for BoundedText<0, MAX, R> {
    fn default() -> Self {
        Self {
            text: String::new(),
            rule: PhantomData,
        }
    }
}

impl<const MIN: usize, const MAX: usize, R> AsRef<str> for BoundedText<MIN, MAX, R> {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl<const MIN: usize, const MAX: usize, R> fmt::Display for BoundedText<MIN, MAX, R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl<const MIN: usize, const MAX: usize, R> fmt::Debug for BoundedText<MIN, MAX, R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, out)
    }
}

/// Why a text does not fit its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFault {
    /// Fewer bytes than the field asks for.
    TooShort {
        /// Bytes of the text.
        length: usize,
        /// The least there may be.
        minimum: usize,
    },
    /// More bytes than the field holds.
    TooLong {
        /// Bytes of the text.
        length: usize,
        /// The most there may be.
        maximum: usize,
    },
    /// A character the field does not allow.
    Forbidden {
        /// The first one.
        character: char,
    },
}

impl fmt::Display for TextFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooShort { length, minimum } => {
                write!(
                    out,
                    "the text has {length} bytes of UTF-8: at least {minimum} are needed"
                )
            }
            Self::TooLong { length, maximum } => {
                write!(
                    out,
                    "the text has {length} bytes of UTF-8: at most {maximum} are allowed, shorten it"
                )
            }
            Self::Forbidden { character } => {
                write!(out, "the text holds U+{:04X}: remove it", u32::from(character))
            }
        }
    }
}

impl std::error::Error for TextFault {}

/// The reason of a KickNotify, in its field of 64 bytes.
///
/// One that is sent is valid and fit to be shown. One that came in may hold anything before its padding; it is shown
/// with replacement characters (docs/protocol.md 0), because a kick must be heard however its text is broken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KickReason([u8; KICK_REASON_LEN]);

impl KickReason {
    /// Takes a text of at most 64 bytes without control and format characters. It is never cut.
    ///
    /// # Errors
    /// [`TextFault`].
    pub fn parse(text: &str) -> Result<Self, TextFault> {
        let text = ShownText::<0, KICK_REASON_LEN>::parse(text)?;
        let mut field = [0; KICK_REASON_LEN];
        for (to, from) in field.iter_mut().zip(text.as_str().bytes()) {
            *to = from;
        }
        Ok(Self(field))
    }

    /// Takes the field of a packet.
    ///
    /// # Errors
    /// [`DecodeError::NonzeroPadding`].
    pub fn from_field(field: [u8; KICK_REASON_LEN]) -> Result<Self, DecodeError> {
        unpad("reason", &field)?;
        Ok(Self(field))
    }

    /// The text, with U+FFFD for what is not UTF-8 and for control and format characters.
    #[must_use]
    pub fn to_text(&self) -> Cow<'_, str> {
        let bytes = unpad("reason", &self.0).unwrap_or(&self.0);
        let text = String::from_utf8_lossy(bytes);
        if text.chars().any(is_control_or_format) {
            Cow::Owned(text.replace(is_control_or_format, "\u{FFFD}"))
        } else {
            text
        }
    }

    /// The 64 bytes of the field.
    #[must_use]
    pub const fn as_field(&self) -> &[u8; KICK_REASON_LEN] {
        &self.0
    }
}

impl fmt::Debug for KickReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_text(), out)
    }
}

/// `text` in a zero-padded field of a ClientHello's name, or none when it is longer than 64 bytes.
#[must_use]
pub fn name_field(text: &str) -> Option<[u8; NAME_LEN]> {
    let mut field = [0; NAME_LEN];
    field.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
    Some(field)
}
