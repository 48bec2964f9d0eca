//! What can be wrong with a datagram, as a value: which field, and what would have been right.

use std::fmt;

/// Why a datagram is not the packet it claims to be (docs/protocol.md 0, strict decoding).
///
/// The whole packet is dropped on any of these; none of them leaves half a packet behind. `field` is the name of the
/// field in docs/protocol.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeError {
    /// The datagram holds no byte.
    Empty,
    /// The datagram is longer than [`MAX_PACKET`](crate::MAX_PACKET), or a query answer longer than its own bound.
    TooLong {
        /// Bytes of the datagram.
        length: usize,
        /// The most there may be.
        maximum: usize,
    },
    /// No packet of this direction has this id.
    UnknownId {
        /// First byte of the datagram.
        id: u8,
    },
    /// The datagram ends inside a field.
    TooShort {
        /// The field that is cut.
        field: &'static str,
    },
    /// Bytes follow the last field.
    Trailing {
        /// How many.
        bytes: usize,
    },
    /// A number, a bool, an enumeration or a float is outside its range.
    OutOfRange {
        /// The field.
        field: &'static str,
    },
    /// A float is NaN or infinite.
    NotFinite {
        /// The field.
        field: &'static str,
    },
    /// A length or a count is outside its bounds.
    BadLength {
        /// The field.
        field: &'static str,
        /// What the datagram says.
        length: usize,
        /// The least there may be.
        minimum: usize,
        /// The most there may be.
        maximum: usize,
    },
    /// A text is not UTF-8.
    NotUtf8 {
        /// The field.
        field: &'static str,
    },
    /// A text holds a character its field does not allow.
    ForbiddenCharacter {
        /// The field.
        field: &'static str,
    },
    /// A byte of padding is not zero.
    NonzeroPadding {
        /// The field.
        field: &'static str,
    },
    /// A query does not start with its magic word.
    BadMagic,
    /// Bytes are not exactly one MessagePack value of the allowed kinds.
    MessagePack {
        /// What is wrong with them.
        fault: MessagePackFault,
    },
    /// A field stands in a packet whose other fields exclude it.
    Misplaced {
        /// The field.
        field: &'static str,
    },
}

/// What is wrong with a MessagePack value (docs/protocol.md 0).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessagePackFault {
    /// The value ends early.
    CutShort,
    /// Bytes follow the value.
    SecondValue,
    /// Arrays and maps nest deeper than [`MAX_NESTING`](crate::MAX_NESTING).
    TooDeep,
    /// A string is not UTF-8.
    NotUtf8,
    /// A map has a key that is not a string.
    KeyNotString,
    /// An extension type, or the marker 0xC1 that no value has.
    ForbiddenType,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty => write!(out, "the datagram is empty: a packet starts with its id"),
            Self::TooLong { length, maximum } => {
                write!(
                    out,
                    "the datagram has {length} bytes: at most {maximum} are allowed"
                )
            }
            Self::UnknownId { id } => write!(out, "no packet of this direction has the id 0x{id:02X}"),
            Self::TooShort { field } => {
                write!(out, "the packet ends inside `{field}`: send the whole layout")
            }
            Self::Trailing { bytes } => {
                write!(
                    out,
                    "{bytes} bytes follow the last field: send exactly the layout"
                )
            }
            Self::OutOfRange { field } => write!(out, "`{field}` is out of range"),
            Self::NotFinite { field } => write!(out, "`{field}` is not finite: send a finite number"),
            Self::BadLength {
                field,
                length,
                minimum,
                maximum,
            } => {
                write!(
                    out,
                    "`{field}` has the length {length}: {minimum} to {maximum} are allowed"
                )
            }
            Self::NotUtf8 { field } => write!(out, "`{field}` is not UTF-8"),
            Self::ForbiddenCharacter { field } => {
                write!(out, "`{field}` holds a character that is not allowed there")
            }
            Self::NonzeroPadding { field } => {
                write!(out, "`{field}` has nonzero padding: fill up with zero bytes")
            }
            Self::BadMagic => write!(out, "a query starts with 0xFF and \"DQRY\""),
            Self::MessagePack { fault } => write!(out, "`data` is not one MessagePack value: {fault}"),
            Self::Misplaced { field } => write!(out, "`{field}` must be empty in a packet of this kind"),
        }
    }
}

impl std::error::Error for DecodeError {}

impl fmt::Display for MessagePackFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::CutShort => "it ends early",
            Self::SecondValue => "bytes follow it",
            Self::TooDeep => "it nests deeper than 64",
            Self::NotUtf8 => "a string is not UTF-8",
            Self::KeyNotString => "a map key is not a string",
            Self::ForbiddenType => "it holds an extension type or the unused marker 0xC1",
        })
    }
}

impl From<MessagePackFault> for DecodeError {
    fn from(fault: MessagePackFault) -> Self {
        Self::MessagePack { fault }
    }
}
