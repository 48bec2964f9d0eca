//! `store`: what a resource keeps beyond its own life.

use std::sync::Arc;

use rhai::Dynamic;

use super::{Call, Native, Outcome, of_module, param};
use crate::script::{data, desk::STORE_BYTES};

/// Longest key in bytes.
const LONGEST_KEY: usize = 256;
/// Largest value in bytes, once packed.
const MOST_VALUE_BYTES: usize = 1024 * 1024;

pub(super) const NATIVES: &[Native] = &[
    of_module(
        "store",
        "get",
        (&[param("key", "string"), param("default", "any")], 1),
        "data",
        "What is stored under the key; the default, or `()`, when nothing is.",
        "let starts = store::get(\"starts\", 0);\nlog::info(`started ${starts} times before`);",
        get,
    ),
    of_module(
        "store",
        "put",
        (
            &[
                param("key", "string"),
                param("value", "data"),
                param("fn", "function"),
            ],
            1,
        ),
        "",
        "Stores data under a key of 1 to 256 bytes, at most 1 MiB once packed; all of a store at most 16 MiB. It is on disk within a second, also should the server be killed then; the function is called once it is.",
        "store::put(\"best\", #{name: \"Ada\", seconds: 61.5});\nstore::put(\"round\", 7, || log::info(\"round 7 is safe on disk\"));",
        put,
    ),
    of_module(
        "store",
        "delete",
        (&[param("key", "string"), param("fn", "function")], 1),
        "bool",
        "Takes a key out; `false` when it was not there. The function is called once that is on disk.",
        "store::delete(\"best\");",
        delete,
    ),
    of_module(
        "store",
        "keys",
        (&[param("prefix", "string")], 1),
        "array of string",
        "The keys that begin so, in order; all when the prefix is left out.",
        "for key in store::keys(\"score:\") { log::info(`${key} = ${store::get(key)}`); }",
        keys,
    ),
];

fn get(call: &mut Call<'_, '_>) -> Outcome {
    let key = call.text_of(0, 1..=LONGEST_KEY)?;
    let default = call.any(1);
    match call.desk.keeping_office()?.store.get(key.as_str()) {
        Some(bytes) => data::from_message_pack(bytes).map_err(|fault| fault.in_words("value")),
        None => Ok(default),
    }
}

fn put(call: &mut Call<'_, '_>) -> Outcome {
    let key = call.text_of(0, 1..=LONGEST_KEY)?;
    let bytes =
        data::to_message_pack(&call.any(1), MOST_VALUE_BYTES).map_err(|fault| fault.in_words("value"))?;
    let callback = if call.count() > 2 {
        Some(call.callback(2)?)
    } else {
        None
    };
    let office = call.desk.keeping_office()?;
    let before = office
        .store
        .get(key.as_str())
        .map_or(0, |held| key.len().saturating_add(held.len()));
    let sum = office
        .store_bytes
        .saturating_sub(before)
        .saturating_add(key.len())
        .saturating_add(bytes.len());
    if sum > STORE_BYTES {
        return Err("the store is full: it holds at most 16 MiB; delete something, or use db".to_owned());
    }
    call.desk.spend_wish()?;
    if callback.is_some() {
        call.desk.owe()?;
    }
    let office = call.desk.keeping_office()?;
    office.store_bytes = sum;
    office.store.insert(key.to_string(), Arc::from(bytes.as_slice()));
    office.unsaved.insert(key.to_string(), Some(bytes));
    office.unsaved_callbacks.extend(callback);
    Ok(Dynamic::UNIT)
}

fn delete(call: &mut Call<'_, '_>) -> Outcome {
    let key = call.text_of(0, 1..=LONGEST_KEY)?;
    let callback = if call.count() > 1 {
        Some(call.callback(1)?)
    } else {
        None
    };
    call.desk.spend_wish()?;
    if callback.is_some() {
        call.desk.owe()?;
    }
    let office = call.desk.keeping_office()?;
    let removed = office.store.remove(key.as_str());
    if let Some(held) = &removed {
        office.store_bytes = office
            .store_bytes
            .saturating_sub(key.len().saturating_add(held.len()));
        office.unsaved.insert(key.to_string(), None);
    }
    // A callback of a key that was not there waits for what was changed before.
    office.unsaved_callbacks.extend(callback);
    Ok(removed.is_some().into())
}

fn keys(call: &mut Call<'_, '_>) -> Outcome {
    let prefix = if call.count() > 0 {
        call.text_of(0, 0..=LONGEST_KEY)?
    } else {
        rhai::ImmutableString::new()
    };
    let office = call.desk.keeping_office()?;
    let keys: rhai::Array = office
        .store
        .range(prefix.to_string()..)
        .map(|(key, _)| key)
        .take_while(|key| key.starts_with(prefix.as_str()))
        .map(|key| Dynamic::from(key.clone()))
        .collect();
    Ok(keys.into())
}
