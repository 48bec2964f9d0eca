//! The standard library of scripts: the engine's own, without what could stop the server, and with everything replaced
//! whose cost or result is out of proportion to what it is given.
//!
//! A native function is one step to the engine, however long it takes, so each must be short by itself: what takes long
//! is charged to the [`Fuse`] while it runs, and what grows has a limit of its own. Values may be nested half a million
//! deep, so nothing here follows them further than [`DEEPEST`].

mod array;
mod blob;
mod equal;
mod language;
mod print;
mod sort;
mod text;

use std::sync::Arc;

use rhai::{
    Dynamic, Engine, EvalAltResult, Module, Position, Shared,
    packages::{
        ArithmeticPackage, BasicArrayPackage, BasicBlobPackage, BasicFnPackage, BasicIteratorPackage,
        BasicMapPackage, BasicMathPackage, BasicStringPackage, BitFieldPackage, LogicPackage,
        MoreStringPackage, Package,
    },
};

use super::fuse::Fuse;

/// Longest string or blob that one function makes, and longest string that most functions take, in bytes.
pub(crate) const LONGEST_TEXT: usize = 1 << 20;

/// Most items of an array that one function makes from something else.
pub(crate) const MOST_ITEMS: usize = 65_536;

/// Most items of an array that is sorted.
pub(crate) const MOST_SORTED: usize = 16_384;

/// Calls that may be open in each other.
const MOST_CALL_LEVELS: usize = 64;

/// How deep functions follow arrays and maps in each other.
const DEEPEST: usize = 64;

/// Functions that the engine's own library does not have: name, signature, what it does.
pub(crate) const ADDITIONS: &[(&str, &str, &str)] = &[
    (
        "join",
        "array.join(separator: string) -> string",
        "The items as one string with the separator between them: `[1, 2].join(\", \")` is `\"1, 2\"`.",
    ),
    (
        "trimmed",
        "string.trimmed() -> string",
        "A copy without white space at both ends. `trim()` changes the string itself and answers with nothing.",
    ),
];

type Answer<T> = Result<T, Box<EvalAltResult>>;

/// The standard library as modules, to be registered in this order: what is registered later is found first. What
/// functions do is charged to `fuse`.
pub(crate) fn modules(fuse: &Arc<Fuse>) -> Vec<Shared<Module>> {
    let mut own = Module::new();
    language::add(&mut own);
    print::add(&mut own, fuse);
    text::add(&mut own, fuse);
    array::add(&mut own, fuse);
    sort::add(&mut own, fuse);
    equal::add(&mut own, fuse);
    blob::add(&mut own, fuse);
    vec![
        ArithmeticPackage::new().as_shared_module(),
        BasicStringPackage::new().as_shared_module(),
        BasicIteratorPackage::new().as_shared_module(),
        BasicFnPackage::new().as_shared_module(),
        BitFieldPackage::new().as_shared_module(),
        LogicPackage::new().as_shared_module(),
        BasicMathPackage::new().as_shared_module(),
        BasicArrayPackage::new().as_shared_module(),
        BasicBlobPackage::new().as_shared_module(),
        BasicMapPackage::new().as_shared_module(),
        MoreStringPackage::new().as_shared_module(),
        own.into(),
    ]
}

/// Sets what scripts may not do, and how deep they may go.
pub(crate) fn configure(engine: &mut Engine) {
    engine.disable_symbol("eval");
    engine.set_fail_on_invalid_map_property(true);
    engine.set_max_call_levels(MOST_CALL_LEVELS);
    engine.set_max_expr_depths(64, 32);
    engine.set_max_variables(1_000);
    engine.set_max_functions(2_000);
    engine.set_max_modules(200);
}

/// A value as text, for a log or a console.
pub(crate) fn shown(value: &Dynamic) -> String {
    print::shown(value)
}

/// Adds a function with the names of its parameters, the result last. `changes` says that it changes its first.
macro_rules! function {
    ($module:expr, $name:expr, [$($parameter:literal),*], $function:expr) => {
        rhai::FuncRegistration::new($name)
            .in_global_namespace()
            .with_purity(true)
            .with_params_info([$($parameter),*])
            .set_into_module($module, $function)
    };
    ($module:expr, $name:expr, changes [$($parameter:literal),*], $function:expr) => {
        rhai::FuncRegistration::new($name)
            .in_global_namespace()
            .with_purity(false)
            .with_params_info([$($parameter),*])
            .set_into_module($module, $function)
    };
}
use function;

/// An error that a script can catch.
fn refuse<T>(problem: impl Into<String>) -> Answer<T> {
    Err(EvalAltResult::ErrorRuntime(problem.into().into(), Position::NONE).into())
}

/// Work on so many bytes, in operations.
fn bytes_as_operations(bytes: usize) -> u64 {
    const BYTES_AN_OPERATION: u64 = 32;
    1 + u64::try_from(bytes).unwrap_or(u64::MAX) / BYTES_AN_OPERATION
}

/// Work on so many items, in operations.
fn items_as_operations(items: usize) -> u64 {
    1 + u64::try_from(items).unwrap_or(u64::MAX)
}

/// Charges for the bytes of a string or blob that a function makes, and refuses too many.
fn spend_on_result(fuse: &Fuse, bytes: usize) -> Answer<()> {
    if bytes > LONGEST_TEXT {
        return refuse(format!(
            "the result would have {bytes} bytes: one function makes at most {LONGEST_TEXT}"
        ));
    }
    fuse.spend(bytes_as_operations(bytes))
}

/// Charges for the items of an array that a function makes, and refuses too many.
fn spend_on_items(fuse: &Fuse, items: usize) -> Answer<()> {
    if items > MOST_ITEMS {
        return refuse(format!(
            "the array would have over {MOST_ITEMS} items, the most that one function makes"
        ));
    }
    fuse.spend(items_as_operations(items))
}

#[cfg(test)]
mod tests;
