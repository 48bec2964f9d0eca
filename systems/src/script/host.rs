//! The host of all resources: it starts and stops them, calls them within the budget of the tick, and takes what they
//! break. It knows no world; what it reads and leaves lies on the desk.

mod budget;
mod calls;
mod eval;
mod events;
mod happened;
mod lifecycle;
mod presence;
mod questions;
mod waits;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bevy_ecs::entity::Entity as Connection;
use decitick_components::{
    clock::Clock,
    script::{MemoryGauge, ResourceName, Stopwatch},
    settings::{ScriptSettings, Settings},
    world::WorldState,
};

use self::{budget::Budget, events::Pending};
use super::{
    api::{SharedDesk, Toolkit},
    desk::{Desk, Facts},
    fault::{Described, Names},
    fuse::Fuse,
    instance::{Figures, Instance},
    loading::LoadedResource,
    mirror::Mirror,
};

pub(crate) use calls::Failure;
pub(crate) use events::is_pickup;
pub(crate) use happened::Happened;

/// Calls that may wait for the next tick; beyond it the newest are lost.
const MOST_PENDING: usize = 20_000;

/// A line of chat that no resource swallowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spoken {
    pub connection: Connection,
    pub text: String,
}

/// What became of a console command that had to wait.
pub(crate) type Settled = (u64, Result<String, String>);

/// The host.
pub(crate) struct Host {
    toolkit: Toolkit,
    settings: ScriptSettings,
    names: Arc<Names>,
    instances: BTreeMap<ResourceName, Instance>,
    /// The order in which they were started, in which they are asked.
    order: Vec<ResourceName>,
    /// Resources that are being read, and which console request waits for each.
    loading: BTreeMap<ResourceName, Option<u64>>,
    /// Resources that are there but for those they need.
    parked: Vec<LoadedResource>,
    pending: VecDeque<Pending>,
    lost: u64,
    budget: Budget,
    /// Whether `tick` had to be left out in the last tick.
    owes_ticks: bool,
    spoken: Vec<Spoken>,
    settled: Vec<Settled>,
    /// The last error of each resource.
    problems: BTreeMap<ResourceName, String>,
    instances_made: u64,
    second: u64,
}

impl Host {
    pub(crate) fn new(settings: &Settings, stopwatch: Stopwatch, gauge: MemoryGauge) -> Self {
        let facts = Facts::new(settings);
        let desk = Desk::new(Mirror::new(WorldState::unknown()), facts, Clock::default());
        let toolkit = Toolkit::new(Arc::new(Mutex::new(desk)), Fuse::new(stopwatch, gauge));
        Self {
            names: Arc::new(super::catalogue::names(&toolkit.engine())),
            toolkit,
            settings: settings.scripts.clone(),
            instances: BTreeMap::new(),
            order: Vec::new(),
            loading: BTreeMap::new(),
            parked: Vec::new(),
            pending: VecDeque::new(),
            lost: 0,
            budget: Budget::new(Duration::from_millis(u64::from(
                settings.scripts.milliseconds_per_tick,
            ))),
            owes_ticks: false,
            spoken: Vec::new(),
            settled: Vec::new(),
            problems: BTreeMap::new(),
            instances_made: 0,
            second: 0,
        }
    }

    /// The desk. Nobody else holds it between calls.
    pub(crate) fn desk(&self) -> MutexGuard<'_, Desk> {
        lock(&self.toolkit.desk)
    }

    /// A new tick has a new budget.
    pub(crate) fn begin_tick(&mut self, clock: &Clock, key: Option<[u8; 16]>, tickets: Option<[u8; 16]>) {
        self.budget.refill();
        let mut desk = lock(&self.toolkit.desk);
        desk.clock = *clock;
        if let Some(key) = tickets {
            desk.tickets = Some(super::random::Random::new(key));
        }
        if let Some(key) = key {
            desk.random = super::random::Random::new(key);
        }
        for office in desk.offices.values_mut() {
            office.messages = 0;
            office.wishes = 0;
            office.asked_bytes = 0;
            office.log_lines = 0;
        }
        drop(desk);
        for instance in self.instances.values_mut() {
            instance.figures.this_tick = Duration::ZERO;
        }
        let second = clock.since_start.as_secs();
        if second != self.second {
            self.second = second;
            for instance in self.instances.values_mut() {
                instance.figures.last_second = std::mem::take(&mut instance.figures.this_second);
            }
        }
    }

    /// Whether tickets may be wanted.
    pub(crate) fn issues_tickets(&self) -> bool {
        !lock(&self.toolkit.desk).facts.providers.is_empty()
    }

    /// Whether there is anything that scripts would be told.
    pub(crate) fn is_idle(&self) -> bool {
        self.instances.is_empty() && self.pending.is_empty()
    }

    /// Lines of chat that go on their way.
    pub(crate) fn take_spoken(&mut self) -> Vec<Spoken> {
        std::mem::take(&mut self.spoken)
    }

    /// Console commands that are answered now.
    pub(crate) fn take_settled(&mut self) -> Vec<Settled> {
        std::mem::take(&mut self.settled)
    }

    /// Every resource and what it cost: those that run in the order in which they were started, then those that have
    /// faults or wait for others.
    pub(crate) fn reports(&self) -> Vec<ResourceReport> {
        let running = self.order.iter().filter_map(|name| self.instances.get(name));
        let mut reports: Vec<ResourceReport> = running
            .map(|instance| ResourceReport {
                name: instance.name.to_string(),
                description: instance.program.manifest.description.clone(),
                state: if instance.paused {
                    ResourceState::Paused
                } else {
                    ResourceState::Running
                },
                figures: instance.figures,
                memory_bytes: instance.held.unsigned_abs(),
                last_error: self.problems.get(&instance.name).cloned(),
            })
            .collect();
        let waiting = self
            .parked
            .iter()
            .map(|parked| (&parked.name, ResourceState::Waiting));
        let faulty = self
            .problems
            .keys()
            .filter(|name| !self.parked.iter().any(|parked| parked.name == **name))
            .map(|name| (name, ResourceState::Faulty));
        for (name, state) in waiting.chain(faulty) {
            if !self.instances.contains_key(name) {
                reports.push(ResourceReport {
                    name: name.to_string(),
                    description: String::new(),
                    state,
                    figures: Figures::default(),
                    memory_bytes: 0,
                    last_error: self.problems.get(name).cloned(),
                });
            }
        }
        reports
    }

    fn tell_of_fault(&mut self, name: &ResourceName, described: &Described) {
        let fault = &described.fault;
        let place = format!("{}:{}:{}", fault.file, fault.line, fault.column);
        self.tell_of(name, &place, &fault.to_string(), &described.chain);
    }

    /// One line of the log for one failure; the last of each resource is remembered. What comes again from the same place
    /// is counted and not told.
    fn tell_of(&mut self, name: &ResourceName, place: &str, problem: &str, chain: &[String]) {
        let shown = decitick_protocol::escape_for_display(problem, 1_000);
        let calls = decitick_protocol::escape_for_display(&chain.join(", "), 1_000);
        if calls.is_empty() {
            tracing::error!(
                resource = name.as_str(),
                place,
                reason = "script_error",
                "{shown}"
            );
        } else {
            tracing::error!(
                resource = name.as_str(),
                place,
                reason = "script_error",
                calls,
                "{shown}"
            );
        }
        self.problems.insert(name.clone(), shown);
    }

    fn now(&self) -> Duration {
        lock(&self.toolkit.desk).clock.since_start
    }
}

/// A resource and what it cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceReport {
    /// Its name.
    pub name: String,
    /// What its manifest says it is.
    pub description: String,
    /// Whether it runs.
    pub state: ResourceState,
    /// Calls, errors and time since it was started or reloaded.
    pub figures: Figures,
    /// Bytes that its values hold.
    pub memory_bytes: u64,
    /// The last error or fault, as the log has it.
    pub last_error: Option<String>,
}

/// How a resource stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceState {
    /// It runs.
    Running,
    /// It used too much too often, and is called no more until it is restarted.
    Paused,
    /// It is there but for resources that it needs.
    Waiting,
    /// Its files have faults; nothing of it runs.
    Faulty,
}

impl ResourceState {
    /// Its name, as consoles show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Waiting => "waiting",
            Self::Faulty => "faulty",
        }
    }
}

/// A poisoned lock is taken all the same: what panicked was our own code, and the server ends for it.
fn lock(desk: &SharedDesk) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}
