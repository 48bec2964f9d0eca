//! The same relay by a renet server with its own clients (benches/peers), which is built here: it is no part of the
//! workspace.

use std::{
    io::{BufRead, BufReader, Lines},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    time::Instant,
};

use super::curve;
use crate::support::{
    cores,
    cpu::ThreadTimes,
    scene::{Form, Scene},
    server::{free_address, memory_kib},
    table::Table,
};

const COUNTS: [usize; 3] = [200, 500, 1_000];
/// Where more frames than this share were replaced by newer ones, something else had the core, and the same time
/// went into fewer records: the ratio then flatters.
const MOST_SUPERSEDED: f64 = 0.1;

/// What a renet server needs for the same number of players, spread.
pub(crate) fn renet(table: &mut Table) {
    let program = match build() {
        Ok(program) => program,
        Err(why) => {
            println!("no comparison with renet: {why}");
            return;
        }
    };
    for players in COUNTS {
        let form = Form::Spread;
        let scene = Scene { players, form };
        let theirs = measure(&program, scene);
        let ours = curve::server(scene);
        println!(
            "renet: {:.1} MiB, {:.2} % delivered, {:.1} % superseded, latency p50 {:.1} ms; ours: {:.1} MiB, {:.1} ms",
            theirs.resident_mib,
            100.0 * theirs.delivered / theirs.expected,
            100.0 * (1.0 - theirs.relayed / theirs.frames),
            theirs.latency_ms,
            ours.resident_mib,
            ours.seen.latency_p50_ms,
        );
        let ratio = ours.cpu.a_record / theirs.cpu.a_record;
        let measured = format!(
            "{:.2} / {:.2} us = {ratio:.2} ({:.0} / {:.0} core-ms a second)",
            ours.cpu.a_record, theirs.cpu.a_record, ours.cpu.a_second, theirs.cpu.a_second
        );
        let superseded = 1.0 - theirs.relayed / theirs.frames;
        let comparable = superseded <= MOST_SUPERSEDED;
        let target = if players == 1_000 {
            "at most 0.4 x renet"
        } else {
            ""
        };
        table.row(
            &format!(
                "{players} players at 10 Hz, spread, 32 in view: CPU for a relayed record against renet"
            ),
            target,
            measured,
            (players == 1_000 && comparable).then_some(ratio <= 0.4),
        );
        if !comparable {
            println!("the machine was too busy for this ratio to mean anything");
        }
        if players == 1_000 {
            table.row(
                "the process with 1,000 players who move (resident memory)",
                "at most 1.0 x renet",
                format!("{:.1} / {:.1} MiB", ours.resident_mib, theirs.resident_mib),
                Some(ours.resident_mib <= theirs.resident_mib),
            );
        }
    }
}

/// The program of benches/peers, or why there is none.
fn build() -> Result<PathBuf, String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/Cargo.toml");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--release", "--locked", "--quiet", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(&target)
        .status()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if built.success() {
        Ok(target.join("release/decitick-peers"))
    } else {
        Err("it does not build".to_owned())
    }
}

struct Theirs {
    cpu: curve::Cost,
    frames: f64,
    relayed: f64,
    expected: f64,
    delivered: f64,
    latency_ms: f64,
    resident_mib: f64,
}

/// A process that ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn measure(program: &Path, scene: Scene) -> Theirs {
    let address = free_address().to_string();
    let start = |mode: &str| {
        Command::new(program)
            .args([
                mode,
                &address,
                &scene.players.to_string(),
                &scene.form.to_string(),
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    cores::stay_on_server_core();
    let server = Running(start("serve"));
    cores::stay_on_load_core();
    let mut load = Running(start("load"));
    let mut lines = BufReader::new(load.0.stdout.take().unwrap()).lines();
    expect(&mut lines, "open");
    let (before, started) = (ThreadTimes::of_process(server.0.id()), Instant::now());
    expect(&mut lines, "closed");
    let used = ThreadTimes::of_process(server.0.id()).since(&before);
    let took = started.elapsed();
    let figures = lines.next().expect("the clients tell what they saw").unwrap();
    let figures: Vec<f64> = figures.split(' ').map(|word| word.parse().unwrap()).collect();
    let [frames, relayed, expected, delivered, latency_ms] = figures[..] else {
        panic!("five figures, not {figures:?}");
    };
    let resident_mib = memory_kib(server.0.id(), "VmRSS:") as f64 / 1024.0;
    Theirs {
        cpu: curve::Cost::new(used.total(), took, delivered),
        frames,
        relayed,
        expected,
        delivered,
        latency_ms,
        resident_mib,
    }
}

fn expect(lines: &mut Lines<BufReader<ChildStdout>>, word: &str) {
    let line = lines.next().expect("the clients run to their end").unwrap();
    assert_eq!(line, word);
}
