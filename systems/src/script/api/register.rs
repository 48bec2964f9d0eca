//! The table becomes functions of an engine.

use std::{
    any::TypeId,
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use rhai::{Dynamic, Engine, EvalAltResult, FuncRegistration, Module, Position, RhaiFunc, Shared};

use super::{
    Call, Native, Owner, Param, Property,
    log::{Level, write as write_log},
    natives, properties,
};
use crate::script::{
    desk::Desk,
    fuse::{Cut, Fuse},
    standard, state,
    types::{ENTITY, Entity, Newcomer, PENDING, PLAYER, Player, ZONE, Zone},
};

/// The desk, as the functions of the API share it. Each of them holds the lock for itself alone.
pub(crate) type SharedDesk = Arc<Mutex<Desk>>;

/// Everything that the engines of all resources share.
#[derive(Clone)]
pub(crate) struct Toolkit {
    pub desk: SharedDesk,
    pub fuse: Arc<Fuse>,
    standard: Vec<Shared<Module>>,
    globals: Shared<Module>,
    modules: Vec<(&'static str, Shared<Module>)>,
}

impl Toolkit {
    pub(crate) fn new(desk: SharedDesk, fuse: Arc<Fuse>) -> Self {
        let mut globals = Module::new();
        let mut modules: BTreeMap<&'static str, Module> = BTreeMap::new();
        let bench = Bench {
            desk: &desk,
            fuse: &fuse,
        };
        for native in natives() {
            let module = match native.owner {
                Owner::Module(name) => modules.entry(name).or_default(),
                _ => &mut globals,
            };
            bench.add(native, module);
        }
        for property in properties() {
            bench.add_property(property, &mut globals);
        }
        add_comparisons(&mut globals);
        add_texts(&mut globals);
        state::add(&mut globals, &fuse);
        Self {
            standard: standard::modules(&fuse),
            desk,
            fuse,
            globals: globals.into(),
            modules: modules
                .into_iter()
                .map(|(name, module)| (name, module.into()))
                .collect(),
        }
    }

    /// An engine with the language, the standard library and the API, bounded by the fuse; nothing of a resource yet.
    pub(crate) fn engine(&self) -> Engine {
        let mut engine = Engine::new_raw();
        for module in &self.standard {
            engine.register_global_module(Shared::clone(module));
        }
        engine.register_global_module(Shared::clone(&self.globals));
        for (name, module) in &self.modules {
            engine.register_static_module(*name, Shared::clone(module));
        }
        engine
            .register_type_with_name::<Player>(PLAYER)
            .register_type_with_name::<Newcomer>(PENDING)
            .register_type_with_name::<Entity>(ENTITY)
            .register_type_with_name::<Zone>(ZONE);
        standard::configure(&mut engine);
        let desk = Arc::clone(&self.desk);
        engine.on_print(move |text| print(&desk, text));
        let desk = Arc::clone(&self.desk);
        engine.on_debug(move |text, _, _| print(&desk, text));
        let fuse = Arc::clone(&self.fuse);
        engine.on_progress(move |operations| fuse.progress(operations).map(Cut::token));
        engine
    }
}

/// `print` is `log::info`.
fn print(desk: &SharedDesk, text: &str) {
    let mut desk = desk.lock().unwrap_or_else(PoisonError::into_inner);
    write_log(&mut desk, Level::Info, text);
}

/// What a function needs besides its arguments.
struct Bench<'a> {
    desk: &'a SharedDesk,
    fuse: &'a Arc<Fuse>,
}

impl Bench<'_> {
    /// Registers a function once for each number of arguments it takes.
    fn add(&self, native: &'static Native, module: &mut Module) {
        let path: Arc<str> = native.owner.path(native.name).into();
        let most = native.params.len();
        for count in most.saturating_sub(native.optional)..=most {
            let params = native.params.get(..count).unwrap_or_default();
            let registration = FuncRegistration::new(native.name)
                .with_params_info(signature(native.owner, params, native.returns))
                .with_comments(comment(native.doc));
            let registration = match native.owner {
                Owner::Module(_) => registration.in_internal_namespace(),
                _ => registration.in_global_namespace(),
            };
            let function = self.function(
                Arc::clone(&path),
                native.params,
                native.owner,
                native.run,
                leaves_on_desk(native.returns),
            );
            registration.set_into_module_raw(module, argument_types(native.owner, count), function);
        }
    }

    fn add_property(&self, property: &'static Property, module: &mut Module) {
        const VALUE: &[Param] = &[super::param("value", "any")];
        let path: Arc<str> = property.owner.path(property.name).into();
        let read = self.function(Arc::clone(&path), &[], property.owner, property.read, false);
        FuncRegistration::new_getter(property.name)
            .with_params_info(signature(property.owner, &[], property.kind))
            .with_comments(comment(property.doc))
            .set_into_module_raw(module, argument_types(property.owner, 0), read);
        if let Some(write) = property.write {
            let write = self.function(path, VALUE, property.owner, write, true);
            // `new_setter` would say that it is impure, which the function itself says below.
            FuncRegistration::new(format!("set${}", property.name))
                .in_global_namespace()
                .with_params_info(signature(property.owner, VALUE, ""))
                .set_into_module_raw(module, argument_types(property.owner, 1), write);
        }
    }

    fn function(
        &self,
        path: Arc<str>,
        params: &'static [Param],
        owner: Owner,
        run: fn(&mut Call<'_, '_>) -> super::Outcome,
        leaves_on_desk: bool,
    ) -> RhaiFunc {
        let desk = Arc::clone(self.desk);
        let fuse = Arc::clone(self.fuse);
        let before = usize::from(owner.is_object());
        let function = move |context: Option<rhai::NativeCallContext<'_>>, args: &mut [&mut Dynamic]| {
            let growth = fuse.growth();
            let mut desk = desk.lock().unwrap_or_else(PoisonError::into_inner);
            let mut call = Call::new(&mut desk, params, args, before, &fuse);
            let outcome = run(&mut call);
            let kept = call.kept();
            drop(desk);
            if let (Ok(value), true) = (&outcome, leaves_on_desk) {
                // What it left on the desk is the server's, but for what the resource keeps there and what it gets.
                let left = fuse.growth().saturating_sub(growth);
                let given = size_of_copy(&fuse, value);
                fuse.forgive(left.saturating_sub(kept).saturating_sub(given));
            }
            let place = context.map_or(Position::NONE, |context| context.call_position());
            outcome.map_err(|problem| complaint(&path, &problem, place))
        };
        RhaiFunc::Method {
            func: Shared::new(function),
            has_context: true,
            is_pure: true,
            is_volatile: true,
        }
    }
}

/// Whether what a function allocates is, but for its small answer, left for the server: entities, messages, requests.
/// What answers with more reads, and all of it is the resource's.
fn leaves_on_desk(returns: &str) -> bool {
    matches!(returns, "" | "int" | "bool" | ENTITY | ZONE)
}

/// Bytes that a value of a few bytes holds beside itself.
fn size_of_copy(fuse: &Fuse, value: &Dynamic) -> i64 {
    let before = fuse.growth();
    let copy = value.clone();
    let size = fuse.growth().saturating_sub(before);
    drop(copy);
    size
}

/// The error that a script gets: which function, which argument, what is wrong.
fn complaint(path: &str, problem: &str, place: Position) -> Box<EvalAltResult> {
    EvalAltResult::ErrorRuntime(format!("{path}: {problem}").into(), place).into()
}

fn argument_types(owner: Owner, count: usize) -> Vec<TypeId> {
    let object = match owner {
        Owner::Player => Some(TypeId::of::<Player>()),
        Owner::Pending => Some(TypeId::of::<Newcomer>()),
        Owner::Entity => Some(TypeId::of::<Entity>()),
        Owner::Zone => Some(TypeId::of::<Zone>()),
        Owner::Global | Owner::Module(_) => None,
    };
    object
        .into_iter()
        .chain(std::iter::repeat_n(TypeId::of::<Dynamic>(), count))
        .collect()
}

/// Parameters and result for the definitions that editors read.
fn signature(owner: Owner, params: &[Param], returns: &str) -> Vec<String> {
    let object = match owner {
        Owner::Player => Some(format!("player: {PLAYER}")),
        Owner::Pending => Some(format!("pending: {PENDING}")),
        Owner::Entity => Some(format!("entity: {ENTITY}")),
        Owner::Zone => Some(format!("zone: {ZONE}")),
        Owner::Global | Owner::Module(_) => None,
    };
    object
        .into_iter()
        .chain(
            params
                .iter()
                .map(|param| format!("{}: {}", param.name, editor_type(param.kind))),
        )
        .chain([if returns.is_empty() {
            "()".to_owned()
        } else {
            editor_type(returns).to_owned()
        }])
        .collect()
}

/// The type in the words of the language.
fn editor_type(kind: &str) -> &str {
    match kind {
        "position" => "map",
        "number" | "data" | "any" | "Player or ()" => "?",
        "function" => "Fn",
        kind if kind.starts_with("array") => "array",
        kind => kind,
    }
}

fn comment(doc: &str) -> Vec<String> {
    vec![format!("/// {doc}")]
}

/// Handles that name the same are equal.
fn add_comparisons(module: &mut Module) {
    fn compare<T: PartialEq + Clone + Send + Sync + 'static>(module: &mut Module) {
        FuncRegistration::new("==")
            .in_global_namespace()
            .set_into_module(module, |a: &mut T, b: T| *a == b);
        FuncRegistration::new("!=")
            .in_global_namespace()
            .set_into_module(module, |a: &mut T, b: T| *a != b);
    }
    compare::<Player>(module);
    compare::<Newcomer>(module);
    compare::<Entity>(module);
    compare::<Zone>(module);
}

/// Handles as text are their kind and number.
fn add_texts(module: &mut Module) {
    fn add<T: Clone + Send + Sync + 'static>(module: &mut Module) {
        for name in ["to_string", "to_debug", "print", "debug"] {
            FuncRegistration::new(name)
                .in_global_namespace()
                .with_purity(true)
                .set_into_module(module, |handle: &mut T| {
                    standard::shown(&Dynamic::from(handle.clone()))
                });
        }
    }
    add::<Player>(module);
    add::<Newcomer>(module);
    add::<Entity>(module);
    add::<Zone>(module);
}
