//! The tick stands still for half a second while a thousand players send on.

use std::{thread, time::Duration};

use nix::{
    sys::{
        ptrace,
        signal::{Signal, kill},
        wait::{WaitPidFlag, waitpid},
    },
    unistd::Pid,
};

use crate::support::{server::Server, swarm::Swarm, table::Table};

const STALL: Duration = Duration::from_millis(500);

/// First only the tick's thread stands, then the whole process.
pub(crate) fn half_a_second(table: &mut Table) {
    let server = Server::start(&["world.max_speed=0"]);
    let mut swarm = Swarm::new(server.address, 1_000);
    swarm.join_all();
    swarm.run_for(Duration::from_secs(3));
    swarm.walk(Duration::from_millis(100));
    swarm.run_for(Duration::from_secs(4));
    let pid = Pid::from_raw(i32::try_from(server.pid()).unwrap());
    let before = server.drops();
    let used_before = server.times();
    swarm.run_for(Duration::from_secs(5));
    let used = server.times().since(&used_before);
    let frames = swarm.counts.frames;

    // The tick runs on the main thread; the tracer stops that one alone.
    ptrace::seize(pid, ptrace::Options::empty()).expect("tracing the own child is allowed");
    ptrace::interrupt(pid).unwrap();
    waitpid(pid, Some(WaitPidFlag::__WALL)).unwrap();
    swarm.run_for(STALL);
    ptrace::detach(pid, None).unwrap();
    swarm.run_for(Duration::from_secs(2));
    report(
        table,
        "500 ms stall of the tick thread, 1,000 players at 10 Hz",
        &before,
        &server.drops(),
    );

    let before = server.drops();
    kill(pid, Signal::SIGSTOP).unwrap();
    swarm.run_for(STALL);
    kill(pid, Signal::SIGCONT).unwrap();
    swarm.run_for(Duration::from_secs(2));
    report(table, "the same of the whole process", &before, &server.drops());

    println!(
        "{frames} frames were sent; with 1,000 walking, 5 s: {}",
        used.shares()
    );
    let tick = server.status()["tick"].clone();
    println!("tick: {tick}");
    drop(swarm);
    thread::sleep(Duration::from_millis(100));
}

fn report(table: &mut Table, what: &str, before: &serde_json::Value, after: &serde_json::Value) {
    let grown = |path: &dyn Fn(&serde_json::Value) -> u64| path(after) - path(before);
    let kernel = grown(&|drops| drops["kernel_lost"].as_u64().unwrap());
    let full = grown(&|drops| drops["by_reason"]["queue_full"].as_u64().unwrap());
    let received = grown(&|drops| drops["received"].as_u64().unwrap());
    let text = format!("{kernel} lost in the kernel, {full} in the queue, of {received}");
    table.row(what, "none lost", text, Some(kernel + full == 0 && received > 0));
}
