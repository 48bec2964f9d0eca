//! Many consoles on one real server, one of them stopped in the middle; and a server without a terminal, or with an
//! output that nobody reads.

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tempfile::TempDir;

use super::{
    json,
    server::{PATIENCE, Server, decitick},
    text,
};

/// A process that is killed when the test is over with it.
struct Process(Child);

impl Process {
    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.0.id()).unwrap()), signal).unwrap();
    }

    /// Waits for its end, which is to come in time.
    fn wait(&mut self) -> Option<i32> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < deadline, "the process goes on");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Everything that a stream gives, on a thread of its own.
fn reader(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut read = Vec::new();
        let _ = stream.read_to_end(&mut read);
        String::from_utf8_lossy(&read).into_owned()
    })
}

/// Asks one line over the socket itself: how many parts came, and the last word with whether the command was done.
fn asked(directory: &Path, line: &str) -> (usize, bool, String) {
    let mut stream = UnixStream::connect(directory.join("console.sock")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut parts = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let (word, length) = header.trim_end().split_once(' ').expect(&header);
        let mut body = vec![0; length.parse::<usize>().unwrap() + 1];
        reader.read_exact(&mut body).unwrap();
        body.pop();
        match word {
            "part" => parts += 1,
            _ => return (parts, word == "ok", text(&body)),
        }
    }
}

/// Bytes of memory that a process holds.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kibibytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kibibytes * 1024
}

#[test]
fn twenty_consoles_watch_while_one_is_stopped_and_nobody_waits_for_it() {
    let directory = TempDir::new().unwrap();
    let server = Server::start(directory.path(), &[]);
    let address = server.addresses()[0].to_string();
    let bots = Command::new(env!("CARGO_BIN_EXE_decitick"))
        .args(["bots", &address, "--count", "10", "--seconds", "600", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _bots = Process(bots);
    let deadline = Instant::now() + PATIENCE;
    while json(&server.console("status --json"))["players_spawned"].as_u64() < Some(10) {
        assert!(Instant::now() < deadline, "the bots do not come in");
    }

    let mut stopped = Process(
        Command::new(env!("CARGO_BIN_EXE_decitick"))
            .args(["console", directory.path().to_str().unwrap()])
            .args(["-c", "watch 0 Motion 600"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut output = BufReader::new(stopped.0.stdout.take().unwrap());
    let errors = reader(stopped.0.stderr.take().unwrap());
    let mut first = String::new();
    output.read_line(&mut first).unwrap();
    assert!(
        !first.is_empty(),
        "nothing is watched: {}",
        errors.join().unwrap()
    );
    let held_before = resident(server.id());
    stopped.signal(Signal::SIGSTOP);

    let watching: Vec<_> = (0..20)
        .map(|_| {
            let directory = directory.path().to_owned();
            thread::spawn(move || asked(&directory, "watch 0 Motion 8"))
        })
        .collect();
    for watcher in watching {
        let (parts, ok, last) = watcher.join().unwrap();
        assert!(ok, "{last}");
        assert!(parts >= 5, "{parts} parts in 8 s of walking");
    }
    server.wait_for_line("was cut off");
    // It is cut off, and still stopped: the others never noticed.
    let status = json(&server.console("status --json"));
    let (number, overruns) = (
        status["tick"]["number"].as_u64().unwrap(),
        status["tick"]["overruns"].as_u64().unwrap(),
    );
    assert!(overruns < number / 2, "{status}");
    let held = resident(server.id());
    assert!(
        held < held_before + (128 << 20),
        "{held_before} bytes before, {held} after"
    );

    stopped.signal(Signal::SIGCONT);
    let output = reader(output);
    assert_eq!(stopped.wait(), Some(1));
    let said = errors.join().unwrap();
    assert!(said.contains("cut off"), "{said}");
    assert!(
        output.join().unwrap().lines().count() > 1,
        "what had come is shown"
    );
}

#[test]
fn a_pipe_that_is_closed_ends_a_console_quietly() {
    let directory = TempDir::new().unwrap();
    let server = Server::start(directory.path(), &[]);
    let mut console = Process(
        Command::new(env!("CARGO_BIN_EXE_decitick"))
            .args(["console", directory.path().to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    drop(console.0.stdout.take());
    let errors = reader(console.0.stderr.take().unwrap());
    let mut input = console.0.stdin.take().unwrap();
    // It may be gone before the second line.
    let _ = input.write_all(b"help\nhelp\n");
    drop(input);
    assert_eq!(console.wait(), Some(0));
    assert_eq!(errors.join().unwrap(), "");
    assert!(server.console("status").status.success());
}

#[test]
fn a_live_view_without_a_terminal_is_printed_once() {
    let directory = TempDir::new().unwrap();
    let _server = Server::start(directory.path(), &["--set", "name=\"Night City\""]);
    let printed = decitick(&["console", directory.path().to_str().unwrap(), "--top"]);
    assert!(printed.status.success(), "{}", text(&printed.stderr));
    let picture = text(&printed.stdout);
    assert!(
        picture.contains("Night City")
            && picture.contains("0 of 1000 players")
            && picture.contains("freeroam"),
        "{picture}"
    );
    assert!(!picture.contains('\u{1b}'));
}

/// Starts a server whose standard input and output a shell arranges.
fn arranged(directory: &Path, arrangement: &str) -> Process {
    let command = format!(
        "exec '{}' serve '{}' --listen 127.0.0.1:0 --set 'client_files.listen=\"127.0.0.1:0\"' {arrangement}",
        env!("CARGO_BIN_EXE_decitick"),
        directory.display()
    );
    let child = Command::new("/bin/sh")
        .args(["-c", &command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    Process(child)
}

/// The number of its present tick, once it answers.
fn tick_of(directory: &Path) -> u64 {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let status = decitick(&["console", directory.to_str().unwrap(), "-c", "status --json"]);
        if status.status.success() {
            return json(&status)["tick"]["number"].as_u64().unwrap();
        }
        assert!(Instant::now() < deadline, "{}", text(&status.stderr));
        thread::sleep(Duration::from_millis(50));
    }
}

fn expect_ticks(directory: &Path) {
    let begun = tick_of(directory);
    let deadline = Instant::now() + PATIENCE;
    while tick_of(directory) < begun + 5 {
        assert!(Instant::now() < deadline, "it does not tick");
    }
}

#[test]
fn a_server_runs_without_an_input() {
    for arrangement in ["< /dev/null", "<&-"] {
        let directory = TempDir::new().unwrap();
        let mut server = arranged(directory.path(), arrangement);
        expect_ticks(directory.path());
        server.signal(Signal::SIGTERM);
        assert_eq!(server.wait(), Some(0), "{arrangement}");
    }
}

#[test]
fn an_output_that_nobody_reads_holds_up_neither_the_ticks_nor_the_stop() {
    let directory = TempDir::new().unwrap();
    let mut server = arranged(directory.path(), "");
    tick_of(directory.path());
    // More than a pipe holds.
    let mut input = server.0.stdin.take().unwrap();
    input.write_all("help\n".repeat(200).as_bytes()).unwrap();
    expect_ticks(directory.path());
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), Some(0));
}
