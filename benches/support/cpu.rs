//! CPU time of threads in nanoseconds, as the kernel's scheduler counts it.

use std::{collections::BTreeMap, fs, time::Duration};

/// CPU time by thread name.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadTimes(BTreeMap<String, Duration>);

impl ThreadTimes {
    /// Of every thread of a process; threads of one name are added up.
    pub(crate) fn of_process(pid: u32) -> Self {
        let mut times = Self::default();
        for task in fs::read_dir(format!("/proc/{pid}/task"))
            .expect("the process runs")
            .flatten()
        {
            let Ok(name) = fs::read_to_string(task.path().join("comm")) else {
                continue;
            };
            let Ok(text) = fs::read_to_string(task.path().join("schedstat")) else {
                continue;
            };
            *times.0.entry(name.trim().to_owned()).or_default() += on_core(&text);
        }
        times
    }

    /// What was used since `before`, by thread name.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let used = |(name, now): (&String, &Duration)| {
            (
                name.clone(),
                now.saturating_sub(before.0.get(name).copied().unwrap_or_default()),
            )
        };
        Self(self.0.iter().map(used).collect())
    }

    /// All threads together.
    pub(crate) fn total(&self) -> Duration {
        self.0.values().sum()
    }

    /// Threads whose name begins so.
    pub(crate) fn of(&self, name: &str) -> Duration {
        self.0
            .iter()
            .filter(|(thread, _)| thread.starts_with(name))
            .map(|(_, time)| time)
            .sum()
    }

    /// Where the time went, the largest first.
    pub(crate) fn shares(&self) -> String {
        let mut rows: Vec<_> = self.0.iter().filter(|(_, time)| !time.is_zero()).collect();
        rows.sort_by_key(|(_, time)| std::cmp::Reverse(**time));
        rows.iter()
            .map(|(name, time)| format!("{name} {:.1} ms", time.as_secs_f64() * 1e3))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// CPU time of one thread of this process.
pub(crate) fn of_own_thread(thread: i32) -> Duration {
    on_core(&fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).expect("the thread runs"))
}

fn on_core(schedstat: &str) -> Duration {
    let nanoseconds = schedstat
        .split(' ')
        .next()
        .and_then(|word| word.parse().ok())
        .unwrap_or(0);
    Duration::from_nanos(nanoseconds)
}
