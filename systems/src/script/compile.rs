//! From the text of a resource to what runs, and everything that is wrong with it. It runs nothing of the scripts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex},
};

use decitick_components::{
    clock::Clock,
    script::{MAIN_FILE, Manifest, MemoryGauge, ResourceName, ScriptBundle, ScriptFault, Stopwatch},
    settings::Settings,
    world::WorldState,
};
use rhai::{AST, Engine, OptimizationLevel, Scope};

use super::{
    api::Toolkit,
    desk::{Desk, Facts},
    fuse::Fuse,
    lint,
    mirror::Mirror,
};

/// The compiled scripts of a resource.
#[derive(Clone)]
pub struct Program {
    /// The resource.
    pub resource: ResourceName,
    /// Its manifest.
    pub manifest: Arc<Manifest>,
    /// Its scripts by their path inside the folder.
    pub(crate) scripts: Arc<BTreeMap<String, AST>>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({}, {} scripts)", self.resource, self.scripts.len())
    }
}

impl Program {
    /// A program that does nothing.
    pub(crate) fn empty(resource: ResourceName) -> Self {
        Self {
            resource,
            manifest: Arc::default(),
            scripts: Arc::default(),
        }
    }

    /// The script that is run first.
    pub(crate) fn main(&self) -> Option<&AST> {
        self.scripts.get(MAIN_FILE)
    }
}

/// Compiles a resource.
///
/// # Errors
/// Every fault of every file, in the order of the files and of their lines.
pub fn compile(bundle: &ScriptBundle) -> Result<Program, Vec<ScriptFault>> {
    let engine = compiler();
    let scope = words();
    let names = super::catalogue::names(&engine);
    let mut scripts = BTreeMap::new();
    let mut faults = Vec::new();
    if !bundle.files.contains_key(MAIN_FILE) {
        faults.push(ScriptFault {
            file: file_of(&bundle.resource, MAIN_FILE),
            line: 0,
            column: 0,
            problem: "the file is missing: a resource starts with its main.rhai".to_owned(),
        });
    }
    for (path, text) in &bundle.files {
        let file = file_of(&bundle.resource, path);
        match lint::parse_all(&engine, text, &scope, &file, &names) {
            Ok(mut ast) => {
                ast.set_source(file);
                scripts.insert(path.clone(), ast);
            }
            Err(more) => faults.extend(more),
        }
    }
    let api = super::catalogue::api(&engine);
    let mut known = lint::Resource::default();
    for (path, ast) in &scripts {
        known.add(path, ast);
    }
    for (path, ast) in &scripts {
        let script = lint::Script {
            file: &file_of(&bundle.resource, path),
            path,
            source: bundle.files.get(path).map_or("", String::as_str),
            ast,
        };
        faults.extend(lint::lint(&script, &api, &known));
    }
    faults.extend(cycles(&bundle.resource, &scripts));
    faults.extend(deaf_judge(bundle, &scripts));
    faults.sort();
    faults.dedup();
    if faults.is_empty() {
        Ok(Program {
            resource: bundle.resource.clone(),
            manifest: Arc::new(bundle.manifest.clone()),
            scripts: Arc::new(scripts),
        })
    } else {
        Err(faults)
    }
}

/// The file of a script as people name it.
pub(crate) fn file_of(resource: &ResourceName, path: &str) -> String {
    format!("scripts/{resource}/{path}")
}

/// An engine that knows every name and runs nothing.
pub(crate) fn compiler() -> Engine {
    let settings = Settings::default();
    let facts = Facts::new(&settings);
    let desk = Desk::new(Mirror::new(WorldState::unknown()), facts, Clock::default());
    let fuse = Fuse::new(Stopwatch::default(), MemoryGauge::default());
    let mut engine = Toolkit::new(Arc::new(Mutex::new(desk)), fuse).engine();
    prepare(&mut engine);
    engine
}

/// How scripts are compiled: an undeclared variable is an error, and nothing is folded away, since `state` has no value
/// yet.
pub(crate) fn prepare(engine: &mut Engine) {
    engine.set_strict_variables(true);
    engine.set_optimization_level(OptimizationLevel::None);
}

/// The variables that every script may use without declaring them.
pub(crate) fn words() -> Scope<'static> {
    let mut scope = Scope::new();
    scope.push_constant("state", ());
    scope
}

/// An auth resource that is never told of anybody would let everybody wait in vain.
fn deaf_judge(bundle: &ScriptBundle, scripts: &BTreeMap<String, AST>) -> Option<ScriptFault> {
    let main = scripts.get(MAIN_FILE).filter(|_| bundle.manifest.auth)?;
    let listens = main
        .iter_functions()
        .any(|function| function.name == "pending_connected" && function.params.len() == 1);
    (!listens).then(|| ScriptFault {
        file: file_of(&bundle.resource, MAIN_FILE),
        line: 0,
        column: 0,
        problem: "the manifest says auth: true, so there must be a fn pending_connected(pending): without it nobody ever gets in".to_owned(),
    })
}

/// Scripts that import each other in a circle, which would never end.
fn cycles(resource: &ResourceName, scripts: &BTreeMap<String, AST>) -> Vec<ScriptFault> {
    let imports: BTreeMap<&str, Vec<lint::ImportPlace>> = scripts
        .iter()
        .map(|(path, ast)| (path.as_str(), lint::imports(ast)))
        .collect();
    let mut faults = Vec::new();
    for (&path, wanted) in &imports {
        for import in wanted {
            if reaches(&imports, &import.target, path) {
                let target = &import.target;
                faults.push(ScriptFault {
                    file: file_of(resource, path),
                    line: import.line,
                    column: import.column,
                    problem: format!(
                        "import cycle: {target} imports {path} again, itself or through others; move what both need into a third file"
                    ),
                });
            }
        }
    }
    faults
}

/// Whether a script is `goal`, or imports it, itself or through others.
fn reaches(imports: &BTreeMap<&str, Vec<lint::ImportPlace>>, from: &str, goal: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(path) = open.pop() {
        if path == goal {
            return true;
        }
        if seen.insert(path)
            && let Some(wanted) = imports.get(path)
        {
            open.extend(wanted.iter().map(|import| import.target.as_str()));
        }
    }
    false
}
