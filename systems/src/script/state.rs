//! The map that scripts call `state`: what a resource remembers from call to call.
//!
//! Each value lies in a cell of its own, so that a script may read one while it works on another:
//! `state.list.map(|x| x + state.offset)`. A cell that is read while it is being changed would be an error of the
//! engine, and cost it time; with one cell for all of the state every second script would run into that.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rhai::{Array, Dynamic, EvalAltResult, FuncRegistration, ImmutableString, Map, Module, Position};

use super::{fuse::Fuse, types::STATE, words::did_you_mean};

/// A resource's state; clones are the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct State(Arc<Mutex<BTreeMap<ImmutableString, Dynamic>>>);

type Answer = Result<Dynamic, Box<EvalAltResult>>;

impl State {
    fn values(&self) -> MutexGuard<'_, BTreeMap<ImmutableString, Dynamic>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets everything; what a value holds of the state itself would keep it for ever.
    pub(crate) fn clear(&self) {
        let values = std::mem::take(&mut *self.values());
        drop(values);
    }

    /// A copy of everything, as a map, as far as `on` says to go on: a value that is just being changed holds up whoever
    /// looks at it for a while.
    pub(crate) fn to_map_while(&self, mut on: impl FnMut() -> bool) -> Map {
        self.values()
            .iter()
            .take_while(|_| on())
            .map(|(key, value)| (key.as_str().into(), value.flatten_clone()))
            .collect()
    }

    /// A copy of everything, as a map, for whoever looks at it between calls.
    pub(crate) fn to_map(&self) -> Map {
        self.to_map_while(|| true)
    }

    fn cell(&self, key: &str) -> Option<Dynamic> {
        self.values().get(key).cloned()
    }

    fn nothing_under(&self, key: &str) -> String {
        let values = self.values();
        let mend = did_you_mean(key, values.keys().map(ImmutableString::as_str));
        format!("nothing is kept under `state.{key}`{mend}; `state.get(\"{key}\", 0)` gives 0 then")
    }

    fn put(&self, key: ImmutableString, value: Dynamic) -> Result<(), Box<EvalAltResult>> {
        let mut value = value.flatten();
        if value.is_read_only() {
            // A constant stays one wherever it is moved, a copy of it does not.
            value = value.clone();
        }
        if value.read_lock::<Self>().is_some() {
            return Err(problem("`state` cannot be kept in itself"));
        }
        let before = self.values().insert(key, value.into_shared());
        // Not while the lock is held: dropping a large value takes its time.
        drop(before);
        Ok(())
    }
}

fn problem(text: &str) -> Box<EvalAltResult> {
    EvalAltResult::ErrorRuntime(text.into(), Position::NONE).into()
}

/// What scripts do with their state: name, signature, what it does.
pub(crate) const WORDS: &[(&str, &str, &str)] = &[
    (
        "get",
        "state.get(key: string[, default: any]) -> any",
        "What is kept under the key; the default, or `()`, when nothing is. `state.key` is an error then.",
    ),
    (
        "contains",
        "state.contains(key: string) -> bool",
        "Whether something is kept under the key; `\"key\" in state` asks the same.",
    ),
    (
        "remove",
        "state.remove(key: string) -> any",
        "Takes a key out; its value, or `()` when it was not there.",
    ),
    ("keys", "state.keys() -> array of string", "The keys, in order."),
    ("len", "state.len() -> int", "How many keys there are."),
    ("clear", "state.clear()", "Takes every key out."),
    (
        "to_map",
        "state.to_map() -> map",
        "A copy of everything as a map, to be sent or stored.",
    ),
];

/// Registers the type's functions.
pub(super) fn add(module: &mut Module, fuse: &Arc<Fuse>) {
    module.set_custom_type::<State>(STATE);
    FuncRegistration::new("index$get$")
        .in_global_namespace()
        .with_purity(true)
        .set_into_module(module, |state: &mut State, key: ImmutableString| -> Answer {
            state
                .cell(&key)
                .ok_or_else(|| problem(&state.nothing_under(&key)))
        });
    // Pure, since what changes is behind the constant that scripts see.
    FuncRegistration::new("index$set$")
        .in_global_namespace()
        .with_purity(true)
        .set_into_module(
            module,
            |state: &mut State, key: ImmutableString, value: Dynamic| -> Result<(), Box<EvalAltResult>> {
                state.put(key, value)
            },
        );
    macro_rules! method {
        ($name:literal, [$($parameter:literal),*], $function:expr) => {
            FuncRegistration::new($name)
                .in_global_namespace()
                .with_purity(true)
                .with_params_info(["state: State", $($parameter),*])
                .set_into_module(module, $function)
        };
    }
    method!(
        "get",
        ["key: string", "?"],
        |state: &mut State, key: ImmutableString| { state.cell(&key).unwrap_or_default().flatten() }
    );
    method!(
        "get",
        ["key: string", "default: ?", "?"],
        |state: &mut State, key: ImmutableString, default: Dynamic| {
            state.cell(&key).unwrap_or(default).flatten()
        }
    );
    method!(
        "contains",
        ["key: string", "bool"],
        |state: &mut State, key: ImmutableString| { state.values().contains_key(&key) }
    );
    method!(
        "remove",
        ["key: string", "?"],
        |state: &mut State, key: ImmutableString| {
            let removed = state.values().remove(&key);
            removed.unwrap_or_default().flatten()
        }
    );
    method!("keys", ["array"], |state: &mut State| -> Array {
        state.values().keys().map(|key| key.clone().into()).collect()
    });
    method!("len", ["int"], |state: &mut State| {
        i64::try_from(state.values().len()).unwrap_or(i64::MAX)
    });
    method!("clear", ["()"], |state: &mut State| state.clear());
    let own = Arc::clone(fuse);
    method!("to_map", ["map"], move |state: &mut State| state
        .to_map_while(|| own.spend(1).is_ok()));
    for name in ["to_string", "to_debug", "print", "debug"] {
        let own = Arc::clone(fuse);
        FuncRegistration::new(name)
            .in_global_namespace()
            .with_purity(true)
            .set_into_module(module, move |state: &mut State| {
                super::standard::shown(&Dynamic::from(state.to_map_while(|| own.spend(1).is_ok())))
            });
    }
}
