//! Expressions of the operator, run as a resource would run them or as the console's own.

use std::sync::Arc;

use decitick_components::script::ResourceName;
use rhai::{Dynamic, Module, Scope};

use super::{
    Host,
    budget::Turn,
    calls::{guarded, limits_of},
    lock,
};
use crate::script::{compile, desk::Office, fault, instance::Instance};

impl Host {
    /// Runs one expression for the operator, within the limits of a call; its value as text.
    /// `@race state.round` runs it as the resource `race` would.
    pub(crate) fn eval(&mut self, text: &str) -> Result<String, String> {
        let Some(within) = text.strip_prefix('@') else {
            self.be_there_for_the_console()?;
            return self.eval_as(&ResourceName::of_console(), text);
        };
        let (word, text) = within.split_once(' ').unwrap_or((within, ""));
        let name = ResourceName::parse(word)
            .filter(|name| self.is_started(name))
            .ok_or_else(|| {
                format!("no resource of the name {word:?} runs; `resource list` lists those that do")
            })?;
        self.eval_as(&name, text)
    }

    /// The console has a resource of its own, which is made when it is first needed.
    fn be_there_for_the_console(&mut self) -> Result<(), String> {
        let name = ResourceName::of_console();
        let state = {
            let mut desk = lock(&self.toolkit.desk);
            let office = desk
                .offices
                .entry(name.clone())
                .or_insert_with(|| Office::new(name.clone(), Arc::default()));
            office.state.clone()
        };
        if !self.instances.contains_key(&name) {
            let program = compile::Program::empty(name.clone());
            let (loaded, _, names) = self.evaluate(&program, &state)?;
            self.instances_made += 1;
            self.instances.insert(
                name.clone(),
                Instance::new(self.instances_made, program, loaded, names),
            );
        }
        Ok(())
    }

    fn eval_as(&mut self, name: &ResourceName, text: &str) -> Result<String, String> {
        let limits = limits_of(&self.settings);
        let time = self
            .budget
            .share(Turn::Question)
            .ok_or("there is no time left in this tick; try again")?
            .min(limits.time);
        let Some(instance) = self.instances.get_mut(name) else {
            return Err("there is nobody to run it".to_owned());
        };
        let mut scope = compile::words();
        let script = instance
            .engine
            .compile_with_scope(&scope, text)
            .map_err(|error| fault::parse_fault(&error, "eval", text, &self.names).to_string())?;
        let room = i64::try_from(limits.memory)
            .unwrap_or(i64::MAX)
            .saturating_sub(instance.held);
        lock(&self.toolkit.desk).caller = Some(name.clone());
        self.toolkit.fuse.arm(limits.operations, time, room);
        let engine = &mut instance.engine;
        let outcome = guarded(|| {
            if script.has_functions() {
                // Timers and answers call its closures later, and find them where everything is found.
                let functions =
                    Module::eval_ast_as_new(Scope::new(), &script.clone_functions_only(), engine)?;
                engine.register_global_module(functions.into());
            }
            engine
                .eval_ast_with_scope::<Dynamic>(&mut scope, &script)
                .map(|value| crate::script::standard::shown(&value))
        });
        drop(scope);
        let spent = self.toolkit.fuse.disarm();
        lock(&self.toolkit.desk).caller = None;
        self.budget.spend(spent.time);
        instance.held = instance.held.saturating_add(spent.memory).max(0);
        outcome.map_err(|error| {
            let names = self.names.as_ref();
            let described = fault::describe(&error, name.as_str(), names, &limits);
            let place = match (described.fault.line, described.fault.column) {
                (0, _) => String::new(),
                (line, column) => format!("{line}:{column}: "),
            };
            format!("{place}{}", described.fault.problem)
        })
    }
}
