//! The live page over real sockets, without a browser: who gets in, who does not, and what can be done from there.

mod visitor;

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    os::unix::fs::{MetadataExt, PermissionsExt},
};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    end_of, join,
    server::{PATIENCE, Server, decitick},
    text,
};

use self::visitor::{Visitor, get, header, send};
pub(super) use self::visitor::{address, directory, link, option};

const QUESTION: &str = r#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#;

/// Lines of the log with this reason.
fn refusals(server: &Server, reason: &str) -> usize {
    let reason = format!("\"reason\":\"{reason}\"");
    server
        .log()
        .iter()
        .filter(|line| line.contains(&reason) && line.contains("was refused"))
        .count()
}

#[test]
fn a_sign_in_outlives_the_server_and_ends_with_the_token() {
    let directory = directory(false);
    let path = directory.path();
    let server = Server::start(path, &[]);
    let address = address(&server);
    let option = option(address, false);
    assert_eq!(
        fs::metadata(path.join("page_token")).unwrap().mode() & 0o7777,
        0o600
    );
    let visitor = Visitor::enters(path, address);
    assert_eq!(visitor.status(&[], QUESTION), 200);
    let unused = link(path, address);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().0, Some(0));
    let output = decitick(&["page", path.to_str().unwrap(), "--set", &option]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("is the server running"),
        "{}",
        text(&output.stderr)
    );
    let server = Server::start(path, &["--set", &option]);
    assert_eq!(visitor.status(&[], QUESTION), 200, "the server was started anew");
    let (status, ..) = get(
        address,
        unused.strip_prefix(&format!("http://{address}")).unwrap(),
    );
    assert_eq!(status, 403, "a link from before the start could have been used");
    let (_, head, _) = send(address, &visitor.head(0, &[]).replace("/rpc", "/leave"));
    assert!(head.contains(" 204 ") && head.contains("max-age=0"), "{head}");
    server.signal(Signal::SIGTERM);
    server.wait();
    fs::remove_file(path.join("page_token")).unwrap();
    let server = Server::start(path, &["--set", &option]);
    assert_eq!(visitor.status(&[], QUESTION), 401, "the token is another one");
    let log = server.log().concat();
    for secret in [
        &visitor.cookie,
        &visitor.key,
        &fs::read_to_string(path.join("page_token")).unwrap(),
    ] {
        assert!(!log.contains(secret.trim()));
    }
}

#[test]
fn whoever_is_not_the_page_itself_or_not_signed_in_is_refused_and_told_of_once() {
    let directory = directory(true);
    let server = Server::start(directory.path(), &[]);
    let address = address(&server);
    let visitor = Visitor::enters(directory.path(), address);
    let port = address.port();
    let [mut edited, mut other_key] = [visitor.cookie.clone(), visitor.key.clone()];
    for text in [&mut edited, &mut other_key] {
        let last = text.pop().unwrap();
        text.push(if last == '0' { '1' } else { '0' });
    }
    let foreign_host = format!("evil.example:{port}");
    let foreign_origin = format!("http://evil.example:{port}");
    let cases: [(&[(&str, &str)], u16, &str); 9] = [
        (&[("Host", &foreign_host)], 403, "page_host"),
        (
            &[("Host", &foreign_host), ("Origin", &foreign_origin)],
            403,
            "page_host",
        ),
        (&[("Origin", &foreign_origin)], 403, "page_origin"),
        (&[("Origin", "null")], 403, "page_origin"),
        (&[("Origin", "")], 403, "page_origin"),
        (&[("Cookie", "")], 401, "page_sign_in"),
        (&[("Cookie", &edited)], 401, "page_sign_in"),
        (&[("X-Decitick-Key", &other_key)], 401, "page_sign_in"),
        (&[("Content-Type", "text/plain")], 415, "page_content_type"),
    ];
    for (changed, status, reason) in cases {
        for _ in 0..3 {
            assert_eq!(visitor.status(changed, QUESTION), status, "{changed:?}");
        }
        server.wait_for_line(&format!("\"reason\":\"{reason}\""));
    }
    // A website that makes the browser act gets as far.
    let act = json!({"jsonrpc": "2.0", "id": 1, "method": "decitick.act", "params": {"action": "stop", "resource": "freeroam"}});
    assert_eq!(
        visitor.status(&[("Origin", &foreign_origin)], &act.to_string()),
        403
    );
    let (status, head, body) = send(
        address,
        &format!("GET / HTTP/1.1\r\nHost: {foreign_host}\r\nConnection: close\r\n\r\n"),
    );
    assert!(status == 403 && !body.contains("<html"), "{head}");
    // Bodies beyond the bound, announced and not.
    assert_eq!(visitor.status(&[], &"x".repeat(64 * 1024 + 1)), 413);
    let chunked = visitor
        .head(0, &[])
        .replace("Content-Length: 0", "Transfer-Encoding: chunked");
    let (status, ..) = send(
        address,
        &format!("{chunked}20000\r\n{}\r\n0\r\n\r\n", "x".repeat(0x20000)),
    );
    assert_eq!(status, 413);
    assert_eq!(
        visitor.status(&[], QUESTION),
        200,
        "whoever is signed in still is"
    );
    server.wait_for_line("\"reason\":\"page_body\"");
    for reason in [
        "page_host",
        "page_origin",
        "page_sign_in",
        "page_content_type",
        "page_body",
    ] {
        assert_eq!(refusals(&server, reason), 1, "{reason}: {:#?}", server.log());
    }
    assert!(
        text(&server.console("resource list").stdout).contains("freeroam"),
        "it was not stopped"
    );
}

#[test]
fn everything_the_page_is_made_of_comes_with_the_strictest_policy_and_nothing_else_is_there() {
    let directory = directory(false);
    let server = Server::start(directory.path(), &[]);
    let address = address(&server);
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/main.js", "text/javascript; charset=utf-8"),
        ("/style.css", "text/css; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
    ] {
        let (status, head, body) = get(address, path);
        assert!(status == 200 && !body.is_empty(), "{path}");
        assert_eq!(header(&head, "content-type"), kind);
        let policy = header(&head, "content-security-policy");
        assert!(
            policy.contains("default-src 'none'; script-src 'self';")
                && policy.contains(
                    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
                )
                && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(header(&head, "x-content-type-options"), "nosniff");
        assert_eq!(header(&head, "cache-control"), "no-store");
        assert!(!head.contains("access-control"), "{head}");
    }
    for path in [
        "/page_token",
        "/../page_token",
        "/%2e%2e/page_token",
        "//etc/passwd",
        "/index.html/",
        "/site/main.js",
    ] {
        let (status, _, body) = get(address, path);
        assert!(status == 404 || status == 400, "{path}: {status} {body}");
    }
    let (status, ..) = get(address, &format!("/enter?ticket={}", "0".repeat(64)));
    assert_eq!(status, 403);
    assert_eq!(get(address, "/enter").0, 403);
}

#[test]
fn who_may_act_does_it_through_the_console_and_is_in_the_log() {
    let directory = directory(true);
    let server = Server::start(directory.path(), &[]);
    let page = address(&server);
    let identity = super::json(&server.console("identity --json"));
    let key: Vec<u8> = (0..32)
        .map(|index| {
            u8::from_str_radix(
                &identity["public_key"].as_str().unwrap()[2 * index..2 * index + 2],
                16,
            )
            .unwrap()
        })
        .collect();
    let mut ada = join(server.addresses()[0], key.try_into().unwrap(), "Ada");
    let visitor = Visitor::enters(directory.path(), page);
    let found = visitor.asks("decitick.command", &json!({"command": "entities Connection"}));
    let entity = found["result"]["entities"][0]["entity"]
        .as_str()
        .unwrap()
        .to_owned();
    let refused = visitor.acts(&json!({"action": "kick", "entity": "9999v9", "reason": ""}));
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
    for smuggled in [
        json!({"action": "kick", "entity": entity, "reason": "bye\nshutdown"}),
        json!({"action": "kick", "entity": format!("{entity} x\nshutdown"), "reason": ""}),
        json!({"action": "shutdown"}),
        json!({"action": "restart", "resource": "freeroam\nshutdown"}),
    ] {
        let told = visitor.acts(&smuggled);
        assert_eq!(told["error"]["code"], -32602, "{smuggled}: {told}");
    }
    let of_another_run = json!({"jsonrpc": "2.0", "id": 1, "method": "decitick.act", "params": {"action": "kick", "entity": entity}});
    for run in ["", "0"] {
        let body = of_another_run.to_string();
        let head = visitor.head(body.len(), &[("X-Decitick-Run", run)]);
        let (_, _, told) = send(page, &format!("{head}{body}"));
        assert!(told.contains("started anew since you looked"), "{told}");
    }
    let batch = json!([{"jsonrpc": "2.0", "id": 1, "method": "decitick.act", "params": {"action": "kick", "entity": entity}}]);
    let head = visitor.head(batch.to_string().len(), &[]);
    let (_, _, told) = send(page, &format!("{head}{batch}"));
    assert!(told.contains("not possible in a batch"), "{told}");
    let told = visitor.acts(&json!({"action": "kick", "entity": entity, "reason": "language <b>"}));
    assert_eq!(told["result"]["message"], "player 0 was kicked");
    let end = format!("{:?}", end_of(&mut ada));
    assert!(end.contains("language <b>"), "{end}");
    let told = visitor.acts(&json!({"action": "restart", "resource": "freeroam"}));
    assert!(
        told["result"]["message"].as_str().unwrap().contains("freeroam"),
        "{told}"
    );
    let told = visitor.acts(&json!({"action": "ban", "address": "192.0.2.1", "seconds": 60, "reason": ""}));
    assert_eq!(told["result"]["message"], "192.0.2.1 is banned");
    server.wait_for_line(&format!("\"command\":\"kick {entity} language <b>\""));
    server.wait_for_line("\"done\":true");
}

#[test]
fn without_the_setting_nobody_acts_and_nobody_is_let_in_from_outside() {
    let directory = directory(false);
    let path = directory.path();
    let server = Server::start(path, &[]);
    let visitor = Visitor::enters(path, address(&server));
    let told = visitor.acts(&json!({"action": "restart", "resource": "freeroam"}));
    assert_eq!(told["error"]["code"], -32601);
    assert!(
        told["error"]["message"]
            .as_str()
            .unwrap()
            .contains("allow_actions: true"),
        "{told}"
    );
    let discover = visitor.asks("rpc.discover", &Value::Null).to_string();
    assert!(discover.contains("decitick.live+watch") && !discover.contains("decitick.act"));
    let outside = option("192.0.2.1:7780".parse().unwrap(), false);
    let output = decitick(&["serve", path.to_str().unwrap(), "--set", &outside]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("only loopback addresses"),
        "{}",
        text(&output.stderr)
    );
    // A token that others may read stops the start; none at all is told of by `page`.
    fs::set_permissions(path.join("page_token"), fs::Permissions::from_mode(0o644)).unwrap();
    for arguments in [
        &["serve", path.to_str().unwrap(), "--listen", "127.0.0.1:0"][..],
        &[
            "page",
            path.to_str().unwrap(),
            "--set",
            &option("127.0.0.1:1".parse().unwrap(), false),
        ],
    ] {
        let output = decitick(arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            text(&output.stderr).contains("mode 0644"),
            "{}",
            text(&output.stderr)
        );
    }
    let empty = TempDir::new().unwrap();
    let output = decitick(&["page", empty.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("page: Some((listen:"),
        "{}",
        text(&output.stderr)
    );
    let output = decitick(&["page", path.to_str().unwrap()]);
    assert!(
        text(&output.stderr).contains("port 0"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_viewer_is_told_twice_a_second_of_the_server_and_the_stream_ends_with_it() {
    let directory = directory(false);
    let server = Server::start(directory.path(), &[]);
    let page = address(&server);
    let visitor = Visitor::enters(directory.path(), page);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "decitick.live+watch", "params": {"health": true, "log": true, "scripts": true}}).to_string();
    let mut stream = TcpStream::connect(page).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
        .write_all(format!("{}{body}", visitor.head(body.len(), &[])).as_bytes())
        .unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut event = || -> Option<Value> {
        loop {
            let line = lines.next()?.ok()?;
            if let Some(told) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str::<Value>(told).unwrap()["result"].clone());
            }
        }
    };
    let first = event().unwrap();
    assert_eq!(first["server"]["name"], "Harbour Town");
    assert_eq!(first["server"]["actions"], false);
    let events: Vec<Value> = (0..6).map(|_| event().unwrap()).collect();
    let ticks: Vec<u64> = events
        .iter()
        .map(|event| event["tick"].as_u64().unwrap())
        .collect();
    assert!(ticks.windows(2).all(|pair| pair[1] >= pair[0] + 5), "{ticks:?}");
    assert!(
        events[5]["health"]["now"]["resident_bytes"].as_u64() > Some(1_000_000),
        "{}",
        events[5]
    );
    let all = Value::from([vec![first], events].concat()).to_string();
    assert!(all.contains("server started") && all.contains("resource started") && all.contains("freeroam"));
    server.signal(Signal::SIGTERM);
    while event().is_some() {}
    assert_eq!(server.wait().0, Some(0));
}
