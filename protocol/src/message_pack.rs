//! One MessagePack value as opaque bytes: validated here, built and read elsewhere.
//!
//! The codec only guarantees what docs/protocol.md 0 says: exactly one value, nesting at most 64, strings in UTF-8, map
//! keys that are strings, no extension types. The check walks the bytes once, with a stack of fixed size and without
//! allocating, whatever lengths the bytes claim.

use crate::constants::{MAX_ENTITY_DATA, MAX_EVENT_DATA, MAX_NESTING};
use crate::error::{DecodeError, MessagePackFault};
use crate::reader::Reader;
use crate::writer::Writer;

/// Bytes that hold exactly one MessagePack value, at most `MAX` of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessagePack<const MAX: usize>(Vec<u8>);

/// The value of an event of a script or a view: at most 1,024 bytes.
pub type EventData = MessagePack<MAX_EVENT_DATA>;
/// The value that comes with a scripted entity: at most 512 bytes.
pub type EntityPayload = MessagePack<MAX_ENTITY_DATA>;

impl<const MAX: usize> MessagePack<MAX> {
    /// Takes bytes that hold exactly one value.
    ///
    /// # Errors
    /// [`DecodeError::BadLength`] for no byte or more than `MAX`, [`DecodeError::MessagePack`] for anything but one
    /// value.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        check::<MAX>(&bytes)?;
        Ok(Self(bytes))
    }

    /// The value `nil`.
    #[must_use]
    pub fn nil() -> Self {
        Self(vec![0xC0])
    }

    /// The bytes of the value.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes of the value, without a copy.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let bytes = reader.bytes16("data", 1, MAX)?;
        check::<MAX>(bytes)?;
        Ok(Self(bytes.to_vec()))
    }

    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.bytes16(&self.0);
    }
}

fn check<const MAX: usize>(bytes: &[u8]) -> Result<(), DecodeError> {
    if bytes.is_empty() || bytes.len() > MAX {
        let length = bytes.len();
        return Err(DecodeError::BadLength {
            field: "data",
            length,
            minimum: 1,
            maximum: MAX,
        });
    }
    validate_one(bytes)
}

/// Whether `bytes` are exactly one MessagePack value that may stand in a packet (docs/protocol.md 0).
///
/// Time is linear in the bytes, memory is constant.
///
/// # Errors
/// [`DecodeError::MessagePack`] with the fault.
pub fn validate_one(bytes: &[u8]) -> Result<(), DecodeError> {
    let mut cursor = Cursor { rest: bytes };
    let mut open = OpenContainers::new();
    loop {
        let marker = cursor.byte()?;
        if open.expects_key() && !is_string(marker) {
            return Err(MessagePackFault::KeyNotString.into());
        }
        match kind(marker) {
            Kind::Fixed(length) => cursor.skip(length)?,
            Kind::Text(length) => cursor.text(length)?,
            Kind::LongText(width) => {
                let length = cursor.length(width)?;
                cursor.text(length)?;
            }
            Kind::Binary(width) => {
                let length = cursor.length(width)?;
                cursor.skip(length)?;
            }
            Kind::Array(length) => open.push(length, false)?,
            Kind::LongArray(width) => open.push(cursor.length(width)?, false)?,
            Kind::Map(length) => open.push(length, true)?,
            Kind::LongMap(width) => open.push(cursor.length(width)?, true)?,
            Kind::Forbidden => return Err(MessagePackFault::ForbiddenType.into()),
        }
        if open.close_value() {
            break;
        }
    }
    if cursor.rest.is_empty() {
        Ok(())
    } else {
        Err(MessagePackFault::SecondValue.into())
    }
}

/// What follows a marker byte.
enum Kind {
    Fixed(usize),
    Text(usize),
    LongText(usize),
    Binary(usize),
    Array(usize),
    LongArray(usize),
    Map(usize),
    LongMap(usize),
    Forbidden,
}

fn kind(marker: u8) -> Kind {
    match marker {
        0x00..=0x7F | 0xC0 | 0xC2 | 0xC3 | 0xE0..=0xFF => Kind::Fixed(0),
        0x80..=0x8F => Kind::Map(usize::from(marker & 0x0F)),
        0x90..=0x9F => Kind::Array(usize::from(marker & 0x0F)),
        0xA0..=0xBF => Kind::Text(usize::from(marker & 0x1F)),
        0xC4 => Kind::Binary(1),
        0xC5 => Kind::Binary(2),
        0xC6 => Kind::Binary(4),
        0xCC | 0xD0 => Kind::Fixed(1),
        0xCD | 0xD1 => Kind::Fixed(2),
        0xCA | 0xCE | 0xD2 => Kind::Fixed(4),
        0xCB | 0xCF | 0xD3 => Kind::Fixed(8),
        0xD9 => Kind::LongText(1),
        0xDA => Kind::LongText(2),
        0xDB => Kind::LongText(4),
        0xDC => Kind::LongArray(2),
        0xDD => Kind::LongArray(4),
        0xDE => Kind::LongMap(2),
        0xDF => Kind::LongMap(4),
        0xC1 | 0xC7..=0xC9 | 0xD4..=0xD8 => Kind::Forbidden,
    }
}

const fn is_string(marker: u8) -> bool {
    matches!(marker, 0xA0..=0xBF | 0xD9..=0xDB)
}

struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let (head, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(MessagePackFault::CutShort)?;
        self.rest = rest;
        Ok(head)
    }

    fn byte(&mut self) -> Result<u8, DecodeError> {
        let (&byte, rest) = self.rest.split_first().ok_or(MessagePackFault::CutShort)?;
        self.rest = rest;
        Ok(byte)
    }

    fn skip(&mut self, length: usize) -> Result<(), DecodeError> {
        self.take(length).map(|_| ())
    }

    fn text(&mut self, length: usize) -> Result<(), DecodeError> {
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes)
            .map(|_| ())
            .map_err(|_| MessagePackFault::NotUtf8.into())
    }

    /// A big-endian length of `width` (1, 2 or 4) bytes.
    fn length(&mut self, width: usize) -> Result<usize, DecodeError> {
        Ok(self
            .take(width)?
            .iter()
            .fold(0, |length, &byte| (length << 8) | usize::from(byte)))
    }
}

/// The arrays and maps that are not full yet.
struct OpenContainers {
    /// Values that are still to come in each; a map counts its keys as well, so a key is due when the number is even.
    remaining: [(u64, bool); MAX_NESTING],
    depth: usize,
}

impl OpenContainers {
    const fn new() -> Self {
        Self {
            remaining: [(0, false); MAX_NESTING],
            depth: 0,
        }
    }

    fn innermost(&mut self) -> Option<&mut (u64, bool)> {
        let index = self.depth.checked_sub(1)?;
        self.remaining.get_mut(index)
    }

    fn expects_key(&mut self) -> bool {
        matches!(self.innermost(), Some((remaining, true)) if *remaining % 2 == 0)
    }

    fn push(&mut self, length: usize, map: bool) -> Result<(), DecodeError> {
        let slot = self
            .remaining
            .get_mut(self.depth)
            .ok_or(MessagePackFault::TooDeep)?;
        let length = length as u64;
        // One more than its content: `close_value` counts the opening itself.
        *slot = if map {
            (2 * length + 1, true)
        } else {
            (length + 1, false)
        };
        self.depth += 1;
        Ok(())
    }

    /// Counts one finished value and closes every container that it fills. True when the outermost value is complete.
    fn close_value(&mut self) -> bool {
        while let Some((remaining, _)) = self.innermost() {
            *remaining = remaining.saturating_sub(1);
            if *remaining > 0 {
                return false;
            }
            self.depth -= 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(bytes: &[u8]) -> Option<MessagePackFault> {
        match validate_one(bytes) {
            Ok(()) => None,
            Err(DecodeError::MessagePack { fault }) => Some(fault),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn every_allowed_kind_is_taken() {
        for bytes in [
            b"\x00".as_slice(),
            b"\x7f",
            b"\xe0",
            b"\xff",
            b"\xc0",
            b"\xc2",
            b"\xc3",
            b"\xcc\xff",
            b"\xcd\0\0",
            b"\xce\0\0\0\0",
            b"\xcf\0\0\0\0\0\0\0\0",
            b"\xd0\0",
            b"\xd1\0\0",
            b"\xd2\0\0\0\0",
            b"\xd3\0\0\0\0\0\0\0\0",
            b"\xca\x7f\xc0\0\0",
            b"\xcb\0\0\0\0\0\0\0\0",
            b"\xa0",
            b"\xa2\xd1\x89",
            b"\xd9\x01a",
            b"\xda\0\x01a",
            b"\xdb\0\0\0\x01a",
            b"\xc4\x01\xff",
            b"\xc5\0\x01\xff",
            b"\xc6\0\0\0\x01\xff",
            b"\x90",
            b"\x93\x01\x02\x03",
            b"\xdc\0\x01\xc0",
            b"\xdd\0\0\0\x01\xc0",
            b"\x80",
            b"\x82\xa1a\x01\xa1a\x02",
            b"\xde\0\x01\xa1a\xc0",
            b"\xdf\0\0\0\x01\xd9\x01a\x90",
            b"\x92\x81\xa1k\x92\x01\x80\xc0",
        ] {
            assert_eq!(fault(bytes), None, "{bytes:02x?}");
        }
    }

    #[test]
    fn every_fault_is_named() {
        use MessagePackFault::*;
        for (bytes, expected) in [
            (b"".as_slice(), CutShort),
            (b"\xcd\0", CutShort),
            (b"\xa2a", CutShort),
            (b"\x91", CutShort),
            (b"\x81\xa1a", CutShort),
            (b"\xdb\xff\xff\xff\xff", CutShort),
            (b"\xdd\xff\xff\xff\xff", CutShort),
            (b"\xdf\xff\xff\xff\xff", CutShort),
            (b"\xc6\xff\xff\xff\xff", CutShort),
            (b"\x01\x02", SecondValue),
            (b"\x90\x90", SecondValue),
            (b"\xa1\xff", NotUtf8),
            (b"\xd9\x03\xed\xa0\x80", NotUtf8),
            (b"\x81\xa1\xff\x01", NotUtf8),
            (b"\x81\x01\x02", KeyNotString),
            (b"\x81\xc4\x01a\x02", KeyNotString),
            (b"\x81\xc0\x02", KeyNotString),
            (b"\x82\xa1a\x01\x90\x02", KeyNotString),
            (b"\xc1", ForbiddenType),
            (b"\xd4\0\0", ForbiddenType),
            (b"\xc7\x01\0\0", ForbiddenType),
            (b"\x91\xd6\xff\0\0\0\0", ForbiddenType),
        ] {
            assert_eq!(fault(bytes), Some(expected), "{bytes:02x?}");
        }
    }

    #[test]
    fn containers_nest_64_deep_and_no_deeper() {
        let arrays = |depth: usize| [vec![0x91; depth], vec![0xC0]].concat();
        assert_eq!(fault(&arrays(64)), None);
        assert_eq!(fault(&arrays(65)), Some(MessagePackFault::TooDeep));
        assert_eq!(fault(&arrays(100_000)), Some(MessagePackFault::TooDeep));
        let maps = |depth: usize| [b"\x81\xa1k".repeat(depth), vec![0xC0]].concat();
        assert_eq!(fault(&maps(64)), None);
        assert_eq!(fault(&maps(65)), Some(MessagePackFault::TooDeep));
        let side_by_side = [vec![0xDC, 0x03, 0xE8], b"\x91\x90".repeat(1000)].concat();
        assert_eq!(fault(&side_by_side), None, "depth counts, not number");
    }

    #[test]
    fn a_value_keeps_its_bound() {
        let binary =
            |length: u16| [&[0xC5], length.to_be_bytes().as_slice(), &vec![0; length.into()]].concat();
        assert!(EventData::parse(binary(1021)).is_ok());
        let error = EventData::parse(binary(1022)).expect_err("1,025 bytes");
        assert_eq!(
            error,
            DecodeError::BadLength {
                field: "data",
                length: 1025,
                minimum: 1,
                maximum: 1024
            }
        );
        assert!(EntityPayload::parse(binary(510)).is_err());
        assert!(EventData::parse(Vec::new()).is_err());
        assert_eq!(EventData::nil().as_bytes(), [0xC0]);
    }
}
