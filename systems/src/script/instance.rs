//! A resource that runs: its engine, its handlers, what it costs.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use decitick_components::script::{MAIN_FILE, ResourceName};
use rhai::{AST, Dynamic, Engine, EvalAltResult, Module, ModuleResolver, Position, Scope, Shared};

use super::{
    api::{HANDLERS, Toolkit},
    compile::Program,
    fault::Names,
    lint,
    state::State,
};

/// What a resource cost since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Calls of handlers and callbacks.
    pub calls: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Time of all calls together.
    pub time: Duration,
    /// The longest call.
    pub longest: Duration,
    /// Time in the last full second.
    pub last_second: Duration,
    /// Time in the second that runs.
    pub this_second: Duration,
    /// Time in the tick that runs, or was the last.
    pub this_tick: Duration,
}

/// A resource that runs, or is paused.
pub(crate) struct Instance {
    pub name: ResourceName,
    /// Counts instances over all resources: what was asked for by one is not answered to the next.
    pub number: u64,
    pub program: Program,
    pub engine: Engine,
    handlers: BTreeSet<&'static str>,
    pub paused: bool,
    /// Whether `resource_start` had its turn; nothing else is called before.
    pub begun: bool,
    /// The names for the words of its errors.
    pub names: Arc<Names>,
    /// Bytes that its values hold.
    pub held: i64,
    /// When it was stopped for using too much, in the last minute.
    pub overruns: VecDeque<Duration>,
    pub figures: Figures,
    /// Time of ticks that `tick` was not called for.
    pub unticked: Duration,
}

/// The scripts of a program, evaluated: constants have their values, imports are there.
pub(crate) struct Loaded {
    pub engine: Engine,
    /// What each script defines, the main script last.
    pub modules: Vec<Shared<Module>>,
}

/// Evaluates a program. `state` is the map its functions will see.
///
/// # Errors
/// What the scripts say: a constant or an import failed.
pub(crate) fn evaluate(
    toolkit: &Toolkit,
    program: &Program,
    state: &State,
) -> Result<Loaded, Box<EvalAltResult>> {
    let mut engine = toolkit.engine();
    super::compile::prepare(&mut engine);
    see_state(&mut engine, state);
    let folder = Arc::new(Folder::new(program));
    engine.set_module_resolver(Imports(Arc::clone(&folder)));
    let mut modules = Vec::new();
    for path in program.scripts.keys().filter(|path| *path != MAIN_FILE) {
        modules.push(folder.resolve(&engine, None, path, Position::NONE)?);
    }
    let main = program.main().cloned().unwrap_or_else(AST::empty);
    let main = Module::eval_ast_as_new(Scope::new(), &main, &engine)?;
    modules.push(main.into());
    Ok(Loaded { engine, modules })
}

/// Lets every function of the engine see the resource's map under the name `state`.
fn see_state(engine: &mut Engine, state: &State) {
    let state = Dynamic::from(state.clone());
    #[expect(
        deprecated,
        reason = "the callback is not deprecated, it is marked as one that may change"
    )]
    engine.on_var(move |name, _, _| Ok((name == "state").then(|| state.clone())));
}

impl Instance {
    pub(crate) fn new(number: u64, program: Program, loaded: Loaded, names: Arc<Names>) -> Self {
        let Loaded { mut engine, modules } = loaded;
        let defined: BTreeSet<(String, usize)> = program
            .main()
            .into_iter()
            .flat_map(AST::iter_functions)
            .map(|function| (function.name.to_owned(), function.params.len()))
            .collect();
        let handlers = HANDLERS
            .iter()
            .filter(|handler| defined.contains(&(handler.name.to_owned(), handler.params.len())))
            .map(|handler| handler.name)
            .collect();
        // A closure is found by its name wherever it is called from, so those of imported scripts must be there too. What
        // is registered last is found first.
        for module in modules {
            engine.register_global_module(module);
        }
        Self {
            name: program.resource.clone(),
            number,
            program,
            engine,
            handlers,
            paused: false,
            begun: true,
            names,
            held: 0,
            overruns: VecDeque::new(),
            figures: Figures::default(),
            unticked: Duration::ZERO,
        }
    }

    /// Whether it has this handler, running or not.
    pub(crate) fn has(&self, handler: &str) -> bool {
        self.handlers.contains(handler)
    }

    /// Whether this handler is to be called.
    pub(crate) fn answers(&self, handler: &str) -> bool {
        !self.paused && self.has(handler)
    }

    /// It used too much once more; whether that was once too often.
    pub(crate) fn overran(&mut self, now: Duration) -> bool {
        const MOST: usize = 5;
        const WITHIN: Duration = Duration::from_secs(60);
        self.overruns.retain(|at| now.saturating_sub(*at) < WITHIN);
        self.overruns.push_back(now);
        self.overruns.len() >= MOST
    }
}

/// Imports reach the scripts of the resource and nothing else.
struct Folder {
    scripts: Arc<BTreeMap<String, AST>>,
    made: Mutex<BTreeMap<String, Shared<Module>>>,
    /// What is being evaluated, outermost first: importing it again would never end.
    open: Mutex<Vec<String>>,
}

impl Folder {
    fn new(program: &Program) -> Self {
        Self {
            scripts: Arc::clone(&program.scripts),
            made: Mutex::default(),
            open: Mutex::default(),
        }
    }
}

/// The folder as the engine asks for it.
struct Imports(Arc<Folder>);

impl ModuleResolver for Imports {
    fn resolve(
        &self,
        engine: &Engine,
        source: Option<&str>,
        path: &str,
        position: Position,
    ) -> Result<Shared<Module>, Box<EvalAltResult>> {
        self.0.resolve(engine, source, path, position)
    }
}

impl ModuleResolver for Folder {
    fn resolve(
        &self,
        engine: &Engine,
        _source: Option<&str>,
        path: &str,
        position: Position,
    ) -> Result<Shared<Module>, Box<EvalAltResult>> {
        let file = lint::import_target(path)
            .map_err(|problem| EvalAltResult::ErrorRuntime(problem.into(), position))?;
        let missing = || EvalAltResult::ErrorModuleNotFound(path.to_owned(), position);
        if let Some(module) = self
            .made
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&file)
        {
            return Ok(Shared::clone(module));
        }
        let script = self.scripts.get(&file).ok_or_else(missing)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.contains(&file) {
            return Err(EvalAltResult::ErrorRuntime(
                format!("import cycle: {file} imports itself").into(),
                position,
            )
            .into());
        }
        open.push(file.clone());
        drop(open);
        let made = Module::eval_ast_as_new(Scope::new(), script, engine);
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|other| *other != file);
        let module: Shared<Module> = made?.into();
        self.made
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(file, Shared::clone(&module));
        Ok(module)
    }
}
