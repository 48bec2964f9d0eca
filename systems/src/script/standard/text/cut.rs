//! Parts of a string by their place: characters, pieces, and what is at or from an index on.

use std::{any::TypeId, ops::Range, ops::RangeInclusive, sync::Arc};

use rhai::{Dynamic, FuncRegistration, ImmutableString, Module};

use super::{
    super::{Answer, function},
    spend_on_text,
};
use crate::script::fuse::Fuse;

pub(super) fn add(module: &mut Module, fuse: &Arc<Fuse>) {
    let own = Arc::clone(fuse);
    let sub_string = move |text: &mut ImmutableString, start, length| -> Answer<ImmutableString> {
        spend_on_text(&own, text)?;
        Ok(piece(text, start, length).into())
    };
    add_piece(module, "sub_string", true, sub_string);
    let own = Arc::clone(fuse);
    let crop = move |text: &mut ImmutableString, start, length| -> Answer<()> {
        spend_on_text(&own, text)?;
        *text = piece(text, start, length).into();
        Ok(())
    };
    add_piece(module, "crop", false, crop);
    let own = Arc::clone(fuse);
    let chars = move |text: &mut ImmutableString, start, length| -> Answer<Characters> {
        spend_on_text(&own, text)?;
        Ok(Characters::of(piece(text, start, length).into()))
    };
    let all = chars.clone();
    let every = move |text: &mut ImmutableString| all(text, 0, i64::MAX);
    function!(module, "chars", ["string: String", "characters"], every.clone());
    FuncRegistration::new_getter("chars").set_into_module(module, every);
    add_piece(module, "chars", true, chars);
    module.set_custom_type::<Characters>("characters");
    module.set_iterator::<Characters>();
    module.set_iter(TypeId::of::<ImmutableString>(), |value: Dynamic| {
        let text = value.into_immutable_string().unwrap_or_default();
        Box::new(Characters::of(text).map(Dynamic::from_char))
    });
    add_single(module, fuse);
    add_search(module, fuse);
}

/// Adds a function of a piece of a string in the four ways to name one: start and length, start, and two ranges.
fn add_piece<R: rhai::Variant + Clone>(
    module: &mut Module,
    name: &str,
    pure: bool,
    function: impl Fn(&mut ImmutableString, i64, i64) -> Answer<R> + Clone + Send + Sync + 'static,
) {
    let registration = || {
        FuncRegistration::new(name)
            .in_global_namespace()
            .with_purity(pure)
    };
    registration()
        .with_params_info(["string: String", "start: int", "length: int", ""])
        .set_into_module(module, function.clone());
    let own = function.clone();
    registration()
        .with_params_info(["string: String", "start: int", ""])
        .set_into_module(module, move |text: &mut ImmutableString, start: i64| {
            own(text, start, i64::MAX)
        });
    let own = function.clone();
    registration()
        .with_params_info(["string: String", "range: Range<int>", ""])
        .set_into_module(module, move |text: &mut ImmutableString, range: Range<i64>| {
            let start = range.start.max(0);
            own(text, start, range.end.saturating_sub(start))
        });
    registration()
        .with_params_info(["string: String", "range: RangeInclusive<int>", ""])
        .set_into_module(
            module,
            move |text: &mut ImmutableString, range: RangeInclusive<i64>| {
                let start = (*range.start()).max(0);
                function(text, start, range.end().saturating_sub(start).saturating_add(1))
            },
        );
}

/// Where the character of an index begins, in bytes; a negative index counts from the end. `None` from the end on.
fn offset(text: &str, index: i64) -> Option<usize> {
    let index = if index < 0 {
        let from_end = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
        text.chars().count().saturating_sub(from_end)
    } else {
        usize::try_from(index).ok()?
    };
    text.char_indices().nth(index).map(|(offset, _)| offset)
}

/// So many characters from a start on; a negative start counts from the end.
fn piece(text: &str, start: i64, length: i64) -> &str {
    let Some(rest) = offset(text, start).and_then(|start| text.get(start..)) else {
        return "";
    };
    let length = usize::try_from(length).unwrap_or(0);
    let end = rest.char_indices().nth(length).map_or(rest.len(), |(end, _)| end);
    rest.get(..end).unwrap_or_default()
}

fn add_single(module: &mut Module, fuse: &Arc<Fuse>) {
    let own = Arc::clone(fuse);
    let get = move |text: &mut ImmutableString, index: i64| -> Answer<Dynamic> {
        spend_on_text(&own, text)?;
        if index < 0 && usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX) > text.chars().count() {
            return Ok(Dynamic::UNIT);
        }
        let rest = offset(text, index).and_then(|start| text.get(start..));
        let character = rest.and_then(|rest| rest.chars().next());
        Ok(character.map_or(Dynamic::UNIT, Dynamic::from_char))
    };
    function!(module, "get", ["string: String", "index: int", "char"], get);
    let own = Arc::clone(fuse);
    let set = move |text: &mut ImmutableString, index: i64, character: char| -> Answer<()> {
        spend_on_text(&own, text)?;
        if index < 0 && usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX) > text.chars().count() {
            return Ok(());
        }
        let Some((before, rest)) = offset(text, index).and_then(|start| text.split_at_checked(start)) else {
            return Ok(());
        };
        let after: String = rest.chars().skip(1).collect();
        *text = format!("{before}{character}{after}").into();
        Ok(())
    };
    function!(module, "set", changes ["string: String", "index: int", "character: char", ""], set);
    let own = Arc::clone(fuse);
    let pop = move |text: &mut ImmutableString, length: i64| -> Answer<ImmutableString> {
        spend_on_text(&own, text)?;
        if length <= 0 {
            return Ok(ImmutableString::new());
        }
        let start = offset(text, length.saturating_neg()).unwrap_or(0);
        let (kept, popped) = text.split_at_checked(start).unwrap_or_default();
        let (kept, popped) = (kept.into(), popped.into());
        *text = kept;
        Ok(popped)
    };
    function!(module, "pop", changes ["string: String", "length: int", "String"], pop);
}

fn add_search(module: &mut Module, fuse: &Arc<Fuse>) {
    fn index_of(fuse: &Fuse, text: &str, wanted: &str, start: i64) -> Answer<i64> {
        spend_on_text(fuse, text)?;
        let found = offset(text, start).and_then(|start| {
            let found = text.get(start..)?.find(wanted)?;
            text.get(..start + found)
        });
        let characters = found.map(|before| before.chars().count());
        Ok(characters.map_or(-1, |count| i64::try_from(count).unwrap_or(-1)))
    }
    let own = Arc::clone(fuse);
    let text = move |text: &str, wanted: &str| index_of(&own, text, wanted, 0);
    function!(module, "index_of", ["string: &str", "wanted: &str", "int"], text);
    let own = Arc::clone(fuse);
    let text_from = move |text: &str, wanted: &str, start: i64| index_of(&own, text, wanted, start);
    function!(
        module,
        "index_of",
        ["string: &str", "wanted: &str", "start: int", "int"],
        text_from
    );
    let own = Arc::clone(fuse);
    let char = move |text: &str, wanted: char| index_of(&own, text, wanted.encode_utf8(&mut [0; 4]), 0);
    function!(module, "index_of", ["string: &str", "wanted: char", "int"], char);
    let own = Arc::clone(fuse);
    let char_from = move |text: &str, wanted: char, start: i64| {
        index_of(&own, text, wanted.encode_utf8(&mut [0; 4]), start)
    };
    function!(
        module,
        "index_of",
        ["string: &str", "wanted: char", "start: int", "int"],
        char_from
    );
}

/// The characters of a string, one by one; the string is shared, not copied.
#[derive(Clone, Debug)]
struct Characters {
    text: ImmutableString,
    offset: usize,
}

impl Characters {
    fn of(text: ImmutableString) -> Self {
        Self { text, offset: 0 }
    }
}

impl Iterator for Characters {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let character = self.text.get(self.offset..)?.chars().next()?;
        self.offset += character.len_utf8();
        Some(character)
    }
}
