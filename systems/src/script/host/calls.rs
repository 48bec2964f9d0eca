//! One call into a resource: bounded, measured, and whatever it breaks is taken and told.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use decitick_components::script::ResourceName;
use rhai::{AST, CallFnOptions, Dynamic, EvalAltResult, FnPtr, Scope};

use super::{Host, budget::Turn, lock};
use crate::script::{
    desk::Desk,
    fault::{self, CallLimits, Described},
    fuse::Cut,
    instance::Instance,
};

/// What is called.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    Handler(&'a str),
    Callback(&'a FnPtr),
}

impl<'a> Target<'a> {
    fn word(self) -> &'a str {
        match self {
            Self::Handler(name) => name,
            Self::Callback(callback) if callback.is_anonymous() => "a closure",
            Self::Callback(callback) => callback.fn_name(),
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// There is no time left in this tick, or no such resource.
    NotNow,
    /// The script failed, and the log says how.
    Failed,
}

impl Host {
    /// Calls a handler or a callback of a resource. Its arguments are made, and its answer is handed to `read`, while
    /// both count as the resource's memory: a resource that keeps what it is given pays for it.
    pub(super) fn call<T>(
        &mut self,
        name: &ResourceName,
        turn: Turn,
        target: Target<'_>,
        arguments: impl FnOnce() -> Vec<Dynamic>,
        read: impl FnOnce(&Dynamic, &Desk) -> Result<T, String>,
    ) -> Result<T, Failure> {
        let share = self.budget.share(turn).ok_or(Failure::NotNow)?;
        let Some(instance) = self.instances.get_mut(name) else {
            return Err(Failure::NotNow);
        };
        if !instance.begun && !matches!(target, Target::Handler("resource_start")) {
            return Err(Failure::NotNow);
        }
        let limits = limits_of(&self.settings);
        let time = share.min(limits.time);
        let room = i64::try_from(limits.memory)
            .unwrap_or(i64::MAX)
            .saturating_sub(instance.held);
        lock(&self.toolkit.desk).caller = Some(name.clone());
        self.toolkit.fuse.arm(limits.operations, time, room);
        let fuse = &self.toolkit.fuse;
        let outcome = guarded(|| run(instance, target, arguments()));
        let answer = outcome.as_ref().ok().map(|value| {
            let desk = lock(&self.toolkit.desk);
            let before = fuse.growth();
            let answer = read(value, &desk);
            // What was read is the server's.
            fuse.forgive(fuse.growth().saturating_sub(before));
            answer
        });
        let error = outcome.err();
        let spent = fuse.disarm();
        lock(&self.toolkit.desk).caller = None;
        self.budget.spend(spent.time);
        instance.held = instance.held.saturating_add(spent.memory).max(0);
        instance.figures.note(spent.time);
        if error.is_some() || matches!(answer, Some(Err(_))) {
            instance.figures.errors += 1;
        }
        match (error, answer) {
            (None, Some(Ok(value))) => Ok(value),
            (None, Some(Err(problem))) => {
                let began = fuse.now();
                let file = instance.program.main().and_then(AST::source).unwrap_or_default();
                let (place, problem) = (file.to_owned(), format!("{file}: {problem}"));
                self.tell_of(name, &place, &problem, &[]);
                self.spend_since(began);
                Err(Failure::Failed)
            }
            (Some(error), _) => {
                // Finding the words takes its time too, and who fails all the time pays for that.
                let began = fuse.now();
                let cut_limits = CallLimits { time, ..limits };
                let mut described = fault::describe(&error, name.as_str(), &instance.names, &cut_limits);
                if described.fault.line == 0 {
                    // The engine forgets where a limit ended a call; at least it is known what was called.
                    described.fault.problem = format!("{}: {}", target.word(), described.fault.problem);
                }
                // Dropping what an error carries can free a lot; it is the resource's too.
                let before = fuse.gauge();
                drop(error);
                let change = fuse.gauge().saturating_sub(before);
                instance.held = instance.held.saturating_add(change).max(0);
                self.after_failure(name, &described, spent.time);
                self.spend_since(began);
                Err(Failure::Failed)
            }
            (None, None) => Err(Failure::Failed),
        }
    }

    /// Takes from the budget what went by since.
    pub(super) fn spend_since(&mut self, began: Duration) {
        let passed = self.toolkit.fuse.now().saturating_sub(began);
        self.budget.spend(passed);
    }

    /// Tells of a failure, and pauses who uses too much too often.
    fn after_failure(&mut self, name: &ResourceName, described: &Described, time: Duration) {
        self.tell_of_fault(name, described);
        let counts = match described.cut {
            // The engine waits for a value that is in use, fails by itself, and has taken the time all the same.
            None => time >= limits_of(&self.settings).time,
            Some(Cut::Time) => self.budget.was_fair(time) || time >= limits_of(&self.settings).time,
            Some(Cut::Operations | Cut::Memory) => true,
        };
        if !counts {
            return;
        }
        let now = self.now();
        let Some(instance) = self.instances.get_mut(name) else {
            return;
        };
        if instance.overran(now) && !instance.paused {
            instance.paused = true;
            tracing::error!(
                resource = name.as_str(),
                reason = "script_paused",
                "the resource was stopped for using too much five times in a minute and is paused; mend it, then type: resource restart {name}"
            );
        }
    }
}

/// The limits of one call.
pub(super) fn limits_of(settings: &decitick_components::settings::ScriptSettings) -> CallLimits {
    CallLimits {
        operations: settings.operations_per_call,
        time: Duration::from_millis(u64::from(settings.milliseconds_per_call)),
        memory: u64::from(settings.memory_mib) << 20,
    }
}

/// A panic of the engine is the script's error, and never the server's end. What it left half done is the resource's
/// own; a resource that panics the engine again and again is paused like one that uses too much.
pub(super) fn guarded<T>(
    call: impl FnOnce() -> Result<T, Box<EvalAltResult>>,
) -> Result<T, Box<EvalAltResult>> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        let words =
            "the script engine failed here; this is a fault of the server, please report it with the script";
        Err(EvalAltResult::ErrorSystem(words.to_owned(), String::new().into()).into())
    })
}

fn run(
    instance: &Instance,
    target: Target<'_>,
    mut arguments: Vec<Dynamic>,
) -> Result<Dynamic, Box<EvalAltResult>> {
    let nothing = AST::empty();
    match target {
        Target::Handler(handler) => {
            let mut scope = Scope::new();
            let options = CallFnOptions::new().eval_ast(false).in_all_namespaces(true);
            instance
                .engine
                .call_fn_with_options(options, &mut scope, &nothing, handler, arguments)
        }
        Target::Callback(callback) => {
            // A callback may leave out what it does not want to know.
            let takes = parameters_of(instance, callback);
            if let Some(takes) = takes {
                arguments.truncate(takes);
            }
            callback.call(&instance.engine, &nothing, arguments)
        }
    }
}

/// How many parameters a callback has besides those it carries along; `None` when it cannot be told.
fn parameters_of(instance: &Instance, callback: &FnPtr) -> Option<usize> {
    instance
        .program
        .scripts
        .values()
        .flat_map(AST::iter_functions)
        .find(|function| function.name == callback.fn_name())
        .map(|function| function.params.len().saturating_sub(callback.curry().len()))
}

impl crate::script::instance::Figures {
    fn note(&mut self, time: Duration) {
        self.calls += 1;
        self.time = self.time.saturating_add(time);
        self.this_second = self.this_second.saturating_add(time);
        self.this_tick = self.this_tick.saturating_add(time);
        self.longest = self.longest.max(time);
    }
}
