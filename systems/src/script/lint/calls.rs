//! Calls and properties, compared with what exists.

use std::collections::BTreeMap;

use super::{
    super::words::{count, did_you_mean, nearest},
    Api, Arities, Findings, Resource,
    facts::{Call, Facts},
};

/// Functions of the language itself.
const KEYWORDS: [&str; 10] = [
    "Fn",
    "call",
    "curry",
    "debug",
    "eval",
    "is_def_fn",
    "is_def_var",
    "is_shared",
    "print",
    "type_of",
];

/// Checks the calls and properties of a file. `aliases` are its imports.
pub(super) fn check(
    facts: &Facts,
    path: &str,
    api: &Api,
    resource: &Resource,
    aliases: &BTreeMap<String, Option<&Arities>>,
    findings: &mut Findings<'_>,
) {
    let none = Arities::new();
    let own = resource.files.get(path).unwrap_or(&none);
    for call in &facts.calls {
        let problem = if call.module.is_empty() {
            plain_call(call, facts, api, own, resource)
        } else {
            module_call(call, api, own, aliases)
        };
        if let Some(problem) = problem {
            findings.add(call.position, problem);
        }
    }
    for (position, property) in &facts.properties {
        if let Some(problem) = unknown_property(property, api, own, resource) {
            findings.add(*position, problem);
        }
    }
}

fn plain_call(call: &Call, facts: &Facts, api: &Api, own: &Arities, resource: &Resource) -> Option<String> {
    let name = call.name.as_str();
    let is_name = name.chars().all(|c| c == '_' || c.is_alphanumeric());
    if !is_name || KEYWORDS.contains(&name) {
        return None;
    }
    // A variable, or the key of a map, may hold a function.
    if facts.variables.contains(name) || (call.method && resource.keys.contains(name)) {
        return None;
    }
    // A function can be called like a method of its first argument, and a method like a function. A function of the
    // script itself has, as a method, the value before the dot as `this`.
    let (as_function, as_method) = if call.method {
        (Some(call.arguments + 1), Some(call.arguments))
    } else {
        (Some(call.arguments), call.arguments.checked_sub(1))
    };
    let takes = |functions: &Arities, arguments: Option<usize>| {
        let arities = functions.get(name);
        arities
            .zip(arguments)
            .is_some_and(|(arities, arguments)| arities.contains(&arguments))
    };
    if takes(own, Some(call.arguments))
        || takes(&api.functions, as_function)
        || takes(&api.methods, as_method)
    {
        return None;
    }
    let mut arities: Vec<usize> = own.get(name).into_iter().flatten().copied().collect();
    let shift = usize::from(call.method);
    let functions = api.functions.get(name).into_iter().flatten();
    arities.extend(functions.filter_map(|arguments| arguments.checked_sub(shift)));
    let methods = api.methods.get(name).into_iter().flatten();
    arities.extend(methods.map(|arguments| arguments + 1 - shift));
    if !arities.is_empty() {
        return Some(wrong_count(name, arities, call.arguments));
    }
    let what = if call.method { "method" } else { "function" };
    let candidates = [own, &api.functions, &api.methods];
    let mut names = candidates
        .into_iter()
        .flat_map(|functions| functions.keys().map(String::as_str));
    let mend = nearest(name, names.by_ref())
        .map(|meant| format!("; did you mean `{meant}`?"))
        .or_else(|| in_a_module(name, api))
        .unwrap_or_default();
    Some(format!("there is no {what} `{name}`{mend}"))
}

/// Whether a function of this name is in one of the modules.
fn in_a_module(name: &str, api: &Api) -> Option<String> {
    let (module, _) = api
        .modules
        .iter()
        .find(|(_, functions)| functions.contains_key(name))?;
    Some(format!("; did you mean `{module}::{name}`?"))
}

fn module_call(
    call: &Call,
    api: &Api,
    own: &Arities,
    aliases: &BTreeMap<String, Option<&Arities>>,
) -> Option<String> {
    let Call { module, name, .. } = call;
    let functions = match (aliases.get(module), api.modules.get(module)) {
        // The import itself is at fault, and reported.
        (Some(None), _) => return None,
        (Some(Some(imported)), _) => imported,
        (None, Some(functions)) => functions,
        (None, None) if module == "global" => own,
        // A module of an imported module: seen when it runs.
        (None, None) if module.contains("::") => return None,
        (None, None) => {
            let modules = aliases.keys().chain(api.modules.keys());
            let mend = did_you_mean(module, modules.map(String::as_str));
            return Some(format!("there is no module `{module}`{mend}"));
        }
    };
    match functions.get(name) {
        Some(arities) if arities.contains(&call.arguments) => None,
        Some(arities) => {
            let arities = arities.iter().copied().collect();
            Some(wrong_count(&format!("{module}::{name}"), arities, call.arguments))
        }
        None => {
            let mend = nearest(name, functions.keys().map(String::as_str))
                .map_or_else(String::new, |meant| {
                    format!("; did you mean `{module}::{meant}`?")
                });
            Some(format!("there is no function `{module}::{name}`{mend}"))
        }
    }
}

fn wrong_count(name: &str, mut arities: Vec<usize>, given: usize) -> String {
    arities.sort_unstable();
    arities.dedup();
    let last = arities.pop().unwrap_or(0);
    let takes = if arities.is_empty() {
        count(last, "argument")
    } else {
        let others: Vec<String> = arities.iter().map(ToString::to_string).collect();
        format!("{} or {}", others.join(", "), count(last, "argument"))
    };
    format!("`{name}` takes {takes}, not {given}")
}

/// A property is at fault only when nothing in the resource could have made it the key of a map, and it is a slip away
/// from a property that exists: keys may come from anywhere.
fn unknown_property(property: &str, api: &Api, own: &Arities, resource: &Resource) -> Option<String> {
    if api.properties.contains(property) || resource.keys.contains(property) || own.contains_key(property) {
        return None;
    }
    let meant = nearest(property, api.properties.iter().map(String::as_str))?;
    Some(format!(
        "there is no property `{property}`; did you mean `{meant}`? (For the key of a map that comes from elsewhere, \
         write `[\"{property}\"]`)"
    ))
}
