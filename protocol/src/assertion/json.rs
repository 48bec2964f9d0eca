//! JSON as signed tokens must hold it: one object, no member twice at any depth, nothing before or after but
//! whitespace.
//!
//! A reader that keeps the last of two equal members and one that keeps the first see two different tokens under one
//! signature; here there is no such token. What the members mean is not known here.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};

/// The members of an object, by name.
pub(super) type Members = BTreeMap<String, Json>;

/// One value, as far as a token's members are told apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Json {
    Text(String),
    /// A number that was written without fraction and exponent, and is neither negative nor above 2^64 - 1.
    Whole(u64),
    List(Vec<Self>),
    Object(Members),
    /// Null, true, false and every other number.
    Other,
}

/// The members of the one object that `bytes` are: valid UTF-8, at most 127 levels deep, numbers within the range of a
/// double. The memory it takes is bounded by a multiple of the length of `bytes`.
pub(super) fn read_object(bytes: &[u8]) -> Option<Members> {
    match serde_json::from_slice(bytes).ok()? {
        Json::Object(members) => Some(members),
        _ => None,
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyJson)
    }
}

struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = Json;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value without equal members")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Whole(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Json, E> {
        Ok(u64::try_from(number).map_or(Json::Other, Json::Whole))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Json::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Json, A::Error> {
        let mut members = Members::new();
        while let Some((name, value)) = object.next_entry()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a member stands there twice"));
            }
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_apart_as_far_as_tokens_need_it() {
        let members = read_object(
            br#" {"t":"\u00e9","w":18446744073709551615,"l":["",0],"o":{"t":1},"n":null,"b":true,
                  "f":1.0,"e":1e3,"m":-1,"z":-0,"big":18446744073709551616} "#,
        )
        .unwrap();
        assert_eq!(members["t"], Json::Text("é".into()));
        assert_eq!(members["w"], Json::Whole(u64::MAX));
        assert_eq!(
            members["l"],
            Json::List(vec![Json::Text(String::new()), Json::Whole(0)])
        );
        assert_eq!(
            members["o"],
            Json::Object(Members::from([("t".into(), Json::Whole(1))]))
        );
        for other in ["n", "b", "f", "e", "m", "z", "big"] {
            assert_eq!(members[other], Json::Other, "{other}");
        }
    }

    #[test]
    fn a_member_twice_is_refused_wherever_it_stands_and_however_it_is_written() {
        for twice in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"":1,"":1}"#,
            r#"{"x":{"a":1,"a":2}}"#,
            r#"{"x":[[{"b":1},{"a":1,"b":2,"a":3}]]}"#,
        ] {
            assert_eq!(read_object(twice.as_bytes()), None, "{twice}");
        }
        assert!(read_object(br#"{"a":{"a":[{"a":1},{"a":1}]},"A":1}"#).is_some());
    }

    #[test]
    fn anything_but_one_object_is_refused() {
        for bad in [
            "",
            " ",
            "null",
            "1",
            "\"{}\"",
            "[]",
            "[{}]",
            "{",
            "{}{}",
            "{} x",
            "{}\0",
            "\u{feff}{}",
            "{'a':1}",
            "{a:1}",
            r#"{"a":1,}"#,
            r#"{"a":01}"#,
            r#"{"a":NaN}"#,
            r#"{"a":1e999}"#,
            r#"{"a":"\ud800"}"#,
            "{\"a\":\"\n\"}",
            "{/**/}",
        ] {
            assert_eq!(read_object(bad.as_bytes()), None, "{bad:?}");
        }
        assert_eq!(read_object(b"{\"a\":\"\xff\"}"), None);
        assert_eq!(read_object(b"{\"a\":\"\xed\xa0\x80\"}"), None);
        assert_eq!(read_object(b"\t\r\n {} \n"), Some(Members::new()));
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert!(read_object(nested(126).as_bytes()).is_some());
        assert_eq!(read_object(nested(127).as_bytes()), None);
        assert_eq!(read_object(nested(100_000).as_bytes()), None);
    }
}
