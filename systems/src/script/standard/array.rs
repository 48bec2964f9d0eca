//! Functions of arrays and maps that grow out of proportion, or go on when they should stop.

use std::{mem, sync::Arc};

use rhai::{Array, Dynamic, FnPtr, ImmutableString, Map, Module, NativeCallContext};

use super::{
    Answer, LONGEST_TEXT, bytes_as_operations, function, print::printed, refuse, spend_on_items,
    spend_on_result,
};
use crate::script::{data, fuse::Fuse};

pub(super) fn add(module: &mut Module, fuse: &Arc<Fuse>) {
    let own = Arc::clone(fuse);
    let pad = move |array: &mut Array, length: i64, item: Dynamic| pad(&own, array, length, &item);
    function!(module, "pad", changes ["array: Array", "length: int", "item", ""], pad);
    let own = Arc::clone(fuse);
    let dedup = move |context: NativeCallContext<'_>, array: &mut Array| dedup_plain(&context, &own, array);
    function!(module, "dedup", changes ["array: Array", ""], dedup);
    function!(module, "dedup", changes ["array: Array", "comparer: FnPtr", ""], dedup_with);
    let by_name = |context: NativeCallContext<'_>, array: &mut Array, comparer: &str| -> Answer<()> {
        dedup_with(context, array, FnPtr::new(comparer)?)
    };
    function!(module, "dedup", changes ["array: Array", "comparer: &str", ""], by_name);
    let own = Arc::clone(fuse);
    let join = move |context: NativeCallContext<'_>, array: &mut Array, separator: &str| {
        join(&context, &own, array, separator)
    };
    function!(
        module,
        "join",
        ["array: Array", "separator: &str", "String"],
        join
    );
    let own = Arc::clone(fuse);
    let to_json = move |map: &mut Map| -> Answer<ImmutableString> {
        let value = Dynamic::from_map(map.clone());
        match data::to_json(&value, LONGEST_TEXT) {
            Ok(text) => {
                own.charge(bytes_as_operations(text.len()));
                Ok(text.into())
            }
            Err(fault) => refuse(fault.in_words("map")),
        }
    };
    function!(module, "to_json", ["map: Map", "String"], to_json);
}

fn pad(fuse: &Fuse, array: &mut Array, length: i64, item: &Dynamic) -> Answer<()> {
    let length = usize::try_from(length).unwrap_or(0);
    if length <= array.len() {
        return Ok(());
    }
    spend_on_items(fuse, length)?;
    // One by one, because each item may be large: the memory of each is looked at.
    while array.len() < length {
        fuse.spend(1)?;
        array.push(item.clone());
    }
    Ok(())
}

fn dedup_plain(context: &NativeCallContext<'_>, fuse: &Fuse, array: &mut Array) -> Answer<()> {
    dedup(array, |earlier, later| {
        super::equal::same(context, fuse, earlier, later)
    })
}

fn dedup_with(context: NativeCallContext<'_>, array: &mut Array, comparer: FnPtr) -> Answer<()> {
    dedup(array, |earlier, later| {
        let answer = comparer.call_raw(&context, None, [later.clone(), earlier.clone()])?;
        Ok(answer.as_bool().unwrap_or(false))
    })
}

/// Removes every item that is the same as the one kept before it. After an error all later ones are kept.
fn dedup(array: &mut Array, mut same: impl FnMut(&Dynamic, &Dynamic) -> Answer<bool>) -> Answer<()> {
    let mut result = Ok(());
    let mut kept = Array::new();
    for item in mem::take(array) {
        let repeated = match (&result, kept.last()) {
            (Ok(()), Some(last)) => same(last, &item).unwrap_or_else(|error| {
                result = Err(error);
                false
            }),
            _ => false,
        };
        if !repeated {
            kept.push(item);
        }
    }
    *array = kept;
    result
}

fn join(
    context: &NativeCallContext<'_>,
    fuse: &Fuse,
    array: &Array,
    separator: &str,
) -> Answer<ImmutableString> {
    let mut text = String::new();
    for (index, item) in array.iter().enumerate() {
        let item = printed(context, item, fuse);
        let between = if index > 0 { separator } else { "" };
        let more = between.len().saturating_add(item.len());
        if text.len().saturating_add(more) > LONGEST_TEXT {
            spend_on_result(fuse, text.len().saturating_add(more))?;
        }
        fuse.spend(bytes_as_operations(more))?;
        text.push_str(between);
        text.push_str(&item);
    }
    Ok(text.into())
}
