//! What can be seen to be wrong with a script before it runs, all of it at once.
//!
//! A finding keeps a resource from starting, so nothing is reported that might be right: what a value is, nobody knows
//! before it is there. Here names, numbers of arguments and places of statements are checked against what exists.

mod calls;
mod facts;
mod parse_all;

use std::collections::{BTreeMap, BTreeSet};

use decitick_components::script::{MAIN_FILE, ScriptFault};
use rhai::{AST, Position};

pub(crate) use parse_all::parse_all;

use self::facts::{Facts, TopLevel};
use super::words::{count, did_you_mean, likeness};

/// Names of functions, each with the numbers of arguments it takes.
pub(crate) type Arities = BTreeMap<String, BTreeSet<usize>>;

/// What the server offers to scripts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Api {
    /// Handlers with the names of their parameters.
    pub(crate) handlers: BTreeMap<String, Vec<String>>,
    /// Functions that stand alone: `print(x)`.
    pub(crate) functions: Arities,
    /// Functions of modules by the module's name: `chat::broadcast(text)`.
    pub(crate) modules: BTreeMap<String, Arities>,
    /// Methods, the value before the dot not counted: `player.kick(reason)` takes one.
    pub(crate) methods: Arities,
    /// Properties of any type.
    pub(crate) properties: BTreeSet<String>,
}

/// What the files of one resource know of each other. Fill it from every file that parses before any is linted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resource {
    /// The functions of each file by its path inside the folder, `lib/laps.rhai`.
    files: BTreeMap<String, Arities>,
    /// Every word that could be the key of a map: keys, assigned properties, words in strings.
    keys: BTreeSet<String>,
    /// Functions that are called or handed on by name.
    used: BTreeSet<String>,
}

impl Resource {
    /// Notes what a file defines and mentions; `path` is inside the folder, with `.rhai`.
    pub(crate) fn add(&mut self, path: &str, ast: &AST) {
        let mut functions = Arities::new();
        for function in ast.iter_functions() {
            let arities = functions.entry(function.name.to_owned()).or_default();
            arities.insert(function.params.len());
        }
        self.files.insert(path.to_owned(), functions);
        let facts = Facts::of(ast);
        self.keys.extend(facts.keys);
        self.used.extend(facts.used);
    }
}

/// One file to be checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Script<'a> {
    /// Its path from the server directory on, for the faults.
    pub(crate) file: &'a str,
    /// Its path inside the resource's folder, as it was given to [`Resource::add`].
    pub(crate) path: &'a str,
    /// Its text.
    pub(crate) source: &'a str,
    /// What it was compiled to.
    pub(crate) ast: &'a AST,
}

/// Checks a file; the faults come in the order of their places.
pub(crate) fn lint(script: &Script<'_>, api: &Api, resource: &Resource) -> Vec<ScriptFault> {
    let facts = Facts::of(script.ast);
    let mut findings = Findings {
        file: script.file,
        faults: Vec::new(),
    };
    check_top_level(&facts, &mut findings);
    let aliases = check_imports(&facts, resource, &mut findings);
    calls::check(&facts, script.path, api, resource, &aliases, &mut findings);
    if script.path == MAIN_FILE {
        check_handlers(script, &facts, api, resource, &mut findings);
    }
    findings.faults.sort();
    findings.faults.dedup();
    findings.faults
}

/// The file, inside the resource's folder, that an `import` means. Paths start at the folder, whichever file imports,
/// and may leave `.rhai` out.
///
/// # Errors
/// In words, when the path does not stay inside the folder.
pub(crate) fn import_target(path: &str) -> Result<String, String> {
    let plain = !path.is_empty() && !path.contains(['\\', ':', '\0']);
    let inside = path
        .split('/')
        .all(|part| !part.is_empty() && part != "." && part != "..");
    if !plain || !inside {
        return Err(format!(
            "an import names a file inside the resource's folder, such as `import \"lib/teams\" as teams;`, not \"{}\"",
            path.escape_debug()
        ));
    }
    let name = path.strip_suffix(".rhai").unwrap_or(path);
    Ok(format!("{name}.rhai"))
}

/// An import, and the file it means.
#[derive(Clone, Debug)]
pub(crate) struct ImportPlace {
    pub(crate) target: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// What a file imports, as far as it stays inside the folder.
pub(crate) fn imports(ast: &AST) -> Vec<ImportPlace> {
    let number = |value: Option<usize>| value.and_then(|value| u32::try_from(value).ok()).unwrap_or(0);
    Facts::of(ast)
        .imports
        .iter()
        .filter_map(|import| {
            Some(ImportPlace {
                target: import_target(import.path.as_deref()?).ok()?,
                line: number(import.position.line()),
                column: number(import.position.position()),
            })
        })
        .collect()
}

/// Faults as they are found in a file.
struct Findings<'a> {
    file: &'a str,
    faults: Vec<ScriptFault>,
}

impl Findings<'_> {
    fn add(&mut self, position: Position, problem: String) {
        let number = |value: Option<usize>| value.and_then(|value| u32::try_from(value).ok());
        self.faults.push(ScriptFault {
            file: self.file.to_owned(),
            line: number(position.line()).unwrap_or(0),
            column: number(position.position()).unwrap_or(0),
            problem,
        });
    }
}

fn check_top_level(facts: &Facts, findings: &mut Findings<'_>) {
    for (position, kind) in &facts.top_level {
        let problem = match kind {
            TopLevel::Let(name) => format!(
                "functions cannot see `let {name}` here: use `state.{name}` for what changes, `const {name}` for what \
                 does not"
            ),
            TopLevel::Statement => {
                "this would run while the file is loaded: put it into a function, such as `fn resource_start()`"
                    .to_owned()
            }
        };
        findings.add(*position, problem);
    }
    if !facts.variables.contains(facts::STATE) {
        for position in &facts.state_assignments {
            let problem =
                "`state` itself cannot be replaced: set its keys, `state.score = 0`, or `state.clear()`";
            findings.add(*position, problem.to_owned());
        }
    }
}

/// Checks what is imported, and answers with the file behind each alias; `None` for one that does not exist.
fn check_imports<'r>(
    facts: &Facts,
    resource: &'r Resource,
    findings: &mut Findings<'_>,
) -> BTreeMap<String, Option<&'r Arities>> {
    let mut aliases = BTreeMap::new();
    for import in &facts.imports {
        let mut functions = None;
        let target = match &import.path {
            Some(path) => import_target(path),
            None => Err("the path of an import must be a plain string".to_owned()),
        };
        match target {
            Err(problem) => findings.add(import.position, problem),
            Ok(target) => {
                functions = resource.files.get(&target);
                if functions.is_none() {
                    let mend = did_you_mean(&target, resource.files.keys().map(String::as_str));
                    let problem =
                        format!("there is no file `{target}` in this resource, or it does not parse{mend}");
                    findings.add(import.position, problem);
                }
            }
        }
        aliases.insert(import.alias.clone(), functions);
    }
    aliases
}

/// How alike a function's name must be to a handler's for it to be taken for one.
const HANDLER_LIKENESS: f64 = 0.85;

fn check_handlers(
    script: &Script<'_>,
    facts: &Facts,
    api: &Api,
    resource: &Resource,
    findings: &mut Findings<'_>,
) {
    let Some(own) = resource.files.get(script.path) else {
        return;
    };
    for (name, arities) in own {
        if let Some(parameters) = api.handlers.get(name) {
            if !arities.contains(&parameters.len()) {
                let problem = format!(
                    "the handler is `{name}({})`, with {}",
                    parameters.join(", "),
                    count(parameters.len(), "parameter")
                );
                findings.add(definition(script.source, name), problem);
            }
            continue;
        }
        let used = resource.used.contains(name) || facts.private.contains(name);
        let meant = api
            .handlers
            .keys()
            .filter(|handler| !own.contains_key(*handler))
            .map(|handler| (likeness(name, handler), handler))
            .filter(|(likeness, _)| *likeness >= HANDLER_LIKENESS)
            .max_by(|left, right| left.0.total_cmp(&right.0));
        if let (false, Some((_, handler))) = (used, meant) {
            let problem = format!("nothing calls `{name}`; did you mean the handler `{handler}`?");
            findings.add(definition(script.source, name), problem);
        }
    }
}

/// Where a function is defined: the place of its name.
fn definition(source: &str, name: &str) -> Position {
    for (index, line) in source.lines().enumerate() {
        let trimmed = line.trim_start();
        let trimmed = trimmed.strip_prefix("private ").unwrap_or(trimmed);
        let Some(rest) = trimmed.strip_prefix("fn ") else {
            continue;
        };
        let rest = rest.trim_start();
        if rest
            .strip_prefix(name)
            .is_some_and(|after| after.trim_start().starts_with('('))
        {
            let column = line.chars().count() - rest.chars().count() + 1;
            let number = |value: usize| u16::try_from(value).unwrap_or(0);
            return match number(index + 1) {
                0 => Position::NONE,
                line => Position::new(line, number(column)),
            };
        }
    }
    Position::NONE
}

#[cfg(test)]
mod tests;
