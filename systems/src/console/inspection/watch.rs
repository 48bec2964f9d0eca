//! `watch`: tells what changes in a component, tick by tick, until its time is over.

use std::{collections::BTreeMap, time::Duration};

use bevy_app::App;
use bevy_ecs::{schedule::IntoScheduleConfigs, system::Res, world::World};
use decitick_components::{
    clock::Clock,
    console::{
        ChangeRow, ChangesAnswer, ConsoleAnswer, ConsoleOutbox, ConsoleStream, ConsoleStreams, EntityWord,
        MAX_STREAMS, Shown, StreamSubject, WatchEndAnswer, WatchedComponent,
    },
};

use super::{
    super::{Answer, Asked, failed, settle_tally, show, streams::StreamSystems},
    Found, component_of, entity_of, seen_for,
};
use crate::{
    inspect::{Budget, shown, sight},
    tick::Tick,
};

/// Values of one component that are watched.
const LEAVES: usize = 500;
/// Bytes of one component that are looked at in a tick.
const LOOKED_AT: usize = 64 * 1024;

/// Adds the system that tells of changes.
pub(in super::super) fn add_watch_system(app: &mut App) {
    app.add_systems(
        Tick,
        tell_watches
            .in_set(StreamSystems::Tell)
            .after(settle_tally)
            .run_if(anything_is_watched),
    );
}

fn anything_is_watched(streams: Res<'_, ConsoleStreams>) -> bool {
    let is_watch = |stream: &ConsoleStream| matches!(stream.subject, StreamSubject::Watch(_));
    streams.0.iter().any(is_watch)
}

/// `None` once the answer goes on.
pub(in super::super) fn watch(
    world: &mut World,
    entity: EntityWord,
    component: &str,
    seconds: u32,
    asked: Asked,
) -> Option<Answer> {
    let now = world.resource::<Clock>().since_start;
    let watched = match begun(world, entity, component, now) {
        Ok(watched) => watched,
        Err(error) => return Some(failed(error)),
    };
    let stream = ConsoleStream {
        id: asked.id,
        json: asked.json,
        layout: asked.layout,
        ends: now + Duration::from_secs(u64::from(seconds)),
        subject: StreamSubject::Watch(watched),
    };
    let room = world.resource_mut::<ConsoleStreams>().begin(stream);
    (!room).then(|| {
        failed(format!(
            "{MAX_STREAMS} watches and traces go on already; wait until one ends"
        ))
    })
}

fn begun(world: &World, word: EntityWord, component: &str, now: Duration) -> Found<WatchedComponent> {
    let entity = entity_of(world, word)?;
    let named = component_of(world, entity, component)?;
    let seen = seen_for(world, &named, "`watch`")?;
    let view = seen
        .view(entity)
        .ok_or_else(|| format!("{} has no {}", entity.id(), named.short))?;
    let (told, whole) = leaves(&shown(view.value(), &mut look()));
    if !whole {
        return Err(format!(
            "{} holds more than {LEAVES} values or {LOOKED_AT} bytes now, too many to be watched; `inspect` shows them",
            named.short
        ));
    }
    Ok(WatchedComponent {
        entity: entity.id(),
        component: named.id,
        began: now,
        changes: 0,
        told,
    })
}

const fn look() -> Budget {
    Budget::of(LOOKED_AT)
}

/// The values, and whether these are all.
fn leaves(value: &Shown) -> (Vec<(String, Shown)>, bool) {
    let (leaves, whole) = value.leaves(LEAVES);
    let cut = leaves.iter().any(|(_, leaf)| *leaf == Shown::Cut);
    (leaves, whole && !cut)
}

/// Tells every watcher what changed since the last tick: one part a watch at most.
pub(crate) fn tell_watches(world: &mut World) {
    let now = world.resource::<Clock>().since_start;
    let mut streams = std::mem::take(&mut world.resource_mut::<ConsoleStreams>().0);
    let mut answers = Vec::new();
    streams.retain_mut(|stream| {
        let StreamSubject::Watch(watched) = &mut stream.subject else {
            return true;
        };
        match changes(world, watched) {
            Ok(changes) if changes.is_empty() => true,
            Ok(changes) => {
                let answer = ChangesAnswer {
                    after_s: now.saturating_sub(watched.began).as_secs_f64(),
                    changes,
                };
                let text = show(&answer, stream.json, stream.layout);
                answers.push(ConsoleAnswer::part(stream.id, text));
                true
            }
            Err(end) => {
                let text = show(&watch_is_over(watched, now, end), stream.json, stream.layout);
                answers.push(ConsoleAnswer::last(stream.id, true, text));
                false
            }
        }
    });
    world.resource_mut::<ConsoleStreams>().0 = streams;
    world.resource_mut::<ConsoleOutbox>().0.extend(answers);
}

/// The last word of a watch: `end` is `time`, `despawned` or `removed`.
pub(in super::super) fn watch_is_over(
    watched: &WatchedComponent,
    now: Duration,
    end: &'static str,
) -> WatchEndAnswer {
    WatchEndAnswer {
        watched_s: now.saturating_sub(watched.began).as_secs_f64(),
        changes: watched.changes,
        end,
    }
}

/// What changed since it was told last.
///
/// # Errors
/// Why the watch is over.
fn changes(world: &World, watched: &mut WatchedComponent) -> Result<Vec<ChangeRow>, &'static str> {
    let entity = world.get_entity(watched.entity).map_err(|_| "despawned")?;
    let seen = sight(world, watched.component).map_err(|_| "removed")?;
    let view = seen.view(entity).ok_or("removed")?;
    // Beyond the bound the rest is not told: a watched component that grows must not grow the answers.
    let (now, _) = leaves(&shown(view.value(), &mut look()));
    if now == watched.told {
        return Ok(Vec::new());
    }
    let before = std::mem::replace(&mut watched.told, now.clone());
    let changes = difference(&before, now);
    watched.changes += changes.len() as u64;
    Ok(changes)
}

fn difference(before: &[(String, Shown)], now: Vec<(String, Shown)>) -> Vec<ChangeRow> {
    let mut old: BTreeMap<&str, &Shown> = before
        .iter()
        .map(|(path, value)| (path.as_str(), value))
        .collect();
    let mut changes = Vec::new();
    for (path, value) in now {
        let from = old.remove(path.as_str()).cloned();
        if from.as_ref() != Some(&value) {
            changes.push(ChangeRow {
                path,
                from,
                to: Some(value),
            });
        }
    }
    let gone = old.into_iter().map(|(path, value)| ChangeRow {
        path: path.to_owned(),
        from: Some(value.clone()),
        to: None,
    });
    changes.extend(gone);
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(path: &str, value: u64) -> (String, Shown) {
        (path.to_owned(), Shown::Unsigned(value))
    }

    #[test]
    fn what_came_went_and_changed_is_told_and_nothing_else() {
        let before = [leaf("a", 1), leaf("b", 2), leaf("c", 3)];
        let changes = difference(&before, vec![leaf("a", 1), leaf("b", 5), leaf("d", 4)]);
        let told: Vec<_> = changes
            .iter()
            .map(|change| (change.path.as_str(), change.from.is_some(), change.to.is_some()))
            .collect();
        assert_eq!(told, [("b", true, true), ("d", false, true), ("c", true, false)]);
    }
}
