//! The server has one core, everything else another, so that neither takes the other's time.

use std::{fs, thread};

use nix::{
    sched::{CpuSet, sched_setaffinity},
    unistd::Pid,
};

const SERVER: usize = 0;
const LOAD: usize = 1;

fn stay_on(core: usize) {
    // On a machine with one core the rows still run; their figures then mean little.
    if thread::available_parallelism().is_ok_and(|cores| cores.get() > core) || core == LOAD {
        let mut set = CpuSet::new();
        if set.set(core).is_ok() {
            let _ = sched_setaffinity(Pid::from_raw(0), &set);
        }
    }
}

/// Keeps the calling thread, and what it starts, on the load's core.
pub(crate) fn stay_on_load_core() {
    stay_on(LOAD);
}

/// Keeps the calling thread, and what it starts, on the server's core.
pub(crate) fn stay_on_server_core() {
    stay_on(SERVER);
}

/// The load averages of the last 1, 5 and 15 minutes: what else ran.
pub(crate) fn machine_load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
