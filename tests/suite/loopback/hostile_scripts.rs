//! Gamemodes that mean harm, in a real server: whatever one does, the server goes on, says what was wrong, and ends as it
//! should.
//!
//! The scripts stand in tables by what they go against. Each is started in a running server, which must then answer its
//! console, name the limit, and let a player in; after all of them it must not have grown and must stop cleanly. How long
//! anything took is printed and not judged: that depends on the machine.

#![expect(clippy::print_stdout, reason = "figures for whoever runs it with --nocapture")]

mod api;
mod data;
mod language;

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{PoisonError, RwLockReadGuard},
    time::{Duration, Instant},
};

use decitick_client::{
    client::{ClientConfig, PinnedServer},
    driver::{UdpDriver, query},
};
use decitick_protocol::{PlayerName, RejectReason};
use nix::sys::signal::Signal;
use serde_json::Value;
use tempfile::TempDir;

use super::{
    EndReason, decitick, end_of, join, json,
    server::{PATIENCE, PROCESSORS, Server},
    text,
};

/// What a hostile resource comes to.
#[derive(Clone, Copy)]
#[expect(
    clippy::enum_variant_names,
    reason = "each reads as a sentence: comes to errors"
)]
enum Comes {
    /// It does not start, and this is said.
    ToNoStart(&'static str),
    /// Its calls fail, and this is said of the last.
    ToErrors(&'static str),
    /// It is paused, and this is said of the last call.
    ToAPause(&'static str),
    /// It runs, after so many calls.
    ToCalls(u64),
    /// It refuses newcomers with this text.
    ToRefusals(&'static str),
}

/// A hostile resource: its name, what it comes to, and its files. A manifest is written when there is none among them.
struct Hostile {
    name: &'static str,
    comes: Comes,
    files: &'static [(&'static str, &'static str)],
}

/// One whose main script is all there is of it.
macro_rules! hostile {
    ($name:literal, $comes:expr, $main:expr) => {
        super::Hostile {
            name: $name,
            comes: $comes,
            files: &[("main.rhai", $main)],
        }
    };
}
use hostile;

impl Hostile {
    fn write(&self, directory: &Path) {
        let folder = directory.join("scripts").join(self.name);
        for (name, content) in [("resource.ron", "()")].iter().chain(self.files) {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    }
}

struct Arena {
    _processors: RwLockReadGuard<'static, ()>,
    directory: TempDir,
    server: Server,
    key: [u8; 32],
    visits: u32,
}

impl Arena {
    fn with(cases: &[Hostile]) -> Self {
        let processors = PROCESSORS.read().unwrap_or_else(PoisonError::into_inner);
        let directory = TempDir::new().unwrap();
        for case in cases {
            case.write(directory.path());
        }
        let server = Server::start(
            directory.path(),
            &["--set", "resources=[]", "--set", "scripts.hot_reload=false"],
        );
        let key = query(server.addresses()[0]).unwrap().info.server_key;
        Self {
            _processors: processors,
            directory,
            server,
            key,
            visits: 0,
        }
    }

    /// Runs all of them, so that one run of the test tells of each that goes wrong.
    fn run_all(&mut self, cases: &[Hostile]) {
        let wrong: Vec<&str> = cases
            .iter()
            .filter(|case| {
                let failed = catch_unwind(AssertUnwindSafe(|| self.run(case))).is_err();
                if failed {
                    // It is not to get into the way of those after it.
                    self.server.console(&format!("resource stop {}", case.name));
                }
                failed
            })
            .map(|case| case.name)
            .collect();
        assert!(
            wrong.is_empty(),
            "these do not come to what they should: {wrong:?}"
        );
    }

    fn run(&mut self, case: &Hostile) {
        let began = Instant::now();
        let started = self.server.console(&format!("resource start {}", case.name));
        let said = format!("{}{}", text(&started.stdout), text(&started.stderr));
        if let Comes::ToNoStart(words) = case.comes {
            assert!(!started.status.success(), "{} starts", case.name);
            assert!(said.contains(words), "{}: {said}", case.name);
        } else {
            assert!(started.status.success(), "{}: {said}", case.name);
        }
        self.visit(case);
        let row = self.outcome(case);
        let status = self.status();
        if matches!(case.comes, Comes::ToErrors(_) | Comes::ToAPause(_)) {
            let told = format!("\"resource\":\"{}\"", case.name);
            assert!(
                self.server
                    .log()
                    .iter()
                    .any(|line| line.contains(&told) && line.contains("script_error")),
                "the log tells of {}",
                case.name
            );
        }
        self.server.console(&format!("resource restart {}", case.name));
        let stopped = self.server.console(&format!("resource stop {}", case.name));
        if !matches!(case.comes, Comes::ToNoStart(_)) {
            assert!(
                stopped.status.success(),
                "{}: {}",
                case.name,
                text(&stopped.stderr)
            );
        }
        println!(
            "{:24} {:5} ms, longest call {:6.1} ms, {:9} B, {} errors, tick max {:6.1} ms, overruns {}, {} MiB resident",
            case.name,
            began.elapsed().as_millis(),
            row["longest_call_ms"].as_f64().unwrap_or_default(),
            row["memory_bytes"],
            row["errors"],
            status["tick"]["max_ms"].as_f64().unwrap_or_default(),
            status["tick"]["overruns"],
            self.resident_mib("VmRSS"),
        );
    }

    /// Waits for what the resource is to come to; its row of `resource list`.
    fn outcome(&self, case: &Hostile) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let row = self.row(case.name);
            // On a slow machine a limit of time may come before any other.
            let error = row["last_error"].as_str().unwrap_or_default();
            let words = |wanted: &str| error.contains(wanted) || error.contains("stopped: ");
            let there = match case.comes {
                Comes::ToNoStart(_) => row["state"] != "running",
                Comes::ToErrors(wanted) => row["errors"].as_u64() > Some(0) && words(wanted),
                Comes::ToAPause(wanted) => row["state"] == "paused" && words(wanted),
                Comes::ToCalls(calls) => row["calls"].as_u64() >= Some(calls),
                Comes::ToRefusals(_) => true,
            };
            if there {
                return row;
            }
            assert!(
                Instant::now() < deadline,
                "{} does not come to it: {row}\n{:#?}",
                case.name,
                self.server.log().iter().rev().take(5).collect::<Vec<_>>()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn row(&self, name: &str) -> Value {
        let list = json(&self.server.console("resource list --json"));
        let rows = list["resources"].as_array().unwrap();
        rows.iter()
            .find(|row| row["name"] == name)
            .cloned()
            .unwrap_or_default()
    }

    fn status(&self) -> Value {
        json(&self.server.console("status --json"))
    }

    /// A player comes, says something, and goes; or is refused as the resource wants it.
    fn visit(&mut self, case: &Hostile) {
        self.visits += 1;
        let name = format!("Guest {}", self.visits);
        let address = self.server.addresses()[0];
        if let Comes::ToRefusals(words) = case.comes {
            let config =
                ClientConfig::new(&PlayerName::parse(&name).unwrap()).pinned_to(PinnedServer::new(self.key));
            let mut driver = UdpDriver::connect(address, config).unwrap();
            let refused = EndReason::Rejected {
                reason: RejectReason::Gamemode,
                text: words.to_owned(),
                seconds: 0,
            };
            assert_eq!(end_of(&mut driver), refused, "{}", case.name);
            return;
        }
        let mut player = join(address, self.key, &name);
        player.client().send_chat("hello").unwrap();
        player.client().send_chat("/hello you").unwrap();
        player.client().send_event("hello", &[0x93, 1, 2, 3]).unwrap();
        player.run_for(Duration::from_millis(400)).unwrap();
        assert_eq!(player.client().end_reason(), None, "{}", case.name);
        player.client().bye();
        player.run_for(Duration::from_millis(20)).unwrap();
    }

    fn resident_mib(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(field)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    }

    /// The server has not grown, stops on a signal, and its log holds no fault of its own.
    fn end(self) {
        let (resident, most) = (self.resident_mib("VmRSS"), self.resident_mib("VmHWM"));
        println!(
            "{resident} MiB resident at the end, {most} MiB at most; {}",
            self.status()
        );
        assert!(resident < 500, "{resident} MiB");
        self.server.signal(Signal::SIGTERM);
        let (code, log) = self.server.wait();
        assert_eq!(
            code,
            Some(0),
            "{:#?}",
            log.iter().rev().take(20).collect::<Vec<_>>()
        );
        let mut bytes = 0;
        for line in &log {
            let value: Value = serde_json::from_str(line).expect(line);
            assert!(
                !line.contains("panicked") && !line.contains("fault of the server"),
                "{line}"
            );
            assert!(
                !line
                    .chars()
                    .any(|c| c.is_control() || ('\u{2066}'..='\u{2069}').contains(&c)),
                "{line}"
            );
            assert!(line.len() < 8_192, "a line of {} bytes", line.len());
            assert!(value["fields"]["message"].is_string(), "{line}");
            bytes += line.len();
        }
        println!("{} lines of log, {bytes} bytes", log.len());
        assert!(bytes < 16 << 20, "the log has {bytes} bytes");
        drop(self.directory);
    }
}

fn all_come_to_what_they_should(cases: &[Hostile]) {
    let mut arena = Arena::with(cases);
    arena.run_all(cases);
    arena.end();
}

#[test]
fn the_language_cannot_be_turned_against_the_server() {
    all_come_to_what_they_should(language::CASES);
}

#[test]
fn the_functions_of_the_server_cannot_be_turned_against_it() {
    all_come_to_what_they_should(api::CASES);
}

#[test]
fn stores_databases_and_files_are_no_way_out() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("secret.rhai"), "fn secret() { 1 }").unwrap();
    let mut arena = Arena::with(data::CASES);
    let folder = arena.directory.path().join("scripts/linked_file");
    std::os::unix::fs::symlink(directory.path().join("secret.rhai"), folder.join("link.rhai")).unwrap();
    arena.run_all(data::CASES);
    assert!(
        fs::read_dir(arena.directory.path().join("store"))
            .unwrap()
            .flatten()
            .all(|entry| data::CASES.iter().any(|case| entry
                .file_name()
                .to_string_lossy()
                .starts_with(&format!("{}.sqlite", case.name)))),
        "a file for each resource and no other"
    );
    arena.end();
}

#[test]
fn what_a_resource_holds_is_counted_as_it_comes_and_goes() {
    let mut arena = Arena::with(&[data::TIDY, data::GREEDY]);
    for case in [&data::TIDY, &data::GREEDY] {
        let started = arena.server.console(&format!("resource start {}", case.name));
        assert!(started.status.success(), "{}", text(&started.stderr));
    }
    arena.visit(&data::TIDY);
    let after = |calls: u64| {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let row = arena.row("tidy");
            if row["calls"].as_u64() >= Some(calls) {
                return row["memory_bytes"].as_u64().unwrap();
            }
            assert!(Instant::now() < deadline, "{row}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let early = after(400);
    let late = after(2_000);
    println!("{early} bytes held, {late} bytes later");
    assert!(late < early + 32 * 1024, "{early} bytes held, {late} bytes later");
    let greedy = arena.outcome(&data::GREEDY);
    println!("{greedy}");
    assert!(
        arena.resident_mib("VmHWM") < 400,
        "{} MiB",
        arena.resident_mib("VmHWM")
    );
    arena.end();
}

#[test]
fn fifty_players_join_while_every_handler_burns_all_it_may() {
    let mut arena = Arena::with(&[api::BURNER]);
    let burner = arena.server.console("resource start burner");
    assert!(burner.status.success(), "{}", text(&burner.stderr));
    let address = arena.server.addresses()[0].to_string();
    let bots = decitick(&["bots", &address, "--count", "50", "--seconds", "6", "--json"]);
    println!("{}{}", text(&bots.stdout), text(&bots.stderr));
    assert_eq!(json(&bots)["bots"]["joined"].as_u64(), Some(50));
    println!("{}", arena.row("burner"));
    arena.visit(&api::BURNER);
    arena.end();
}
