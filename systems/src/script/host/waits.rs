//! What comes back to scripts: timers that are due, answers of workers and of the console.

use std::{collections::BTreeMap, sync::Arc};

use decitick_components::{
    console::ConsoleAnswer,
    script::{ResourceName, ScriptAnswer, ScriptOutcome, ScriptWork, SqlAnswer, SqlValue},
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
                    due.push((timer.due, number, office.name.clone(), timer.callback.clone()));
                }
            }
        }
        drop(desk);
        due.sort_by_key(|&(at, number, ..)| (at, number));
        for (_, number, resource, callback) in due {
            self.queue(&resource, callback, Vec::new(), Some(number));
        }
    }

    /// A timer's turn has come: one that goes off once is done, any other begins anew.
    pub(super) fn timer_goes_off(&self, resource: &ResourceName, number: i64) {
        let mut desk = lock(&self.toolkit.desk);
        let now = desk.clock.since_start;
        let Some(office) = desk.offices.get_mut(resource) else {
            return;
        };
        let Some(timer) = office.timers.get_mut(&number) else {
            return;
        };
        match timer.every {
            None => {
                office.timers.remove(&number);
            }
            Some(every) => {
                timer.waits = false;
                timer.due = timer.due.saturating_add(every);
                // What was missed is not made up for.
                if timer.due <= now {
                    timer.due = now.saturating_add(every);
                }
            }
        }
    }

    /// Whether a timer that waits for its turn is still wanted.
    pub(super) fn timer_stands(&self, resource: &ResourceName, number: i64) -> bool {
        lock(&self.toolkit.desk)
            .offices
            .get(resource)
            .is_some_and(|office| office.timers.contains_key(&number))
    }

    /// Takes an answer of a worker.
    pub(crate) fn answer(&mut self, answer: ScriptAnswer) {
        let Some((resource, waiting)) = self.who_waits(answer.request) else {
            return;
        };
        let (arguments, problem) = in_words(answer.outcome);
        for Waiting { callback, what } in waiting {
            match (callback, &problem) {
                (Some(callback), _) => self.queue(&resource, callback, arguments.clone(), None),
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
            for Waiting { callback, what } in waiting {
                if let Some(callback) = callback {
                    let mut map = Map::new();
                    map.insert("ok".into(), ok.into());
                    map.insert("text".into(), text.clone().into());
                    self.queue(&resource, callback, vec![map.into()], None);
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
        let changes = std::mem::take(&mut office.unsaved);
        let mut waiting: Vec<Waiting> = std::mem::take(&mut office.unsaved_callbacks)
            .into_iter()
            .map(|callback| Waiting {
                callback: Some(callback),
                what: "store".into(),
            })
            .collect();
        // A failure is told even when nobody asked.
        if waiting.is_empty() {
            waiting.push(Waiting {
                callback: None,
                what: "store".into(),
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

    fn queue(
        &mut self,
        resource: &ResourceName,
        callback: FnPtr,
        arguments: Vec<Dynamic>,
        timer: Option<i64>,
    ) {
        let Some(instance) = self.instances.get(resource) else {
            return;
        };
        self.pending.push_back(Pending::Callback {
            resource: resource.clone(),
            instance: instance.number,
            callback,
            arguments,
            timer,
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

/// The argument of a callback, and what went wrong for when there is none.
fn in_words(outcome: ScriptOutcome) -> (Vec<Dynamic>, Option<String>) {
    let answer = |result: Result<Vec<(&'static str, Dynamic)>, String>| {
        let mut map = Map::new();
        map.insert("ok".into(), result.is_ok().into());
        let mut problem = None;
        match result {
            Ok(parts) => {
                for (key, value) in parts {
                    map.insert(key.into(), value);
                }
            }
            Err(error) => {
                map.insert("error".into(), error.clone().into());
                problem = Some(error);
            }
        }
        (vec![Dynamic::from(map)], problem)
    };
    match outcome {
        ScriptOutcome::StoreSaved(result) => answer(result.map(|()| Vec::new())),
        ScriptOutcome::Sql(result) => answer(result.map(sql_parts)),
        ScriptOutcome::PasswordHashed(result) => {
            answer(result.map(|hash| vec![("hash", hash.into_exposed().into())]))
        }
        ScriptOutcome::PasswordVerified(result) => {
            answer(result.map(|matches| vec![("matches", matches.into())]))
        }
    }
}

fn sql_parts(answer: SqlAnswer) -> Vec<(&'static str, Dynamic)> {
    let SqlAnswer {
        columns,
        rows,
        changes,
        last_id,
    } = answer;
    if columns.is_empty() {
        return vec![("changes", changes.into()), ("last_id", last_id.into())];
    }
    let rows: Array = rows
        .into_iter()
        .map(|row| {
            let mut map = Map::new();
            for (column, value) in columns.iter().zip(row) {
                map.insert(column.as_str().into(), sql_value(value));
            }
            Dynamic::from(map)
        })
        .collect();
    vec![("rows", rows.into())]
}

fn sql_value(value: SqlValue) -> Dynamic {
    match value {
        SqlValue::Null => Dynamic::UNIT,
        SqlValue::Integer(number) => number.into(),
        SqlValue::Real(number) => number.into(),
        SqlValue::Text(text) => text.into(),
        SqlValue::Blob(blob) => Dynamic::from_blob(blob),
    }
}
