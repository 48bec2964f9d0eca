//! Somebody who is signed in to the page of a real server, and speaks HTTP by hand.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::{
    server::{PATIENCE, Server, decitick},
    text,
};

/// A server directory with a page on a port that the system chooses.
pub(in super::super) fn directory(allow_actions: bool) -> TempDir {
    let directory = TempDir::new().unwrap();
    let path = directory.path().to_str().unwrap();
    assert!(decitick(&["init", path]).status.success());
    let settings = format!(
        "(name: \"Harbour Town\", page: Some((listen: \"127.0.0.1:0\", allow_actions: {allow_actions})))"
    );
    fs::write(directory.path().join("assets/server.ron"), settings).unwrap();
    directory
}

/// Where the page of a server is.
pub(in super::super) fn address(server: &Server) -> SocketAddr {
    server.wait_for_line("serving the live page");
    let line = server
        .log()
        .into_iter()
        .find(|line| line.contains("serving the live page"));
    let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
    line["fields"]["address"].as_str().unwrap().parse().unwrap()
}

/// The option that says where the page is.
pub(in super::super) fn option(address: SocketAddr, allow_actions: bool) -> String {
    format!("page=Some((listen:\"{address}\",allow_actions:{allow_actions}))")
}

/// A link, as an operator gets one.
pub(in super::super) fn link(directory: &Path, address: SocketAddr) -> String {
    let output = decitick(&[
        "page",
        directory.to_str().unwrap(),
        "--set",
        &option(address, false),
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).trim_end().to_owned()
}

/// Sends a request and reads the answer to its end: status, head, body.
pub(super) fn send(address: SocketAddr, request: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // Who is refused may find the connection closed before everything is sent.
    let _ = stream.write_all(request.as_bytes());
    let mut told = Vec::new();
    let _ = stream.read_to_end(&mut told);
    let told = String::from_utf8(told).unwrap();
    let (head, body) = told.split_once("\r\n\r\n").unwrap_or((&told, ""));
    let status = head
        .get(9..12)
        .and_then(|status| status.parse().ok())
        .unwrap_or(0);
    (status, head.to_ascii_lowercase(), body.to_owned())
}

pub(super) fn header<'h>(head: &'h str, name: &str) -> &'h str {
    head.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        .unwrap_or("")
}

pub(super) fn get(address: SocketAddr, path: &str) -> (u16, String, String) {
    send(
        address,
        &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"),
    )
}

/// Somebody who is signed in.
pub(super) struct Visitor {
    pub address: SocketAddr,
    pub cookie: String,
    pub key: String,
    /// Which run of the server is seen.
    pub run: String,
}

impl Visitor {
    pub(super) fn enters(directory: &Path, address: SocketAddr) -> Self {
        let link = link(directory, address);
        let path = link.strip_prefix(&format!("http://{address}")).expect(&link);
        let (status, head, _) = get(address, path);
        assert_eq!(status, 303, "{head}");
        let cookie = header(&head, "set-cookie");
        for part in ["; httponly", "; samesite=strict", "; path=/", "; max-age=604800"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        let key = header(&head, "location").strip_prefix("/#key=").unwrap();
        let (status, ..) = get(address, path);
        assert_eq!(status, 403, "a link is good once");
        let mut visitor = Self {
            address,
            cookie: cookie.split(';').next().unwrap().to_owned(),
            key: key.to_owned(),
            run: String::new(),
        };
        let question = r#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#;
        let request = format!("{}{question}", visitor.head(question.len(), &[]));
        let (_, head, _) = send(address, &request);
        header(&head, "x-decitick-run").clone_into(&mut visitor.run);
        visitor
    }

    /// The head of a question; `changed` headers stand in the place of those with their names, empty ones for none.
    pub(super) fn head(&self, length: usize, changed: &[(&str, &str)]) -> String {
        let address = self.address;
        let (origin, cookie, key) = (format!("http://{address}"), &self.cookie, &self.key);
        let host = address.to_string();
        let usual = [
            ("Host", host.as_str()),
            ("Origin", &origin),
            ("Cookie", cookie),
            ("X-Decitick-Key", key),
            ("X-Decitick-Run", &self.run),
            ("Content-Type", "application/json"),
        ];
        let mut head = format!("POST /rpc HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n");
        for (name, value) in usual {
            let value = changed
                .iter()
                .find(|(other, _)| *other == name)
                .map_or(value, |(_, value)| value);
            if !value.is_empty() {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        head + "\r\n"
    }

    pub(super) fn status(&self, changed: &[(&str, &str)], body: &str) -> u16 {
        send(self.address, &format!("{}{body}", self.head(body.len(), changed))).0
    }

    pub(super) fn asks(&self, method: &str, params: &Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let (status, _, told) = send(self.address, &format!("{}{body}", self.head(body.len(), &[])));
        assert_eq!(status, 200, "{told}");
        serde_json::from_str(&told).unwrap()
    }

    pub(super) fn acts(&self, params: &Value) -> Value {
        self.asks("decitick.act", params)
    }
}
