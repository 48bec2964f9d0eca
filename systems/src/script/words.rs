//! Words for authors of scripts: what types are called, and which name was probably meant.

use std::{borrow::Cow, fmt::Write};

/// What authors know a type as, from its name in the engine; never a path of the engine's own language.
pub(crate) fn type_word(name: &str) -> Cow<'_, str> {
    let word = match name.trim_start_matches('&').trim_start_matches("mut ") {
        "i64" => "int",
        "f64" => "float",
        "bool" => "bool",
        "char" => "char",
        "()" => "()",
        "string" | "&str" | "str" | "String" | "ImmutableString" | "alloc::string::String" => "string",
        "array" => "array",
        "map" => "map",
        "blob" => "blob",
        "Fn" => "function",
        "range" | "range=" => "range",
        "?" | "Dynamic" => "value",
        other => return own_type_word(other),
    };
    Cow::Borrowed(word)
}

/// Bytes in lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The last part of a path, without what it is generic over: `Player` for `server::script::Player`.
fn own_type_word(name: &str) -> Cow<'_, str> {
    if name.contains("ops::range::Range") {
        return Cow::Borrowed("range");
    }
    let plain = name.split('<').next().unwrap_or(name);
    match plain.rsplit("::").next().unwrap_or(plain) {
        "ImmutableString" => Cow::Borrowed("string"),
        "FnPtr" => Cow::Borrowed("function"),
        "Dynamic" => Cow::Borrowed("value"),
        "Vec" if name.contains("Dynamic") => Cow::Borrowed("array"),
        "Vec" => Cow::Borrowed("blob"),
        "BTreeMap" => Cow::Borrowed("map"),
        word => Cow::Owned(word.to_owned()),
    }
}

/// How alike two names must be for the one to be taken for the other, from 0 to 1.
const LIKENESS: f64 = 0.75;

/// The candidate that is most like `name`, if any is like it at all; of equals the first. A candidate that is the name
/// itself is no suggestion.
pub(crate) fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let mut best = None;
    let mut best_likeness = 0.0;
    for candidate in candidates {
        if candidate == name {
            continue;
        }
        let likeness = likeness(name, candidate);
        if likeness > best_likeness {
            best_likeness = likeness;
            best = Some(candidate);
        }
    }
    best.filter(|_| best_likeness >= LIKENESS)
}

/// How alike two names are, from 0 to 1; a difference of case alone is hardly one.
pub(crate) fn likeness(left: &str, right: &str) -> f64 {
    // Names longer than any of ours are compared no further: the comparison is quadratic.
    const LONGEST: usize = 64;
    if left.len() > LONGEST || right.len() > LONGEST {
        return 0.0;
    }
    if left.eq_ignore_ascii_case(right) {
        return 0.99;
    }
    let (left, right) = (left.to_ascii_lowercase(), right.to_ascii_lowercase());
    let by_edits = strsim::normalized_damerau_levenshtein(&left, &right);
    // One slip in a short name is a large part of it, and still one slip.
    let one_slip = left.len().max(right.len()) >= 3
        && left.len().min(right.len()) >= 2
        && strsim::damerau_levenshtein(&left, &right) == 1;
    if one_slip { by_edits.max(0.8) } else { by_edits }
}

/// `did you mean `name`?` with a space before it, or nothing.
pub(crate) fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    nearest(name, candidates).map_or_else(String::new, |candidate| format!("; did you mean `{candidate}`?"))
}

/// `1 thing` or `3 things`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_names_that_authors_know() {
        for (name, word) in [
            ("i64", "int"),
            ("alloc::vec::Vec<rhai::types::dynamic::Dynamic>", "array"),
            ("core::ops::range::Range<i64>", "range"),
            ("rhai::types::immutable_string::ImmutableString", "string"),
            ("decitick_systems::script::Player", "Player"),
            ("&mut Player", "Player"),
        ] {
            assert_eq!(type_word(name), word, "{name}");
        }
    }

    #[test]
    fn a_slip_finds_the_name_and_a_stranger_does_not() {
        let names = ["teleport", "position", "id", "message", "get"];
        assert_eq!(nearest("teleprt", names), Some("teleport"));
        assert_eq!(nearest("postion", names), Some("position"));
        assert_eq!(nearest("Position", names), Some("position"));
        assert_eq!(nearest("gte", names), Some("get"));
        assert_eq!(nearest("explode", names), None);
        assert_eq!(nearest("get", names), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), names), None);
    }
}
