//! Appends the fields of a packet to a buffer the caller reuses. It knows field types, and no packet.
//!
//! A length never exceeds its field: what is too long is cut at the bound, so that one wrong value cannot make the
//! rest of the packet unreadable. The types of `text.rs` and `message_pack.rs` see to it that nothing is ever cut.

use crate::vector::Vec3;

/// Appends to a buffer; what is in it already stays.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    /// A writer that appends to `out`.
    #[must_use]
    pub const fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.out.push(value);
    }

    /// Two bytes, little-endian.
    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    /// Four bytes, little-endian.
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    /// Eight bytes, little-endian.
    pub fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    /// Eight bytes, little-endian, signed.
    pub fn i64(&mut self, value: i64) {
        self.bytes(&value.to_le_bytes());
    }

    /// A bool as 0 or 1.
    pub fn bool(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    /// Four bytes, binary32. The value must be finite, or the receiver drops the packet.
    pub fn f32(&mut self, value: f32) {
        self.bytes(&value.to_le_bytes());
    }

    /// Three binary32.
    pub fn vec3(&mut self, value: Vec3) {
        self.f32(value.x);
        self.f32(value.y);
        self.f32(value.z);
    }

    /// Values of two bytes each, without a count.
    pub fn u16_array(&mut self, values: &[u16]) {
        for value in values {
            self.u16(*value);
        }
    }

    /// A `u8` count and up to `maximum` (at most 255) records, each written by `write`.
    pub fn records<T>(&mut self, records: &[T], maximum: usize, write: impl Fn(&T, &mut Writer<'_>)) {
        let count = u8::try_from(records.len().min(maximum)).unwrap_or(u8::MAX);
        self.u8(count);
        for record in records.iter().take(usize::from(count)) {
            write(record, self);
        }
    }

    /// A `str8`: one byte of length, then the text, cut after 255 bytes.
    pub fn str8(&mut self, text: &str) {
        let length = u8::try_from(text.len()).unwrap_or(u8::MAX);
        self.u8(length);
        self.out.extend(text.bytes().take(usize::from(length)));
    }

    /// A `bytes16`: two bytes of length, then the bytes, cut after 65,535.
    pub fn bytes16(&mut self, bytes: &[u8]) {
        let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
        self.u16(length);
        self.bytes(bytes.get(..usize::from(length)).unwrap_or(bytes));
    }

    /// `bytes` in a field of `width` bytes: cut there, and filled up with zeros.
    pub fn padded(&mut self, bytes: &[u8], width: usize) {
        let end = self.out.len() + width;
        self.bytes(bytes.get(..width).unwrap_or(bytes));
        self.out.resize(end, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_little_endian_and_are_appended() {
        let mut out = vec![9];
        let mut writer = Writer::new(&mut out);
        writer.u16(0x0102);
        writer.u32(0x0304_0506);
        writer.bool(true);
        writer.i64(-2);
        assert_eq!(
            out,
            [
                9, 2, 1, 6, 5, 4, 3, 1, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF
            ]
        );
    }

    #[test]
    fn a_field_never_grows_past_its_width() {
        let mut out = Vec::new();
        Writer::new(&mut out).padded(b"abc", 5);
        Writer::new(&mut out).padded(b"abcdef", 5);
        assert_eq!(out, b"abc\0\0abcde");

        let mut out = Vec::new();
        Writer::new(&mut out).records(&[7u8; 300], 3, |record, writer| writer.u8(*record));
        assert_eq!(out, [3, 7, 7, 7]);
    }
}
