//! A running `decitick serve` as a child process, with its log.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{Arc, Condvar, Mutex, RwLock, mpsc},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

/// How long anything may take; on a busy machine most of it is waiting for a processor.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The machine's processors: tests that are about time limits read it, and what loads every processor for long writes it,
/// so that no limit is met for the load of another test.
pub(crate) static PROCESSORS: RwLock<()> = RwLock::new(());

/// Runs the binary to its end, which is to come in time.
pub(crate) fn decitick(arguments: &[&str]) -> Output {
    let child = Command::new(env!("CARGO_BIN_EXE_decitick"))
        .args(arguments)
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id();
    let (ended, end) = mpsc::channel();
    let waiter = thread::spawn(move || ended.send(child.wait_with_output()));
    let Ok(output) = end.recv_timeout(PATIENCE) else {
        kill(Pid::from_raw(i32::try_from(id).unwrap()), Signal::SIGKILL).unwrap();
        let _ = waiter.join();
        panic!("decitick {arguments:?} goes on: {:?}", end.recv());
    };
    output.unwrap()
}

/// A server process. It is killed when the test is over with it.
pub(crate) struct Server {
    child: Child,
    directory: PathBuf,
    lines: Arc<Lines>,
}

#[derive(Default)]
struct Lines {
    seen: Mutex<(Vec<String>, bool)>,
    more: Condvar,
}

impl Server {
    /// Starts a server on a free port of 127.0.0.1 and waits until it serves.
    pub(crate) fn start(directory: &Path, arguments: &[&str]) -> Self {
        let server = Self::spawn(directory, arguments);
        server.wait_for_line("server started");
        server
    }

    /// Starts a server and does not wait.
    pub(crate) fn spawn(directory: &Path, arguments: &[&str]) -> Self {
        Self::spawn_with(directory, arguments, &[])
    }

    /// Starts a server with these variables in its environment and does not wait.
    pub(crate) fn spawn_with(directory: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_decitick"))
            .envs(environment.iter().copied())
            .arg("serve")
            .arg(directory)
            .args(["--listen", "127.0.0.1:0", "--no-console", "--log", "json"])
            .args(["--set", "client_files.listen=\"127.0.0.1:0\""])
            .args(arguments)
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = Arc::new(Lines::default());
        let (log, sink) = (BufReader::new(child.stderr.take().unwrap()), Arc::clone(&lines));
        thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                sink.seen.lock().unwrap().0.push(line);
                sink.more.notify_all();
            }
            sink.seen.lock().unwrap().1 = true;
            sink.more.notify_all();
        });
        Self {
            child,
            directory: directory.to_owned(),
            lines,
        }
    }

    /// Where it listens, in the order of its configuration.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.wait_for_line("server started");
        self.log()
            .iter()
            .filter_map(|line| {
                let value: serde_json::Value = serde_json::from_str(line).ok()?;
                let fields = &value["fields"];
                (fields["message"] == "listening")
                    .then(|| fields["address"].as_str().unwrap().parse().unwrap())
            })
            .collect()
    }

    /// The log so far.
    pub(crate) fn log(&self) -> Vec<String> {
        self.lines.seen.lock().unwrap().0.clone()
    }

    /// Waits until a line of the log holds `part`.
    pub(crate) fn wait_for_line(&self, part: &str) {
        let seen = self.lines.seen.lock().unwrap();
        let waits = |(lines, ended): &mut (Vec<String>, bool)| {
            !*ended && !lines.iter().any(|line| line.contains(part))
        };
        let (seen, _) = self.lines.more.wait_timeout_while(seen, PATIENCE, waits).unwrap();
        assert!(
            seen.0.iter().any(|line| line.contains(part)),
            "no line with {part:?}: {:#?}",
            seen.0
        );
    }

    /// Runs one console command through the console socket.
    pub(crate) fn console(&self, command: &str) -> Output {
        decitick(&["console", self.directory.to_str().unwrap(), "-c", command])
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal).unwrap();
    }

    /// Waits for its end: exit code and whole log.
    pub(crate) fn wait(mut self) -> (Option<i32>, Vec<String>) {
        let deadline = Instant::now() + PATIENCE;
        let seen = self.lines.seen.lock().unwrap();
        // Its log ends when the process does.
        let (seen, _) = self
            .lines
            .more
            .wait_timeout_while(seen, PATIENCE, |(_, ended)| !*ended)
            .unwrap();
        let log = seen.0.clone();
        drop(seen);
        assert!(Instant::now() < deadline, "the server goes on: {log:#?}");
        (self.child.wait().unwrap().code(), log)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
