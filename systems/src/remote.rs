//! Questions of programs about the running world are answered, by reflection of what is registered for it and of
//! nothing else. It knows no transport (docs/remote.md).
//!
//! A tick answers within a budget: what does not fit waits for the next one, and a long query is answered piece by piece.
//! When nobody asks, nothing runs.

mod json;
mod live;
mod query;
mod schema;
mod types;
mod watch;

use std::{collections::BTreeSet, time::Duration};

use bevy_app::{App, Plugin};
use bevy_ecs::{
    change_detection::Mut,
    reflect::AppTypeRegistry,
    resource::Resource,
    schedule::{IntoScheduleConfigs, Schedules},
    system::Res,
    world::World,
};
use bevy_reflect::TypeRegistry;
use decitick_components::{
    remote::{
        Asked, CommandOf, ComponentsOf, ListOf, RemoteAnswer, RemoteError, RemoteInbox, RemoteLeft,
        RemoteOutbox, RemoteQuestion, RemoteRequest, RemoteResult, ResourceOf, codes,
    },
    script::{Deadline, Stopwatch},
};

use self::{
    json::JsonText,
    live::{Board, record_health},
    query::QueryJob,
    types::{component, is_resource, shown_components, value_text},
    watch::Watch,
};
use crate::{
    console::run_reading,
    metrics::gather_metrics,
    tick::{Tick, TickSystems},
};

/// Bytes of the longest answer.
pub const ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of the longest event of a watch.
pub const EVENT_BYTES: usize = 64 * 1024;
/// Watches at once.
pub const MAX_WATCHES: usize = 16;
/// After so much time in one tick nothing more is begun.
const TIME_PER_TICK: Duration = Duration::from_millis(8);
/// Questions that are taken up in one tick.
const QUESTIONS_PER_TICK: usize = 32;
/// Values of components that are shown in one tick, about.
const VALUES_PER_TICK: usize = 4_000;
/// What a question costs of them that is answered at once.
const VALUES_OF_AN_ANSWER: usize = 64;
/// What a console command costs of them.
const VALUES_OF_A_COMMAND: usize = 500;
/// Bytes of answers that are made in one tick, about.
const BYTES_PER_TICK: usize = 512 * 1024;

/// Answers questions.
#[derive(Clone, Copy, Debug, Default)]
pub struct RemotePlugin;

impl Plugin for RemotePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<RemoteWork>().add_systems(
            Tick,
            (record_health, answer_questions.run_if(somebody_asks))
                .chain()
                .in_set(TickSystems::Inspect)
                .after(gather_metrics),
        );
    }
}

/// What goes on from tick to tick.
#[derive(Resource, Default)]
pub struct RemoteWork {
    /// A query whose answer is not complete.
    query: Option<QueryJob>,
    watches: Vec<Watch>,
    /// What viewers of the whole server are told of.
    board: Board,
}

/// What a tick may still spend.
struct Budget {
    values: usize,
    bytes: usize,
    deadline: Deadline,
}

impl Budget {
    fn is_spent(&self) -> bool {
        self.values == 0 || self.bytes == 0 || self.deadline.passed()
    }

    const fn spend(&mut self, values: usize, bytes: usize) {
        self.values = self.values.saturating_sub(values);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

fn somebody_asks(inbox: Res<'_, RemoteInbox>, left: Res<'_, RemoteLeft>, work: Res<'_, RemoteWork>) -> bool {
    !inbox.0.is_empty()
        || !left.0.is_empty()
        || work.query.is_some()
        || !work.watches.is_empty()
        || work.board.is_kept()
}

/// Answers what waits, as far as the budget of a tick goes, and tells watchers what changed.
pub fn answer_questions(world: &mut World) {
    world.resource_scope(|world, mut work: Mut<'_, RemoteWork>| {
        forget_those_who_left(world, &mut work);
        let registry = world.resource::<AppTypeRegistry>().clone();
        let registry = registry.read();
        let mut answers = Vec::new();
        tell_watchers(&mut work, world, &registry, &mut answers);
        let mut budget = Budget {
            values: VALUES_PER_TICK,
            bytes: BYTES_PER_TICK,
            deadline: world.resource::<Stopwatch>().deadline(TIME_PER_TICK),
        };
        for _ in 0..QUESTIONS_PER_TICK {
            if let Some(job) = &mut work.query {
                let Some(result) = job.go_on(world, &registry, &mut budget) else {
                    break;
                };
                answers.push(last(job.id, result));
                work.query = None;
            }
            if budget.is_spent() {
                break;
            }
            let Some(request) = world.resource_mut::<RemoteInbox>().0.pop_front() else {
                break;
            };
            if let RemoteRequest {
                id,
                asked: Asked::Once(RemoteQuestion::Command(CommandOf { command })),
            } = &request
            {
                let result = run_reading(world, command)
                    .map_err(|problem| RemoteError::new(codes::COMMAND_ERROR, problem));
                budget.spend(VALUES_OF_A_COMMAND, result.as_ref().map_or(0, String::len));
                answers.push(last(*id, result));
                continue;
            }
            if let Some(answer) = take_up(request, &mut work, world, &registry) {
                budget.spend(VALUES_OF_AN_ANSWER, answer.result.as_ref().map_or(0, String::len));
                answers.push(answer);
            }
        }
        world.resource_mut::<RemoteOutbox>().0.append(&mut answers);
    });
}

fn forget_those_who_left(world: &mut World, work: &mut RemoteWork) {
    let left = std::mem::take(&mut world.resource_mut::<RemoteLeft>().0);
    if left.is_empty() {
        return;
    }
    work.watches.retain(|watch| !left.contains(&watch.id));
    work.query.take_if(|job| left.contains(&job.id));
    world
        .resource_mut::<RemoteInbox>()
        .0
        .retain(|request| !left.contains(&request.id));
}

/// Tells everyone who watches what changed, and ends the watches that have nothing more to tell.
fn tell_watchers(
    work: &mut RemoteWork,
    world: &mut World,
    registry: &TypeRegistry,
    answers: &mut Vec<RemoteAnswer>,
) {
    let RemoteWork { watches, board, .. } = work;
    board.sample(world, watches.iter().filter_map(Watch::viewer));
    watches.retain_mut(|watch| match watch.event(world, registry, board) {
        Ok(None) => true,
        Ok(Some(event)) => {
            answers.push(RemoteAnswer {
                id: watch.id,
                result: Ok(event),
                more: true,
            });
            true
        }
        Err(error) => {
            answers.push(last(watch.id, Err(error)));
            false
        }
    });
}

const fn last(id: u64, result: RemoteResult) -> RemoteAnswer {
    RemoteAnswer {
        id,
        result,
        more: false,
    }
}

/// Answers a request, or begins what goes on.
fn take_up(
    request: RemoteRequest,
    work: &mut RemoteWork,
    world: &World,
    registry: &TypeRegistry,
) -> Option<RemoteAnswer> {
    let RemoteRequest { id, asked } = request;
    let result = match asked {
        Asked::Once(RemoteQuestion::Query(query)) => match QueryJob::new(id, query, world, registry) {
            Ok(job) => {
                work.query = Some(job);
                return None;
            }
            Err(error) => Err(error),
        },
        Asked::Once(question) => answer(&question, world, registry),
        Asked::Watch(_) if work.watches.len() >= MAX_WATCHES => Err(RemoteError::new(
            codes::BUSY,
            format!("{MAX_WATCHES} watches go on already; end one"),
        )),
        Asked::Watch(watch) => match Watch::new(id, watch, world, registry) {
            Ok(watch) => {
                work.watches.push(watch);
                return None;
            }
            Err(error) => Err(error),
        },
    };
    Some(last(id, result))
}

fn answer(question: &RemoteQuestion, world: &World, registry: &TypeRegistry) -> RemoteResult {
    match question {
        RemoteQuestion::GetComponents(of) => components(of, world, registry),
        RemoteQuestion::ListComponents(None) => Ok(json::list(&shown_components(registry))),
        RemoteQuestion::ListComponents(Some(ListOf { entity })) => {
            Ok(json::list(&types::components_of(entity.0, world, registry)?))
        }
        RemoteQuestion::GetResource(ResourceOf { resource }) => resource_value(resource, world, registry),
        RemoteQuestion::ListResources => Ok(json::list(&types::shown_resources(world, registry))),
        RemoteQuestion::Schema(filter) => schema::schema(filter, world, registry),
        RemoteQuestion::ListSchedules => Ok(schedules(world)),
        // Begun in `take_up`; run before it.
        RemoteQuestion::Query(_) | RemoteQuestion::Command(_) => Ok("[]".to_owned()),
    }
}

fn components(of: &ComponentsOf, world: &World, registry: &TypeRegistry) -> RemoteResult {
    let entity = of.entity.0;
    let held = world
        .get_entity(entity)
        .map_err(|_| RemoteError::entity_not_found(entity))?;
    let mut values = JsonText::map(ANSWER_BYTES);
    let mut errors = JsonText::map(ANSWER_BYTES);
    let mut told = BTreeSet::new();
    for path in &of.components {
        // Asking twice is answered once.
        if !told.insert(path) {
            continue;
        }
        let text = component(registry, world, path)
            .ok_or_else(|| RemoteError::unknown_component(path))
            .and_then(|known| {
                let value = known
                    .reflect
                    .reflect(held)
                    .ok_or_else(|| RemoteError::component_not_present(path, entity))?;
                value_text(value.as_partial_reflect(), registry, values.room())
                    .map_err(|fault| fault.error(codes::COMPONENT_ERROR, path, ANSWER_BYTES))
            });
        match text {
            Ok(text) => values.entry(path, &text)?,
            Err(error) if of.strict || error == RemoteError::too_large(ANSWER_BYTES) => return Err(error),
            Err(error) => errors.entry(path, &json::error(&error))?,
        }
    }
    if of.strict {
        return Ok(values.end());
    }
    let mut whole = JsonText::map(ANSWER_BYTES);
    whole.entry("components", &values.end())?;
    whole.entry("errors", &errors.end())?;
    Ok(whole.end())
}

fn resource_value(path: &str, world: &World, registry: &TypeRegistry) -> RemoteResult {
    let known = component(registry, world, path)
        .filter(|known| is_resource(known, world, registry))
        .ok_or_else(|| RemoteError::unknown_resource(path))?;
    let value = known
        .id
        .and_then(|id| world.resource_entities().get(id))
        .and_then(|entity| world.get_entity(entity).ok())
        .and_then(|entity| known.reflect.reflect(entity))
        .ok_or_else(|| RemoteError::resource_not_present(path))?;
    let text = value_text(value.as_partial_reflect(), registry, ANSWER_BYTES)
        .map_err(|fault| fault.error(codes::RESOURCE_ERROR, path, ANSWER_BYTES))?;
    let mut whole = JsonText::map(ANSWER_BYTES + 16);
    whole.entry("value", &text)?;
    Ok(whole.end())
}

/// The schedules by their labels. The one that asks is running, and so not among those that can be looked at.
fn schedules(world: &World) -> String {
    let schedules = world.resource::<Schedules>();
    let sorted = |labels: Vec<String>| {
        let mut labels = labels;
        labels.sort_unstable();
        json::list(&labels)
    };
    let there = schedules.iter().map(|(label, _)| format!("{label:?}"));
    let running = schedules.get_temporarily_removed();
    let empty = schedules.get_empty_labels();
    format!(
        r#"{{"schedule_labels":{},"unavailable_schedule_labels":{},"empty_schedule_labels":{}}}"#,
        sorted(there.collect()),
        sorted(running.iter().map(|label| format!("{label:?}")).collect()),
        sorted(empty.iter().map(|label| format!("{label:?}")).collect()),
    )
}
