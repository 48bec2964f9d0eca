//! The strict cursor over a datagram that came in. It knows field types and bounds, and no packet.
//!
//! Each method takes the field's name, which ends up in the error. [`Reader::finish`] must be reached: bytes that
//! nobody read are an error, and so is a byte that is missing. Texts and bytes are borrowed; only `records`
//! allocates, and never more than 255 of them.

use crate::error::DecodeError;
use crate::vector::Vec3;

/// A cursor over the bytes of one datagram.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A cursor at the first byte of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// How many bytes are left.
    #[must_use]
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// [`DecodeError::Trailing`] when bytes are left.
    pub const fn finish(self) -> Result<(), DecodeError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(DecodeError::Trailing {
                bytes: self.rest.len(),
            })
        }
    }

    /// The next `N` bytes as they are.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`].
    pub fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], DecodeError> {
        let (head, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(DecodeError::TooShort { field })?;
        self.rest = rest;
        Ok(*head)
    }

    /// The next `length` bytes, borrowed.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`].
    pub fn bytes(&mut self, field: &'static str, length: usize) -> Result<&'a [u8], DecodeError> {
        let (head, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(DecodeError::TooShort { field })?;
        self.rest = rest;
        Ok(head)
    }

    /// A `u8` of any value.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`].
    pub fn u8(&mut self, field: &'static str) -> Result<u8, DecodeError> {
        Ok(u8::from_le_bytes(self.array(field)?))
    }

    /// A `u16` of any value.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`].
    pub fn u16(&mut self, field: &'static str) -> Result<u16, DecodeError> {
        Ok(u16::from_le_bytes(self.array(field)?))
    }

    /// A `u32` of any value.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`].
    pub fn u32(&mut self, field: &'static str) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.array(field)?))
    }

    /// A `u64` of any value.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`].
    pub fn u64(&mut self, field: &'static str) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.array(field)?))
    }

    /// An `i64` of any value.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`].
    pub fn i64(&mut self, field: &'static str) -> Result<i64, DecodeError> {
        Ok(i64::from_le_bytes(self.array(field)?))
    }

    /// A `u8` between two bounds, both allowed.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], [`DecodeError::OutOfRange`].
    pub fn u8_within(&mut self, field: &'static str, minimum: u8, maximum: u8) -> Result<u8, DecodeError> {
        within(field, self.u8(field)?, minimum, maximum)
    }

    /// A `u16` between two bounds, both allowed.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], [`DecodeError::OutOfRange`].
    pub fn u16_within(
        &mut self,
        field: &'static str,
        minimum: u16,
        maximum: u16,
    ) -> Result<u16, DecodeError> {
        within(field, self.u16(field)?, minimum, maximum)
    }

    /// A `u32` between two bounds, both allowed.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], [`DecodeError::OutOfRange`].
    pub fn u32_within(
        &mut self,
        field: &'static str,
        minimum: u32,
        maximum: u32,
    ) -> Result<u32, DecodeError> {
        within(field, self.u32(field)?, minimum, maximum)
    }

    /// A `u64` between two bounds, both allowed.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], [`DecodeError::OutOfRange`].
    pub fn u64_within(
        &mut self,
        field: &'static str,
        minimum: u64,
        maximum: u64,
    ) -> Result<u64, DecodeError> {
        within(field, self.u64(field)?, minimum, maximum)
    }

    /// A bool: the byte 0 or 1.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], [`DecodeError::OutOfRange`].
    pub fn bool(&mut self, field: &'static str) -> Result<bool, DecodeError> {
        match self.u8(field)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(DecodeError::OutOfRange { field }),
        }
    }

    /// A finite `f32`.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], [`DecodeError::NotFinite`].
    pub fn f32(&mut self, field: &'static str) -> Result<f32, DecodeError> {
        let value = f32::from_le_bytes(self.array(field)?);
        if value.is_finite() {
            Ok(value)
        } else {
            Err(DecodeError::NotFinite { field })
        }
    }

    /// Three finite `f32`.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], [`DecodeError::NotFinite`].
    pub fn vec3(&mut self, field: &'static str) -> Result<Vec3, DecodeError> {
        Ok(Vec3 {
            x: self.f32(field)?,
            y: self.f32(field)?,
            z: self.f32(field)?,
        })
    }

    /// Three finite `f32`, none larger in size than `limit`.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], [`DecodeError::NotFinite`], [`DecodeError::OutOfRange`].
    pub fn vec3_within(&mut self, field: &'static str, limit: f32) -> Result<Vec3, DecodeError> {
        let vector = self.vec3(field)?;
        if vector.is_within(limit) {
            Ok(vector)
        } else {
            Err(DecodeError::OutOfRange { field })
        }
    }

    /// `N` values of `u16`, none above `maximum`.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], [`DecodeError::OutOfRange`].
    pub fn u16_array<const N: usize>(
        &mut self,
        field: &'static str,
        maximum: u16,
    ) -> Result<[u16; N], DecodeError> {
        let mut values = [0; N];
        for value in &mut values {
            *value = self.u16_within(field, 0, maximum)?;
        }
        Ok(values)
    }

    /// A `u8` count of records between two bounds, both allowed.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], [`DecodeError::BadLength`].
    pub fn count(
        &mut self,
        field: &'static str,
        minimum: usize,
        maximum: usize,
    ) -> Result<usize, DecodeError> {
        let length = usize::from(self.u8(field)?);
        bounded(field, length, minimum, maximum)
    }

    /// A `u8` count between two bounds, then as many records, each read by `read`.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], [`DecodeError::BadLength`], and what `read` finds.
    pub fn records<T>(
        &mut self,
        field: &'static str,
        minimum: usize,
        maximum: usize,
        read: impl Fn(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let count = self.count(field, minimum, maximum)?;
        let mut records = Vec::with_capacity(count);
        for _ in 0..count {
            records.push(read(self)?);
        }
        Ok(records)
    }

    /// A `str8`: one byte of length, then UTF-8.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], [`DecodeError::BadLength`], [`DecodeError::NotUtf8`].
    pub fn str8(
        &mut self,
        field: &'static str,
        minimum: usize,
        maximum: usize,
    ) -> Result<&'a str, DecodeError> {
        let length = self.count(field, minimum, maximum)?;
        utf8(field, self.bytes(field, length)?)
    }

    /// A `bytes16`: two bytes of length, then the bytes.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], [`DecodeError::BadLength`].
    pub fn bytes16(
        &mut self,
        field: &'static str,
        minimum: usize,
        maximum: usize,
    ) -> Result<&'a [u8], DecodeError> {
        let length = usize::from(self.u16(field)?);
        let length = bounded(field, length, minimum, maximum)?;
        self.bytes(field, length)
    }

    /// A `text[width]`: UTF-8 up to the first zero byte, only zeros after it.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], [`DecodeError::NonzeroPadding`], [`DecodeError::NotUtf8`].
    pub fn padded_text(&mut self, field: &'static str, width: usize) -> Result<&'a str, DecodeError> {
        let bytes = self.bytes(field, width)?;
        utf8(field, unpad(field, bytes)?)
    }
}

/// The bytes of a `text[N]` field before its padding.
///
/// # Errors
/// [`DecodeError::NonzeroPadding`] when anything but zeros follows the first zero.
pub(crate) fn unpad<'a>(field: &'static str, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
    let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (text, padding) = bytes.split_at_checked(length).unwrap_or((bytes, &[]));
    if padding.iter().all(|&byte| byte == 0) {
        Ok(text)
    } else {
        Err(DecodeError::NonzeroPadding { field })
    }
}

fn utf8<'a>(field: &'static str, bytes: &'a [u8]) -> Result<&'a str, DecodeError> {
    std::str::from_utf8(bytes).map_err(|_| DecodeError::NotUtf8 { field })
}

fn within<T: PartialOrd>(field: &'static str, value: T, minimum: T, maximum: T) -> Result<T, DecodeError> {
    if value >= minimum && value <= maximum {
        Ok(value)
    } else {
        Err(DecodeError::OutOfRange { field })
    }
}

const fn bounded(
    field: &'static str,
    length: usize,
    minimum: usize,
    maximum: usize,
) -> Result<usize, DecodeError> {
    if length >= minimum && length <= maximum {
        Ok(length)
    } else {
        Err(DecodeError::BadLength {
            field,
            length,
            minimum,
            maximum,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_left_over_are_an_error_and_none_left_is_not() {
        let mut reader = Reader::new(&[1, 2, 3]);
        assert_eq!(reader.u8("a"), Ok(1));
        assert_eq!(reader.clone().finish(), Err(DecodeError::Trailing { bytes: 2 }));
        assert_eq!(reader.u16("b"), Ok(0x0302));
        assert_eq!(reader.u8("c"), Err(DecodeError::TooShort { field: "c" }));
        assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn a_bool_is_zero_or_one() {
        assert_eq!(Reader::new(&[0]).bool("b"), Ok(false));
        assert_eq!(Reader::new(&[1]).bool("b"), Ok(true));
        for byte in 2..=255 {
            assert_eq!(
                Reader::new(&[byte]).bool("b"),
                Err(DecodeError::OutOfRange { field: "b" })
            );
        }
    }

    #[test]
    fn floats_that_are_not_finite_are_refused() {
        for value in [
            f32::NAN,
            -f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::from_bits(0x7F80_0001),
        ] {
            assert_eq!(
                Reader::new(&value.to_le_bytes()).f32("f"),
                Err(DecodeError::NotFinite { field: "f" })
            );
        }
        assert_eq!(Reader::new(&f32::MAX.to_le_bytes()).f32("f"), Ok(f32::MAX));
    }

    #[test]
    fn padded_text_ends_at_the_first_zero_and_only_zeros_follow() {
        assert_eq!(Reader::new(b"abc\0\0").padded_text("t", 5), Ok("abc"));
        assert_eq!(Reader::new(b"abcde").padded_text("t", 5), Ok("abcde"));
        assert_eq!(
            Reader::new(b"ab\0c\0").padded_text("t", 5),
            Err(DecodeError::NonzeroPadding { field: "t" })
        );
        assert_eq!(
            Reader::new(b"ab\xff\0\0").padded_text("t", 5),
            Err(DecodeError::NotUtf8 { field: "t" })
        );
    }

    #[test]
    fn a_length_that_lies_is_refused() {
        assert_eq!(
            Reader::new(b"\x04abc").str8("s", 1, 8),
            Err(DecodeError::TooShort { field: "s" })
        );
        assert_eq!(
            Reader::new(b"\x09abcdefghi").str8("s", 1, 8),
            Err(DecodeError::BadLength {
                field: "s",
                length: 9,
                minimum: 1,
                maximum: 8
            })
        );
        assert_eq!(Reader::new(b"\x02\0ab").bytes16("b", 1, 2), Ok(b"ab".as_slice()));
        assert_eq!(
            Reader::new(b"\xff\xffab").bytes16("b", 1, 65_535),
            Err(DecodeError::TooShort { field: "b" })
        );
    }
}
