//! How values of the settings are read where a derive does not do it.

use serde::{Deserialize, Deserializer, de};

use super::{OpaqueSettings, ProviderKey};
use crate::secret::Secret;

impl<'de> Deserialize<'de> for ProviderKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_key(&text)
            .map(Self)
            .ok_or_else(|| de::Error::custom("a key is 64 hexadecimal digits"))
    }
}

impl<'de> Deserialize<'de> for OpaqueSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;

        impl<'de> de::Visitor<'de> for Keys {
            type Value = OpaqueSettings;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("keys in parentheses, like (key: value)")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<OpaqueSettings, A::Error> {
                while map.next_entry::<de::IgnoredAny, de::IgnoredAny>()?.is_some() {}
                Ok(OpaqueSettings)
            }

            fn visit_unit<E: de::Error>(self) -> Result<OpaqueSettings, E> {
                Ok(OpaqueSettings)
            }
        }

        deserializer.deserialize_any(Keys)
    }
}

pub(super) fn optional_password<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Secret<String>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    Ok(if text.is_empty() {
        None
    } else {
        Some(Secret::new(text))
    })
}

/// An array of fixed length is a tuple to serde; in the file it is a list like any other.
pub(super) fn twelve_intervals<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u16; 12], D::Error> {
    let list = Vec::<u16>::deserialize(deserializer)?;
    let length = list.len();
    list.try_into()
        .map_err(|_| de::Error::custom(format_args!("the list has {length} numbers; 12 are wanted")))
}

/// Reads a public key of 64 hexadecimal digits of either case; nothing when the text is none.
pub fn parse_key(text: &str) -> Option<[u8; 32]> {
    let mut digits = text.chars();
    let mut key = [0; 32];
    for byte in &mut key {
        let high = digits.next()?.to_digit(16)?;
        let low = digits.next()?.to_digit(16)?;
        *byte = u8::try_from(high * 16 + low).ok()?;
    }
    if digits.next().is_none() { Some(key) } else { None }
}
