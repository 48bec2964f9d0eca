//! What comes back to scripts: timers that are due, answers of workers and of the console.

use std::{collections::BTreeMap, sync::Arc};

use decitick_components::{
    console::ConsoleAnswer,
    script::{ResourceName, ScriptAnswer, ScriptOutcome, ScriptWork, SqlAnswer, SqlValue, StoreChange},
};
use rhai::{Array, Dynamic, FnPtr, Map};

use super::{Host, events::Pending, lock};
use crate::script::{
    api::OF_SCRIPTS,
    desk::{Office, Waiting},
};

impl Host {
    /// Timers that are due wait for their turn.
    pub(crate) fn collect_timers(&mut self) {
        let mut desk = lock(&self.toolkit.desk);
        let now = desk.clock.since_start;
        let mut due = Vec::new();
        for office in desk.offices.values_mut() {
            for (&number, timer) in &mut office.timers {
                if timer.due <= now && !timer.waits {
                    timer.waits = true;
                    due.push((timer.due, number, office.name.clone()));
                }
            }
        }
        drop(desk);
        due.sort_by_key(|&(at, number, ..)| (at, number));
        for (_, number, resource) in due {
            self.queue(&resource, Waited::Timer(number));
        }
    }

    /// Takes an answer of a worker.
    pub(crate) fn answer(&mut self, answer: ScriptAnswer) {
        let Some((resource, waiting)) = self.who_waits(answer.request) else {
            return;
        };
        let outcome = Arc::new(answer.outcome);
        for Waiting { callback, what, .. } in waiting {
            match (callback, problem_of(&outcome)) {
                (Some(callback), _) => {
                    self.queue(&resource, Waited::Answer(callback, Arc::clone(&outcome)));
                }
                (None, Some(problem)) => self.tell_of(&resource, &format!("{what}: {problem}"), &[]),
                (None, None) => {}
            }
        }
    }

    /// Takes what the console answered to scripts out of its answers.
    pub(crate) fn take_console_answers(&mut self, answers: &mut Vec<ConsoleAnswer>) {
        let own: Vec<ConsoleAnswer> = answers
            .extract_if(.., |answer| answer.id & OF_SCRIPTS != 0)
            .collect();
        for ConsoleAnswer { id, ok, text } in own {
            let Some((resource, waiting)) = self.who_waits(id & !OF_SCRIPTS) else {
                continue;
            };
            for Waiting { callback, what, .. } in waiting {
                if let Some(callback) = callback {
                    self.queue(&resource, Waited::Console(callback, ok, text.clone()));
                } else if !ok {
                    self.tell_of(&resource, &format!("console::run(\"{what}\"): {text}"), &[]);
                }
            }
        }
    }

    fn who_waits(&self, request: u64) -> Option<(ResourceName, Vec<Waiting>)> {
        let mut desk = lock(&self.toolkit.desk);
        desk.offices.values_mut().find_map(|office| {
            let waiting = office.waiting.remove(&request)?;
            Some((office.name.clone(), waiting))
        })
    }

    /// What stores changed in this tick goes to the worker, each resource's changes as one.
    pub(crate) fn hand_in_stores(&mut self) {
        let changed: Vec<ResourceName> = lock(&self.toolkit.desk)
            .offices
            .values()
            .filter(|office| !office.unsaved.is_empty() || !office.unsaved_callbacks.is_empty())
            .map(|office| office.name.clone())
            .collect();
        for name in changed {
            self.hand_in_store(&name);
        }
    }

    pub(super) fn hand_in_store(&self, name: &ResourceName) {
        let mut desk = lock(&self.toolkit.desk);
        let request = desk.next_request();
        let Some(office) = desk.offices.get_mut(name) else {
            return;
        };
        if office.unsaved.is_empty() && office.unsaved_callbacks.is_empty() {
            return;
        }
        let changes = std::mem::take(&mut office.unsaved)
            .into_iter()
            .map(|key| StoreChange {
                value: office.store.get(&key).map(|value| value.to_vec()),
                key,
            })
            .collect();
        let mut waiting: Vec<Waiting> = std::mem::take(&mut office.unsaved_callbacks)
            .into_iter()
            .map(|callback| Waiting {
                callback: Some(callback),
                what: "store".into(),
                bytes: 0,
            })
            .collect();
        // A failure is told even when nobody asked.
        if waiting.is_empty() {
            waiting.push(Waiting {
                callback: None,
                what: "store".into(),
                bytes: 0,
            });
        }
        office.waiting.insert(request, waiting);
        let resource = name.clone();
        desk.wishes.work.push(ScriptWork::SaveStore {
            request,
            resource,
            changes,
        });
    }

    /// Lets go of something that a resource holds, and notes how much less it is.
    pub(super) fn freed(&mut self, name: &ResourceName, let_go: impl FnOnce(&mut Office)) {
        let mut desk = lock(&self.toolkit.desk);
        let Some(office) = desk.offices.get_mut(name) else {
            return;
        };
        let fuse = &self.toolkit.fuse;
        let before = fuse.gauge();
        let_go(office);
        let change = fuse.gauge().saturating_sub(before);
        drop(desk);
        if let Some(instance) = self.instances.get_mut(name) {
            instance.held = instance.held.saturating_add(change).max(0);
        }
    }

    fn queue(&mut self, resource: &ResourceName, waited: Waited) {
        let Some(instance) = self.instances.get(resource) else {
            return;
        };
        self.pending.push_back(Pending::Waited {
            resource: resource.clone(),
            instance: instance.number,
            waited,
        });
    }
}

impl Office {
    /// Goes on with the store that the version before it has in memory.
    pub(super) fn take_store(&mut self, before: Self) {
        self.store = before.store;
        self.store_bytes = before.store_bytes;
        self.unsaved = before.unsaved;
    }

    /// Begins with what is on disk.
    pub(super) fn fill_store(&mut self, store: BTreeMap<String, Vec<u8>>) {
        self.store = store
            .into_iter()
            .map(|(key, value)| {
                self.store_bytes = self
                    .store_bytes
                    .saturating_add(key.len())
                    .saturating_add(value.len());
                (key, Arc::from(value))
            })
            .collect();
    }
}

/// Something that a script waited for.
#[derive(Debug)]
pub(super) enum Waited {
    /// A timer, by its number.
    Timer(i64),
    /// An answer of a worker.
    Answer(FnPtr, Arc<ScriptOutcome>),
    /// An answer of the console: whether it went well, and its text.
    Console(FnPtr, bool, String),
}

/// What went wrong, if it did.
fn problem_of(outcome: &ScriptOutcome) -> Option<&String> {
    match outcome {
        ScriptOutcome::StoreSaved(result) => result.as_ref().err(),
        ScriptOutcome::Sql(result) => result.as_ref().err(),
        ScriptOutcome::PasswordHashed(result) => result.as_ref().err(),
        ScriptOutcome::PasswordVerified(result) => result.as_ref().err(),
    }
}

/// The argument of a callback.
pub(super) fn in_words(outcome: &ScriptOutcome) -> Dynamic {
    let parts: Vec<(&str, Dynamic)> = match outcome {
        ScriptOutcome::Sql(Ok(answer)) => sql_parts(answer),
        ScriptOutcome::PasswordHashed(Ok(hash)) => vec![("hash", hash.expose().clone().into())],
        ScriptOutcome::PasswordVerified(Ok(matches)) => vec![("matches", (*matches).into())],
        _ => Vec::new(),
    };
    let mut map = Map::new();
    map.insert("ok".into(), problem_of(outcome).is_none().into());
    if let Some(problem) = problem_of(outcome) {
        map.insert("error".into(), problem.clone().into());
    }
    for (key, value) in parts {
        map.insert(key.into(), value);
    }
    map.into()
}

/// The same for an answer of the console.
pub(super) fn console_words(ok: bool, text: &str) -> Dynamic {
    let mut map = Map::new();
    map.insert("ok".into(), ok.into());
    map.insert("text".into(), text.into());
    map.into()
}

fn sql_parts(answer: &SqlAnswer) -> Vec<(&'static str, Dynamic)> {
    if answer.columns.is_empty() {
        return vec![
            ("changes", answer.changes.into()),
            ("last_id", answer.last_id.into()),
        ];
    }
    let rows: Array = answer
        .rows
        .iter()
        .map(|row| {
            let mut map = Map::new();
            for (column, value) in answer.columns.iter().zip(row) {
                map.insert(column.as_str().into(), sql_value(value));
            }
            Dynamic::from(map)
        })
        .collect();
    vec![("rows", rows.into())]
}

fn sql_value(value: &SqlValue) -> Dynamic {
    match value {
        SqlValue::Null => Dynamic::UNIT,
        SqlValue::Integer(number) => (*number).into(),
        SqlValue::Real(number) => (*number).into(),
        SqlValue::Text(text) => text.as_str().into(),
        SqlValue::Blob(blob) => Dynamic::from_blob(blob.clone()),
    }
}
