//! Values between scripts and the wire, the store and JSON.
//!
//! What a script sends is checked while it is written: a value that is too large, too deep or of a kind that nobody
//! else understands is refused with the path to it. What comes in is hostile: nothing is reserved from a length that
//! it claims, and nothing nests deeper than [`DEEPEST`]. This module knows neither resources nor players.

mod json;
mod message_pack;

use std::fmt;

use rhai::{Array, Blob, Dynamic, FnPtr, ImmutableString, Map};

pub(crate) use json::from_json;
pub(crate) use message_pack::from_message_pack;

use super::words::type_word;

/// How many arrays and maps a value may have around it, both ways.
pub(crate) const DEEPEST: usize = 64;

/// Why a value cannot leave a script, or bytes cannot become one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DataFault {
    /// Where in the value: `.players[3].callback`; empty for the value itself.
    pub(crate) path: String,
    /// What is wrong there.
    pub(crate) problem: DataProblem,
}

/// What is wrong with a part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DataProblem {
    /// A kind of value that stays within scripts: a function, a player, a range. In words, with its article.
    Kind(String),
    /// A blob on its way into JSON, which has no form for it.
    BlobInJson,
    /// A float that is infinite or not a number.
    NotFinite,
    /// An integer above the i64 range.
    TooLargeInteger(u64),
    /// More than [`DEEPEST`] arrays and maps around a part.
    TooDeep,
    /// More bytes than the receiver takes.
    TooLong {
        /// The most it takes.
        limit: usize,
    },
    /// The value is being changed by the very call that sends it.
    InUse,
    /// A map key that is not a string.
    KeyNotString,
    /// A map key for the second time.
    DuplicateKey(String),
    /// A MessagePack extension type or the byte that MessagePack never uses.
    Extension,
    /// The bytes end in the middle of a value.
    Truncated,
    /// Bytes follow the value.
    Trailing,
    /// Text that is not UTF-8.
    NotUtf8,
    /// Text that is not JSON; what the parser says.
    NotJson(String),
}

/// What a fault is prefixed with where a longer name is not known.
const ROOT: &str = "data";

/// Longest key that a path shows, in characters; the rest is cut.
const LONGEST_KEY_SHOWN: usize = 32;

impl DataFault {
    /// A fault of the value itself.
    fn here(problem: DataProblem) -> Self {
        Self {
            path: String::new(),
            problem,
        }
    }

    /// The same fault, seen from the array around it.
    fn in_item(mut self, index: usize) -> Self {
        self.path.insert_str(0, &format!("[{index}]"));
        self
    }

    /// The same fault, seen from the map around it.
    fn in_key(mut self, key: &str) -> Self {
        let plain = |c: char| c == '_' || c.is_ascii_alphanumeric();
        let shown: String = key.chars().take(LONGEST_KEY_SHOWN).collect();
        let cut = if shown.len() < key.len() { "..." } else { "" };
        let step = if !shown.is_empty() && shown.chars().all(plain) {
            format!(".{shown}{cut}")
        } else {
            format!("[\"{}{cut}\"]", shown.escape_debug())
        };
        self.path.insert_str(0, &step);
        self
    }

    /// The fault in words, the value being called `root`: `data.players[3].callback: a function cannot be sent`.
    pub(crate) fn in_words(&self, root: &str) -> String {
        format!("{root}{}: {}", self.path, self.problem)
    }
}

impl fmt::Display for DataFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(ROOT))
    }
}

impl fmt::Display for DataProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(kind) => write!(f, "{kind} cannot be sent or stored"),
            Self::BlobInJson => {
                f.write_str("JSON has no form for a blob: use as_string(), or an array of numbers")
            }
            Self::NotFinite => f.write_str("a float must be finite, neither infinity nor NaN"),
            Self::TooLargeInteger(value) => {
                write!(f, "{value} does not fit an int: the largest is {}", i64::MAX)
            }
            Self::TooDeep => write!(f, "more than {DEEPEST} arrays and maps inside each other"),
            Self::TooLong { limit } => write!(f, "larger than {limit} bytes"),
            Self::InUse => f.write_str("a captured variable cannot be sent by a call of its own method"),
            Self::KeyNotString => f.write_str("the keys of a map must be strings"),
            Self::DuplicateKey(key) => write!(f, "the key \"{}\" comes twice", key.escape_debug()),
            Self::Extension => f.write_str("extension types are not supported"),
            Self::Truncated => f.write_str("it ends in the middle of a value"),
            Self::Trailing => f.write_str("bytes follow the value"),
            Self::NotUtf8 => f.write_str("text must be UTF-8"),
            Self::NotJson(problem) => write!(f, "not JSON: {problem}"),
        }
    }
}

impl std::error::Error for DataFault {}

/// Writes a value as one MessagePack value: integers in their shortest form, floats as float 64, a char as a string.
///
/// # Errors
/// Where in the value something cannot be sent, or that it takes more than `limit` bytes. Writing stops there, so the
/// cost is bounded by `limit` and not by the value.
pub(crate) fn to_message_pack(value: &Dynamic, limit: usize) -> Result<Vec<u8>, DataFault> {
    let mut form = message_pack::Writer::default();
    write_value(value, &mut form, limit, DEEPEST)?;
    Ok(form.bytes)
}

/// Writes a value as JSON without spaces.
///
/// # Errors
/// As [`to_message_pack`]; a blob is refused.
pub(crate) fn to_json(value: &Dynamic, limit: usize) -> Result<String, DataFault> {
    let mut form = json::Writer::default();
    write_value(value, &mut form, limit, DEEPEST)?;
    Ok(form.text)
}

/// A form of output. Methods append; [`write_value`] checks the length after each.
trait Form {
    fn written(&self) -> usize;
    fn unit(&mut self);
    fn bool(&mut self, value: bool);
    fn int(&mut self, value: i64);
    fn float(&mut self, value: f64);
    fn text(&mut self, value: &str);
    fn blob(&mut self, value: &[u8]) -> Result<(), DataProblem>;
    fn open_array(&mut self, length: usize);
    fn before_item(&mut self, index: usize);
    fn close_array(&mut self);
    fn open_map(&mut self, length: usize);
    fn key(&mut self, index: usize, key: &str);
    fn close_map(&mut self);
}

fn write_value(
    value: &Dynamic,
    form: &mut impl Form,
    limit: usize,
    depth_left: usize,
) -> Result<(), DataFault> {
    if value.is_shared() {
        let inner = value
            .read_lock::<Dynamic>()
            .ok_or_else(|| DataFault::here(DataProblem::InUse))?;
        return write_plain(&inner, form, limit, depth_left);
    }
    write_plain(value, form, limit, depth_left)
}

fn write_plain(
    value: &Dynamic,
    form: &mut impl Form,
    limit: usize,
    depth_left: usize,
) -> Result<(), DataFault> {
    if let Some(array) = value.read_lock::<Array>() {
        write_array(&array, form, limit, depth_left)?;
    } else if let Some(map) = value.read_lock::<Map>() {
        write_map(&map, form, limit, depth_left)?;
    } else {
        write_scalar(value, form, limit).map_err(DataFault::here)?;
    }
    fits(form, 0, limit).map_err(DataFault::here)
}

fn write_array(
    array: &Array,
    form: &mut impl Form,
    limit: usize,
    depth_left: usize,
) -> Result<(), DataFault> {
    let inner_depth = one_deeper(depth_left)?;
    form.open_array(array.len());
    for (index, item) in array.iter().enumerate() {
        form.before_item(index);
        write_value(item, form, limit, inner_depth).map_err(|fault| fault.in_item(index))?;
    }
    form.close_array();
    Ok(())
}

fn write_map(map: &Map, form: &mut impl Form, limit: usize, depth_left: usize) -> Result<(), DataFault> {
    let inner_depth = one_deeper(depth_left)?;
    form.open_map(map.len());
    for (index, (key, item)) in map.iter().enumerate() {
        fits(form, key.len(), limit).map_err(DataFault::here)?;
        form.key(index, key);
        write_value(item, form, limit, inner_depth).map_err(|fault| fault.in_key(key))?;
    }
    form.close_map();
    Ok(())
}

fn one_deeper(depth_left: usize) -> Result<usize, DataFault> {
    depth_left
        .checked_sub(1)
        .ok_or_else(|| DataFault::here(DataProblem::TooDeep))
}

/// Whether what was written, and so many bytes more, stay within the limit.
fn fits(form: &impl Form, more: usize, limit: usize) -> Result<(), DataProblem> {
    if form.written().saturating_add(more) > limit {
        return Err(DataProblem::TooLong { limit });
    }
    Ok(())
}

fn write_scalar(value: &Dynamic, form: &mut impl Form, limit: usize) -> Result<(), DataProblem> {
    if value.is_unit() {
        form.unit();
    } else if let Ok(value) = value.as_bool() {
        form.bool(value);
    } else if let Ok(value) = value.as_int() {
        form.int(value);
    } else if let Ok(value) = value.as_float() {
        if !value.is_finite() {
            return Err(DataProblem::NotFinite);
        }
        form.float(value);
    } else if let Ok(value) = value.as_char() {
        form.text(value.encode_utf8(&mut [0; 4]));
    } else if let Some(value) = value.read_lock::<ImmutableString>() {
        fits(form, value.len(), limit)?;
        form.text(&value);
    } else if let Some(value) = value.read_lock::<Blob>() {
        fits(form, value.len(), limit)?;
        form.blob(&value)?;
    } else {
        return Err(DataProblem::Kind(kind_of(value)));
    }
    Ok(())
}

fn kind_of(value: &Dynamic) -> String {
    if value.read_lock::<FnPtr>().is_some() {
        return "a function".to_owned();
    }
    let word = type_word(value.type_name());
    let article = if word.starts_with(['a', 'e', 'i', 'o', 'u', 'E', 'I']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {word}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rhai::{Engine, Scope};

    use super::*;

    fn eval(script: &str) -> Dynamic {
        Engine::new().eval(script).unwrap()
    }

    fn refused(script: &str) -> String {
        to_message_pack(&eval(script), 1 << 20).unwrap_err().to_string()
    }

    /// Two values are the same, kind for kind; a char has become a string on the way.
    fn same(left: &Dynamic, right: &Dynamic) -> bool {
        format!("{left:?}") == format!("{right:?}")
    }

    fn any_value(with_blobs: bool) -> impl Strategy<Value = Dynamic> {
        let blob = if with_blobs {
            proptest::collection::vec(any::<u8>(), 0..40)
                .prop_map(Dynamic::from_blob)
                .boxed()
        } else {
            Just(Dynamic::UNIT).boxed()
        };
        let leaf = prop_oneof![
            Just(Dynamic::UNIT),
            any::<bool>().prop_map(Dynamic::from_bool),
            any::<i64>().prop_map(Dynamic::from_int),
            (-200_i64..70_000).prop_map(Dynamic::from_int),
            any::<f64>()
                .prop_filter("finite", |float| float.is_finite())
                .prop_map(Dynamic::from_float),
            "\\PC{0,40}".prop_map(Dynamic::from),
            blob,
        ];
        leaf.prop_recursive(5, 60, 20, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..20).prop_map(Dynamic::from_array),
                proptest::collection::btree_map("\\PC{0,8}", inner, 0..20).prop_map(|map| {
                    Dynamic::from_map(map.into_iter().map(|(key, value)| (key.into(), value)).collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_comes_back_from_message_pack(value in any_value(true)) {
            let bytes = to_message_pack(&value, usize::MAX).unwrap();
            prop_assert!(same(&from_message_pack(&bytes).unwrap(), &value));
        }

        #[test]
        fn every_value_comes_back_from_json(value in any_value(false)) {
            let text = to_json(&value, usize::MAX).unwrap();
            prop_assert!(same(&from_json(&text).unwrap(), &value), "{}", text);
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(value) = from_message_pack(&bytes) {
                let again = to_message_pack(&value, usize::MAX).unwrap();
                prop_assert!(same(&from_message_pack(&again).unwrap(), &value));
            }
        }

        #[test]
        fn a_limit_cuts_exactly_above_it(value in any_value(true)) {
            let bytes = to_message_pack(&value, usize::MAX).unwrap();
            prop_assert_eq!(to_message_pack(&value, bytes.len()).unwrap(), bytes.clone());
            let fault = to_message_pack(&value, bytes.len() - 1).unwrap_err();
            prop_assert_eq!(fault.problem, DataProblem::TooLong { limit: bytes.len() - 1 });
        }
    }

    #[test]
    fn a_refused_value_is_named_with_the_path_to_it() {
        assert_eq!(
            refused("#{players: [1, 2, 3, #{callback: |x| x}]}"),
            "data.players[3].callback: a function cannot be sent or stored"
        );
        assert_eq!(
            refused("#{\"a key\": [0..5]}"),
            "data[\"a key\"][0]: a range cannot be sent or stored"
        );
        assert_eq!(
            refused("[1.0 / 0.0]"),
            "data[0]: a float must be finite, neither infinity nor NaN"
        );
    }

    #[test]
    fn what_a_closure_captured_is_sent_as_what_it_holds() {
        let value = eval("let x = 7; let list = [1]; let f = || x + list.len(); [x, list]");
        assert_eq!(to_message_pack(&value, 100).unwrap(), [0x92, 7, 0x91, 1]);
    }

    #[test]
    fn a_char_is_sent_as_a_string() {
        assert_eq!(to_json(&eval("['x', \"y\\n\"]"), 100).unwrap(), r#"["x","y\n"]"#);
    }

    #[test]
    fn sixty_four_levels_are_sent_and_one_more_is_not() {
        let nested = |levels: usize| {
            let mut value = Dynamic::UNIT;
            for _ in 0..levels {
                value = Dynamic::from_array(vec![value]);
            }
            value
        };
        let bytes = to_message_pack(&nested(64), 1_000).unwrap();
        assert!(from_message_pack(&bytes).is_ok());
        let text = to_json(&nested(64), 1_000).unwrap();
        assert!(from_json(&text).is_ok());

        let too_deep = |result: Result<(), DataFault>| {
            assert_eq!(result.unwrap_err().problem, DataProblem::TooDeep);
        };
        too_deep(to_message_pack(&nested(65), 1_000).map(drop));
        too_deep(to_json(&nested(65), 1_000).map(drop));
        let mut deeper = vec![0x91; 65];
        deeper.push(0xc0);
        too_deep(from_message_pack(&deeper).map(drop));
        assert!(from_message_pack(&[0x91; 1_000_000]).is_err());
        too_deep(from_json(&format!("{}null{}", "[".repeat(65), "]".repeat(65))).map(drop));
    }

    #[test]
    fn a_value_of_a_gigabyte_costs_no_more_than_the_limit() {
        let mut scope = Scope::new();
        scope.push("big", "x".repeat(1 << 20));
        let value: Dynamic = Engine::new()
            .eval_with_scope(&mut scope, "let a = []; for i in 0..1000 { a.push(big) } a")
            .unwrap();
        assert_eq!(
            to_json(&value, 1 << 20).unwrap_err().problem,
            DataProblem::TooLong { limit: 1 << 20 }
        );
        assert_eq!(
            to_message_pack(&value, 3 << 20).unwrap_err().path,
            "[2]",
            "it stops at the first part that no longer fits"
        );
    }
}
