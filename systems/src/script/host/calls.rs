//! One call into a resource: bounded, measured, and whatever it breaks is taken and told.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use decitick_components::script::ResourceName;
use rhai::{AST, CallFnOptions, Dynamic, EvalAltResult, FnPtr, Scope};

use super::{Host, budget::Turn, lock};
use crate::script::{
    api::SharedDesk,
    desk::Desk,
    fault::{self, CallLimits, Described},
    fuse::Cut,
    instance::Instance,
};

/// What is called.
pub(super) enum Target<'a> {
    Handler(&'a str),
    Callback(FnPtr),
    /// A timer of the resource, by its number.
    Timer(i64),
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
    /// Calls a handler or a callback of a resource. Arguments are made and the answer is read while both count as the
    /// resource's memory: what scripts free must be what they were seen to take.
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
        let limits = limits_of(&self.settings);
        let limits = CallLimits {
            time: share.min(limits.time),
            ..limits
        };
        let room = i64::try_from(limits.memory)
            .unwrap_or(i64::MAX)
            .saturating_sub(instance.held);
        let desk = &self.toolkit.desk;
        let handler = match target {
            Target::Handler(handler) => Some(handler),
            Target::Callback(_) | Target::Timer(_) => None,
        };
        lock(desk).caller = Some(name.clone());
        self.toolkit.fuse.arm(limits.operations, limits.time, room);
        let outcome = guarded(|| run(instance, desk, target, arguments()));
        let answer = match outcome {
            Ok(value) => {
                read(&value, &lock(desk)).map_err(|problem| Described::of_answer(&instance.program, problem))
            }
            Err(error) => {
                let names = names_of(&self.names, instance);
                Err(fault::describe(&error, name.as_str(), &names, &limits))
            }
        };
        let spent = self.toolkit.fuse.disarm();
        lock(desk).caller = None;
        self.budget.spend(spent.time);
        instance.held = instance.held.saturating_add(spent.memory).max(0);
        instance.figures.note(spent.time);
        if answer.is_err() {
            instance.figures.errors += 1;
        }
        answer.map_err(|mut described| {
            if let Some(handler) = handler {
                described.chain.push(format!("in {handler}"));
            }
            self.after_failure(name, &described, spent.time);
            Failure::Failed
        })
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

/// The names that the errors of a resource may suggest.
fn names_of(names: &fault::Names, instance: &Instance) -> fault::Names {
    let mut names = names.clone();
    crate::script::catalogue::add_program(&mut names, &instance.program);
    names
}

fn run(
    instance: &Instance,
    desk: &SharedDesk,
    target: Target<'_>,
    mut arguments: Vec<Dynamic>,
) -> Result<Dynamic, Box<EvalAltResult>> {
    let nothing = AST::empty();
    let callback = match target {
        Target::Handler(handler) => {
            let mut scope = Scope::new();
            let options = CallFnOptions::new().eval_ast(false).in_all_namespaces(true);
            return instance
                .engine
                .call_fn_with_options(options, &mut scope, &nothing, handler, arguments);
        }
        Target::Callback(callback) => callback,
        Target::Timer(number) => match lock(desk).go_off(&instance.name, number) {
            Some(callback) => callback,
            None => return Ok(Dynamic::UNIT),
        },
    };
    // A callback may leave out what it does not want to know.
    if let Some(takes) = parameters_of(instance, &callback) {
        arguments.truncate(takes);
    }
    callback.call(&instance.engine, &nothing, arguments)
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
        self.longest = self.longest.max(time);
    }
}
