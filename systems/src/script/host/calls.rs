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
pub(super) enum Target<'a> {
    Handler(&'a str),
    Callback(FnPtr),
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
    /// Calls a handler or a callback of a resource. The answer is handed to `read` while it still counts as the
    /// resource's memory.
    pub(super) fn call<T>(
        &mut self,
        name: &ResourceName,
        turn: Turn,
        target: Target<'_>,
        arguments: Vec<Dynamic>,
        read: impl FnOnce(&Dynamic, &Desk) -> Result<T, String>,
    ) -> Result<T, Failure> {
        let share = self.budget.share(turn).ok_or(Failure::NotNow)?;
        let Some(instance) = self.instances.get_mut(name) else {
            return Err(Failure::NotNow);
        };
        let limits = limits_of(&self.settings);
        let time = share.min(limits.time);
        let room = i64::try_from(limits.memory)
            .unwrap_or(i64::MAX)
            .saturating_sub(instance.held);
        lock(&self.toolkit.desk).caller = Some(name.clone());
        self.toolkit.fuse.arm(limits.operations, time, room);
        let outcome = guarded(|| run(instance, target, arguments));
        let answer = outcome.as_ref().ok().map(|value| {
            let desk = lock(&self.toolkit.desk);
            read(value, &desk)
        });
        let error = outcome.err();
        let spent = self.toolkit.fuse.disarm();
        lock(&self.toolkit.desk).caller = None;
        self.budget.spend(spent.time);
        instance.held = instance.held.saturating_add(spent.memory).max(0);
        instance.figures.note(spent.time);
        let file = instance
            .program
            .main()
            .and_then(AST::source)
            .unwrap_or_default()
            .to_owned();
        if error.is_some() || matches!(answer, Some(Err(_))) {
            instance.figures.errors += 1;
        }
        match (error, answer) {
            (None, Some(Ok(value))) => Ok(value),
            (None, Some(Err(problem))) => {
                self.tell_of(name, &format!("{file}: {problem}"), &[]);
                Err(Failure::Failed)
            }
            (Some(error), _) => {
                let cut_limits = CallLimits { time, ..limits };
                let described = fault::describe(&error, name.as_str(), &self.names_of(name), &cut_limits);
                // Dropping what an error carries can free a lot; it is the resource's too.
                drop(error);
                self.after_failure(name, &described, spent.time);
                Err(Failure::Failed)
            }
            (None, None) => Err(Failure::Failed),
        }
    }

    fn names_of(&self, name: &ResourceName) -> fault::Names {
        let mut names = self.names.as_ref().clone();
        if let Some(instance) = self.instances.get(name) {
            crate::script::catalogue::add_program(&mut names, &instance.program);
        }
        names
    }

    /// Tells of a failure, and pauses who uses too much too often.
    fn after_failure(&mut self, name: &ResourceName, described: &Described, time: Duration) {
        self.tell_of(name, &described.fault.to_string(), &described.chain);
        let counts = match described.cut {
            None => false,
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
            let takes = parameters_of(instance, &callback);
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
        .flat_map(|script| script.iter_functions())
        .find(|function| function.name == callback.fn_name())
        .map(|function| function.params.len().saturating_sub(callback.curry().len()))
}

impl crate::script::instance::Figures {
    fn note(&mut self, time: Duration) {
        self.calls += 1;
        self.time = self.time.saturating_add(time);
        self.this_second = self.this_second.saturating_add(time);
        self.longest = self.longest.max(time);
    }
}
