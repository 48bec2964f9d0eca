//! Commands about gamemodes. What takes longer than a tick, such as reading a resource, is answered later.

use std::{sync::Arc, time::Duration};

use bevy_ecs::world::World;
use decitick_components::{
    console::{GrantName, ResourceAction, ResourceRow, ResourcesAnswer},
    profile::Granted,
    script::ResourceName,
    session::{PlayerId, SlotTable},
};

use super::{Answer, Asked, done, failed, nobody_has, put_answer, rendered};
use crate::script::{ResourceReport, ScriptHost};

/// What became of commands that had to wait.
pub(super) fn answer_settled(world: &mut World) {
    // A server without gamemodes has nobody who answers later.
    let Some(settled) = world.get_resource::<ScriptHost>().map(ScriptHost::take_settled) else {
        return;
    };
    for (asker, result) in settled {
        let answer = result.map_or_else(failed, done);
        put_answer(world, Asked::later(asker), &answer);
    }
}

pub(super) fn rows(world: &World) -> Vec<ResourceRow> {
    world
        .get_resource::<ScriptHost>()
        .map(ScriptHost::reports)
        .unwrap_or_default()
        .into_iter()
        .map(row)
        .collect()
}

fn row(report: ResourceReport) -> ResourceRow {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    ResourceRow {
        name: report.name,
        description: report.description,
        state: report.state.name(),
        calls: report.figures.calls,
        errors: report.figures.errors,
        ms_per_s: milliseconds(report.figures.last_second),
        longest_call_ms: milliseconds(report.figures.longest),
        memory_bytes: report.memory_bytes,
        last_error: report.last_error,
    }
}

/// `None` when the answer comes later.
pub(super) fn resource(world: &World, action: &ResourceAction, asker: u64) -> Option<Answer> {
    let host = world.resource::<ScriptHost>();
    match action {
        ResourceAction::List => {
            let answer = ResourcesAnswer {
                resources: rows(world),
            };
            Some(rendered(answer))
        }
        ResourceAction::Start(name) if host.is_started(name) => Some(failed(format!(
            "{name} runs already; `resource restart {name}` reads it again"
        ))),
        ResourceAction::Start(name) | ResourceAction::Restart(name) => {
            if host.load(name, asker) {
                None
            } else {
                Some(failed(format!("{name} is being read already; try again")))
            }
        }
        ResourceAction::Stop(name) => Some(stop(host, name)),
    }
}

fn stop(host: &ScriptHost, name: &ResourceName) -> Answer {
    let stopped = host.stop(name);
    match stopped.split_last() {
        None => failed(format!(
            "no resource of the name {name} runs; `resource list` lists those that do"
        )),
        Some((_, [])) => done(format!("{name} is stopped")),
        Some((_, dependants)) => {
            let dependants: Vec<&str> = dependants.iter().map(ResourceName::as_str).collect();
            done(format!(
                "{name} is stopped, and before it what needs it: {}",
                dependants.join(", ")
            ))
        }
    }
}

pub(super) fn eval(world: &mut World, text: &str) -> Answer {
    let host = world.resource::<ScriptHost>().clone();
    match host.eval(world, text) {
        Ok(value) => done(value),
        Err(problem) => failed(problem),
    }
}

pub(super) fn grant(world: &mut World, id: PlayerId, name: &GrantName) -> Answer {
    change(world, id, |granted| {
        if !granted.iter().any(|held| **held == *name.as_str()) {
            granted.push(name.as_str().into());
        }
        format!("player {} is granted {}", id.0, name.as_str())
    })
}

pub(super) fn revoke(world: &mut World, id: PlayerId, name: &GrantName) -> Answer {
    let holds = world
        .resource::<SlotTable>()
        .holder(id)
        .and_then(|entity| world.get::<Granted>(entity))
        .is_some_and(|Granted(names)| names.iter().any(|held| **held == *name.as_str()));
    if !holds && world.resource::<SlotTable>().holder(id).is_some() {
        return failed(format!("player {} was not granted {}", id.0, name.as_str()));
    }
    change(world, id, |granted| {
        granted.retain(|held| **held != *name.as_str());
        format!("{} is taken back from player {}", name.as_str(), id.0)
    })
}

fn change(world: &mut World, id: PlayerId, make: impl FnOnce(&mut Vec<Box<str>>) -> String) -> Answer {
    /// Names that one player may be granted.
    const MOST: usize = 64;
    let Some(entity) = world.resource::<SlotTable>().holder(id) else {
        return nobody_has(id);
    };
    let mut names = world
        .get::<Granted>(entity)
        .map(|Granted(names)| names.to_vec())
        .unwrap_or_default();
    let told = make(&mut names);
    if names.len() > MOST {
        return failed(format!(
            "player {} was granted {MOST} names already; revoke some",
            id.0
        ));
    }
    names.sort_unstable();
    world.entity_mut(entity).insert(Granted(Arc::from(names)));
    done(told)
}
