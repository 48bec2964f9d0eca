//! The other side of `console.sock`: connects to the server of a directory, asks lines, and takes answers.

use std::{
    fmt,
    io::{self, BufReader, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use socket2::{Domain, SockAddr, Socket, Type};

use super::{framing::read_frame, place::Place, socket::SOCKET_NAME};

/// How long to wait for a server that is too busy to take a new console.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait for an answer: longer than a server takes to say that it has none.
const ANSWER_PATIENCE: Duration = Duration::from_secs(60);

/// A connection to the console of a running server.
#[derive(Debug)]
pub struct ConsoleClient {
    stream: BufReader<UnixStream>,
    directory: PathBuf,
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
        })
    }

    /// Sends one line and waits for its answer. `line` holds no line feed.
    ///
    /// # Errors
    /// [`ClientError::Lost`] when the server ends, hangs up or does not answer.
    pub fn ask(&mut self, line: &str) -> Result<Reply, ClientError> {
        let sent = self.stream.get_mut().write_all(format!("{line}\n").as_bytes());
        // A server that refuses a console says why and hangs up; its word counts more than the failed write.
        match (read_frame(&mut self.stream), sent) {
            (Ok(Some((ok, text))), _) => Ok(Reply { ok, text }),
            (Ok(None), Ok(())) => Err(self.lost(io::ErrorKind::UnexpectedEof.into())),
            (Err(error), Ok(())) | (_, Err(error)) => Err(self.lost(error)),
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
            | Self::Lost { source, .. } => Some(source),
            Self::PathTooLong { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_directory_without_a_server_is_named_with_what_to_do() {
        let directory = tempfile::tempdir().unwrap();
        let shown = directory.path().display().to_string();
        let error = ConsoleClient::connect(directory.path()).unwrap_err().to_string();
        assert!(
            error.starts_with(&shown) && error.contains("decitick serve"),
            "{error}"
        );
        drop(UnixListener::bind(directory.path().join("console.sock")).unwrap());
        let error = ConsoleClient::connect(directory.path()).unwrap_err().to_string();
        assert!(error.contains("left by a server that died"), "{error}");
        let error = ConsoleClient::connect(&directory.path().join("absent")).unwrap_err();
        assert!(matches!(error, ClientError::Directory { .. }), "{error}");
    }

    #[test]
    fn a_server_that_hangs_up_without_an_answer_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join("console.sock")).unwrap();
        let mut client = ConsoleClient::connect(directory.path()).unwrap();
        drop(listener.accept().unwrap());
        let error = client.ask("status").unwrap_err();
        assert!(error.to_string().contains("hung up"), "{error}");
    }
}
