//! What is wrong when a script runs.

use std::time::Duration;

use rhai::{Dynamic, EvalAltResult};

use super::{
    super::{
        data::to_json,
        fuse::Cut,
        words::{count, did_you_mean, type_word},
    },
    ANONYMOUS, Names, parse,
};

/// What one call may use, for the words of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallLimits {
    /// Operations.
    pub(crate) operations: u64,
    /// Time.
    pub(crate) time: Duration,
    /// Bytes that the resource may hold.
    pub(crate) memory: u64,
}

/// Longest thrown text that is shown, in characters.
const LONGEST_THROWN: usize = 500;

pub(super) fn problem(error: &EvalAltResult, names: &Names, limits: &CallLimits) -> String {
    use EvalAltResult as E;
    match error {
        E::ErrorTerminated(..) => {
            Cut::from_error(error).map_or_else(|| "stopped".to_owned(), |cut| cut_in_words(cut, limits))
        }
        E::ErrorRuntime(thrown, _) => thrown_in_words(thrown),
        E::ErrorFunctionNotFound(signature, _) => function_not_found(signature, names),
        E::ErrorVariableNotFound(name, _) => variable_not_found(name, names),
        E::ErrorPropertyNotFound(name, _) => property_not_found(name, "map", names),
        E::ErrorDotExpr(text, _) => unknown_property(text, names),
        E::ErrorModuleNotFound(name, _) => module_not_found(name, names),
        E::ErrorMismatchDataType(wanted, found, _) | E::ErrorMismatchOutputType(wanted, found, _) => {
            mismatch(wanted, found)
        }
        E::ErrorIndexingType(text, _) => indexing(text),
        E::ErrorParsing(kind, _) => parse::problem(kind, "", names),
        _ => plain(error),
    }
}

/// Errors that need no look at what exists.
fn plain(error: &EvalAltResult) -> String {
    use EvalAltResult as E;
    match error {
        E::ErrorStackOverflow(_) => {
            "functions call each other too deeply: does one call itself without an end?".to_owned()
        }
        E::ErrorArrayBounds(length, index, _) => format!(
            "there is no item {index} in an array of {}{}",
            count(*length, "item"),
            from_zero(*length, *index)
        ),
        E::ErrorStringBounds(length, index, _) => format!(
            "there is no character {index} in a string of {}{}",
            count(*length, "character"),
            from_zero(*length, *index)
        ),
        E::ErrorBitFieldBounds(_, index, _) => format!("there is no bit {index} in an int: bits are 0 to 63"),
        E::ErrorIndexNotFound(index, _) => format!("there is no index {}", shown(index)),
        E::ErrorFor(_) => {
            "`for` goes over an array, a map's keys(), a string, a blob or a range such as 0..10, not over this".to_owned()
        }
        E::ErrorDataRace(_, _) => {
            "a variable that a closure has captured is used twice in one call: copy it with `let` first".to_owned()
        }
        E::ErrorNonPureMethodCallOnConstant(name, _) => {
            format!("`{}` changes its value, and this one is a constant: copy it with `let` first", bare(name))
        }
        E::ErrorAssignmentToConstant(name, _) => format!("`{name}` is a constant and cannot be assigned to"),
        E::ErrorUnboundThis(_) => "`this` is nothing here: it exists in a function that is called as `value.function()`".to_owned(),
        E::ErrorArithmetic(text, _) => arithmetic(text),
        E::ErrorVariableExists(name, _) => format!("there is already a variable `{name}`"),
        E::ErrorForbiddenVariable(name, _) => format!("`{name}` cannot be the name of a variable"),
        E::ErrorTooManyVariables(_) => "too many variables at once".to_owned(),
        E::ErrorTooManyModules(_) => "too many imports".to_owned(),
        E::ErrorTooManyOperations(_) => "stopped: too many operations".to_owned(),
        E::ErrorDataTooLarge(what, _) => format!("{} is too large", what.to_lowercase()),
        E::LoopBreak(..) => "`break` and `continue` work only inside a loop".to_owned(),
        other => {
            let text = other.to_string();
            // The place is told apart.
            text.split(" (line ").next().unwrap_or_default().to_owned()
        }
    }
}

fn cut_in_words(cut: Cut, limits: &CallLimits) -> String {
    match cut {
        Cut::Operations => format!(
            "stopped: over {} operations in one call (scripts.operations_per_call)",
            limits.operations
        ),
        Cut::Time => format!(
            "stopped: over {} ms in one call (scripts.milliseconds_per_call, or what was left of \
             scripts.milliseconds_per_tick)",
            limits.time.as_millis()
        ),
        Cut::Memory => format!(
            "stopped: the resource would hold over {} MiB of memory (scripts.memory_mib)",
            limits.memory >> 20
        ),
    }
}

fn thrown_in_words(thrown: &Dynamic) -> String {
    match thrown.as_immutable_string_ref() {
        Ok(text) => cut_text(&text),
        Err(_) if thrown.is_unit() => "thrown without a reason".to_owned(),
        Err(_) => format!("thrown: {}", shown(thrown)),
    }
}

/// A value as a message shows it: bounded, whatever it is.
fn shown(value: &Dynamic) -> String {
    to_json(value, LONGEST_THROWN)
        .unwrap_or_else(|_| format!("(a value of type {})", type_word(value.type_name())))
}

fn cut_text(text: &str) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(LONGEST_THROWN).collect();
    if characters.next().is_some() {
        format!("{start}...")
    } else {
        start
    }
}

/// `name (types)` as the engine writes it, taken apart and with names that authors know.
fn signature_parts(signature: &str) -> (&str, Vec<String>) {
    // The engine writes all the types that a string could go to.
    const ANY_STRING: &str = "&str | ImmutableString | String";
    let (name, rest) = signature.split_once(" (").unwrap_or((signature, ")"));
    let types = rest.strip_suffix(')').unwrap_or(rest);
    let types = types
        .split(", ")
        .filter(|name| !name.is_empty())
        .map(|name| {
            if name == ANY_STRING {
                "string".to_owned()
            } else {
                type_word(name).into_owned()
            }
        })
        .collect();
    (name, types)
}

fn function_not_found(signature: &str, names: &Names) -> String {
    let (name, types) = signature_parts(signature);
    let given = types.join(", ");
    if name.starts_with("elements of ") {
        return signature.to_owned();
    }
    if name.starts_with(ANONYMOUS) {
        return format!("this closure does not take ({given}): it has another number of parameters");
    }
    let nothing = if types.first().is_some_and(|word| word == "()") {
        "; the first value is `()`, which is nothing: ask `if value != ()` first"
    } else {
        ""
    };
    let is_name = |c: char| c.is_alphanumeric() || "_:$".contains(c);
    if !name.chars().all(is_name) {
        return match types.as_slice() {
            [one] => format!("`{name}` does not work on {one}"),
            [left, right] => format!("`{name}` does not work between {left} and {right}"),
            _ => format!("`{name}` does not work on ({given})"),
        };
    }
    if let Some(signatures) = names.signatures(name) {
        return format!("`{name}` does not take ({given}); it is {signatures}{nothing}");
    }
    let mend = did_you_mean(name, names.functions.keys().map(String::as_str));
    format!("there is no function `{name}` for ({given}){mend}{nothing}")
}

pub(super) fn variable_not_found(name: &str, names: &Names) -> String {
    if names.constants.contains(name) {
        return format!("inside functions a constant is written `global::{name}`");
    }
    let bare_name = name.rsplit("::").next().unwrap_or(name);
    if name.starts_with("global::") {
        let mend = did_you_mean(bare_name, names.constants.iter().map(String::as_str));
        return format!("there is no constant `{bare_name}` at the top of this file{mend}");
    }
    let known = names.variables.iter().chain(&names.constants);
    let mend = did_you_mean(name, known.map(String::as_str));
    format!("there is no variable or constant `{name}`{mend}")
}

fn property_not_found(name: &str, type_name: &str, names: &Names) -> String {
    let mend = did_you_mean(name, names.properties_of(type_name));
    let stop = if mend.is_empty() { "." } else { "" };
    format!("there is no property `{name}`{mend}{stop} Use `\"{name}\" in map` to ask first")
}

/// From the engine's text for a property that a type of ours does not have.
fn unknown_property(text: &str, names: &Names) -> String {
    let mut quoted = text.split('\'').skip(1).step_by(2);
    let (Some(property), Some(owner)) = (quoted.next(), quoted.next()) else {
        return text.to_owned();
    };
    let owner = type_word(owner);
    if text.starts_with("No writable") {
        let value = quoted.next().map_or_else(|| "this".into(), type_word);
        if names.properties_of(&owner).any(|name| name == property) {
            return format!(
                "`{property}` of {owner} cannot be set to {value}: it is read-only, or of another type"
            );
        }
    }
    if owner == "()" {
        return format!("`()`, which is nothing, has no property `{property}`: ask `if value != ()` first");
    }
    let mend = did_you_mean(property, names.properties_of(&owner));
    format!("{owner} has no property `{property}`{mend}")
}

fn module_not_found(name: &str, names: &Names) -> String {
    let mend = did_you_mean(name, names.modules.iter().map(String::as_str));
    format!("there is no module `{name}`{mend}")
}

fn mismatch(wanted: &str, found: &str) -> String {
    match (type_word(wanted), type_word(found)) {
        (wanted, found) if found.is_empty() => format!("it must be {wanted}"),
        (wanted, found) if wanted.is_empty() => format!("it cannot be {found}"),
        (wanted, found) => format!("it must be {wanted}, got {found}"),
    }
}

/// From `owner [index]` or `owner [index] = value`.
fn indexing(text: &str) -> String {
    let (owner, rest) = text.split_once(" [").unwrap_or((text, ""));
    let index = rest.split(']').next().unwrap_or_default();
    match (type_word(owner), type_word(index)) {
        (owner, _) if owner == "()" => {
            "`()`, which is nothing, has no items: ask `if value != ()` first".to_owned()
        }
        (owner, index) if index.is_empty() => format!("{owner} has no items"),
        (owner, index) => format!("{owner} has no item that is named by {index}"),
    }
}

fn arithmetic(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    format!("arithmetic: {text}")
}

fn from_zero(length: usize, index: i64) -> &'static str {
    if usize::try_from(index) == Ok(length) {
        ": the first has the index 0"
    } else {
        ""
    }
}

fn bare(signature: &str) -> &str {
    signature.split(" (").next().unwrap_or(signature)
}
