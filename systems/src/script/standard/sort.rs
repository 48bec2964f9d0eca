//! Sorting that ends when it must: an error of the comparing function ends it, as does a limit of the call.

use std::{cmp::Ordering, mem, sync::Arc};

use rhai::{Array, Dynamic, FnPtr, ImmutableString, Module, NativeCallContext};

use super::{Answer, MOST_SORTED, bytes_as_operations, function, refuse};
use crate::script::fuse::Fuse;

pub(super) fn add(module: &mut Module, fuse: &Arc<Fuse>) {
    for (in_place, copied, descending) in [("sort", "order", false), ("sort_desc", "order_desc", true)] {
        let own = Arc::clone(fuse);
        let sort = move |array: &mut Array| sort_plain(&own, array, descending);
        function!(module, in_place, changes ["array: Array", ""], sort);
        let own = Arc::clone(fuse);
        let order = move |array: &mut Array| -> Answer<Array> {
            bounded(array)?;
            let mut array = array.clone();
            sort_plain(&own, &mut array, descending)?;
            Ok(array)
        };
        function!(module, copied, ["array: Array", "Array"], order);
    }
    for name in ["sort", "sort_by"] {
        function!(module, name, changes ["array: Array", "comparer: FnPtr", ""], sort_with);
        let by_name = |context: NativeCallContext<'_>, array: &mut Array, comparer: &str| -> Answer<()> {
            sort_with(context, array, FnPtr::new(comparer)?)
        };
        function!(module, name, changes ["array: Array", "comparer: &str", ""], by_name);
    }
    for name in ["order", "order_by"] {
        let order = |context: NativeCallContext<'_>, array: &mut Array, comparer: FnPtr| -> Answer<Array> {
            bounded(array)?;
            let mut array = array.clone();
            sort_with(context, &mut array, comparer)?;
            Ok(array)
        };
        function!(module, name, ["array: Array", "comparer: FnPtr", "Array"], order);
    }
}

fn bounded(array: &Array) -> Answer<()> {
    if array.len() > MOST_SORTED {
        return refuse(format!(
            "an array of {} items is too long to sort: at most {MOST_SORTED}",
            array.len()
        ));
    }
    Ok(())
}

/// Sorts by a function that answers with an int, below, at or above 0, or with whether the first comes before.
fn sort_with(context: NativeCallContext<'_>, array: &mut Array, comparer: FnPtr) -> Answer<()> {
    sort(array, |left, right| {
        let answer = comparer.call_raw(&context, None, [left.clone(), right.clone()])?;
        if let Ok(number) = answer.as_int() {
            return Ok(number.cmp(&0));
        }
        match answer.as_bool() {
            Ok(true) => Ok(Ordering::Less),
            Ok(false) => Ok(Ordering::Greater),
            Err(_) => refuse("the function that sorts must answer with an int or a bool"),
        }
    })
}

fn sort_plain(fuse: &Fuse, array: &mut Array, descending: bool) -> Answer<()> {
    sort(array, |left, right| {
        let order = compare(fuse, left, right)?;
        Ok(if descending { order.reverse() } else { order })
    })
}

fn compare(fuse: &Fuse, left: &Dynamic, right: &Dynamic) -> Answer<Ordering> {
    fuse.spend(1)?;
    if let (Some(left), Some(right)) = (
        left.read_lock::<ImmutableString>(),
        right.read_lock::<ImmutableString>(),
    ) {
        fuse.spend(bytes_as_operations(left.len().min(right.len())))?;
        return Ok(left.as_str().cmp(right.as_str()));
    }
    if let (Ok(left), Ok(right)) = (left.as_int(), right.as_int()) {
        return Ok(left.cmp(&right));
    }
    if let (Ok(left), Ok(right)) = (left.as_float(), right.as_float()) {
        return Ok(left.total_cmp(&right));
    }
    if let (Ok(left), Ok(right)) = (left.as_char(), right.as_char()) {
        return Ok(left.cmp(&right));
    }
    if let (Ok(left), Ok(right)) = (left.as_bool(), right.as_bool()) {
        return Ok(left.cmp(&right));
    }
    if left.is_unit() && right.is_unit() {
        return Ok(Ordering::Equal);
    }
    refuse("only ints, floats, strings, chars and bools of one kind can be sorted: use sort(|a, b| ...)")
}

/// A stable merge sort of the indices; on an error the array is as it was.
fn sort(array: &mut Array, mut compare: impl FnMut(&Dynamic, &Dynamic) -> Answer<Ordering>) -> Answer<()> {
    bounded(array)?;
    let mut order: Vec<usize> = (0..array.len()).collect();
    let mut width = 1;
    while width < order.len() {
        let mut merged = Vec::with_capacity(order.len());
        for pair in order.chunks(width * 2) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
            while let (Some(&&first), Some(&&second)) = (left.peek(), right.peek()) {
                let (Some(first_item), Some(second_item)) = (array.get(first), array.get(second)) else {
                    break;
                };
                if compare(first_item, second_item)? == Ordering::Greater {
                    merged.push(second);
                    right.next();
                } else {
                    merged.push(first);
                    left.next();
                }
            }
            merged.extend(left.chain(right));
        }
        order = merged;
        width *= 2;
    }
    let mut items = mem::take(array);
    array.extend(
        order
            .iter()
            .filter_map(|&index| items.get_mut(index).map(mem::take)),
    );
    Ok(())
}
