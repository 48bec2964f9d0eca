//! How long the ticks of a server take, seen from outside. The console tells of the last minute, of which the join of
//! everybody is a part; a window of a few seconds needs its own figures.
//!
//! Ticks run on the server's main thread, which sleeps between them. Its time on and waiting for the core, as the
//! scheduler counts it, therefore grows in lumps, one for each tick.

use std::{
    fs::File,
    os::unix::fs::FileExt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::table::percentile;

/// A pause that ends a lump; ticks are 100 ms apart.
const PAUSE: Duration = Duration::from_millis(9);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(3);

/// Watches a process' main thread from a thread of its own: the clients' thread has times when it is busy.
pub(crate) struct TickWatch {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Watcher>,
}

struct Watcher {
    schedstat: File,
    last: Times,
    open: Option<(Times, Instant)>,
    done: Vec<Times>,
}

/// Nanoseconds on the core and waiting for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Times {
    running: u64,
    waiting: u64,
}

/// Durations of ticks in milliseconds: the time on the core and the wait for it, as a clock would have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TickFigures {
    pub(crate) count: usize,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) longest: f64,
    /// Without the wait for the core.
    pub(crate) running_p99: f64,
}

impl TickWatch {
    /// Of the process `pid` from now on.
    pub(crate) fn new(pid: u32) -> Self {
        let schedstat = File::open(format!("/proc/{pid}/task/{pid}/schedstat")).expect("the process runs");
        let mut watcher = Watcher {
            last: read(&schedstat),
            schedstat,
            open: None,
            done: Vec::new(),
        };
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                watcher.look();
                thread::sleep(LOOK);
            }
            watcher
        });
        Self { stop, thread }
    }

    /// Ends the watch.
    pub(crate) fn figures(self) -> TickFigures {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the watch ran to its end").figures()
    }
}

impl Watcher {
    fn look(&mut self) {
        let (times, now) = (read(&self.schedstat), Instant::now());
        let grown = Times {
            running: times.running - self.last.running,
            waiting: times.waiting - self.last.waiting,
        };
        self.last = times;
        if grown != Times::default() {
            let (sum, _) = self.open.unwrap_or((Times::default(), now));
            let sum = Times {
                running: sum.running + grown.running,
                waiting: sum.waiting + grown.waiting,
            };
            self.open = Some((sum, now));
        } else if let Some((sum, _)) = self.open.take_if(|(_, changed)| now - *changed > PAUSE) {
            self.done.push(sum);
        }
    }

    /// The ticks that ended; the first may have been seen in part and does not count.
    fn figures(&self) -> TickFigures {
        let ticks = self.done.get(1..).unwrap_or_default();
        let sorted = |of: fn(&Times) -> u64| {
            let mut values: Vec<f64> = ticks.iter().map(|times| of(times) as f64 / 1e6).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let lasted = sorted(|times| times.running + times.waiting);
        TickFigures {
            count: ticks.len(),
            p50: percentile(&lasted, 50),
            p99: percentile(&lasted, 99),
            longest: percentile(&lasted, 100),
            running_p99: percentile(&sorted(|times| times.running), 99),
        }
    }
}

fn read(schedstat: &File) -> Times {
    let mut buffer = [0; 128];
    let length = schedstat.read_at(&mut buffer, 0).unwrap_or(0);
    let text = String::from_utf8_lossy(&buffer[..length]);
    let mut words = text.split(' ').map(|word| word.trim().parse().unwrap_or(0));
    Times {
        running: words.next().unwrap_or(0),
        waiting: words.next().unwrap_or(0),
    }
}
