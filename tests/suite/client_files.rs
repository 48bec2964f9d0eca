//! The server of client files on a real socket, asked in raw HTTP by clients of every kind.

mod hostile;
mod site;

use std::{fs, time::Duration};

use decitick_client::driver::{DownloadLimits, download_files};

use site::{PAGE, Site, request};

#[test]
fn what_is_up_is_served_with_everything_that_a_browser_needs_to_know() {
    let site = Site::start(&[
        ("page.html", PAGE),
        ("images/a b.png", b"png"),
        ("empty.css", b""),
    ]);
    let manifest = site.publish();
    let told = site.get("/mode/manifest.json");
    assert_eq!(
        (told.status, told.header("content-type")),
        (200, "application/json")
    );
    assert_eq!(told.body, *manifest.json);
    assert_eq!(told.header("etag"), site::quoted(&manifest.sha256));
    let page = site.get("/mode/page.html?token=1#part");
    assert_eq!((page.status, page.body.as_slice()), (200, PAGE));
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("content-length", "12"),
        ("etag", &site::quoted(&manifest.files["page.html"].sha256)),
        ("accept-ranges", "bytes"),
        ("cache-control", "no-cache"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
    ] {
        assert_eq!(page.header(name), value, "{name}");
    }
    assert_eq!(page.headers.get("access-control-allow-origin"), None);
    assert_eq!(site.get("/mode/images/a%20b.png").body, b"png");
    let empty = site.get("/mode/empty.css");
    assert_eq!((empty.status, empty.header("content-length")), (200, "0"));
    assert_eq!(
        site.get("http://elsewhere.example/mode/page.html").body,
        PAGE,
        "the absolute form"
    );
}

#[test]
fn head_tells_what_get_would_and_sends_nothing() {
    let site = Site::start(&[("page.html", PAGE)]);
    site.publish();
    for path in ["/mode/page.html", "/mode/manifest.json", "/mode/none"] {
        let (head, get) = (site.ask(&request("HEAD", path, "")), site.get(path));
        assert_eq!(head.status, get.status, "{path}");
        for name in ["etag", "content-length", "content-type"] {
            assert_eq!(head.headers.get(name), get.headers.get(name), "{path} {name}");
        }
        assert_eq!(head.body, b"", "{path}");
    }
    let ranged = site.ask(&request("HEAD", "/mode/page.html", "Range: bytes=1-2\r\n"));
    assert_eq!((ranged.status, ranged.header("content-length")), (200, "12"));
}

#[test]
fn who_has_the_content_already_is_told_so() {
    let site = Site::start(&[("page.html", PAGE)]);
    let etag = site::quoted(&site.publish().files["page.html"].sha256);
    let known = |condition: &str| site.get_with("/mode/page.html", condition);
    for condition in [
        format!("If-None-Match: {etag}\r\n"),
        format!("If-None-Match: \"x\", W/{etag}\r\n"),
        "If-None-Match: *\r\n".to_owned(),
    ] {
        let told = known(&condition);
        assert_eq!((told.status, told.body.len()), (304, 0), "{condition}");
        assert_eq!(told.header("etag"), etag);
    }
    assert_eq!(known("If-None-Match: \"x\"\r\n").status, 200);
    assert_eq!(known("If-Match: \"x\"\r\n").status, 412);
    assert_eq!(known(&format!("If-Match: {etag}\r\n")).status, 200);
}

#[test]
fn ranges_give_exactly_their_bytes() {
    let site = Site::start(&[("page.html", PAGE)]);
    let manifest = site.publish();
    let etag = site::quoted(&manifest.files["page.html"].sha256);
    let part = |headers: &str| {
        let told = site.get_with("/mode/page.html", headers);
        let range = told.headers.get("content-range").cloned().unwrap_or_default();
        assert_eq!(told.header("content-length"), told.body.len().to_string());
        (told.status, range, String::from_utf8(told.body).unwrap())
    };
    let wanted = |status: u16, range: &str, body: &str| (status, range.to_owned(), body.to_owned());
    let whole = wanted(200, "", "hello client");
    for (range, told) in [
        ("bytes=0-0", wanted(206, "bytes 0-0/12", "h")),
        ("bytes=6-", wanted(206, "bytes 6-11/12", "client")),
        ("bytes=-2", wanted(206, "bytes 10-11/12", "nt")),
        ("bytes=0-999", wanted(206, "bytes 0-11/12", "hello client")),
        ("bytes=12-", wanted(416, "bytes */12", "")),
        ("bytes=99999999999999999999-", wanted(416, "bytes */12", "")),
        ("bytes=2-1", whole.clone()),
        ("bytes=0-1,3-4", whole.clone()),
        ("pages=1-2", whole.clone()),
    ] {
        assert_eq!(part(&format!("Range: {range}\r\n")), told, "{range}");
    }
    assert_eq!(part(&format!("Range: bytes=6-\r\nIf-Range: {etag}\r\n")).0, 206);
    assert_eq!(part("Range: bytes=6-\r\nIf-Range: \"other\"\r\n"), whole);
    assert_eq!(
        part("Range: bytes=6-\r\nIf-Range: Mon, 30 Nov 2026 00:00:00 GMT\r\n"),
        whole
    );
    let json = site.get_with("/mode/manifest.json", "Range: bytes=1-3\r\n");
    assert_eq!((json.status, json.body.as_slice()), (206, &manifest.json[1..4]));
}

#[test]
fn other_methods_and_requests_with_content_are_refused() {
    let site = Site::start(&[("page.html", PAGE)]);
    site.publish();
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "NONSENSE"] {
        let told = site.ask(&request(method, "/mode/page.html", ""));
        assert_eq!(
            (told.status, told.header("allow")),
            (405, "GET, HEAD"),
            "{method}"
        );
    }
    let told = site.get_with("/mode/page.html", "Content-Length: 5\r\n");
    assert_eq!((told.status, told.header("connection")), (413, "close"));
    let told = site.get_with("/mode/page.html", "Transfer-Encoding: chunked\r\n");
    assert_eq!(told.status, 413);
    assert_eq!(
        site.get_with("/mode/page.html", "Content-Length: 0\r\n").status,
        200
    );
}

#[test]
fn a_request_names_its_host_once() {
    let site = Site::start(&[("page.html", PAGE)]);
    site.publish();
    let bare = "GET /mode/page.html HTTP/1.1\r\nConnection: close\r\n\r\n";
    assert_eq!(site.ask(bare).status, 400);
    assert_eq!(site.get_with("/mode/page.html", "Host: y\r\n").status, 400);
    let old = "GET /mode/page.html HTTP/1.0\r\n\r\n";
    assert_eq!(site.ask(old).status, 200, "HTTP/1.0 has no such rule");
}

#[test]
fn only_what_was_put_up_is_there_and_only_as_long_as_it_is_up() {
    let site = Site::start(&[("page.html", PAGE)]);
    let manifest = site.read();
    assert_eq!(site.get("/mode/page.html").status, 404, "it was read, not put up");
    site.files.activate(&site::mode(), Some(manifest));
    assert_eq!(site.get("/mode/page.html").status, 200);
    site.write("new.html", b"new");
    assert_eq!(
        site.get("/mode/new.html").status,
        404,
        "not in the manifest that is up"
    );
    site.publish();
    assert_eq!(site.get("/mode/new.html").status, 200);
    site.files.activate(&site::mode(), None);
    for path in [
        "/mode/page.html",
        "/mode/manifest.json",
        "/",
        "/other/manifest.json",
    ] {
        let told = site.get(path);
        assert_eq!((told.status, told.header("content-length")), (404, "0"), "{path}");
    }
}

#[test]
fn one_connection_serves_many_requests() {
    let site = Site::start(&[("page.html", PAGE)]);
    site.publish();
    let mut connection = site.connect();
    for _ in 0..50 {
        connection.send(&request("GET", "/mode/page.html", "").replace("Connection: close\r\n", ""));
        let told = connection.response();
        assert_eq!((told.status, told.body.as_slice()), (200, PAGE));
    }
}

#[test]
fn the_client_library_fetches_from_the_server_and_takes_only_what_changed_later() {
    let big: Vec<u8> = (0..1_000_000u32).map(|index| index.to_le_bytes()[1]).collect();
    let site = Site::start(&[("page.html", PAGE), ("a b/ä.bin", &big), ("empty", b"")]);
    let manifest = site.publish();
    let place = tempfile::tempdir().unwrap();
    let download = |hash: &[u8; 32]| {
        download_files(
            site.address,
            "mode",
            hash,
            place.path(),
            &DownloadLimits::default(),
        )
    };
    assert_eq!(download(&manifest.sha256).unwrap().fetched, 3);
    assert_eq!(fs::read(place.path().join("a b/ä.bin")).unwrap(), big);
    site.write("page.html", b"other client");
    let later = site.publish();
    download(&manifest.sha256).unwrap_err();
    let second = download(&later.sha256).unwrap();
    assert_eq!((second.fetched, second.fetched_bytes), (1, 12));
    assert_eq!(fs::read(place.path().join("page.html")).unwrap(), b"other client");
}

#[test]
fn a_server_that_stops_lets_nobody_hold_it_up_and_gives_its_port_back() {
    let mut site = Site::start(&[("big.bin", &vec![1; 8 << 20])]);
    site.publish();
    let (idle, mut reading) = (site.connect(), site.connect());
    reading.send(&request("GET", "/mode/big.bin", ""));
    assert!(reading.read_some(1) > 0);
    let started = std::time::Instant::now();
    site.stop();
    assert!(started.elapsed() < Duration::from_secs(2));
    assert!(reading.rest().len() < 8 << 20);
    assert!(idle.rest().is_empty());
    decitick::client_files::ClientFilesListener::bind(site.address).unwrap();
}
