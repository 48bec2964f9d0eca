//! Resources come, are replaced and go. Whatever one had goes with it: timers, entities, zones, what it kept with players.

use std::sync::Arc;

use decitick_components::{
    requests::{ThingRequest, ZoneRequest},
    script::{ResourceName, ScriptFault, ScriptWork},
};

use super::{
    Failure, Host,
    budget::Turn,
    calls::{Target, guarded, limits_of},
    events::Pending,
    lock,
    presence::close_views,
};
use crate::script::{
    api::OF_SCRIPTS,
    compile,
    desk::{Desk, Office},
    fault, instance,
    instance::Instance,
    loading::{LoadCause, LoadedResource, PreparedResource},
    state::State,
};

impl Host {
    /// Asks for a resource to be read, for a console request that waits or for nobody.
    pub(crate) fn load(&mut self, name: &ResourceName, asker: Option<u64>) {
        self.loading.insert(name.clone(), asker);
        let work = ScriptWork::Load(name.clone());
        lock(&self.toolkit.desk).wishes.work.push(work);
    }

    /// Whether a resource is there, running or paused.
    pub(crate) fn is_started(&self, name: &ResourceName) -> bool {
        self.instances.contains_key(name)
    }

    /// Whether a resource is being read.
    pub(crate) fn is_loading(&self, name: &ResourceName) -> bool {
        self.loading.contains_key(name)
    }

    /// Takes a resource that was read: it starts, or replaces the one that runs, or its faults are told.
    pub(crate) fn take(&mut self, loaded: LoadedResource) {
        if loaded.cause == LoadCause::FilesChanged {
            self.take_files(loaded);
            return;
        }
        let asker = self.loading.remove(&loaded.name).flatten();
        let LoadedResource { name, cause, result } = loaded;
        self.parked.retain(|parked| parked.name != name);
        let prepared = match result {
            Ok(prepared) => prepared,
            Err(faults) => {
                self.tell_faults(&name, &faults);
                let text = faults.iter().map(ToString::to_string).collect::<Vec<_>>();
                self.settle(asker, Err(text.join("\n")));
                return;
            }
        };
        let missing: Vec<ResourceName> = prepared
            .program
            .manifest
            .needs
            .iter()
            .filter_map(|need| ResourceName::parse(need))
            .filter(|need| !self.is_started(need))
            .collect();
        if missing.is_empty() {
            let outcome = self.start(&name, *prepared);
            self.settle(asker, outcome);
            self.start_parked();
            return;
        }
        for need in missing {
            tracing::info!(
                resource = name.as_str(),
                needs = need.as_str(),
                "waits for a resource that it needs"
            );
            if !self.is_loading(&need) && !self.parked.iter().any(|parked| parked.name == need) {
                self.load(&need, None);
            }
        }
        self.settle(
            asker,
            Ok(format!(
                "{name} starts as soon as the resources that it needs have started"
            )),
        );
        self.parked.push(LoadedResource {
            name,
            cause,
            result: Ok(prepared),
        });
    }

    /// Whoever waited for what has started now starts too.
    fn start_parked(&mut self) {
        loop {
            let ready = self.parked.iter().position(|parked| {
                parked.result.as_ref().is_ok_and(|prepared| {
                    prepared
                        .program
                        .manifest
                        .needs
                        .iter()
                        .all(|need| self.instances.contains_key(need.as_str()))
                })
            });
            let Some(index) = ready else { return };
            let parked = self.parked.remove(index);
            if let Ok(prepared) = parked.result {
                let _ = self.start(&parked.name, *prepared);
            }
        }
    }

    /// Starts a resource, or replaces the one of its name once the new one stands.
    fn start(&mut self, name: &ResourceName, prepared: PreparedResource) -> Result<String, String> {
        let PreparedResource {
            program,
            store,
            client_files,
        } = prepared;
        let mut office = Office::new(name.clone(), program.manifest.clone());
        let evaluated = self.evaluate(&program, &office.state);
        let (loaded, held, names) = match evaluated {
            Ok(evaluated) => evaluated,
            Err(problem) => {
                let kept = if self.is_started(name) {
                    "; the version that runs is kept"
                } else {
                    ""
                };
                return Err(format!("{problem}{kept}"));
            }
        };
        let replaced = self.is_started(name);
        if replaced {
            self.release(name);
        }
        let kept = lock(&self.toolkit.desk).offices.remove(name);
        if let Some(mut kept) = kept {
            office.client_files = kept.client_files.take();
            office.take_store(kept);
        } else {
            office.fill_store(store);
        }
        let unfit = !office.manifest.auth;
        let judges = {
            let mut desk = lock(&self.toolkit.desk);
            desk.offices.insert(name.clone(), office);
            desk.facts.auth.as_ref() == Some(name)
        };
        self.publish(name, client_files);
        self.problems.remove(name);
        if !judges && !unfit {
            tracing::warn!(
                resource = name.as_str(),
                reason = "judges_nobody",
                "its manifest says auth: true, but the configuration does not name it under auth: nobody has to log in"
            );
        }
        if judges && unfit {
            let file = format!("scripts/{name}/resource.ron");
            let problem = format!(
                "{file}: the configuration names this resource under auth, but its manifest does not say auth: true; nobody can join until it does"
            );
            self.tell_of(name, &file, &problem, &[]);
        }
        self.instances_made += 1;
        let mut instance = Instance::new(self.instances_made, program, loaded, names);
        instance.held = held;
        instance.begun = !instance.has("resource_start");
        self.instances.insert(name.clone(), instance);
        if !self.order.contains(name) {
            self.order.push(name.clone());
        }
        tracing::info!(
            resource = name.as_str(),
            "{}",
            if replaced {
                "resource reloaded"
            } else {
                "resource started"
            }
        );
        self.begin(name);
        Ok(format!(
            "{name} is {}",
            if replaced { "reloaded" } else { "started" }
        ))
    }

    /// Evaluates the top level of the scripts, within the limits of a call; with the bytes it holds.
    pub(super) fn evaluate(
        &mut self,
        program: &compile::Program,
        state: &State,
    ) -> Result<(instance::Loaded, i64, Arc<fault::Names>), String> {
        let limits = limits_of(&self.settings);
        let room = i64::try_from(limits.memory).unwrap_or(i64::MAX);
        self.toolkit.fuse.arm(limits.operations, limits.time, room);
        let outcome = guarded(|| instance::evaluate(&self.toolkit, program, state));
        let spent = self.toolkit.fuse.disarm();
        self.budget.spend(spent.time);
        let mut names = self.names.as_ref().clone();
        crate::script::catalogue::add_program(&mut names, program);
        match outcome {
            Ok(loaded) => Ok((loaded, spent.memory, Arc::new(names))),
            Err(error) => {
                let described = fault::describe(&error, program.resource.as_str(), &names, &limits);
                self.tell_of_fault(&program.resource, &described);
                Err(described.fault.to_string())
            }
        }
    }

    /// Calls `resource_start`, in a later tick when this one has no time left: before anything else that waits.
    fn begin(&mut self, name: &ResourceName) {
        let Some(instance) = self.instances.get(name).filter(|instance| !instance.begun) else {
            return;
        };
        let number = instance.number;
        if !self.let_begin(name, number) {
            let after = self
                .pending
                .iter()
                .take_while(|pending| matches!(pending, Pending::Start { .. }))
                .count();
            let start = Pending::Start {
                resource: name.clone(),
                instance: number,
            };
            self.pending.insert(after, start);
        }
    }

    /// Calls `resource_start`; false when there is no time for it. Whether it fails is told by the log.
    pub(super) fn let_begin(&mut self, name: &ResourceName, number: u64) -> bool {
        let awaited = self
            .instances
            .get(name)
            .is_some_and(|instance| instance.number == number && !instance.begun);
        if !awaited {
            return true;
        }
        let handler = Target::Handler("resource_start");
        if self.call(name, Turn::Question, handler, Vec::new, |_, _| Ok(())) == Err(Failure::NotNow) {
            return false;
        }
        if let Some(instance) = self.instances.get_mut(name) {
            instance.begun = true;
        }
        true
    }

    /// Stops a resource and first those that need it; everybody who stopped.
    pub(crate) fn stop(&mut self, name: &ResourceName) -> Vec<ResourceName> {
        let mut stopped = Vec::new();
        let dependants: Vec<ResourceName> = self
            .instances
            .values()
            .filter(|instance| {
                instance
                    .program
                    .manifest
                    .needs
                    .iter()
                    .any(|need| *need == name.as_str())
            })
            .map(|instance| instance.name.clone())
            .collect();
        for dependant in dependants {
            if dependant != *name {
                stopped.extend(self.stop(&dependant));
            }
        }
        if !self.is_started(name) {
            // What could not start is waited for no longer.
            let waited = self.parked.len();
            self.parked.retain(|parked| parked.name != *name);
            if self.problems.remove(name).is_some() || self.parked.len() < waited {
                stopped.push(name.clone());
            }
            return stopped;
        }
        self.release(name);
        self.problems.remove(name);
        self.order.retain(|other| other != name);
        self.publish(name, None);
        let mut desk = lock(&self.toolkit.desk);
        desk.offices.remove(name);
        desk.wishes.work.push(ScriptWork::Close(name.clone()));
        drop(desk);
        tracing::info!(resource = name.as_str(), "resource stopped");
        stopped.push(name.clone());
        stopped
    }

    /// Stops everybody, last started first, because the server stops.
    pub(crate) fn stop_all(&mut self) {
        for name in self.order.clone().into_iter().rev() {
            self.stop(&name);
        }
    }

    /// Whoever runs under this name runs no more, and what it had in the world goes. Its office is left, for its store.
    fn release(&mut self, name: &ResourceName) {
        let answers = self
            .instances
            .get(name)
            .is_some_and(|instance| instance.answers("resource_stop"));
        if answers {
            // Whether it fails is told by the log.
            let handler = Target::Handler("resource_stop");
            let _ = self.call(name, Turn::Farewell, handler, Vec::new, |_, _| Ok(()));
        }
        self.hand_in_store(name);
        let mut desk = lock(&self.toolkit.desk);
        let mut things = Vec::new();
        let mut zones = Vec::new();
        let Desk { offices, wishes, .. } = &mut *desk;
        if let Some(office) = offices.get_mut(name) {
            // Console commands that had no turn yet are not run for somebody who is gone.
            wishes
                .console
                .retain(|line| !office.waiting.contains_key(&(line.id & !OF_SCRIPTS)));
            things.extend(std::mem::take(&mut office.things));
            zones.extend(std::mem::take(&mut office.zones));
            office.timers.clear();
            office.waiting.clear();
            office.notes.clear();
            office.state.clear();
        }
        for thing in things {
            let request = ThingRequest::Destroy(thing);
            desk.mirror.play_thing(&request);
            desk.wishes.things.push(request);
        }
        for zone in zones {
            let request = ZoneRequest::Destroy(zone);
            desk.mirror.play_zone(&request);
            desk.wishes.zones.push(request);
        }
        close_views(&mut desk, name);
        drop(desk);
        self.instances.remove(name);
    }

    pub(super) fn tell_faults(&mut self, name: &ResourceName, faults: &[ScriptFault]) {
        for fault in faults {
            let place = format!("{}:{}:{}", fault.file, fault.line, fault.column);
            self.tell_of(name, &place, &fault.to_string(), &[]);
        }
        if let Some(first) = faults.first() {
            // The others may only follow from it.
            self.problems.insert(name.clone(), first.to_string());
        }
        let kept = if self.is_started(name) {
            "the version that runs is kept"
        } else {
            "it does not run"
        };
        tracing::error!(
            resource = name.as_str(),
            reason = "script_faults",
            faults = faults.len(),
            "the resource has faults; {kept}"
        );
    }

    fn settle(&mut self, asker: Option<u64>, outcome: Result<String, String>) {
        if let Some(asker) = asker {
            self.settled.push((asker, outcome));
        }
    }
}
