//! The MessagePack form of script values.

use rhai::{Array, Dynamic, Map};
use rmp::{Marker, encode};

use super::{DEEPEST, DataFault, DataProblem, Form};

/// Appends MessagePack.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
}

/// A length as MessagePack counts it. Longer ones cannot be written, and are over every limit before they could be.
fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl Form for Writer {
    fn written(&self) -> usize {
        self.bytes.len()
    }

    // Writing into a Vec cannot fail, so the results below carry nothing.

    fn unit(&mut self) {
        let _ = encode::write_nil(&mut self.bytes);
    }

    fn bool(&mut self, value: bool) {
        let _ = encode::write_bool(&mut self.bytes, value);
    }

    fn int(&mut self, value: i64) {
        let _ = encode::write_sint(&mut self.bytes, value);
    }

    fn float(&mut self, value: f64) {
        let _ = encode::write_f64(&mut self.bytes, value);
    }

    fn text(&mut self, value: &str) {
        let _ = encode::write_str(&mut self.bytes, value);
    }

    fn blob(&mut self, value: &[u8]) -> Result<(), DataProblem> {
        let _ = encode::write_bin(&mut self.bytes, value);
        Ok(())
    }

    fn open_array(&mut self, items: usize) {
        let _ = encode::write_array_len(&mut self.bytes, length(items));
    }

    fn before_item(&mut self, _index: usize) {}

    fn close_array(&mut self) {}

    fn open_map(&mut self, entries: usize) {
        let _ = encode::write_map_len(&mut self.bytes, length(entries));
    }

    fn key(&mut self, _index: usize, key: &str) {
        self.text(key);
    }

    fn close_map(&mut self) {}
}

/// Reads exactly one MessagePack value. Memory is bounded by a small multiple of the input's own length.
///
/// # Errors
/// Where in the value it is malformed, or holds what scripts cannot: an integer above the i64 range, an extension
/// type, a key that is not a string or comes twice, a float that is not finite, more than [`DEEPEST`] levels.
pub(crate) fn from_message_pack(bytes: &[u8]) -> Result<Dynamic, DataFault> {
    let mut reader = Reader { bytes };
    let value = reader.value(DEEPEST)?;
    if !reader.bytes.is_empty() {
        return Err(DataFault::here(DataProblem::Trailing));
    }
    Ok(value)
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth_left: usize) -> Result<Dynamic, DataFault> {
        let marker = self.marker().map_err(DataFault::here)?;
        if let Some(items) = self.array_length(marker).map_err(DataFault::here)? {
            return self.array(items, depth_left);
        }
        if let Some(entries) = self.map_length(marker).map_err(DataFault::here)? {
            return self.map(entries, depth_left);
        }
        self.scalar(marker).map_err(DataFault::here)
    }

    fn array(&mut self, items: u64, depth_left: usize) -> Result<Dynamic, DataFault> {
        let inner_depth = super::one_deeper(depth_left)?;
        let mut array = Array::new();
        for _ in 0..items {
            let item = self
                .value(inner_depth)
                .map_err(|fault| fault.in_item(array.len()))?;
            array.push(item);
        }
        Ok(Dynamic::from_array(array))
    }

    fn map(&mut self, entries: u64, depth_left: usize) -> Result<Dynamic, DataFault> {
        let inner_depth = super::one_deeper(depth_left)?;
        let mut map = Map::new();
        for _ in 0..entries {
            let key = self.key().map_err(DataFault::here)?;
            let value = self.value(inner_depth).map_err(|fault| fault.in_key(key))?;
            if map.insert(key.into(), value).is_some() {
                return Err(DataFault::here(DataProblem::DuplicateKey(key.to_owned())));
            }
        }
        Ok(Dynamic::from_map(map))
    }

    fn key(&mut self) -> Result<&'a str, DataProblem> {
        let marker = self.marker()?;
        let length = self.text_length(marker)?.ok_or(DataProblem::KeyNotString)?;
        self.text(length)
    }

    fn scalar(&mut self, marker: Marker) -> Result<Dynamic, DataProblem> {
        if let Some(length) = self.text_length(marker)? {
            return Ok(self.text(length)?.into());
        }
        Ok(match marker {
            Marker::Null => Dynamic::UNIT,
            Marker::True => Dynamic::TRUE,
            Marker::False => Dynamic::FALSE,
            Marker::FixPos(value) => i64::from(value).into(),
            Marker::FixNeg(value) => i64::from(value).into(),
            Marker::U8 => i64::from(u8::from_be_bytes(self.array_of()?)).into(),
            Marker::U16 => i64::from(u16::from_be_bytes(self.array_of()?)).into(),
            Marker::U32 => i64::from(u32::from_be_bytes(self.array_of()?)).into(),
            Marker::U64 => {
                let value = u64::from_be_bytes(self.array_of()?);
                i64::try_from(value)
                    .map_err(|_| DataProblem::TooLargeInteger(value))?
                    .into()
            }
            Marker::I8 => i64::from(i8::from_be_bytes(self.array_of()?)).into(),
            Marker::I16 => i64::from(i16::from_be_bytes(self.array_of()?)).into(),
            Marker::I32 => i64::from(i32::from_be_bytes(self.array_of()?)).into(),
            Marker::I64 => i64::from_be_bytes(self.array_of()?).into(),
            Marker::F32 => finite(f64::from(f32::from_be_bytes(self.array_of()?)))?,
            Marker::F64 => finite(f64::from_be_bytes(self.array_of()?))?,
            Marker::Bin8 => self.blob_after::<1>()?,
            Marker::Bin16 => self.blob_after::<2>()?,
            Marker::Bin32 => self.blob_after::<4>()?,
            _ => return Err(DataProblem::Extension),
        })
    }

    fn array_length(&mut self, marker: Marker) -> Result<Option<u64>, DataProblem> {
        Ok(match marker {
            Marker::FixArray(items) => Some(items.into()),
            Marker::Array16 => Some(self.count::<2>()?),
            Marker::Array32 => Some(self.count::<4>()?),
            _ => None,
        })
    }

    fn map_length(&mut self, marker: Marker) -> Result<Option<u64>, DataProblem> {
        Ok(match marker {
            Marker::FixMap(entries) => Some(entries.into()),
            Marker::Map16 => Some(self.count::<2>()?),
            Marker::Map32 => Some(self.count::<4>()?),
            _ => None,
        })
    }

    fn text_length(&mut self, marker: Marker) -> Result<Option<u64>, DataProblem> {
        Ok(match marker {
            Marker::FixStr(length) => Some(length.into()),
            Marker::Str8 => Some(self.count::<1>()?),
            Marker::Str16 => Some(self.count::<2>()?),
            Marker::Str32 => Some(self.count::<4>()?),
            _ => None,
        })
    }

    fn text(&mut self, length: u64) -> Result<&'a str, DataProblem> {
        std::str::from_utf8(self.take(length)?).map_err(|_| DataProblem::NotUtf8)
    }

    fn blob_after<const WIDTH: usize>(&mut self) -> Result<Dynamic, DataProblem> {
        let length = self.count::<WIDTH>()?;
        Ok(Dynamic::from_blob(self.take(length)?.to_vec()))
    }

    fn marker(&mut self) -> Result<Marker, DataProblem> {
        let [byte] = self.array_of()?;
        Ok(Marker::from_u8(byte))
    }

    /// A big-endian number of so many bytes.
    fn count<const WIDTH: usize>(&mut self) -> Result<u64, DataProblem> {
        let bytes: [u8; WIDTH] = self.array_of()?;
        Ok(bytes.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    }

    fn array_of<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], DataProblem> {
        let (head, rest) = self.bytes.split_first_chunk().ok_or(DataProblem::Truncated)?;
        self.bytes = rest;
        Ok(*head)
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], DataProblem> {
        let length = usize::try_from(length).map_err(|_| DataProblem::Truncated)?;
        let (head, rest) = self
            .bytes
            .split_at_checked(length)
            .ok_or(DataProblem::Truncated)?;
        self.bytes = rest;
        Ok(head)
    }
}

fn finite(value: f64) -> Result<Dynamic, DataProblem> {
    if value.is_finite() {
        Ok(value.into())
    } else {
        Err(DataProblem::NotFinite)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::to_message_pack, *};

    fn problem(bytes: &[u8]) -> (String, DataProblem) {
        let fault = from_message_pack(bytes).unwrap_err();
        (fault.path, fault.problem)
    }

    #[test]
    fn integers_take_their_shortest_form() {
        for (value, length) in [
            (0, 1),
            (127, 1),
            (128, 2),
            (255, 2),
            (256, 3),
            (65_536, 5),
            (1 << 32, 9),
            (-32, 1),
            (-33, 2),
            (-129, 3),
            (-32_769, 5),
            (i64::MIN, 9),
        ] {
            let bytes = to_message_pack(&Dynamic::from_int(value), 9).unwrap();
            assert_eq!(bytes.len(), length, "{value}");
            assert_eq!(from_message_pack(&bytes).unwrap().as_int(), Ok(value));
        }
    }

    #[test]
    fn a_float_of_32_bits_becomes_one_of_64() {
        let value = from_message_pack(&[0xca, 0x3f, 0xc0, 0, 0]).unwrap();
        assert_eq!(value.as_float(), Ok(1.5));
    }

    #[test]
    fn what_scripts_cannot_hold_is_refused_with_its_place() {
        let mut beyond = vec![0x92, 0xc0, 0xcf];
        beyond.extend((1_u64 << 63).to_be_bytes());
        assert_eq!(
            problem(&beyond),
            ("[1]".to_owned(), DataProblem::TooLargeInteger(1 << 63))
        );
        assert_eq!(
            problem(&[0x81, 0xa1, b'k', 0xd4, 1, 2]),
            (".k".to_owned(), DataProblem::Extension)
        );
        assert_eq!(problem(&[0xc1]).1, DataProblem::Extension);
        assert_eq!(problem(&[0x81, 0x01, 0x01]).1, DataProblem::KeyNotString);
        assert_eq!(
            problem(&[0x82, 0xa1, b'k', 1, 0xa1, b'k', 2]).1,
            DataProblem::DuplicateKey("k".to_owned())
        );
        assert_eq!(problem(&[0xca, 0x7f, 0x80, 0, 0]).1, DataProblem::NotFinite);
        assert_eq!(problem(&[0xa1, 0xff]).1, DataProblem::NotUtf8);
        assert_eq!(problem(&[0x01, 0x01]).1, DataProblem::Trailing);
        assert_eq!(problem(&[]).1, DataProblem::Truncated);
    }

    #[test]
    fn a_claimed_length_reserves_nothing() {
        for claim in [
            [0xdd, 0xff, 0xff, 0xff, 0xff],
            [0xdf, 0xff, 0xff, 0xff, 0xff],
            [0xdb, 0xff, 0xff, 0xff, 0xff],
            [0xc6, 0xff, 0xff, 0xff, 0xff],
        ] {
            assert_eq!(problem(&claim).1, DataProblem::Truncated, "{claim:x?}");
        }
    }
}
