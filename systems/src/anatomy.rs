//! How long each system of a tick takes, and what made a tick slow.
//!
//! When every plugin is there, each system of the [`Tick`] schedule is wrapped into one that looks at the stopwatch before
//! and after: also those of other people's plugins. What a system takes lies in an atomic of its own, so that nothing is
//! locked or allocated in a tick; [`settle_tick`] gathers them when the tick is over. This module knows no clock: the
//! [`Stopwatch`] is the shell's, and the one that stands still measures nothing.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use bevy_app::{App, Plugin};
use bevy_ecs::{
    resource::Resource,
    schedule::{ApplyDeferred, Schedule, Schedules, SystemKey, SystemSet, SystemWithAccess},
    system::{Adapt, AdapterSystem, IntoSystem, RunSystemError, System, SystemIn},
    world::World,
};
use decitick_components::{
    anatomy::{SlowTick, SystemTimes, TickAnatomy, is_slow},
    clock::Clock,
    liveness::Traffic,
    script::Stopwatch,
    session::SlotTable,
    tally::TickTimes,
};

use crate::{
    script::ScriptHost,
    tick::{Tick, TickSystems},
};

/// Times every system of a tick.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnatomyPlugin;

impl Plugin for AnatomyPlugin {
    fn build(&self, _app: &mut App) {}

    /// Later than [`Plugin::finish`]: the systems that other plugins add there are measured too. What is added after it is
    /// not, and shows between the systems.
    fn cleanup(&self, app: &mut App) {
        measure(app.world_mut());
    }
}

/// What one system took in the tick that runs.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    nanoseconds: AtomicU64,
    runs: AtomicU64,
}

impl Slot {
    fn add(&self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Relaxed);
        self.runs.fetch_add(1, Relaxed);
    }

    fn take(&self) -> (Duration, u64) {
        let nanoseconds = self.nanoseconds.swap(0, Relaxed);
        (Duration::from_nanos(nanoseconds), self.runs.swap(0, Relaxed))
    }
}

/// The slots of all systems, in their order.
#[derive(Resource, Clone, Debug)]
pub(crate) struct Slots(Arc<[Arc<Slot>]>);

/// Looks at the stopwatch before and after a system.
struct Timer {
    slot: Arc<Slot>,
    stopwatch: fn() -> Duration,
}

impl<S: System<In = (), Out = ()>> Adapt<S> for Timer {
    type In = ();
    type Out = ();

    fn adapt(
        &mut self,
        input: (),
        run_system: impl FnOnce(SystemIn<'_, S>) -> Result<(), RunSystemError>,
    ) -> Result<(), RunSystemError> {
        let started = (self.stopwatch)();
        let result = run_system(input);
        self.slot.add((self.stopwatch)().saturating_sub(started));
        result
    }
}

fn measure(world: &mut World) {
    let stopwatch = world.resource::<Stopwatch>().exact;
    let Some(mut schedule) = world.resource_mut::<Schedules>().remove(Tick) else {
        return;
    };
    let slots = wrap(&mut schedule, stopwatch);
    // A schedule that cannot be built is told of when it first runs, as without this plugin.
    if schedule.initialize(world).is_ok() {
        let (slots, systems): (Vec<Arc<Slot>>, Vec<SystemTimes>) =
            in_order(&schedule, &slots).into_iter().unzip();
        world.insert_resource(Slots(slots.into()));
        world.resource_mut::<TickAnatomy>().begin(systems);
    }
    world.resource_mut::<Schedules>().insert(schedule);
}

/// Wraps every system that was not built into the schedule yet.
fn wrap(schedule: &mut Schedule, stopwatch: fn() -> Duration) -> Vec<(SystemKey, Arc<Slot>)> {
    let systems = &mut schedule.graph_mut().systems;
    let keys: Vec<SystemKey> = systems.iter().map(|(key, ..)| key).collect();
    let mut slots = Vec::with_capacity(keys.len());
    for key in keys {
        let Some(node) = systems.get_mut(key) else {
            continue;
        };
        // The executor knows those by their type.
        if node.system_type() == std::any::TypeId::of::<ApplyDeferred>() {
            continue;
        }
        let placeholder = SystemWithAccess::new(Box::new(IntoSystem::into_system(|| {})));
        let system = std::mem::replace(node, placeholder);
        let slot = Arc::new(Slot::default());
        let timer = Timer {
            slot: Arc::clone(&slot),
            stopwatch,
        };
        let name = system.name();
        *node = SystemWithAccess::new(Box::new(AdapterSystem::new(timer, system, name)));
        slots.push((key, slot));
    }
    slots
}

/// The systems of a built schedule in the order in which they run.
fn in_order(schedule: &Schedule, slots: &[(SystemKey, Arc<Slot>)]) -> Vec<(Arc<Slot>, SystemTimes)> {
    let Ok(systems) = schedule.systems_with_access() else {
        return Vec::new();
    };
    systems
        .filter_map(|(key, system)| {
            let (_, slot) = slots.iter().find(|(wrapped, _)| *wrapped == key)?;
            let times = SystemTimes {
                name: short_name(&system.name().to_string()),
                step: step_of(schedule, key),
                ..SystemTimes::default()
            };
            Some((Arc::clone(slot), times))
        })
        .collect()
}

fn short_name(path: &str) -> String {
    let own = path
        .strip_prefix("decitick_systems::")
        .or_else(|| path.strip_prefix("decitick::"));
    own.unwrap_or(path).to_owned()
}

fn step_of(schedule: &Schedule, key: SystemKey) -> &'static str {
    let belongs = |step: TickSystems| {
        schedule
            .graph()
            .systems_in_set(step.intern())
            .is_ok_and(|members| members.contains(&key))
    };
    TickSystems::ALL
        .iter()
        .find(|&&(step, _)| belongs(step))
        .map_or("", |&(_, name)| name)
}

/// Notes what the tick that is over took, in all and system by system, and keeps it when it was slow. The runner calls it
/// after every tick.
pub fn settle_tick(world: &mut World, took: Duration) {
    let slow = is_slow(took, world.resource::<TickTimes>());
    world.resource_mut::<TickTimes>().record(took);
    let slots = world.get_resource::<Slots>().cloned();
    let slots = slots.as_ref().map_or(&[][..], |slots| &slots.0);
    let mut longest = (Duration::ZERO, None);
    let mut anatomy = world.resource_mut::<TickAnatomy>();
    let figures = slots.iter().enumerate().map(|(index, slot)| {
        let (took, runs) = slot.take();
        if took > longest.0 {
            longest = (took, Some(index));
        }
        (took, runs)
    });
    anatomy.record(took, figures);
    if !slow {
        return;
    }
    let (longest, index) = longest;
    let system = index.and_then(|index| anatomy.systems.get(index));
    let system = system.unwrap_or(&anatomy.between).name.clone();
    let clock = *world.resource::<Clock>();
    let tick = SlowTick {
        tick: clock.tick,
        unix_seconds: clock.unix_seconds(),
        took,
        system: (system, if index.is_some() { longest } else { took }),
        resource: costliest_resource(world),
        connection: busiest_connection(world, clock.tick),
    };
    world.resource_mut::<TickAnatomy>().keep_slow(tick);
}

/// The gamemode that took most of the last tick.
fn costliest_resource(world: &World) -> Option<(String, Duration)> {
    world
        .get_resource::<ScriptHost>()?
        .reports()
        .into_iter()
        .map(|report| (report.name, report.figures.this_tick))
        .filter(|(_, took)| !took.is_zero())
        .max_by_key(|(_, took)| *took)
}

/// The connection from which most datagrams came in this tick.
fn busiest_connection(world: &World, tick: u64) -> Option<(u16, u32)> {
    world
        .resource::<SlotTable>()
        .iter()
        .filter_map(|(id, entity)| {
            let (last, count) = world.get::<Traffic>(entity)?.last_tick;
            (last == tick).then_some((id.0, count))
        })
        .max_by_key(|&(_, count)| count)
}
