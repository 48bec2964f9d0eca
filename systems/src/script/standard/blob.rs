//! Functions of blobs that grow out of proportion.

use std::sync::Arc;

use rhai::{Array, Blob, Dynamic, ImmutableString, Module};

use super::{Answer, function, spend_on_items, spend_on_result};
use crate::script::fuse::Fuse;

pub(super) fn add(module: &mut Module, fuse: &Arc<Fuse>) {
    let own = Arc::clone(fuse);
    let zeros = move |length: i64| filled(&own, length, 0);
    function!(module, "blob", ["length: int", "Blob"], zeros);
    let own = Arc::clone(fuse);
    let values = move |length: i64, value: i64| filled(&own, length, value);
    function!(module, "blob", ["length: int", "value: int", "Blob"], values);
    let own = Arc::clone(fuse);
    let pad = move |blob: &mut Blob, length: i64, value: i64| -> Answer<()> {
        let length = usize::try_from(length).unwrap_or(0);
        if length > blob.len() {
            spend_on_result(&own, length)?;
            blob.resize(length, byte(value));
        }
        Ok(())
    };
    function!(module, "pad", changes ["blob: Blob", "length: int", "value: int", ""], pad);
    let own = Arc::clone(fuse);
    let to_array = move |blob: &mut Blob| -> Answer<Array> {
        spend_on_items(&own, blob.len())?;
        Ok(blob.iter().map(|&byte| Dynamic::from_int(byte.into())).collect())
    };
    function!(module, "to_array", ["blob: Blob", "Array"], to_array);
    let own = Arc::clone(fuse);
    let as_string = move |blob: &mut Blob| -> Answer<ImmutableString> {
        // A byte that is no text becomes three.
        spend_on_result(&own, blob.len())?;
        Ok(String::from_utf8_lossy(blob).into_owned().into())
    };
    function!(module, "as_string", ["blob: Blob", "String"], as_string);
}

fn filled(fuse: &Fuse, length: i64, value: i64) -> Answer<Blob> {
    let length = usize::try_from(length).unwrap_or(0);
    spend_on_result(fuse, length)?;
    Ok(vec![byte(value); length])
}

/// The lowest eight bits.
fn byte(value: i64) -> u8 {
    value.to_le_bytes()[0]
}
