//! A thread a resource that keeps its file, and the list of these threads.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, select_biased, unbounded};
use decitick_components::{
    script::{ResourceName, ScriptAnswer, ScriptOutcome, SqlAnswer, SqlStatement, SqlValue, StoreChange},
    worker::WorkerAnswer,
};
use rusqlite::Connection;

use super::{
    WAITING_BYTES_MOST, WAITING_MOST, exists,
    file::{Purpose, open},
    guard::Guard,
    statement, store,
};

/// Changes of a store that become durable in one go.
const SAVES_AT_ONCE: usize = 64;
/// How long threads that were told to stop at once are waited for.
const LAST_WAIT: Duration = Duration::from_millis(200);

/// A store as it stands on disk, or why it cannot be read.
type StoreContents = Result<BTreeMap<String, Vec<u8>>, String>;

/// The keepers of all resources of a server directory. Copies are ends of the same keepers.
#[derive(Clone, Debug)]
pub struct Keepers(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    directory: PathBuf,
    answers: Sender<WorkerAnswer>,
    stop: Arc<AtomicBool>,
    threads: Mutex<Threads>,
}

#[derive(Debug)]
struct Threads {
    ends: BTreeMap<ResourceName, End>,
    handles: Vec<(ResourceName, JoinHandle<()>)>,
    /// Each thread holds a copy; when the last is gone, all have ended. `None`: no further thread is started.
    alive: Option<Sender<Infallible>>,
    ended: Receiver<Infallible>,
}

/// The end of a keeper that wishes are put into.
#[derive(Clone, Debug)]
struct End {
    saves: Sender<StoreJob>,
    statements: Sender<SqlJob>,
    waiting: Arc<Waiting>,
}

/// What has been handed over and is not done.
#[derive(Debug, Default)]
struct Waiting {
    statements: AtomicUsize,
    statement_bytes: AtomicUsize,
    save_bytes: AtomicUsize,
}

enum StoreJob {
    Save { request: u64, changes: Vec<StoreChange> },
    Read(Sender<StoreContents>),
}

enum SqlJob {
    Run { request: u64, statement: SqlStatement },
    Close,
}

impl Keepers {
    /// No keeper yet. Answers go to `answers`; once `stop` is set, statements that run are ended and no further one is.
    #[must_use]
    pub fn new(directory: PathBuf, answers: Sender<WorkerAnswer>, stop: Arc<AtomicBool>) -> Self {
        let (alive, ended) = bounded(0);
        Self(Arc::new(Shared {
            directory,
            answers,
            stop,
            threads: Mutex::new(Threads {
                ends: BTreeMap::new(),
                handles: Vec::new(),
                alive: Some(alive),
                ended,
            }),
        }))
    }

    /// Makes changes of a store durable; answered by [`ScriptOutcome::StoreSaved`].
    pub fn save(&self, request: u64, resource: &ResourceName, changes: Vec<StoreChange>) {
        let result = self.0.end(resource).and_then(|end| {
            let size = size_of_changes(&changes);
            if !take(&end.waiting.save_bytes, size, WAITING_BYTES_MOST) {
                return Err("too many changes of the store wait to be written".to_owned());
            }
            end.saves
                .send(StoreJob::Save { request, changes })
                .map_err(|_| ended())
        });
        if let Err(problem) = result {
            self.0.answer(request, ScriptOutcome::StoreSaved(Err(problem)));
        }
    }

    /// Runs a statement after those before it; answered by [`ScriptOutcome::Sql`]. When 1,000 wait already, the answer
    /// is an error, and comes at once.
    pub fn run(&self, request: u64, resource: &ResourceName, statement: SqlStatement) {
        let result = self.0.end(resource).and_then(|end| {
            let size = size_of_statement(&statement);
            if !take(&end.waiting.statements, 1, WAITING_MOST) {
                return Err(format!(
                    "too many statements wait ({WAITING_MOST}); wait for answers before asking on"
                ));
            }
            if !take(&end.waiting.statement_bytes, size, WAITING_BYTES_MOST) {
                end.waiting.statements.fetch_sub(1, Ordering::Relaxed);
                return Err("too many statements wait; their values are too large".to_owned());
            }
            end.statements
                .send(SqlJob::Run { request, statement })
                .map_err(|_| ended())
        });
        if let Err(problem) = result {
            self.0.answer(request, ScriptOutcome::Sql(Err(problem)));
        }
    }

    /// What the store of a resource holds after everything that was saved before; waits for it.
    ///
    /// # Errors
    /// In words for the operator: it cannot be read.
    pub fn read_store(&self, resource: &ResourceName) -> StoreContents {
        let known = self.0.lock().ends.contains_key(resource);
        if !known && !exists(&self.0.directory, resource) {
            return Ok(BTreeMap::new());
        }
        let (reply, contents) = bounded(1);
        self.0
            .end(resource)?
            .saves
            .send(StoreJob::Read(reply))
            .map_err(|_| ended())?;
        contents.recv().unwrap_or_else(|_| Err(ended()))
    }

    /// Closes the file of a resource after everything that waits; a later wish opens it again.
    pub fn close(&self, resource: &ResourceName) {
        if let Some(end) = self.0.lock().ends.get(resource) {
            // A thread that is gone has closed it.
            let _ = end.statements.send(SqlJob::Close);
        }
    }

    /// Takes no further wishes and waits until everything that waits is done, at most about so long; what is not done
    /// by then is ended and logged.
    pub fn finish(&self, time: Duration) {
        let deadline = Instant::now() + time;
        let (ended, handles) = {
            let mut threads = self.0.lock();
            threads.ends.clear();
            threads.alive = None;
            (threads.ended.clone(), std::mem::take(&mut threads.handles))
        };
        // Nothing is ever sent: an end of waiting is the end of the threads, or of the time.
        let in_time = matches!(ended.recv_deadline(deadline), Err(RecvTimeoutError::Disconnected));
        self.0.stop.store(true, Ordering::Relaxed);
        let done = in_time || matches!(ended.recv_timeout(LAST_WAIT), Err(RecvTimeoutError::Disconnected));
        for (resource, handle) in handles {
            // A thread lets go of its end a moment before it is gone.
            if !done && !handle.is_finished() {
                tracing::error!(
                    resource = resource.as_str(),
                    "what the gamemode keeps was not written in time"
                );
            } else if handle.join().is_err() {
                tracing::error!(
                    resource = resource.as_str(),
                    "the thread that keeps what the gamemode keeps had panicked"
                );
            }
        }
    }
}

fn ended() -> String {
    "the server stops".to_owned()
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: u64, outcome: ScriptOutcome) {
        // A tick that is gone needs no answer.
        let _ = self
            .answers
            .send(WorkerAnswer::Script(ScriptAnswer { request, outcome }));
    }

    /// The end of a resource's keeper, which is started when there is none.
    fn end(self: &Arc<Self>, resource: &ResourceName) -> Result<End, String> {
        let mut threads = self.lock();
        if let Some(end) = threads.ends.get(resource) {
            return Ok(end.clone());
        }
        let alive = threads.alive.clone().ok_or_else(ended)?;
        let (end, handle) = self.start(resource, alive).map_err(|error| {
            format!("the thread for the database cannot be started: {error}; try again later")
        })?;
        threads.handles.push((resource.clone(), handle));
        threads.ends.insert(resource.clone(), end.clone());
        Ok(end)
    }

    fn start(
        self: &Arc<Self>,
        resource: &ResourceName,
        alive: Sender<Infallible>,
    ) -> io::Result<(End, JoinHandle<()>)> {
        let (saves, wanted_saves) = unbounded();
        let (statements, wanted_statements) = unbounded();
        let waiting = Arc::new(Waiting::default());
        let keeper = Keeper {
            resource: resource.clone(),
            shared: Arc::clone(self),
            waiting: Arc::clone(&waiting),
            store: None,
            database: None,
            dropped: 0,
        };
        let handle = thread::Builder::new()
            .name(format!("db-{resource}"))
            .spawn(move || {
                keeper.work(&wanted_saves, &wanted_statements);
                drop(alive);
            })?;
        let end = End {
            saves,
            statements,
            waiting,
        };
        Ok((end, handle))
    }
}

/// The state of a thread.
struct Keeper {
    resource: ResourceName,
    shared: Arc<Shared>,
    waiting: Arc<Waiting>,
    store: Option<Connection>,
    database: Option<(Connection, Guard)>,
    /// Statements that were not run because the server stops.
    dropped: usize,
}

impl Keeper {
    /// Does what comes in, the store first, until the other ends are gone and nothing waits.
    fn work(mut self, saves: &Receiver<StoreJob>, statements: &Receiver<SqlJob>) {
        loop {
            select_biased! {
                recv(saves) -> job => match job {
                    Ok(job) => self.store_job(job, saves),
                    Err(_) => {
                        for job in statements {
                            self.sql_job(job);
                        }
                        break;
                    }
                },
                recv(statements) -> job => match job {
                    Ok(job) => self.sql_job(job),
                    Err(_) => {
                        while let Ok(job) = saves.recv() {
                            self.store_job(job, saves);
                        }
                        break;
                    }
                },
            }
        }
        if self.dropped > 0 {
            tracing::warn!(
                resource = self.resource.as_str(),
                statements = self.dropped,
                "the server stops; statements of the gamemode were not run"
            );
        }
    }

    fn store_job(&mut self, first: StoreJob, saves: &Receiver<StoreJob>) {
        let mut requests = Vec::new();
        let mut sets = Vec::new();
        let mut next = Some(first);
        while let Some(job) = next.take() {
            match job {
                StoreJob::Save { request, changes } => {
                    requests.push(request);
                    sets.push(changes);
                    if sets.len() < SAVES_AT_ONCE {
                        next = saves.try_recv().ok();
                    }
                }
                StoreJob::Read(reply) => {
                    self.save(&requests, &sets);
                    (requests, sets) = (Vec::new(), Vec::new());
                    // Whoever asked may be gone.
                    let _ = reply.send(self.store().and_then(|connection| store::read(connection)));
                }
            }
        }
        self.save(&requests, &sets);
    }

    fn save(&mut self, requests: &[u64], sets: &[Vec<StoreChange>]) {
        if sets.is_empty() {
            return;
        }
        let outcomes = match self.store() {
            Ok(connection) => store::save(connection, sets),
            Err(problem) => sets.iter().map(|_| Err(problem.clone())).collect(),
        };
        let size = sets.iter().map(|changes| size_of_changes(changes)).sum();
        self.waiting.save_bytes.fetch_sub(size, Ordering::Relaxed);
        for (&request, outcome) in requests.iter().zip(outcomes) {
            if let Err(problem) = &outcome {
                tracing::error!(
                    resource = self.resource.as_str(),
                    problem,
                    "a store was not written"
                );
            }
            self.shared.answer(request, ScriptOutcome::StoreSaved(outcome));
        }
    }

    fn sql_job(&mut self, job: SqlJob) {
        match job {
            SqlJob::Run { request, statement } => {
                let outcome = if self.shared.stop.load(Ordering::Relaxed) {
                    self.dropped = self.dropped.saturating_add(1);
                    Err(ended())
                } else {
                    self.run(&statement)
                };
                self.waiting.statements.fetch_sub(1, Ordering::Relaxed);
                self.waiting
                    .statement_bytes
                    .fetch_sub(size_of_statement(&statement), Ordering::Relaxed);
                self.shared.answer(request, ScriptOutcome::Sql(outcome));
            }
            SqlJob::Close => {
                self.database = None;
                self.store = None;
            }
        }
    }

    fn run(&mut self, statement: &SqlStatement) -> Result<SqlAnswer, String> {
        let (connection, guard) = match &mut self.database {
            Some(open) => open,
            none => {
                let mut connection = open(&self.shared.directory, &self.resource, Purpose::Statements)?;
                let guard = Guard::over(&mut connection, Arc::clone(&self.shared.stop))
                    .map_err(|error| super::words(&error))?;
                none.insert((connection, guard))
            }
        };
        statement::run(connection, guard, statement)
    }

    fn store(&mut self) -> Result<&mut Connection, String> {
        match &mut self.store {
            Some(open) => Ok(open),
            none => {
                let connection = open(&self.shared.directory, &self.resource, Purpose::Store)?;
                Ok(none.insert(connection))
            }
        }
    }
}

/// Adds to a count unless it would be above a bound then. Only one thread adds.
fn take(count: &AtomicUsize, more: usize, most: usize) -> bool {
    let fits = count.load(Ordering::Relaxed).saturating_add(more) <= most;
    if fits {
        count.fetch_add(more, Ordering::Relaxed);
    }
    fits
}

fn size_of_changes(changes: &[StoreChange]) -> usize {
    changes
        .iter()
        .map(|change| {
            change
                .key
                .len()
                .saturating_add(change.value.as_ref().map_or(0, Vec::len))
        })
        .sum()
}

fn size_of_statement(statement: &SqlStatement) -> usize {
    let values = statement.parameters.iter().map(|value| match value {
        SqlValue::Text(text) => text.len(),
        SqlValue::Blob(bytes) => bytes.len(),
        SqlValue::Null | SqlValue::Integer(_) | SqlValue::Real(_) => size_of::<SqlValue>(),
    });
    values.sum::<usize>().saturating_add(statement.sql.len())
}

#[cfg(test)]
mod tests;
