//! Whether arrays and maps are the same, and where a value is in an array.

use std::sync::Arc;

use rhai::{Array, Dynamic, EvalAltResult, ImmutableString, Map, Module, NativeCallContext};

use super::{Answer, DEEPEST, bytes_as_operations, function, refuse};
use crate::script::fuse::Fuse;

pub(super) fn add(module: &mut Module, fuse: &Arc<Fuse>) {
    for (name, wanted) in [("==", true), ("!=", false)] {
        let own = Arc::clone(fuse);
        let arrays = move |context: NativeCallContext<'_>, left: &mut Array, right: Array| {
            Ok::<_, Box<EvalAltResult>>(
                Comparison::new(&context, &own).arrays(left, &right, DEEPEST)? == wanted,
            )
        };
        function!(module, name, ["left: Array", "right: Array", "bool"], arrays);
        let own = Arc::clone(fuse);
        let maps = move |context: NativeCallContext<'_>, left: &mut Map, right: Map| {
            Ok::<_, Box<EvalAltResult>>(
                Comparison::new(&context, &own).maps(left, &right, DEEPEST)? == wanted,
            )
        };
        function!(module, name, ["left: Map", "right: Map", "bool"], maps);
    }
    let own = Arc::clone(fuse);
    let contains = move |context: NativeCallContext<'_>, array: &mut Array, value: Dynamic| {
        position(&context, &own, array, &value, 0).map(|index| index >= 0)
    };
    function!(module, "contains", ["array: Array", "value", "bool"], contains);
    let own = Arc::clone(fuse);
    let index_of = move |context: NativeCallContext<'_>, array: &mut Array, value: Dynamic| {
        position(&context, &own, array, &value, 0)
    };
    function!(module, "index_of", ["array: Array", "value", "int"], index_of);
    let own = Arc::clone(fuse);
    let index_of_from =
        move |context: NativeCallContext<'_>, array: &mut Array, value: Dynamic, start: i64| {
            position(&context, &own, array, &value, start)
        };
    function!(
        module,
        "index_of",
        ["array: Array", "value", "start: int", "int"],
        index_of_from
    );
}

/// The index of the first item that is `value`, at or after `start`, which counts from the end when negative; -1 when
/// there is none.
fn position(
    context: &NativeCallContext<'_>,
    fuse: &Fuse,
    array: &Array,
    value: &Dynamic,
    start: i64,
) -> Answer<i64> {
    let length = i64::try_from(array.len()).unwrap_or(i64::MAX);
    let start = if start < 0 {
        length.saturating_add(start).max(0)
    } else {
        start
    };
    let comparison = Comparison::new(context, fuse);
    for (index, item) in array
        .iter()
        .enumerate()
        .skip(usize::try_from(start).unwrap_or(usize::MAX))
    {
        if comparison.values(item, value, DEEPEST)? {
            return Ok(i64::try_from(index).unwrap_or(i64::MAX));
        }
    }
    Ok(-1)
}

/// Whether two values are the same.
pub(super) fn same(
    context: &NativeCallContext<'_>,
    fuse: &Fuse,
    left: &Dynamic,
    right: &Dynamic,
) -> Answer<bool> {
    Comparison::new(context, fuse).values(left, right, DEEPEST)
}

struct Comparison<'c, 'e> {
    context: &'c NativeCallContext<'e>,
    fuse: &'c Fuse,
}

impl<'c, 'e> Comparison<'c, 'e> {
    fn new(context: &'c NativeCallContext<'e>, fuse: &'c Fuse) -> Self {
        Self { context, fuse }
    }

    fn arrays(&self, left: &Array, right: &Array, depth_left: usize) -> Answer<bool> {
        if left.len() != right.len() {
            return Ok(false);
        }
        for (left, right) in left.iter().zip(right) {
            if !self.values(left, right, depth_left)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn maps(&self, left: &Map, right: &Map, depth_left: usize) -> Answer<bool> {
        if left.len() != right.len() {
            return Ok(false);
        }
        // Both are in the order of their keys.
        for ((left_key, left), (right_key, right)) in left.iter().zip(right) {
            if left_key != right_key || !self.values(left, right, depth_left)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn values(&self, left: &Dynamic, right: &Dynamic, depth_left: usize) -> Answer<bool> {
        self.fuse.spend(1)?;
        let Some(inner) = depth_left.checked_sub(1) else {
            return refuse(format!(
                "values that are nested over {DEEPEST} deep cannot be compared"
            ));
        };
        if let (Some(left), Some(right)) = (left.read_lock::<Array>(), right.read_lock::<Array>()) {
            return self.arrays(&left, &right, inner);
        }
        if let (Some(left), Some(right)) = (left.read_lock::<Map>(), right.read_lock::<Map>()) {
            return self.maps(&left, &right, inner);
        }
        if let (Some(left), Some(right)) = (
            left.read_lock::<ImmutableString>(),
            right.read_lock::<ImmutableString>(),
        ) {
            self.fuse
                .spend(bytes_as_operations(left.len().min(right.len())))?;
            return Ok(*left == *right);
        }
        if left.type_id() != right.type_id() && (is_container(left) || is_container(right)) {
            return Ok(false);
        }
        self.others(left, right)
    }

    /// What is neither an array nor a map nor two strings is compared by what the engine or a type of ours defines.
    fn others(&self, left: &Dynamic, right: &Dynamic) -> Answer<bool> {
        let same_type = left.type_id() == right.type_id();
        let (mut left, mut right) = (left.flatten_clone(), right.flatten_clone());
        match self
            .context
            .call_native_fn_raw("==", true, &mut [&mut left, &mut right])
        {
            Ok(equal) => Ok(equal.as_bool().unwrap_or(false)),
            Err(error) => match *error {
                EvalAltResult::ErrorFunctionNotFound(..) if !same_type => Ok(false),
                _ => Err(error),
            },
        }
    }
}

fn is_container(value: &Dynamic) -> bool {
    value.is_array() || value.is_map() || value.is_blob()
}
