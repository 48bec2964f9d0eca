//! Functions of strings whose time or result is out of proportion, with limits.
//!
//! A script can build a string of any length that its memory allows, because the engine adds strings by itself. What
//! looks at every character takes strings up to [`LONGEST_TEXT`] only.

mod cut;
mod parts;

use std::sync::Arc;

use rhai::{Blob, Dynamic, ImmutableString, Module, NativeCallContext};

use super::{Answer, LONGEST_TEXT, bytes_as_operations, function, print::printed, refuse, spend_on_result};
use crate::script::fuse::Fuse;

pub(super) fn add(module: &mut Module, fuse: &Arc<Fuse>) {
    add_concatenation(module, fuse);
    add_case(module, fuse);
    add_replacement(module, fuse);
    add_padding(module, fuse);
    add_numbers(module);
    cut::add(module, fuse);
    parts::add(module, fuse);
    function!(module, "trimmed", ["string: &str", "String"], |text: &str| {
        ImmutableString::from(text.trim())
    });
}

/// Charges for a look at every character of a string, and refuses one that is too long.
fn spend_on_text(fuse: &Fuse, text: &str) -> Answer<()> {
    if text.len() > LONGEST_TEXT {
        return refuse(format!(
            "this string has {} bytes: this function takes at most {LONGEST_TEXT}",
            text.len()
        ));
    }
    fuse.spend(bytes_as_operations(text.len()))
}

/// What is added to a string as text: a blob is taken for UTF-8, anything else is printed.
fn as_text(context: &NativeCallContext<'_>, fuse: &Fuse, value: &Dynamic) -> Answer<ImmutableString> {
    if let Some(blob) = value.read_lock::<Blob>() {
        spend_on_result(fuse, blob.len())?;
        return Ok(String::from_utf8_lossy(&blob).into_owned().into());
    }
    Ok(printed(context, value, fuse))
}

fn add_concatenation(module: &mut Module, fuse: &Arc<Fuse>) {
    let concatenated = |fuse: &Fuse, left: &str, right: &str| -> Answer<ImmutableString> {
        spend_on_result(fuse, left.len().saturating_add(right.len()))?;
        Ok([left, right].concat().into())
    };
    let own = Arc::clone(fuse);
    let after = move |context: NativeCallContext<'_>, text: &str, value: Dynamic| {
        concatenated(&own, text, &as_text(&context, &own, &value)?)
    };
    function!(module, "+", ["string: &str", "value", "String"], after);
    let own = Arc::clone(fuse);
    let before = move |context: NativeCallContext<'_>, value: Dynamic, text: &str| {
        concatenated(&own, &as_text(&context, &own, &value)?, text)
    };
    function!(module, "+", ["value", "string: &str", "String"], before);
    let own = Arc::clone(fuse);
    let after = move |context: NativeCallContext<'_>, text: &str, value: Blob| {
        concatenated(&own, text, &as_text(&context, &own, &Dynamic::from_blob(value))?)
    };
    function!(module, "+", ["string: &str", "utf8: Blob", "String"], after);
    let own = Arc::clone(fuse);
    let before = move |context: NativeCallContext<'_>, value: Blob, text: &str| {
        concatenated(&own, &as_text(&context, &own, &Dynamic::from_blob(value))?, text)
    };
    function!(module, "+", ["utf8: Blob", "string: &str", "String"], before);
    for name in ["+=", "append"] {
        let own = Arc::clone(fuse);
        let append =
            move |context: NativeCallContext<'_>, text: &mut ImmutableString, value: Dynamic| -> Answer<()> {
                *text = concatenated(&own, text, &as_text(&context, &own, &value)?)?;
                Ok(())
            };
        function!(module, name, changes ["string: String", "value", ""], append);
        let own = Arc::clone(fuse);
        let append =
            move |context: NativeCallContext<'_>, text: &mut ImmutableString, value: Blob| -> Answer<()> {
                *text = concatenated(&own, text, &as_text(&context, &own, &Dynamic::from_blob(value))?)?;
                Ok(())
            };
        function!(module, name, changes ["string: String", "utf8: Blob", ""], append);
    }
}

fn add_case(module: &mut Module, fuse: &Arc<Fuse>) {
    let upper: fn(&str) -> String = str::to_uppercase;
    let lower: fn(&str) -> String = str::to_lowercase;
    for (copied, in_place, convert) in [
        ("to_upper", "make_upper", upper),
        ("to_lower", "make_lower", lower),
    ] {
        let own = Arc::clone(fuse);
        let copy = move |text: &str| -> Answer<ImmutableString> {
            spend_on_text(&own, text)?;
            Ok(convert(text).into())
        };
        function!(module, copied, ["string: &str", "String"], copy);
        let own = Arc::clone(fuse);
        let change = move |text: &mut ImmutableString| -> Answer<()> {
            spend_on_text(&own, text)?;
            *text = convert(text).into();
            Ok(())
        };
        function!(module, in_place, changes ["string: String", ""], change);
    }
}

fn add_replacement(module: &mut Module, fuse: &Arc<Fuse>) {
    fn replace(fuse: &Fuse, text: &mut ImmutableString, old: &str, new: &str) -> Answer<()> {
        if text.is_empty() {
            return Ok(());
        }
        spend_on_text(fuse, text)?;
        let matches = text.matches(old).count();
        let kept = text.len().saturating_sub(matches.saturating_mul(old.len()));
        spend_on_result(fuse, kept.saturating_add(matches.saturating_mul(new.len())))?;
        *text = text.replace(old, new).into();
        Ok(())
    }
    let own = Arc::clone(fuse);
    let texts = move |text: &mut ImmutableString, old: &str, new: &str| replace(&own, text, old, new);
    function!(module, "replace", changes ["string: String", "old: &str", "new: &str", ""], texts);
    let own = Arc::clone(fuse);
    let by_char = move |text: &mut ImmutableString, old: &str, new: char| {
        replace(&own, text, old, new.encode_utf8(&mut [0; 4]))
    };
    function!(module, "replace", changes ["string: String", "old: &str", "new: char", ""], by_char);
    let own = Arc::clone(fuse);
    let char_by = move |text: &mut ImmutableString, old: char, new: &str| {
        replace(&own, text, old.encode_utf8(&mut [0; 4]), new)
    };
    function!(module, "replace", changes ["string: String", "old: char", "new: &str", ""], char_by);
    let own = Arc::clone(fuse);
    let chars = move |text: &mut ImmutableString, old: char, new: char| {
        replace(
            &own,
            text,
            old.encode_utf8(&mut [0; 4]),
            new.encode_utf8(&mut [0; 4]),
        )
    };
    function!(module, "replace", changes ["string: String", "old: char", "new: char", ""], chars);
}

fn add_padding(module: &mut Module, fuse: &Arc<Fuse>) {
    fn pad(fuse: &Fuse, text: &mut ImmutableString, length: i64, padding: &str) -> Answer<()> {
        let length = usize::try_from(length).unwrap_or(0);
        spend_on_text(fuse, text)?;
        spend_on_text(fuse, padding)?;
        let missing = length.saturating_sub(text.chars().count());
        let padding_length = padding.chars().count();
        if missing == 0 {
            return Ok(());
        }
        if padding_length == 0 {
            return refuse("an empty string pads nothing");
        }
        let times = missing.div_ceil(padding_length);
        spend_on_result(
            fuse,
            text.len().saturating_add(times.saturating_mul(padding.len())),
        )?;
        let mut padded = text.to_string();
        padded.extend(padding.chars().cycle().take(missing));
        *text = padded.into();
        Ok(())
    }
    let own = Arc::clone(fuse);
    let by_text =
        move |text: &mut ImmutableString, length: i64, padding: &str| pad(&own, text, length, padding);
    function!(module, "pad", changes ["string: String", "length: int", "padding: &str", ""], by_text);
    let own = Arc::clone(fuse);
    let by_char = move |text: &mut ImmutableString, length: i64, padding: char| {
        pad(&own, text, length, padding.encode_utf8(&mut [0; 4]))
    };
    function!(module, "pad", changes ["string: String", "length: int", "padding: char", ""], by_char);
}

fn add_numbers(module: &mut Module) {
    /// The text of a number, which none is longer than.
    fn number(text: &str) -> Answer<&str> {
        const LONGEST_NUMBER: usize = 400;
        let text = text.trim();
        if text.len() > LONGEST_NUMBER {
            return refuse(format!("a text of {} bytes is not a number", text.len()));
        }
        Ok(text)
    }
    fn int(text: &str, radix: i64) -> Answer<i64> {
        let text = number(text)?;
        match u32::try_from(radix) {
            Ok(base @ 2..=36) => {
                i64::from_str_radix(text, base).or_else(|_| refuse(format!("\"{text}\" is not an int")))
            }
            _ => refuse(format!("the base of a number must be 2 to 36, not {radix}")),
        }
    }
    function!(module, "parse_int", ["string: &str", "int"], |text: &str| int(
        text, 10
    ));
    function!(module, "parse_int", ["string: &str", "radix: int", "int"], int);
    function!(
        module,
        "parse_float",
        ["string: &str", "float"],
        |text: &str| -> Answer<f64> {
            let text = number(text)?;
            text.parse()
                .or_else(|_| refuse(format!("\"{text}\" is not a float")))
        }
    );
}
