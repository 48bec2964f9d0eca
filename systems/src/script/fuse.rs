//! What bounds a script call: operations, time and memory, looked at from the hook that the engine calls for every
//! operation, and from native functions that do a lot of work at once.
//!
//! Native functions cost time in proportion to their data, and no operation passes while they run, so time is looked at
//! with every operation, on a clock that is cheap and coarse. This module knows neither scripts nor players.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use decitick_components::script::{MemoryGauge, Stopwatch};
use rhai::{Dynamic, EvalAltResult, Position};

/// What ended a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// It did more operations than one call may.
    Operations,
    /// It took more time than one call may.
    Time,
    /// It added more memory than one call may.
    Memory,
}

impl Cut {
    const fn code(self) -> u8 {
        match self {
            Self::Operations => 1,
            Self::Time => 2,
            Self::Memory => 3,
        }
    }

    const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Operations),
            2 => Some(Self::Time),
            3 => Some(Self::Memory),
            _ => None,
        }
    }

    /// What the engine's progress hook answers to end a call.
    pub(crate) fn token(self) -> Dynamic {
        Dynamic::from_int(self.code().into())
    }

    /// The error with which a native function ends a call; no script can catch it.
    pub(crate) fn error(self) -> Box<EvalAltResult> {
        EvalAltResult::ErrorTerminated(self.token(), Position::NONE).into()
    }

    /// What ended a call that ended with this error; `None` when it ended by itself or by an error of its own.
    pub(crate) fn from_error(error: &EvalAltResult) -> Option<Self> {
        let EvalAltResult::ErrorTerminated(token, _) = error.unwrap_inner() else {
            return None;
        };
        Self::from_code(u8::try_from(token.as_int().ok()?).ok()?)
    }
}

/// What a call has used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spent {
    /// Operations, with what native functions charged.
    pub(crate) operations: u64,
    /// Time since it was armed.
    pub(crate) time: Duration,
    /// Bytes that it added and still holds; negative when it freed more.
    pub(crate) memory: i64,
    /// What ended it, if a limit did.
    pub(crate) cut: Option<Cut>,
}

/// Bounds one call at a time. The host arms it before a call and disarms it after; between calls it lets everything
/// pass. All fields are atomics only because the engine's hook must be `Sync`: one thread uses them.
pub(crate) struct Fuse {
    stopwatch: Stopwatch,
    gauge: MemoryGauge,
    armed: AtomicBool,
    /// The code of the cut, 0 for none.
    cut: AtomicU8,
    operations_limit: AtomicU64,
    time_limit_nanoseconds: AtomicU64,
    memory_limit: AtomicI64,
    started_nanoseconds: AtomicU64,
    /// The same on the coarse clock.
    started_coarsely: AtomicU64,
    memory_at_start: AtomicI64,
    /// Operations done and charged so far.
    operations: AtomicU64,
    /// The engine's own count at the last call of the hook; it starts anew with each evaluation.
    engine_operations: AtomicU64,
}

impl Fuse {
    /// A fuse that is not armed.
    pub(crate) fn new(stopwatch: Stopwatch, gauge: MemoryGauge) -> Arc<Self> {
        Arc::new(Self {
            stopwatch,
            gauge,
            armed: AtomicBool::new(false),
            cut: AtomicU8::new(0),
            operations_limit: AtomicU64::new(0),
            time_limit_nanoseconds: AtomicU64::new(0),
            memory_limit: AtomicI64::new(0),
            started_nanoseconds: AtomicU64::new(0),
            started_coarsely: AtomicU64::new(0),
            memory_at_start: AtomicI64::new(0),
            operations: AtomicU64::new(0),
            engine_operations: AtomicU64::new(0),
        })
    }

    /// Starts to bound a call: by operations, by time, and by the bytes it may add. Calls do not nest: arming again starts
    /// over.
    pub(crate) fn arm(&self, operations: u64, time: Duration, memory: i64) {
        let memory_now = (self.gauge.0)();
        self.operations_limit.store(operations, Relaxed);
        self.time_limit_nanoseconds.store(nanoseconds(time), Relaxed);
        self.memory_limit.store(memory, Relaxed);
        self.started_nanoseconds
            .store(nanoseconds((self.stopwatch.exact)()), Relaxed);
        self.started_coarsely
            .store(nanoseconds((self.stopwatch.coarse)()), Relaxed);
        self.memory_at_start.store(memory_now, Relaxed);
        self.operations.store(0, Relaxed);
        self.engine_operations.store(0, Relaxed);
        self.cut.store(0, Relaxed);
        self.armed.store(true, Relaxed);
    }

    /// Ends the watch over a call and tells what it used.
    pub(crate) fn disarm(&self) -> Spent {
        self.armed.store(false, Relaxed);
        Spent {
            operations: self.operations.load(Relaxed),
            time: Duration::from_nanos(self.elapsed()),
            memory: self.grown((self.gauge.0)()),
            cut: Cut::from_code(self.cut.load(Relaxed)),
        }
    }

    /// Whether the call must end, asked by the engine for every operation with its own running count. Once it must, it
    /// must until the fuse is disarmed.
    pub(crate) fn progress(&self, engine_operations: u64) -> Option<Cut> {
        if !self.armed.load(Relaxed) {
            return None;
        }
        let before = self.engine_operations.swap(engine_operations, Relaxed);
        let done = engine_operations.checked_sub(before).unwrap_or(engine_operations);
        self.charge(done);
        self.check()
    }

    /// Counts work that a native function did, as so many operations. The call is cut at its next operation.
    pub(crate) fn charge(&self, units: u64) {
        let operations = self.operations.load(Relaxed);
        self.operations.store(operations.saturating_add(units), Relaxed);
    }

    /// Counts work that a native function is about to do.
    ///
    /// # Errors
    /// The error that ends the call, when it is over a limit with this.
    pub(crate) fn spend(&self, units: u64) -> Result<(), Box<EvalAltResult>> {
        if !self.armed.load(Relaxed) {
            return Ok(());
        }
        self.charge(units);
        self.check().map_or(Ok(()), |cut| Err(cut.error()))
    }

    /// Bytes added since the fuse was armed.
    pub(crate) fn growth(&self) -> i64 {
        self.grown((self.gauge.0)())
    }

    /// What the gauge shows now; only differences mean something.
    pub(crate) fn gauge(&self) -> i64 {
        (self.gauge.0)()
    }

    /// The time on the exact clock; only differences mean something.
    pub(crate) fn now(&self) -> Duration {
        (self.stopwatch.exact)()
    }

    /// These bytes were not added for the script: they do not count.
    pub(crate) fn forgive(&self, bytes: i64) {
        let start = self.memory_at_start.load(Relaxed);
        self.memory_at_start.store(start.saturating_add(bytes), Relaxed);
    }

    fn check(&self) -> Option<Cut> {
        if let Some(cut) = Cut::from_code(self.cut.load(Relaxed)) {
            return Some(cut);
        }
        let cut = self.over_limit()?;
        self.cut.store(cut.code(), Relaxed);
        Some(cut)
    }

    fn over_limit(&self) -> Option<Cut> {
        let operations = self.operations.load(Relaxed);
        if operations > self.operations_limit.load(Relaxed) {
            return Some(Cut::Operations);
        }
        let memory = (self.gauge.0)();
        let grown = self.grown(memory);
        if grown > self.memory_limit.load(Relaxed) {
            return Some(Cut::Memory);
        }
        let started = self.started_coarsely.load(Relaxed);
        let elapsed = nanoseconds((self.stopwatch.coarse)()).saturating_sub(started);
        if elapsed > self.time_limit_nanoseconds.load(Relaxed) {
            return Some(Cut::Time);
        }
        None
    }

    fn elapsed(&self) -> u64 {
        nanoseconds((self.stopwatch.exact)()).saturating_sub(self.started_nanoseconds.load(Relaxed))
    }

    fn grown(&self, memory: i64) -> i64 {
        memory.saturating_sub(self.memory_at_start.load(Relaxed))
    }
}

impl fmt::Debug for Fuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fuse")
            .field("armed", &self.armed)
            .field("operations", &self.operations)
            .field("cut", &Cut::from_code(self.cut.load(Relaxed)))
            .finish_non_exhaustive()
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use rhai::Engine;

    use super::*;

    thread_local! {
        static TIME: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static MEMORY: Cell<i64> = const { Cell::new(0) };
    }

    fn fuse() -> Arc<Fuse> {
        let stopwatch = Stopwatch {
            exact: || TIME.get(),
            coarse: || TIME.get(),
        };
        Fuse::new(stopwatch, MemoryGauge(|| MEMORY.get()))
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn an_unarmed_fuse_lets_everything_pass() {
        let fuse = fuse();
        assert_eq!(fuse.progress(u64::MAX), None);
        assert!(fuse.spend(u64::MAX).is_ok());
        fuse.arm(10, SECOND, 10);
        assert_eq!(fuse.progress(11), Some(Cut::Operations));
        fuse.disarm();
        assert_eq!(fuse.progress(12), None);
    }

    #[test]
    fn a_cut_stays_until_the_next_call() {
        let fuse = fuse();
        fuse.arm(10, SECOND, 10);
        MEMORY.set(11);
        assert_eq!(fuse.progress(1), Some(Cut::Memory));
        MEMORY.set(0);
        assert_eq!(fuse.progress(2), Some(Cut::Memory));
        assert_eq!(fuse.disarm().cut, Some(Cut::Memory));
        fuse.arm(10, SECOND, 10);
        assert_eq!(fuse.progress(1), None);
    }

    #[test]
    fn what_natives_charge_counts_as_operations() {
        let fuse = fuse();
        fuse.arm(1_000, SECOND, 10);
        assert_eq!(fuse.progress(500), None);
        fuse.charge(500);
        assert_eq!(fuse.progress(500), None);
        assert_eq!(fuse.progress(501), Some(Cut::Operations));
        assert_eq!(fuse.disarm().operations, 1_001);
    }

    #[test]
    fn operations_count_on_when_the_engine_starts_its_count_anew() {
        let fuse = fuse();
        fuse.arm(10, SECOND, 10);
        assert_eq!(fuse.progress(6), None);
        assert_eq!(fuse.progress(4), None);
        assert_eq!(fuse.progress(5), Some(Cut::Operations));
    }

    #[test]
    fn time_is_looked_at_with_every_operation() {
        let fuse = fuse();
        fuse.arm(u64::MAX, SECOND, 1 << 30);
        assert_eq!(fuse.progress(1), None);
        TIME.set(SECOND * 2);
        assert_eq!(fuse.progress(2), Some(Cut::Time));
        TIME.set(Duration::ZERO);
    }

    #[test]
    fn what_was_not_added_for_the_script_is_forgiven() {
        let fuse = fuse();
        MEMORY.set(0);
        fuse.arm(u64::MAX, SECOND, 10);
        MEMORY.set(1_000);
        fuse.forgive(995);
        assert_eq!((fuse.progress(1), fuse.growth()), (None, 5));
        MEMORY.set(1_006);
        assert_eq!(fuse.progress(2), Some(Cut::Memory));
    }

    #[test]
    fn a_script_cannot_catch_a_cut() {
        let fuse = fuse();
        let mut engine = Engine::new();
        let hook = Arc::clone(&fuse);
        engine.on_progress(move |operations| hook.progress(operations).map(Cut::token));
        let native = Arc::clone(&fuse);
        engine.register_fn("work", move || native.spend(5_000));
        for script in [
            "loop { try { loop {} } catch { } }",
            "loop { try { work() } catch { } }",
        ] {
            fuse.arm(10_000, SECOND, 1 << 20);
            let error = engine.run(script).unwrap_err();
            assert_eq!(Cut::from_error(&error), Some(Cut::Operations), "{script}");
            fuse.disarm();
        }
    }
}
