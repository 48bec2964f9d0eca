//! The endpoint over real sockets, asked by programs of every kind.

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    os::unix::fs::PermissionsExt,
    thread,
    time::Duration,
};

use bevy_app::Plugin;
use decitick::{
    edge_runtime::EdgeRuntime,
    http::HttpLimits,
    remote::{RemoteEdge, RemoteEdgePlugin, RemoteHub, RemoteListener, serve},
};
use decitick_components::body::Money;
use serde_json::{Value, json};

use super::{MONEY, host};
use crate::{
    loopback::server::{PATIENCE, Server},
    sim::Sim,
};

/// Runs ticks until what a client does on a thread of its own is done.
fn while_ticking<T: Send + 'static>(sim: &mut Sim, client: impl FnOnce() -> T + Send + 'static) -> T {
    let client = thread::spawn(client);
    while !client.is_finished() {
        sim.tick();
        thread::yield_now();
    }
    client.join().unwrap()
}

fn token() -> String {
    "0123456789abcdef".repeat(4)
}

/// A server whose endpoint listens.
fn endpoint() -> (Sim, EdgeRuntime, SocketAddr, bevy_ecs::entity::Entity) {
    let (mut sim, entity) = host();
    let (hub, handle) = RemoteHub::new();
    sim.app.insert_resource(RemoteEdge(hub));
    RemoteEdgePlugin.build(&mut sim.app);
    let listener = RemoteListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.address();
    let runtime = EdgeRuntime::start().unwrap();
    let limits = HttpLimits {
        head_time: Duration::from_secs(2),
        ..HttpLimits::default()
    };
    serve(
        &runtime,
        listener,
        handle,
        decitick::access_token::AccessToken::of(token()),
        limits,
    );
    (sim, runtime, address, entity)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn head(address: SocketAddr, headers: &str) -> String {
    format!(
        "POST / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n{headers}",
        token()
    )
}

/// Sends bytes and reads all that comes until the end: the status, and what follows the head.
fn send(address: SocketAddr, request: &[u8]) -> (u16, String) {
    let mut stream = connect(address);
    // The server may have closed already.
    let _ = stream.write_all(request);
    let mut told = Vec::new();
    if let Err(error) = stream.read_to_end(&mut told) {
        assert_ne!(error.kind(), ErrorKind::WouldBlock, "the connection goes on");
    }
    let told = String::from_utf8(told).unwrap();
    let status = told
        .get(9..12)
        .and_then(|status| status.parse().ok())
        .unwrap_or(0);
    let body = told.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, body.to_owned())
}

fn post(address: SocketAddr, body: &str) -> (u16, Value) {
    let request = format!(
        "{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        head(address, ""),
        body.len()
    );
    let (status, body) = send(address, request.as_bytes());
    (status, serde_json::from_str(&body).unwrap_or(Value::Null))
}

#[test]
fn questions_are_answered_one_by_one_and_in_batches() {
    let (mut sim, _runtime, address, entity) = endpoint();
    let bits = entity.to_bits();
    while_ticking(&mut sim, move || {
        let params = json!({"entity": bits, "components": [MONEY]});
        let get = json!({"jsonrpc": "2.0", "id": "a", "method": "world.get_components", "params": params});
        let (status, told) = post(address, &get.to_string());
        assert_eq!(status, 200);
        assert_eq!(
            told,
            json!({"jsonrpc": "2.0", "id": "a", "result": {"components": {MONEY: 5}, "errors": {}}})
        );
        let discover = json!({"jsonrpc": "2.0", "id": 2, "method": "rpc.discover"});
        let write =
            json!({"jsonrpc": "2.0", "id": 3, "method": "world.despawn_entity", "params": {"entity": bits}});
        let watch = json!({"jsonrpc": "2.0", "id": 4, "method": "world.list_components+watch", "params": {"entity": bits}});
        let (_, told) = post(address, &json!([get, discover, write, watch, 7]).to_string());
        assert_eq!(told[0]["result"]["components"][MONEY], json!(5));
        assert_eq!(told[1]["result"]["servers"][0]["url"], json!(address.to_string()));
        assert_eq!(told[2]["error"]["code"], json!(-32601));
        assert!(
            told[2]["error"]["message"]
                .as_str()
                .unwrap()
                .contains("read-only")
        );
        assert_eq!(told[3]["error"]["code"], json!(-32600));
        assert_eq!(
            (&told[4]["id"], &told[4]["error"]["code"]),
            (&Value::Null, &json!(-32600))
        );
    });
    assert!(sim.app.world().get_entity(entity).is_ok());
}

#[test]
fn a_watch_is_a_stream_of_events_and_ends_when_its_reader_goes() {
    let (mut sim, _runtime, address, entity) = endpoint();
    let mut stream = connect(address);
    let params = json!({"entity": entity.to_bits(), "components": [MONEY]});
    let body = json!({"jsonrpc": "2.0", "id": 9, "method": "world.get_components+watch", "params": params})
        .to_string();
    write!(
        stream,
        "{}Content-Length: {}\r\n\r\n{body}",
        head(address, ""),
        body.len()
    )
    .unwrap();
    let reader = thread::spawn(move || {
        let mut told = String::new();
        let mut piece = [0; 4096];
        while told.matches("data: ").count() < 3 {
            let read = stream.read(&mut piece).unwrap();
            assert_ne!(read, 0, "{told}");
            told.push_str(std::str::from_utf8(&piece[..read]).unwrap());
        }
        told
    });
    let mut money = 100;
    while !reader.is_finished() {
        money += 1;
        sim.app.world_mut().get_mut::<Money>(entity).unwrap().0 = money;
        sim.tick();
        thread::yield_now();
    }
    let told = reader.join().unwrap();
    assert!(told.contains("text/event-stream"), "{told}");
    assert!(
        told.contains("data: {\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{\"components\":"),
        "{told}"
    );
    // The reader and its connection are gone.
    for _ in 0..100_000 {
        sim.tick();
        if sim.app.world().resource::<RemoteEdge>().0.is_idle() {
            return;
        }
        thread::yield_now();
    }
    panic!("the watch goes on");
}

#[test]
fn whoever_has_no_token_or_comes_from_elsewhere_gets_nothing() {
    let (mut sim, _runtime, address, _) = endpoint();
    while_ticking(&mut sim, move || {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#;
        let ask = |line: &str, headers: String| {
            let request = format!(
                "{line}\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            send(address, request.as_bytes())
        };
        let host = format!("Host: {address}\r\n");
        let bearer = format!("Authorization: Bearer {}\r\n", token());
        let line = "POST / HTTP/1.1";
        assert_eq!(ask(line, format!("{host}{bearer}")).0, 200);
        assert_eq!(ask("POST /jsonrpc HTTP/1.1", format!("{host}{bearer}")).0, 200);
        for (expected, line, headers) in [
            (401, line, host.clone()),
            (
                401,
                line,
                format!("{host}Authorization: Bearer {}\r\n", "0".repeat(64)),
            ),
            (401, line, format!("{host}{bearer}{bearer}")),
            (
                403,
                line,
                format!("Host: evil.example:{}\r\n{bearer}", address.port()),
            ),
            (
                403,
                line,
                format!("{host}{bearer}Origin: http://evil.example\r\n"),
            ),
            (403, line, format!("{host}{bearer}Origin: null\r\n")),
            (400, line, bearer.clone()),
            (404, "POST /elsewhere HTTP/1.1", format!("{host}{bearer}")),
            (405, "GET / HTTP/1.1", format!("{host}{bearer}")),
            (405, "OPTIONS / HTTP/1.1", format!("{host}{bearer}")),
            (
                403,
                "POST http://evil.example/ HTTP/1.1",
                format!("{host}{bearer}"),
            ),
            (415, line, format!("{host}{bearer}Content-Type: text/plain\r\n")),
        ] {
            let (status, told) = ask(line, headers.clone());
            assert_eq!(status, expected, "{line} {headers}: {told}");
            assert!(told.contains("\"error\"") && !told.contains("openrpc"), "{told}");
            assert!(!told.to_lowercase().contains("access-control"));
        }
    });
}

#[test]
fn hostile_requests_get_an_error_and_nothing_else() {
    let (mut sim, _runtime, address, _) = endpoint();
    while_ticking(&mut sim, move || {
        for body in [
            "",
            "\u{0}\u{1}\u{7f}",
            "{",
            "[]",
            "null",
            "\"\\ud800\"",
            &"[".repeat(60_000),
        ] {
            let (status, told) = post(address, body);
            assert_eq!(status, 200, "{body:?}");
            assert!(
                told["error"]["code"].is_i64() && told["id"].is_null(),
                "{body:?}: {told}"
            );
        }
        let (status, told) = post(address, &"x".repeat(10 * 1024 * 1024));
        assert_eq!((status, &told["error"]["code"]), (413, &json!(-32600)));
        // The same in pieces that do not say how many they are.
        let mut chunked = head(address, "Transfer-Encoding: chunked\r\n\r\n").into_bytes();
        for _ in 0..40 {
            chunked.extend(format!("1000\r\n{}\r\n", "x".repeat(4096)).bytes());
        }
        chunked.extend(b"0\r\n\r\n");
        assert_eq!(send(address, &chunked).0, 413);
        for garbage in [
            &b"\x00\x01\x02\xff\r\n\r\n"[..],
            b"POST / HTTP/9.9\r\n\r\n",
            b"GET\r\n\r\n",
            b"\x16\x03\x01\x02\x00\r\n\r\n",
        ] {
            let (status, told) = send(address, garbage);
            assert!(
                matches!(status, 0 | 400 | 505) && told.is_empty(),
                "{status} {told}"
            );
        }
        let long = head(address, &format!("X: {}\r\n\r\n", "y".repeat(64 * 1024)));
        assert!(matches!(send(address, long.as_bytes()).0, 0 | 431 | 400));
        // Half a head: the connection ends by itself.
        assert!(matches!(
            send(address, b"POST / HTTP/1.1\r\nHost: x\r\n").0,
            0 | 408
        ));
        // Two requests at once are answered one after the other.
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#;
        let one = format!(
            "{}Content-Length: {}\r\n\r\n{body}",
            head(address, ""),
            body.len()
        );
        let kept = one.replace("Connection: close\r\n", "");
        let mut stream = connect(address);
        stream.write_all(format!("{kept}{one}").as_bytes()).unwrap();
        let mut told = String::new();
        stream.read_to_string(&mut told).unwrap();
        assert_eq!(told.matches("HTTP/1.1 200 OK").count(), 2, "{told}");
    });
}

#[test]
fn the_program_serves_the_endpoint_with_a_token_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(
        directory.path(),
        &["--set", "remote=Some(\"127.0.0.1:0\")", "--set", "resources=[]"],
    );
    let address = server
        .log()
        .iter()
        .find_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            let fields = &line["fields"];
            let served = fields["message"] == "serving the remote endpoint";
            served.then(|| fields["address"].as_str().unwrap().parse::<SocketAddr>().unwrap())
        })
        .unwrap();
    let path = directory.path().join("remote_token");
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let token = std::fs::read_to_string(&path).unwrap();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"schedule.list"}"#;
    let request = |token: &str| {
        format!(
            "POST / HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n{body}",
            address.port(),
            body.len()
        )
    };
    let (status, told) = send(address, request(token.trim_end()).as_bytes());
    assert!(status == 200 && told.contains("\"Tick\""), "{status} {told}");
    assert_eq!(send(address, request("guess").as_bytes()).0, 401);
    assert!(
        server.log().iter().all(|line| !line.contains(token.trim_end())),
        "the log tells the token"
    );
}
