//! Takes hold of `console.sock` in a server directory: replaces what a dead server left, leaves a live server and
//! every other kind of file alone, and removes the socket again in the end.

use std::{
    fmt, fs, io,
    os::{
        fd::OwnedFd,
        unix::{
            fs::{FileTypeExt, MetadataExt, PermissionsExt},
            net::UnixListener,
        },
    },
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use socket2::{Domain, SockAddr, Socket, Type};

use super::place::Place;

/// The socket's name in a server directory.
pub const SOCKET_NAME: &str = "console.sock";

/// Consoles that may wait to be accepted.
const BACKLOG: i32 = 16;

/// A listening socket, mode 0600, that did not begin to accept. Dropped, it removes its file.
#[derive(Debug)]
pub struct ConsoleSocket {
    pub(super) listener: UnixListener,
    pub(super) file: SocketFile,
}

/// The file of a socket that is ours.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    /// Device and inode: a file that somebody put in its place is not ours.
    identity: (u64, u64),
}

impl ConsoleSocket {
    /// Listens on `console.sock` in `directory`.
    ///
    /// Whether a server is alive is decided by connecting to what is there; only a socket that nobody listens on is
    /// ever removed.
    ///
    /// # Errors
    /// [`SocketError::Live`] when a server runs there, and what else stands in the way.
    pub fn bind(directory: &Path) -> Result<Self, SocketError> {
        let place = Place::open(directory, SOCKET_NAME).map_err(|source| SocketError::Directory {
            path: directory.to_owned(),
            source,
        })?;
        let path = place.path.clone();
        let address = place
            .address()
            .ok_or_else(|| SocketError::PathTooLong { path: path.clone() })?;
        // Two servers that start at once must not both find a dead socket and remove each other's. The lock ends
        // with `place`.
        wait_for_lock(&place.directory);
        make_way(&path, &address)?;
        let failed = |doing| {
            let path = path.clone();
            move |source| SocketError::Failed { path, doing, source }
        };
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None).map_err(failed("make a socket for"))?;
        socket.bind(&address).map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => SocketError::Live { path: path.clone() },
            _ => failed("bind")(source),
        })?;
        let file = SocketFile::of(path.clone()).map_err(failed("look at"))?;
        // Nobody can connect before `listen`, so nobody gets in under a wider mode.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(failed("set the mode of"))?;
        socket.listen(BACKLOG).map_err(failed("listen on"))?;
        socket.set_nonblocking(true).map_err(failed("prepare"))?;
        Ok(Self {
            listener: UnixListener::from(OwnedFd::from(socket)),
            file,
        })
    }

    /// The path of the socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.file.path
    }
}

impl SocketFile {
    fn of(path: PathBuf) -> io::Result<Self> {
        let metadata = fs::symlink_metadata(&path)?;
        Ok(Self {
            path,
            identity: (metadata.dev(), metadata.ino()),
        })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let ours = fs::symlink_metadata(&self.path).is_ok_and(|metadata| {
            metadata.file_type().is_socket() && (metadata.dev(), metadata.ino()) == self.identity
        });
        if ours && let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "could not remove the console socket");
        }
    }
}

/// Waits a moment for the directory's lock. Without it (another program holds it, or the file system has none) the
/// start goes on: the lock only narrows a race.
fn wait_for_lock(directory: &fs::File) {
    for _ in 0..50 {
        match directory.try_lock() {
            Err(fs::TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(20)),
            Ok(()) | Err(fs::TryLockError::Error(_)) => return,
        }
    }
}

fn make_way(path: &Path, address: &SockAddr) -> Result<(), SocketError> {
    let failed = |doing, source| SocketError::Failed {
        path: path.to_owned(),
        doing,
        source,
    };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed("look at", error)),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(SocketError::NotASocket {
                path: path.to_owned(),
            });
        }
        Ok(_) => {}
    }
    if somebody_listens(address).map_err(|source| failed("try", source))? {
        return Err(SocketError::Live {
            path: path.to_owned(),
        });
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", error)),
        _ => Ok(()),
    }
}

fn somebody_listens(address: &SockAddr) -> io::Result<bool> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    match socket.connect(address) {
        Ok(()) => Ok(true),
        // Its queue of new connections is full.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(true),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Why there is no console socket.
#[derive(Debug)]
pub enum SocketError {
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
    /// A server runs in this directory.
    Live {
        /// The path of its socket.
        path: PathBuf,
    },
    /// There is a file of another kind, which is left alone.
    NotASocket {
        /// Its path.
        path: PathBuf,
    },
    /// The system refused a step.
    Failed {
        /// The path of the socket.
        path: PathBuf,
        /// The step, as in "could not bind".
        doing: &'static str,
        /// What the system says.
        source: io::Error,
    },
}

impl fmt::Display for SocketError {
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
                "{}: the path has {} bytes, more than a socket address can hold; move the server directory to a \
                 shorter path, or set console: (socket: false) in assets/server.ron",
                path.display(),
                path.as_os_str().len()
            ),
            Self::Live { path } => write!(
                f,
                "{}: another server runs in this directory; stop it first (decitick console DIR -c shutdown), or \
                 use another directory",
                path.display()
            ),
            Self::NotASocket { path } => write!(
                f,
                "{}: a file that is no socket stands where the console socket belongs; it is left alone, move it away",
                path.display()
            ),
            Self::Failed { path, doing, source } => write!(
                f,
                "{}: could not {doing} the console socket: {source}; mend that, or set console: (socket: false) in \
                 assets/server.ron",
                path.display()
            ),
        }
    }
}

impl std::error::Error for SocketError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Directory { source, .. } | Self::Failed { source, .. } => Some(source),
            Self::PathTooLong { .. } | Self::Live { .. } | Self::NotASocket { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn the_socket_has_mode_0600_and_its_file_goes_with_it() {
        let directory = tempfile::tempdir().unwrap();
        let socket = ConsoleSocket::bind(directory.path()).unwrap();
        let path = directory.path().join("console.sock");
        let metadata = fs::symlink_metadata(&path).unwrap();
        assert!(metadata.file_type().is_socket());
        assert_eq!(metadata.permissions().mode() & 0o7777, 0o600);
        assert_eq!(socket.path(), path);
        drop(socket);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_dead_server_left_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("console.sock");
        // Closing a listener does not remove its file, as after a crash.
        drop(UnixListener::bind(&path).unwrap());
        assert!(UnixStream::connect(&path).is_err());
        let _socket = ConsoleSocket::bind(directory.path()).unwrap();
        assert!(UnixStream::connect(&path).is_ok());
    }

    #[test]
    fn a_live_server_keeps_its_socket_even_with_a_full_queue() {
        let directory = tempfile::tempdir().unwrap();
        let first = ConsoleSocket::bind(directory.path()).unwrap();
        let mut waiting = Vec::new();
        for _ in 0..40 {
            let error = ConsoleSocket::bind(directory.path()).unwrap_err();
            assert!(matches!(error, SocketError::Live { .. }), "{error}");
            assert!(
                error
                    .to_string()
                    .contains("another server runs in this directory")
            );
            let socket = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
            socket.set_nonblocking(true).unwrap();
            if socket.connect(&SockAddr::unix(first.path()).unwrap()).is_ok() {
                waiting.push(socket);
            }
        }
        assert!(first.path().exists() && waiting.len() < 40);
    }

    #[test]
    fn files_of_another_kind_and_links_are_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("console.sock");
        fs::write(&path, "precious").unwrap();
        let error = ConsoleSocket::bind(directory.path()).unwrap_err();
        assert!(matches!(error, SocketError::NotASocket { .. }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        fs::remove_file(&path).unwrap();
        let elsewhere = directory.path().join("elsewhere");
        drop(UnixListener::bind(&elsewhere).unwrap());
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(matches!(
            ConsoleSocket::bind(directory.path()),
            Err(SocketError::NotASocket { .. })
        ));
        assert!(elsewhere.exists());
    }

    #[test]
    fn a_socket_that_took_our_place_is_not_removed() {
        let directory = tempfile::tempdir().unwrap();
        let ours = ConsoleSocket::bind(directory.path()).unwrap();
        let path = ours.path().to_owned();
        fs::remove_file(&path).unwrap();
        let _theirs = UnixListener::bind(&path).unwrap();
        drop(ours);
        assert!(path.exists());
    }

    #[test]
    fn of_many_servers_that_start_at_once_over_a_dead_socket_one_wins() {
        let directory = tempfile::tempdir().unwrap();
        for _ in 0..20 {
            drop(UnixListener::bind(directory.path().join("console.sock")).unwrap());
            let barrier = std::sync::Barrier::new(4);
            let started: Vec<_> = thread::scope(|scope| {
                let threads: Vec<_> = (0..4)
                    .map(|_| {
                        scope.spawn(|| {
                            barrier.wait();
                            ConsoleSocket::bind(directory.path())
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!(started.iter().filter(|socket| socket.is_ok()).count(), 1);
            assert!(UnixStream::connect(directory.path().join("console.sock")).is_ok());
        }
    }

    #[test]
    fn a_missing_directory_is_named() {
        let error = ConsoleSocket::bind(Path::new("/nonexistent/server")).unwrap_err();
        assert!(matches!(error, SocketError::Directory { .. }));
        assert!(error.to_string().starts_with("/nonexistent/server: "), "{error}");
    }
}
