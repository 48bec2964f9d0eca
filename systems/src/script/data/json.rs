//! The JSON form of script values.

use std::fmt;

use rhai::{Array, Dynamic, Map};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{DEEPEST, DataFault, DataProblem, Form};

/// Appends JSON.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) text: String,
}

impl Form for Writer {
    fn written(&self) -> usize {
        self.text.len()
    }

    fn unit(&mut self) {
        self.text.push_str("null");
    }

    fn bool(&mut self, value: bool) {
        self.text.push_str(if value { "true" } else { "false" });
    }

    fn int(&mut self, value: i64) {
        self.text.push_str(&value.to_string());
    }

    fn float(&mut self, value: f64) {
        // Finite, so serde_json writes digits, and always with a point or an exponent: it comes back as a float.
        self.text.push_str(&serde_json::json!(value).to_string());
    }

    fn text(&mut self, value: &str) {
        self.text.push_str(&serde_json::Value::from(value).to_string());
    }

    fn blob(&mut self, _value: &[u8]) -> Result<(), DataProblem> {
        Err(DataProblem::BlobInJson)
    }

    fn open_array(&mut self, _items: usize) {
        self.text.push('[');
    }

    fn before_item(&mut self, index: usize) {
        if index > 0 {
            self.text.push(',');
        }
    }

    fn close_array(&mut self) {
        self.text.push(']');
    }

    fn open_map(&mut self, _entries: usize) {
        self.text.push('{');
    }

    fn key(&mut self, index: usize, key: &str) {
        self.before_item(index);
        self.text(key);
        self.text.push(':');
    }

    fn close_map(&mut self) {
        self.text.push('}');
    }
}

/// Reads one JSON value; a number without point and exponent is an int, any other a float.
///
/// # Errors
/// Where in the value it is malformed, or holds what scripts cannot: an integer beyond the i64 range, a key that comes
/// twice, more than [`DEEPEST`] levels.
pub(crate) fn from_json(text: &str) -> Result<Dynamic, DataFault> {
    // The parser's errors cannot carry a path, so the fault is left here on the way out.
    let mut fault = None;
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = Seed {
        depth_left: DEEPEST,
        fault: &mut fault,
    }
    .deserialize(&mut parser)
    .and_then(|value| parser.end().map(|()| value));
    value.map_err(|error| fault.unwrap_or_else(|| DataFault::here(DataProblem::NotJson(error.to_string()))))
}

struct Seed<'f> {
    depth_left: usize,
    fault: &'f mut Option<DataFault>,
}

impl Seed<'_> {
    fn refuse<E: Error>(&mut self, problem: DataProblem) -> E {
        let error = E::custom(&problem);
        *self.fault = Some(DataFault::here(problem));
        error
    }

    /// A seed for what is one level deeper.
    fn inner<E: Error>(&mut self) -> Result<usize, E> {
        let deeper = self.depth_left.checked_sub(1);
        deeper.ok_or_else(|| self.refuse(DataProblem::TooDeep))
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Dynamic;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Dynamic, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Dynamic;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Dynamic, E> {
        Ok(Dynamic::UNIT)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Dynamic, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Dynamic, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(mut self, value: u64) -> Result<Dynamic, E> {
        match i64::try_from(value) {
            Ok(value) => Ok(value.into()),
            Err(_) => Err(self.refuse(DataProblem::TooLargeInteger(value))),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Dynamic, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Dynamic, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Dynamic, A::Error> {
        let depth_left = self.inner()?;
        let mut array = Array::new();
        loop {
            let seed = Seed {
                depth_left,
                fault: self.fault,
            };
            match items.next_element_seed(seed) {
                Ok(Some(item)) => array.push(item),
                Ok(None) => return Ok(Dynamic::from_array(array)),
                Err(error) => {
                    *self.fault = self.fault.take().map(|fault| fault.in_item(array.len()));
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Dynamic, A::Error> {
        let depth_left = self.inner()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(key.as_str()) {
                return Err(self.refuse(DataProblem::DuplicateKey(key)));
            }
            let seed = Seed {
                depth_left,
                fault: self.fault,
            };
            match entries.next_value_seed(seed) {
                Ok(value) => map.insert(key.into(), value),
                Err(error) => {
                    *self.fault = self.fault.take().map(|fault| fault.in_key(&key));
                    return Err(error);
                }
            };
        }
        Ok(Dynamic::from_map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        from_json(text).unwrap_err().to_string()
    }

    #[test]
    fn a_number_keeps_its_kind() {
        assert_eq!(from_json("1").unwrap().as_int(), Ok(1));
        assert_eq!(from_json("1.0").unwrap().as_float(), Ok(1.0));
        assert_eq!(from_json("1e2").unwrap().as_float(), Ok(100.0));
        assert_eq!(
            super::super::to_json(&Dynamic::from_float(2.0), 9).unwrap(),
            "2.0"
        );
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_place() {
        assert_eq!(
            words(r#"{"a":[1,18446744073709551615]}"#),
            "data.a[1]: 18446744073709551615 does not fit an int: the largest is 9223372036854775807"
        );
        assert_eq!(words(r#"[{"a":1,"a":2}]"#), "data[0]: the key \"a\" comes twice");
        assert!(
            words("[1,").starts_with("data: not JSON: EOF"),
            "{}",
            words("[1,")
        );
        assert!(
            words("1 2").starts_with("data: not JSON: trailing"),
            "{}",
            words("1 2")
        );
        assert!(words("1e999").starts_with("data: not JSON: number out of range"));
    }

    #[test]
    fn a_blob_has_no_form_in_json() {
        let fault = super::super::to_json(&Dynamic::from_blob(vec![1]), 9).unwrap_err();
        assert_eq!(fault.problem, DataProblem::BlobInJson);
    }
}
