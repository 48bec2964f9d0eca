//! Lists that leave something for what comes after them: drawn plainly, one text of a step takes half of all the bytes
//! that are left, and a list of steps ends at the first even byte.

use arbitrary::{Arbitrary, Result, Unstructured};

/// Bytes, seldom many.
#[derive(Debug, Clone)]
pub struct Bytes(pub Vec<u8>);

impl<'a> Arbitrary<'a> for Bytes {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let drawn = usize::from(u.arbitrary::<u8>()?);
        let length = match drawn {
            0..0xC0 => drawn % 24,
            0xC0..0xF8 => drawn,
            // Up to past the longest packet.
            _ => drawn * 5,
        };
        let length = length.min(u.len());
        u.bytes(length).map(|bytes| Self(bytes.to_vec()))
    }
}

/// A text, seldom long.
#[derive(Debug, Clone)]
pub struct Line(pub String);

impl<'a> Arbitrary<'a> for Line {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let Bytes(bytes) = u.arbitrary()?;
        Ok(Self(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// As many as there are bytes for.
#[derive(Debug, Clone)]
pub struct All<T>(pub Vec<T>);

impl<'a, T: Arbitrary<'a>> Arbitrary<'a> for All<T> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut all = Vec::new();
        while !u.is_empty() && all.len() < 1_000 {
            all.push(u.arbitrary()?);
        }
        Ok(Self(all))
    }
}
