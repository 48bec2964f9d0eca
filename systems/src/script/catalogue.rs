//! The names that scripts may use, for those who look for a misspelt one: the checks before a resource starts, and the
//! words of errors.

use std::collections::BTreeSet;

use rhai::Engine;

use super::{
    api::{HANDLERS, Owner, natives, properties},
    compile::Program,
    fault::Names,
    lint::Api,
    types::{ENTITY, PENDING, PLAYER, ZONE},
};

/// A function that an engine has.
struct Function {
    /// Empty for one that stands alone.
    module: String,
    name: String,
    count: usize,
}

fn functions(engine: &Engine) -> Vec<Function> {
    engine.collect_fn_metadata(
        None,
        |function| {
            Some(Function {
                module: function.namespace.to_string(),
                name: function.metadata.name.to_string(),
                count: function.metadata.num_params,
            })
        },
        true,
    )
}

/// What the server offers to scripts.
pub(crate) fn api(engine: &Engine) -> Api {
    let mut api = Api::default();
    for Function { module, name, count } in functions(engine) {
        if let Some(property) = name.strip_prefix("get$").or_else(|| name.strip_prefix("set$")) {
            api.properties.insert(property.to_owned());
        }
        if name.contains('$') {
            continue;
        }
        if module.is_empty() {
            api.functions.entry(name.clone()).or_default().insert(count);
            if let Some(arguments) = count.checked_sub(1) {
                api.methods.entry(name).or_default().insert(arguments);
            }
        } else {
            let module = api.modules.entry(module).or_default();
            module.entry(name).or_default().insert(count);
        }
    }
    for handler in HANDLERS {
        let params = handler.params.iter().map(|param| param.name.to_owned()).collect();
        api.handlers.insert(handler.name.to_owned(), params);
    }
    api
}

/// The same for the words of errors.
pub(crate) fn names(engine: &Engine) -> Names {
    let mut names = Names::default();
    for native in natives() {
        let key = match native.owner {
            Owner::Module(_) => native.owner.path(native.name),
            _ => native.name.to_owned(),
        };
        let params: Vec<String> = native
            .params
            .iter()
            .map(|param| format!("{}: {}", param.name, param.kind))
            .collect();
        let signature = format!("{}({})", native.owner.path(native.name), params.join(", "));
        names.functions.entry(key).or_default().insert(signature);
        if let Owner::Module(module) = native.owner {
            names.modules.insert(module.to_owned());
        }
    }
    for property in properties() {
        let owner = match property.owner {
            Owner::Player => PLAYER,
            Owner::Pending => PENDING,
            Owner::Entity => ENTITY,
            Owner::Zone => ZONE,
            Owner::Global | Owner::Module(_) => continue,
        };
        names
            .properties
            .entry(owner.to_owned())
            .or_default()
            .insert(property.name.to_owned());
    }
    for Function { module, name, .. } in functions(engine) {
        if module.is_empty() && !name.contains('$') {
            names.functions.entry(name).or_default();
        }
    }
    names.variables.insert("state".to_owned());
    names
}

/// Adds what the scripts of a resource define.
pub(crate) fn add_program(names: &mut Names, program: &Program) {
    for script in program.scripts.values() {
        for function in script.iter_functions() {
            let signature = format!("{}({})", function.name, function.params.join(", "));
            let known: &mut BTreeSet<String> = names.functions.entry(function.name.to_owned()).or_default();
            known.insert(signature);
        }
        for (name, _, _) in script.iter_literal_variables(true, false) {
            names.constants.insert(name.to_owned());
        }
    }
}
