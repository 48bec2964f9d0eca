//! The socket edge: accepts consoles of the same user (or root), reads their lines, and writes their answers.
//!
//! A thread accepts, and each console has a thread of its own, so that one that is slow or silent holds up nobody
//! else; at most [`Limits::consoles`] of them. docs/console.md describes what travels.

use std::{
    collections::BTreeMap,
    io::{self, BufReader, Write},
    net::Shutdown,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::{UnixListener, UnixStream},
    },
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    unistd::{Uid, geteuid},
};

use super::{
    framing::frame,
    hub::ConsoleHandle,
    line::{LineFault, next_line},
    socket::{ConsoleSocket, SocketFile},
};

/// Bounds of the socket edge.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Consoles that are attached at once.
    pub consoles: usize,
    /// How long a console may take to accept one whole answer; then it is cut off.
    pub write: Duration,
    /// How long a command may take to be answered.
    pub answer: Duration,
    /// How long a stop waits for answers that are on their way.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            consoles: 16,
            write: Duration::from_secs(5),
            answer: Duration::from_secs(30),
            stop: Duration::from_millis(500),
        }
    }
}

/// The running edge. Dropped, it stops: the socket file is removed, answers on their way get a moment, and every
/// console is cut off.
#[derive(Debug)]
pub struct ConsoleServer {
    shared: Arc<Shared>,
    file: Option<SocketFile>,
    /// Closing it wakes the accepting thread.
    wake: Option<UnixStream>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    handle: ConsoleHandle,
    limits: Limits,
    consoles: Mutex<Consoles>,
    one_left: Condvar,
}

#[derive(Debug, Default)]
struct Consoles {
    attached: BTreeMap<u64, UnixStream>,
    next: u64,
    stopping: bool,
}

impl ConsoleServer {
    /// Begins to accept.
    ///
    /// # Errors
    /// When the system gives no thread or no pair of sockets; the socket file is removed again.
    pub fn start(socket: ConsoleSocket, handle: ConsoleHandle, limits: Limits) -> io::Result<Self> {
        let ConsoleSocket { listener, file } = socket;
        let (wake, woken) = UnixStream::pair()?;
        let shared = Arc::new(Shared {
            handle,
            limits,
            consoles: Mutex::new(Consoles::default()),
            one_left: Condvar::new(),
        });
        let accepting = thread::Builder::new().name("console-accept".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || accept_all(&listener, &woken, &shared)
        })?;
        Ok(Self {
            shared,
            file: Some(file),
            wake: Some(wake),
            accepting: Some(accepting),
        })
    }
}

impl Drop for ConsoleServer {
    fn drop(&mut self) {
        // The file first: who comes now finds no server instead of one that hangs up.
        drop(self.file.take());
        drop(self.wake.take());
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        self.shared.stop();
    }
}

fn accept_all(listener: &UnixListener, woken: &UnixStream, shared: &Arc<Shared>) {
    let mut failing = false;
    while !ready(woken.as_fd(), Some(listener.as_fd()), PollTimeout::NONE) {
        match listener.accept() {
            Ok((stream, _)) => {
                failing = false;
                shared.admit(stream);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => {
                if !failing {
                    tracing::warn!(%error, "the console socket accepts nobody; trying again");
                }
                failing = true;
                // Out of file descriptors, most likely: they do not come back at once.
                if ready(woken.as_fd(), None, PollTimeout::from(100_u8)) {
                    return;
                }
            }
        }
    }
}

/// Waits until `stop` or `other` is ready; says whether `stop` is.
fn ready(stop: BorrowedFd<'_>, other: Option<BorrowedFd<'_>>, timeout: PollTimeout) -> bool {
    let mut watched = vec![PollFd::new(stop, PollFlags::POLLIN)];
    watched.extend(other.map(|other| PollFd::new(other, PollFlags::POLLIN)));
    match poll(&mut watched, timeout) {
        Ok(_) => watched.first().and_then(PollFd::any).unwrap_or(false),
        // The wait ended early; the caller looks again.
        Err(Errno::EINTR) => false,
        Err(error) => {
            tracing::error!(%error, "the console socket cannot be watched any more; it takes no new consoles");
            true
        }
    }
}

impl Shared {
    fn consoles(&self) -> MutexGuard<'_, Consoles> {
        self.consoles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(self: &Arc<Self>, stream: UnixStream) {
        // Some systems hand down the listener's mode.
        if stream.set_nonblocking(false).is_err() {
            return;
        }
        let entered = peer_uid(&stream)
            .map_err(|error| format!("cannot tell who you are: {error}"))
            .and_then(|peer| check_peer(peer, geteuid()))
            .and_then(|()| self.enter(&stream));
        match entered {
            Ok(number) => {
                let shared = Arc::clone(self);
                let spawned = thread::Builder::new().name("console".to_owned()).spawn(move || {
                    shared.serve(&stream);
                    shared.leave(number);
                });
                if let Err(error) = spawned {
                    tracing::warn!(%error, "no thread for a console");
                    self.leave(number);
                }
            }
            Err(message) => refuse(&stream, &message),
        }
    }

    fn enter(&self, stream: &UnixStream) -> Result<u64, String> {
        let mut consoles = self.consoles();
        if consoles.attached.len() >= self.limits.consoles {
            return Err(format!(
                "{} consoles are attached already; close one of them",
                self.limits.consoles
            ));
        }
        let copy = stream
            .try_clone()
            .map_err(|error| format!("no room for a console: {error}"))?;
        let number = consoles.next;
        consoles.next += 1;
        consoles.attached.insert(number, copy);
        Ok(number)
    }

    fn leave(&self, number: u64) {
        self.consoles().attached.remove(&number);
        self.one_left.notify_all();
    }

    /// Answers line by line until the console hangs up, takes its answers too slowly, or the server stops.
    fn serve(&self, stream: &UnixStream) {
        let mut lines = BufReader::new(stream);
        loop {
            let Ok(Some(line)) = next_line(&mut lines) else {
                return;
            };
            if self.consoles().stopping {
                return;
            }
            let (ok, text) = match line.content {
                // A console that died while it wrote must not run half a command.
                _ if !line.finished => (false, "the last line has no line end and was not run".to_owned()),
                Ok(text) => self.ask(text),
                Err(fault) => (false, LineFault::message(fault)),
            };
            if write_whole(stream, &frame(ok, &text), self.limits.write).is_err() {
                return;
            }
        }
    }

    fn ask(&self, line: String) -> (bool, String) {
        match self.handle.ask(line, self.limits.answer) {
            Ok(answer) => (answer.ok, answer.text),
            Err(error) => (false, error.to_string()),
        }
    }

    fn stop(&self) {
        let mut consoles = self.consoles();
        consoles.stopping = true;
        // Ends the reading only, so that an answer on its way (that of `shutdown`) still arrives.
        for stream in consoles.attached.values() {
            let _ = stream.shutdown(Shutdown::Read);
        }
        let (consoles, _) = self
            .one_left
            .wait_timeout_while(consoles, self.limits.stop, |consoles| {
                !consoles.attached.is_empty()
            })
            .unwrap_or_else(PoisonError::into_inner);
        for stream in consoles.attached.values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// One answer that is not waited for: who does not take it at once does without.
fn refuse(stream: &UnixStream, message: &str) {
    if stream.set_nonblocking(true).is_ok() {
        let mut stream = stream;
        let _ = stream.write(&frame(false, message));
    }
}

/// Writes everything, or gives up after `patience` however slowly the other side reads.
fn write_whole(mut stream: &UnixStream, mut bytes: &[u8], patience: Duration) -> io::Result<()> {
    let begun = Instant::now();
    while !bytes.is_empty() {
        let left = patience.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn check_peer(peer: Uid, own: Uid) -> Result<(), String> {
    if peer == own || peer.is_root() {
        return Ok(());
    }
    Err(format!(
        "user {peer} may not use the console of a server that user {own} runs"
    ))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn peer_uid(stream: &UnixStream) -> nix::Result<Uid> {
    nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerCredentials)
        .map(|credentials| Uid::from_raw(credentials.uid()))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn peer_uid(stream: &UnixStream) -> nix::Result<Uid> {
    nix::unistd::getpeereid(stream).map(|(uid, _)| uid)
}

#[cfg(test)]
mod tests;
