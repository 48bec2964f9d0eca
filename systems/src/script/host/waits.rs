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
    desk::{MOST_ANSWER_BYTES, Office, Waiting},
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
                    due.push((
                        timer.due,
                        number,
                        office.name.clone(),
                        Arc::clone(&timer.callback),
                    ));
                }
            }
        }
        drop(desk);
        due.sort_by_key(|&(at, number, ..)| (at, number));
        for (_, number, resource, callback) in due {
            self.queue(&resource, callback, Arc::new(Answer::Nothing), Some(number));
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
        let answer = Arc::new(Answer::Outcome(self.if_there_is_room(&resource, answer.outcome)));
        for Waiting { callback, what } in waiting {
            if let Some(callback) = callback {
                self.queue(&resource, callback, Arc::clone(&answer), None);
                continue;
            }
            self.answer_taken(&resource);
            if let Some(problem) = answer.problem() {
                self.tell_of(&resource, &what, &format!("{what}: {problem}"), &[]);
            }
        }
    }

    /// Rows that a resource does not take fast enough are let go of.
    fn if_there_is_room(&self, resource: &ResourceName, outcome: ScriptOutcome) -> ScriptOutcome {
        let waiting = lock(&self.toolkit.desk)
            .offices
            .get(resource)
            .map_or(0, |office| office.answer_bytes);
        let bytes = bytes_of(&outcome);
        if waiting > 0 && waiting.saturating_add(bytes) > MOST_ANSWER_BYTES {
            let problem = "over 16 MiB of answers wait to be taken, so the rows of this one were let go of; ask for less at once";
            return ScriptOutcome::Sql(Err(problem.to_owned()));
        }
        outcome
    }

    fn answer_taken(&self, resource: &ResourceName) {
        if let Some(office) = lock(&self.toolkit.desk).offices.get_mut(resource) {
            office.settle(0);
        }
    }

    /// Takes what the console answered to scripts out of its answers.
    pub(crate) fn take_console_answers(&mut self, answers: &mut Vec<ConsoleAnswer>) {
        let own: Vec<ConsoleAnswer> = answers
            .extract_if(.., |answer| answer.id & OF_SCRIPTS != 0)
            .collect();
        for ConsoleAnswer { id, ok, text, .. } in own {
            let Some((resource, waiting)) = self.who_waits(id & !OF_SCRIPTS) else {
                continue;
            };
            let answer = Arc::new(Answer::Console { ok, text });
            for Waiting { callback, what } in waiting {
                if let Some(callback) = callback {
                    self.queue(&resource, callback, Arc::clone(&answer), None);
                    continue;
                }
                self.answer_taken(&resource);
                if let Some(problem) = answer.problem() {
                    self.tell_of(
                        &resource,
                        &what,
                        &format!("console::run(\"{what}\"): {problem}"),
                        &[],
                    );
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
            .map(|(key, value)| StoreChange { key, value })
            .collect();
        let mut waiting: Vec<Waiting> = std::mem::take(&mut office.unsaved_callbacks)
            .into_iter()
            .map(|callback| Waiting {
                callback: Some(callback),
                what: "store".into(),
            })
            .collect();
        // A failure is told even when nobody asked.
        if waiting.is_empty() {
            office.owed += 1;
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
        let began = self.toolkit.fuse.now();
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
        self.spend_since(began);
    }

    fn queue(
        &mut self,
        resource: &ResourceName,
        callback: Arc<FnPtr>,
        answer: Arc<Answer>,
        timer: Option<i64>,
    ) {
        let Some(instance) = self.instances.get(resource) else {
            return;
        };
        if timer.is_none()
            && let Some(office) = lock(&self.toolkit.desk).offices.get_mut(resource)
        {
            office.answer_bytes = office.answer_bytes.saturating_add(answer.bytes());
        }
        self.pending.push_back(Pending::Callback {
            resource: resource.clone(),
            instance: instance.number,
            callback,
            answer,
            timer,
        });
    }
}

impl Office {
    /// An answer that was owed has been taken, with so many bytes.
    pub(super) const fn settle(&mut self, bytes: usize) {
        self.owed = self.owed.saturating_sub(1);
        self.answer_bytes = self.answer_bytes.saturating_sub(bytes);
    }

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

/// What a callback is told. It becomes values of scripts only when the callback is called: until then it is small, and
/// nobody's memory.
#[derive(Debug)]
pub(super) enum Answer {
    /// A timer tells nothing.
    Nothing,
    Outcome(ScriptOutcome),
    Console {
        ok: bool,
        text: String,
    },
}

impl Answer {
    /// What went wrong, for when nobody listens.
    fn problem(&self) -> Option<&str> {
        match self {
            Self::Outcome(
                ScriptOutcome::StoreSaved(Err(problem))
                | ScriptOutcome::Sql(Err(problem))
                | ScriptOutcome::PasswordHashed(Err(problem))
                | ScriptOutcome::PasswordVerified(Err(problem)),
            )
            | Self::Console {
                ok: false,
                text: problem,
            } => Some(problem),
            _ => None,
        }
    }

    /// Bytes that it holds, about.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Outcome(outcome) => bytes_of(outcome),
            Self::Console { text, .. } => text.len(),
        }
    }

    /// The arguments of the callback.
    pub(super) fn values(&self) -> Vec<Dynamic> {
        let mut map = Map::new();
        match self {
            Self::Nothing => return Vec::new(),
            Self::Console { ok, text } => {
                map.insert("ok".into(), (*ok).into());
                map.insert("text".into(), text.clone().into());
                return vec![map.into()];
            }
            Self::Outcome(ScriptOutcome::Sql(Ok(answer))) => sql_parts(answer, &mut map),
            Self::Outcome(ScriptOutcome::PasswordHashed(Ok(hash))) => {
                map.insert("hash".into(), hash.expose().clone().into());
            }
            Self::Outcome(ScriptOutcome::PasswordVerified(Ok(matches))) => {
                map.insert("matches".into(), (*matches).into());
            }
            Self::Outcome(_) => {}
        }
        let problem = self.problem();
        map.insert("ok".into(), problem.is_none().into());
        if let Some(problem) = problem {
            map.insert("error".into(), problem.to_owned().into());
        }
        vec![map.into()]
    }
}

fn bytes_of(outcome: &ScriptOutcome) -> usize {
    let ScriptOutcome::Sql(Ok(SqlAnswer { rows, .. })) = outcome else {
        return 0;
    };
    rows.iter()
        .flatten()
        .map(|value| match value {
            SqlValue::Text(text) => text.len(),
            SqlValue::Blob(blob) => blob.len(),
            _ => 0,
        })
        .fold(0, |sum: usize, bytes| {
            sum.saturating_add(bytes).saturating_add(size_of::<SqlValue>())
        })
}

fn sql_parts(answer: &SqlAnswer, map: &mut Map) {
    let SqlAnswer {
        columns,
        rows,
        changes,
        last_id,
    } = answer;
    if columns.is_empty() {
        map.insert("changes".into(), (*changes).into());
        map.insert("last_id".into(), (*last_id).into());
        return;
    }
    let rows: Array = rows
        .iter()
        .map(|row| {
            let mut map = Map::new();
            for (column, value) in columns.iter().zip(row) {
                map.insert(column.as_str().into(), sql_value(value));
            }
            Dynamic::from(map)
        })
        .collect();
    map.insert("rows".into(), rows.into());
}

fn sql_value(value: &SqlValue) -> Dynamic {
    match value {
        SqlValue::Null => Dynamic::UNIT,
        SqlValue::Integer(number) => (*number).into(),
        SqlValue::Real(number) => (*number).into(),
        SqlValue::Text(text) => text.clone().into(),
        SqlValue::Blob(blob) => Dynamic::from_blob(blob.clone()),
    }
}
