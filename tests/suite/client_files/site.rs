//! A server of client files, and what a client sees of it.

use std::{
    collections::BTreeMap,
    fs,
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use decitick::{
    client_files::{ClientFiles, ClientFilesListener, ServeLimits, serve},
    edge_runtime::EdgeRuntime,
    scripts::client_folder::{self, KnownHashes},
};
use decitick_components::{client_files::ClientManifest, script::ResourceName};
use socket2::SockRef;

pub(crate) const PAGE: &[u8] = b"hello client";
/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn mode() -> ResourceName {
    ResourceName::parse("mode").unwrap()
}

pub(crate) struct Site {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) files: ClientFiles,
    pub(crate) address: SocketAddr,
    known: KnownHashes,
    runtime: Option<EdgeRuntime>,
}

impl Site {
    /// A server whose resource `mode` has these files; they are not up yet.
    pub(crate) fn start(files: &[(&str, &[u8])]) -> Self {
        Self::with_limits(files, ServeLimits::default())
    }

    pub(crate) fn with_limits(files: &[(&str, &[u8])], limits: ServeLimits) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = ClientFilesListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let known = KnownHashes::default();
        let site = Self {
            files: ClientFiles::new(directory.path().to_owned(), known.clone()),
            address: listener.address(),
            directory,
            known,
            runtime: Some(EdgeRuntime::start().unwrap()),
        };
        for (name, bytes) in files {
            site.write(name, bytes);
        }
        serve(
            site.runtime.as_ref().unwrap(),
            listener,
            site.files.clone(),
            limits,
        );
        site
    }

    pub(crate) fn stop(&mut self) {
        self.runtime.take().unwrap().finish();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join("scripts/mode/client").join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Reads the folder as it stands.
    pub(crate) fn read(&self) -> Arc<ClientManifest> {
        client_folder::read(self.directory.path(), &mode(), &self.known)
            .unwrap()
            .unwrap()
    }

    /// Reads the folder and puts it up.
    pub(crate) fn publish(&self) -> Arc<ClientManifest> {
        let manifest = self.read();
        self.files.activate(&mode(), Some(Arc::clone(&manifest)));
        manifest
    }

    pub(crate) fn connect(&self) -> Connection {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Connection(stream)
    }

    /// A connection that takes little at once.
    pub(crate) fn connect_narrow(&self) -> Connection {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        socket.connect(&self.address.into()).unwrap();
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Connection(stream)
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.get_with(path, "")
    }

    pub(crate) fn get_with(&self, path: &str, headers: &str) -> Response {
        self.ask(&request("GET", path, headers))
    }

    pub(crate) fn ask(&self, request: &str) -> Response {
        let mut connection = self.connect();
        connection.send(request);
        let told = connection.response_to(!request.starts_with("HEAD"));
        assert!(connection.rest().is_empty(), "something follows the response");
        told
    }
}

/// A request after which the connection ends.
pub(crate) fn request(method: &str, path: &str, headers: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n")
}

/// A hash as an ETag.
pub(crate) fn quoted(hash: &[u8; 32]) -> String {
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{hex}\"")
}

pub(crate) struct Connection(TcpStream);

impl Connection {
    pub(crate) fn send(&mut self, request: &str) {
        self.0.write_all(request.as_bytes()).unwrap();
    }

    pub(crate) fn response(&mut self) -> Response {
        self.response_to(true)
    }

    /// Reads a response, and its content unless there is none by rule.
    fn response_to(&mut self, has_content: bool) -> Response {
        let mut response = self.head();
        let length = response.headers.get("content-length");
        if has_content && let Some(length) = length {
            response.body = vec![0; length.parse().unwrap()];
            self.0.read_exact(&mut response.body).unwrap();
        }
        response
    }

    /// Reads the head of a response.
    pub(crate) fn head(&mut self) -> Response {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.0
                .read_exact(&mut byte)
                .unwrap_or_else(|error| panic!("{error} after {:?}", String::from_utf8_lossy(&head)));
            head.extend(byte);
        }
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        Response {
            status,
            headers,
            body: Vec::new(),
        }
    }

    /// Reads at most so many bytes at once; 0 at the end of the connection, however it came.
    pub(crate) fn read_some(&mut self, most: usize) -> usize {
        match self.0.read(&mut vec![0; most]) {
            Ok(read) => read,
            Err(error) => {
                assert_ne!(error.kind(), ErrorKind::WouldBlock, "the connection goes on");
                0
            }
        }
    }

    /// Everything up to the end of the connection, however it comes.
    pub(crate) fn rest(mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        let mut piece = vec![0; 64 * 1024];
        loop {
            match self.0.read(&mut piece) {
                Ok(0) => return rest,
                Ok(read) => rest.extend(&piece[..read]),
                Err(error) => {
                    assert_ne!(error.kind(), ErrorKind::WouldBlock, "the connection goes on");
                    return rest;
                }
            }
        }
    }

    /// Takes more at once from now on.
    pub(crate) fn widen(&self) {
        SockRef::from(&self.0).set_recv_buffer_size(1 << 20).unwrap();
    }
}

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}
