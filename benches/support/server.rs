//! The real server as a process of its own.

use std::{
    fs,
    net::{SocketAddr, UdpSocket},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use tempfile::TempDir;

use super::{cores, cpu::ThreadTimes};

/// How long a server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(15);

/// A running server; it is stopped when this is dropped.
pub(crate) struct Server {
    child: Child,
    directory: TempDir,
    binary: PathBuf,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts one in an empty directory, `resources: []`, with these `--set` values on top.
    pub(crate) fn start(set: &[&str]) -> Self {
        Self::start_with(set, None)
    }

    /// The same with this text as assets/spawns.ron.
    pub(crate) fn start_with(set: &[&str], spawns: Option<&str>) -> Self {
        let binary = std::env::var_os("DECITICK_BIN")
            .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_decitick")), PathBuf::from);
        let directory = TempDir::new().unwrap();
        let made = Command::new(&binary)
            .arg("init")
            .arg(directory.path())
            .stdout(Stdio::null())
            .status();
        assert!(
            made.is_ok_and(|status| status.success()),
            "{} does not make a directory",
            binary.display()
        );
        if let Some(spawns) = spawns {
            fs::write(directory.path().join("assets/spawns.ron"), spawns).unwrap();
        }
        let address = free_address();
        let mut command = Command::new(&binary);
        command
            .arg("serve")
            .arg(directory.path())
            .args(["--no-console", "--set", "resources=[]"])
            .args(["--set", "client_files.listen=\"127.0.0.1:0\""]);
        command.arg("--listen").arg(address.to_string());
        for value in set {
            command.args(["--set", value]);
        }
        cores::stay_on_server_core();
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        cores::stay_on_load_core();
        let server = Self {
            child: child.unwrap(),
            directory,
            binary,
            address,
        };
        let started = Instant::now();
        while server.ask("status").is_none() {
            assert!(started.elapsed() < PATIENCE, "the server does not start");
            thread::sleep(Duration::from_millis(50));
        }
        server
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn ask(&self, question: &str) -> Option<Value> {
        let asked = Command::new(&self.binary)
            .arg("console")
            .arg(self.directory.path())
            .args(["-c", &format!("{question} --json")])
            .stderr(Stdio::null())
            .output()
            .unwrap();
        serde_json::from_slice(&asked.stdout).ok()
    }

    /// The answer of the console's `status`.
    pub(crate) fn status(&self) -> Value {
        self.ask("status").expect("status answers")
    }

    /// The answer of the console's `drops`; its ledger must balance.
    pub(crate) fn drops(&self) -> Value {
        let drops = self.ask("drops").expect("drops answers");
        assert_eq!(drops["balanced"], Value::Bool(true), "{drops}");
        drops
    }

    /// CPU time of its threads so far.
    pub(crate) fn times(&self) -> ThreadTimes {
        ThreadTimes::of_process(self.pid())
    }

    /// Its resident memory in KiB, program text and libraries included.
    pub(crate) fn resident_kib(&self) -> u64 {
        memory_kib(self.pid(), "VmRSS:")
    }

    /// The part of it that the server asked for: heap and stacks, without pages of the program's file.
    pub(crate) fn private_kib(&self) -> u64 {
        memory_kib(self.pid(), "RssAnon:")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let pid = Pid::from_raw(i32::try_from(self.pid()).unwrap());
        let _ = kill(pid, Signal::SIGTERM);
        let asked = Instant::now();
        while self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            if asked.elapsed() > PATIENCE {
                let _ = self.child.kill();
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A loopback address that was free a moment ago.
pub(crate) fn free_address() -> SocketAddr {
    UdpSocket::bind("127.0.0.1:0")
        .and_then(|socket| socket.local_addr())
        .unwrap()
}

/// Memory of a process in KiB, of the kind that /proc/<pid>/status calls so.
pub(crate) fn memory_kib(pid: u32, kind: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(kind))
        .expect("it is shown");
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}
