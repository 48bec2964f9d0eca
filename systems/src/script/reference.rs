//! The API as text: for docs/scripting.md, for editors, and for the test that runs every example.

use std::{collections::BTreeMap, fmt::Write};

use super::{
    api::{HANDLERS, Owner, Param, natives, properties},
    compile::compiler,
    standard, state,
};

/// An example of the reference, and what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// `player.teleport`, `chat::broadcast`, `player_chat`.
    pub about: String,
    /// A script: functions, or statements that belong into one.
    pub script: &'static str,
}

/// Every example of the reference.
#[must_use]
pub fn examples() -> Vec<Example> {
    let functions = natives().map(|native| (native.owner.path(native.name), native.example));
    let properties = properties().map(|property| (property.owner.path(property.name), property.example));
    let handlers = HANDLERS
        .iter()
        .map(|handler| (handler.name.to_owned(), handler.example));
    functions
        .chain(properties)
        .chain(handlers)
        .chain([("state".to_owned(), STATE_EXAMPLE)])
        .map(|(about, script)| Example { about, script })
        .collect()
}

/// The definitions of the API for editors, in the language's own format.
#[must_use]
pub fn definitions() -> String {
    let mut engine = compiler();
    engine.set_strict_variables(false);
    engine
        .definitions()
        .include_standard_packages(false)
        .single_file()
}

/// The reference part of docs/scripting.md: every handler, object and module with an example.
#[must_use]
pub fn reference() -> String {
    let mut text = String::new();
    text.push_str("## Handlers\n\nFunctions of `main.rhai` that the server calls. All are optional.\n");
    for handler in HANDLERS {
        let _ = write!(
            text,
            "\n### `{}({})`\n\n{}\n",
            handler.name,
            names(handler.params),
            handler.doc
        );
        if !handler.returns.is_empty() {
            let _ = write!(text, "\nReturns: {}.\n", handler.returns);
        }
        write_example(&mut text, handler.example);
    }
    text.push_str(
        "\n## Object `state`\n\nThe resource's own map: it survives calls and not restarts. `state.key = value` keeps, `state.key` reads.\n",
    );
    write_words(&mut text, state::WORDS);
    text.push_str("\n```rhai\n");
    text.push_str(STATE_EXAMPLE);
    text.push_str("\n```\n");
    for (owner, title, about) in OBJECTS {
        let _ = write!(text, "\n## {title}\n\n{about}\n");
        write_properties(&mut text, *owner);
        write_functions(&mut text, *owner);
    }
    let mut modules: BTreeMap<&str, Owner> = BTreeMap::new();
    for native in natives() {
        if let Owner::Module(name) = native.owner {
            modules.insert(name, native.owner);
        }
    }
    for (name, owner) in modules {
        let _ = write!(text, "\n## Module `{name}`\n");
        write_functions(&mut text, owner);
    }
    text.push_str("\n## Functions without a module\n");
    write_functions(&mut text, Owner::Global);
    text.push_str("\nBeside those of the language:\n\n");
    write_words(&mut text, standard::ADDITIONS);
    text
}

const STATE_EXAMPLE: &str = "fn player_connected(player) {\n    state.joined = state.get(\"joined\", 0) + 1;\n    log::info(`${state.joined} joined since the resource started`);\n}";

fn write_words(text: &mut String, words: &[(&str, &str, &str)]) {
    for (_, signature, doc) in words {
        let _ = write!(text, "\n- `{signature}`: {doc}");
    }
    text.push('\n');
}

const OBJECTS: &[(Owner, &str, &str)] = &[
    (
        Owner::Player,
        "Object `player`",
        "Somebody who is on. A handle may be kept in `state` or a timer; ask `player.online` before using one that is old.",
    ),
    (
        Owner::Pending,
        "Object `pending`",
        "Somebody who waits for a login on a server with `auth`; for everybody but the auth resource there is no such player yet. A handle may be kept; whatever is done to one who does not wait any more does nothing.",
    ),
    (
        Owner::Entity,
        "Object `entity`",
        "An object, pickup, npc, vehicle or checkpoint that the resource made.",
    ),
    (Owner::Zone, "Object `zone`", "A region that the resource made."),
];

fn names(params: &[Param]) -> String {
    params
        .iter()
        .map(|param| param.name)
        .collect::<Vec<_>>()
        .join(", ")
}

fn write_properties(text: &mut String, owner: Owner) {
    for property in properties().filter(|property| property.owner == owner) {
        let access = if property.write.is_some() {
            "read and write"
        } else {
            "read only"
        };
        let _ = write!(
            text,
            "\n### `{}`: {}, {access}\n\n{}\n",
            owner.path(property.name),
            property.kind,
            property.doc
        );
        write_example(text, property.example);
    }
}

fn write_functions(text: &mut String, owner: Owner) {
    for native in natives().filter(|native| native.owner == owner) {
        let needed = native.params.len().saturating_sub(native.optional);
        let shown: Vec<String> = native
            .params
            .iter()
            .enumerate()
            .map(|(index, param)| {
                let open = if index >= needed { "[" } else { "" };
                let close = if index >= needed { "]" } else { "" };
                format!("{open}{}: {}{close}", param.name, param.kind)
            })
            .collect();
        let returns = if native.returns.is_empty() {
            String::new()
        } else {
            format!(" -> {}", native.returns)
        };
        let _ = write!(
            text,
            "\n### `{}({})`{returns}\n\n{}\n",
            owner.path(native.name),
            shown.join(", "),
            native.doc
        );
        write_example(text, native.example);
    }
}

fn write_example(text: &mut String, example: &str) {
    let _ = write!(text, "\n```rhai\n{example}\n```\n");
}
