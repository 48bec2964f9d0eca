//! The other side of `console.sock`: connects to the server of a directory, asks lines, and takes answers.

use std::{
    fmt,
    io::{self, BufReader, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use decitick_components::console::goes_on;
use nix::poll::PollFlags;
use socket2::{Domain, SockAddr, Socket, Type};

use super::{
    framing::{Outcome, read_frame},
    input::ready,
    place::Place,
    socket::SOCKET_NAME,
};

/// How long to wait for a server that is too busy to take a new console.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait for an answer: longer than a server takes to say that it has none.
const ANSWER_PATIENCE: Duration = Duration::from_secs(60);
/// How often the asker is looked at while its answer is awaited.
const LOOK: Duration = Duration::from_millis(50);

/// A connection to the console of a running server.
#[derive(Debug)]
pub struct ConsoleClient {
    stream: BufReader<UnixStream>,
    directory: PathBuf,
    /// Answers that were given up waiting for: they still come, before the next.
    owed: usize,
}

/// What the asker wants while an answer is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    /// The answer.
    Stay,
    /// No more of an answer that goes on: its last word is awaited.
    End,
    /// Nothing any more.
    Leave,
}

/// What a line was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Whether the command did what it says.
    pub ok: bool,
    /// The answer.
    pub text: String,
}

impl ConsoleClient {
    /// Connects to the server that runs in `directory`.
    ///
    /// # Errors
    /// [`ClientError::NoServer`] when none does, and what else stands in the way.
    pub fn connect(directory: &Path) -> Result<Self, ClientError> {
        let place = Place::open(directory, SOCKET_NAME).map_err(|source| ClientError::Directory {
            path: directory.to_owned(),
            source,
        })?;
        let address = place.address().ok_or_else(|| ClientError::PathTooLong {
            path: place.path.clone(),
        })?;
        let stream = connect_patiently(&address).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => ClientError::NoServer {
                directory: directory.to_owned(),
                source,
            },
            _ => ClientError::NotConnected {
                path: place.path.clone(),
                source,
            },
        })?;
        stream
            .set_read_timeout(Some(ANSWER_PATIENCE))
            .and_then(|()| stream.set_write_timeout(Some(ANSWER_PATIENCE)))
            .map_err(|source| ClientError::NotConnected {
                path: place.path.clone(),
                source,
            })?;
        Ok(Self {
            stream: BufReader::new(stream),
            directory: directory.to_owned(),
            owed: 0,
        })
    }

    /// Sends one line and waits for its answer, whose parts are left out. `line` holds no line feed.
    ///
    /// # Errors
    /// [`ClientError::Lost`] when the server ends, hangs up or does not answer.
    pub fn ask(&mut self, line: &str) -> Result<Reply, ClientError> {
        let reply = self.converse(line, |_| Ok(()), || Attention::Stay)?;
        reply.ok_or_else(|| self.lost(io::ErrorKind::UnexpectedEof.into()))
    }

    /// The same for an answer that is worth only so much waiting; `None` when it did not come in time.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn ask_within(&mut self, line: &str, patience: Duration) -> Result<Option<Reply>, ClientError> {
        let begun = Instant::now();
        let attention = || {
            if begun.elapsed() < patience {
                Attention::Stay
            } else {
                Attention::Leave
            }
        };
        self.converse(line, |_| Ok(()), attention)
    }

    /// Sends one line, tells the parts of its answer as they come, and returns its last word. `attention` is asked
    /// again and again meanwhile; `None` when it chose to leave.
    ///
    /// # Errors
    /// [`ClientError::Lost`] as for [`Self::ask`]; [`ClientError::CutOff`] when the connection ends within the answer;
    /// [`ClientError::Output`] when `tell` fails.
    pub fn converse(
        &mut self,
        line: &str,
        mut tell: impl FnMut(&str) -> io::Result<()>,
        mut attention: impl FnMut() -> Attention,
    ) -> Result<Option<Reply>, ClientError> {
        let sent = self.stream.get_mut().write_all(format!("{line}\n").as_bytes());
        let patience = (!goes_on(line)).then_some(ANSWER_PATIENCE);
        let begun = Instant::now();
        let (mut parts, mut ending) = (false, false);
        loop {
            if !self.something_came().map_err(|source| self.lost(source))? {
                match attention() {
                    Attention::Stay => {}
                    Attention::End if ending => {}
                    Attention::End => {
                        ending = true;
                        // Should it fail, the end of the connection is seen next.
                        let _ = self.stream.get_mut().write_all(b"\n");
                    }
                    Attention::Leave => {
                        self.owed += 1;
                        return Ok(None);
                    }
                }
                if patience.is_some_and(|patience| begun.elapsed() >= patience) {
                    return Err(self.lost(io::ErrorKind::TimedOut.into()));
                }
                continue;
            }
            // A server that refuses a console says why and hangs up; its word counts more than the failed write.
            let (outcome, text) = match (read_frame(&mut self.stream), sent.as_ref()) {
                (Ok(Some(frame)), _) => frame,
                (Ok(None), _) if parts => return Err(self.cut_off()),
                (Ok(None), Ok(())) => return Err(self.lost(io::ErrorKind::UnexpectedEof.into())),
                (Ok(None), Err(error)) => return Err(self.lost(error.kind().into())),
                (Err(error), _) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(self.cut_off()),
                (Err(error), _) => return Err(self.lost(error)),
            };
            match outcome {
                Outcome::Part if self.owed > 0 => {}
                Outcome::Part => {
                    parts = true;
                    tell(&text).map_err(|source| ClientError::Output { source })?;
                    if attention() == Attention::Leave {
                        self.owed += 1;
                        return Ok(None);
                    }
                }
                _ if self.owed > 0 => self.owed -= 1,
                outcome => {
                    let ok = outcome == Outcome::Done;
                    return Ok(Some(Reply { ok, text }));
                }
            }
        }
    }

    /// Waits a moment for bytes, or for the end of the connection.
    fn something_came(&self) -> io::Result<bool> {
        let waiting = !self.stream.buffer().is_empty();
        Ok(waiting || !ready(self.stream.get_ref().as_fd(), PollFlags::POLLIN, Some(LOOK))?.is_empty())
    }

    fn cut_off(&self) -> ClientError {
        ClientError::CutOff {
            directory: self.directory.clone(),
        }
    }

    fn lost(&self, source: io::Error) -> ClientError {
        ClientError::Lost {
            directory: self.directory.clone(),
            source,
        }
    }
}

/// A blocking connect would wait without end for a server that accepts nobody.
fn connect_patiently(address: &SockAddr) -> io::Result<UnixStream> {
    let begun = Instant::now();
    loop {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        match socket.connect(address) {
            Ok(()) => {
                socket.set_nonblocking(false)?;
                return Ok(UnixStream::from(OwnedFd::from(socket)));
            }
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            Err(_) if begun.elapsed() >= CONNECT_PATIENCE => return Err(io::ErrorKind::TimedOut.into()),
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub enum ClientError {
    /// The server directory cannot be opened.
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The path is longer than a socket address holds, and this system has no way around it.
    PathTooLong {
        /// The path of the socket.
        path: PathBuf,
    },
    /// Nobody listens there.
    NoServer {
        /// The server directory.
        directory: PathBuf,
        /// What the system says: no socket, or one that a dead server left.
        source: io::Error,
    },
    /// Somebody listens there and the connection failed all the same.
    NotConnected {
        /// The path of the socket.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The connection ended within an answer.
    CutOff {
        /// The server directory.
        directory: PathBuf,
    },
    /// What came could not be shown.
    Output {
        /// What the system says.
        source: io::Error,
    },
    /// The connection ended without an answer.
    Lost {
        /// The server directory.
        directory: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { path, source } => {
                write!(
                    f,
                    "{}: cannot open the server directory: {source}",
                    path.display()
                )
            }
            Self::PathTooLong { path } => write!(
                f,
                "{}: the path has {} bytes, more than a socket address can hold; name the directory by a shorter path",
                path.display(),
                path.as_os_str().len()
            ),
            Self::NoServer { directory, source } => {
                let found = if source.kind() == io::ErrorKind::NotFound {
                    "there is no console.sock (it may also be turned off: console: (socket: false))"
                } else {
                    "its console.sock was left by a server that died"
                };
                write!(
                    f,
                    "{0}: no server runs in this directory: {found}; start one with: decitick serve {0}",
                    directory.display()
                )
            }
            Self::NotConnected { path, source } => write!(
                f,
                "{}: cannot connect to the console: {source}; use it as the user who runs the server",
                path.display()
            ),
            Self::CutOff { directory } => write!(
                f,
                "{}: cut off within an answer: this console took it too slowly, or the server ended",
                directory.display()
            ),
            Self::Output { source } => write!(f, "the answer could not be shown: {source}"),
            Self::Lost { directory, source } => match source.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => write!(
                    f,
                    "{}: the server did not answer within {} s; the command may still be done",
                    directory.display(),
                    ANSWER_PATIENCE.as_secs()
                ),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                    write!(
                        f,
                        "{}: the server hung up before it answered; it stopped, or cut this console off",
                        directory.display()
                    )
                }
                _ => write!(f, "{}: the console was lost: {source}", directory.display()),
            },
        }
    }
}

impl std::error::Error for ClientError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Directory { source, .. }
            | Self::NoServer { source, .. }
            | Self::NotConnected { source, .. }
            | Self::Output { source }
            | Self::Lost { source, .. } => Some(source),
            Self::PathTooLong { .. } | Self::CutOff { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
