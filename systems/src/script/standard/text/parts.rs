//! Strings taken apart into arrays.

use std::sync::Arc;

use rhai::{Array, Dynamic, ImmutableString, Module};

use super::{
    super::{Answer, MOST_ITEMS, function, spend_on_items},
    spend_on_text,
};
use crate::script::fuse::Fuse;

pub(super) fn add(module: &mut Module, fuse: &Arc<Fuse>) {
    let own = Arc::clone(fuse);
    let words = move |text: &str| -> Answer<Array> {
        spend_on_text(&own, text)?;
        if text.is_empty() {
            return Ok(vec![Dynamic::from(ImmutableString::new())]);
        }
        collected(&own, text.split_whitespace())
    };
    function!(module, "split", ["string: &str", "Array"], words);
    let own = Arc::clone(fuse);
    let at = move |text: &str, index: i64| -> Answer<Array> {
        spend_on_text(&own, text)?;
        let (left, right) = split_at(text, index);
        collected(&own, [left, right].into_iter())
    };
    function!(module, "split", ["string: &str", "index: int", "Array"], at);
    let own = Arc::clone(fuse);
    let to_chars = move |text: &str| -> Answer<Array> {
        spend_on_text(&own, text)?;
        spend_on_items(&own, text.chars().count())?;
        Ok(text.chars().map(Dynamic::from_char).collect())
    };
    function!(module, "to_chars", ["string: &str", "Array"], to_chars);
    for (name, from_end) in [("split", false), ("split_rev", true)] {
        let own = Arc::clone(fuse);
        let text = move |text: &str, delimiter: &str| split(&own, text, delimiter, i64::MAX, from_end);
        function!(module, name, ["string: &str", "delimiter: &str", "Array"], text);
        let own = Arc::clone(fuse);
        let text_most = move |text: &str, delimiter: &str, segments: i64| {
            split(&own, text, delimiter, segments, from_end)
        };
        function!(
            module,
            name,
            ["string: &str", "delimiter: &str", "segments: int", "Array"],
            text_most
        );
        let own = Arc::clone(fuse);
        let char = move |text: &str, delimiter: char| {
            split(&own, text, delimiter.encode_utf8(&mut [0; 4]), i64::MAX, from_end)
        };
        function!(module, name, ["string: &str", "delimiter: char", "Array"], char);
        let own = Arc::clone(fuse);
        let char_most = move |text: &str, delimiter: char, segments: i64| {
            split(&own, text, delimiter.encode_utf8(&mut [0; 4]), segments, from_end)
        };
        function!(
            module,
            name,
            ["string: &str", "delimiter: char", "segments: int", "Array"],
            char_most
        );
    }
}

fn split(fuse: &Fuse, text: &str, delimiter: &str, segments: i64, from_end: bool) -> Answer<Array> {
    spend_on_text(fuse, text)?;
    let segments = usize::try_from(segments).unwrap_or(0).max(1);
    if text.is_empty() {
        return collected(fuse, std::iter::once(text));
    }
    if from_end {
        collected(fuse, text.rsplitn(segments, delimiter))
    } else {
        collected(fuse, text.splitn(segments, delimiter))
    }
}

/// Cuts in two at a character; a negative index counts from the end.
fn split_at(text: &str, index: i64) -> (&str, &str) {
    let count = text.chars().count();
    let distance = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
    let index = match (index > 0, distance > count) {
        (true, _) => distance,
        (false, false) => count - distance,
        (false, true) => 0,
    };
    let middle = text
        .char_indices()
        .nth(index)
        .map_or(text.len(), |(offset, _)| offset);
    text.split_at_checked(middle).unwrap_or((text, ""))
}

fn collected<'t>(fuse: &Fuse, parts: impl Iterator<Item = &'t str>) -> Answer<Array> {
    let mut array = Array::new();
    for part in parts.take(MOST_ITEMS + 1) {
        array.push(part.into());
    }
    spend_on_items(fuse, array.len())?;
    Ok(array)
}
