//! The socket edge: accepts consoles of the same user (or root), reads their lines, and writes their answers.
//!
//! A thread accepts, and each console has a thread of its own, so that one that is slow or silent holds up nobody
//! else; at most [`Limits::consoles`] of them. docs/console.md describes what travels.

use std::{
    collections::BTreeMap,
    io::{self, Write},
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
use socket2::SockRef;

use super::{
    conversation::{Told, converse},
    framing::{Outcome, frame},
    hub::ConsoleHandle,
    input::{self, Input},
    line::{Line, LineFault},
    socket::{ConsoleSocket, SocketFile},
};

/// Bytes that the system keeps for a console that does not read.
const SEND_BUFFER: usize = 32 * 1024;
/// The same when it is cut off: what is more holds the line that says why.
const LAST_SEND_BUFFER: usize = 2 * SEND_BUFFER;
/// Bounds of the socket edge.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Consoles that are attached at once.
    pub consoles: usize,
    /// How long a console may take to accept one whole answer, or one part of it; then it is cut off.
    pub write: Duration,
    /// How long a command may take to be answered; an answer that goes on may take its own time.
    pub answer: Duration,
    /// How long a stop waits for answers that are on their way.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            consoles: 32,
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
        let sized = SockRef::from(&stream).set_send_buffer_size(SEND_BUFFER);
        if stream.set_nonblocking(true).and(sized).is_err() {
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
        let mut input = Input::new(stream, true);
        while let Ok(Some(line)) = input.next() {
            if self.consoles().stopping {
                return;
            }
            match self.answer(&mut input, stream, line) {
                Ok(()) => {}
                Err(Lost::TooSlow { inside_a_frame }) => {
                    tracing::info!(
                        seconds = self.limits.write.as_secs_f64(),
                        "a console took nothing for too long and was cut off"
                    );
                    if !inside_a_frame {
                        tell_cut_off(stream, self.limits.write);
                    }
                    return;
                }
                Err(Lost::Gone) => return,
            }
        }
    }

    fn answer(&self, input: &mut Input<&UnixStream>, stream: &UnixStream, line: Line) -> Result<(), Lost> {
        let patience = self.limits.write;
        let (outcome, text) = match line.content {
            // A console that died while it wrote must not run half a command.
            _ if !line.finished => (
                Outcome::Failed,
                "the last line has no line end and was not run".to_owned(),
            ),
            Ok(text) => self.run(input, stream, text)?,
            Err(fault) => (Outcome::Failed, LineFault::message(fault)),
        };
        write_whole(stream, &frame(outcome, &text), patience)
    }

    /// Runs a line, writes the parts of its answer, and returns its last word.
    fn run(
        &self,
        input: &mut Input<&UnixStream>,
        stream: &UnixStream,
        line: String,
    ) -> Result<(Outcome, String), Lost> {
        let tell = |part: &str| write_whole(stream, &frame(Outcome::Part, part), self.limits.write);
        let look = |goes_on| {
            let seen = if goes_on { input.look() } else { input.hung_up() };
            seen.map_err(|_| Lost::Gone)
        };
        match converse(&self.handle, line, self.limits.answer, tell, look)? {
            Told::Last(outcome, text) => Ok((outcome, text)),
            Told::Stopped(text) => Ok((Outcome::Failed, text)),
            Told::HungUp => Err(Lost::Gone),
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
fn refuse(mut stream: &UnixStream, message: &str) {
    let _ = stream.write(&frame(Outcome::Failed, message));
}

/// Leaves a line in the socket that says why the console is cut off. It is full with what was not read, so the system
/// is asked for more room: once the console reads again, the line is the last it gets.
fn tell_cut_off(stream: &UnixStream, patience: Duration) {
    if SockRef::from(stream)
        .set_send_buffer_size(LAST_SEND_BUFFER)
        .is_ok()
    {
        let message = format!(
            "cut off: this console took nothing for {} s; attach again",
            patience.as_secs_f64()
        );
        refuse(stream, &message);
    }
}

/// Why a console gets nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lost {
    /// It took an answer too slowly.
    TooSlow {
        /// Whether a part of one was written already: nothing can be told after that.
        inside_a_frame: bool,
    },
    /// It hung up.
    Gone,
}

/// Writes everything, or gives up after `patience` however slowly the other side reads.
fn write_whole(mut stream: &UnixStream, bytes: &[u8], patience: Duration) -> Result<(), Lost> {
    let begun = Instant::now();
    let mut left = bytes;
    while !left.is_empty() {
        match stream.write(left) {
            Ok(0) => return Err(Lost::Gone),
            Ok(written) => left = left.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let time = patience.saturating_sub(begun.elapsed());
                if time.is_zero() {
                    let inside_a_frame = left.len() < bytes.len();
                    return Err(Lost::TooSlow { inside_a_frame });
                }
                input::ready(stream.as_fd(), PollFlags::POLLOUT, Some(time)).map_err(|_| Lost::Gone)?;
            }
            Err(_) => return Err(Lost::Gone),
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
