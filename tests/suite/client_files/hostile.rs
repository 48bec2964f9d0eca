//! Clients that want out of the folder, or that want to hold the server up, and files that change under its hands.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    os::unix::fs::symlink,
    thread,
    time::{Duration, Instant},
};

use decitick::client_files::ServeLimits;

use super::site::{Connection, PAGE, PATIENCE, Site, request};

const SECRET: &[u8] = b"do not tell";

#[test]
fn no_path_leads_out_of_the_folder_or_to_what_is_not_in_the_manifest() {
    let site = Site::start(&[("page.html", PAGE), ("a/b.html", PAGE)]);
    site.publish();
    // After the manifest was made, so that nothing but the server stands before it.
    site.write(".hidden", SECRET);
    site.write("later.html", SECRET);
    site.write("../main.rhai", SECRET);
    fs::write(site.directory.path().join("server_identity.key"), SECRET).unwrap();
    let absolute = site.directory.path().join("server_identity.key");
    let absolute = absolute.to_str().unwrap();
    for path in [
        "/mode/../mode/main.rhai",
        "/mode/../main.rhai",
        "/mode/../../../server_identity.key",
        "/mode/..",
        "/mode/.",
        "/../server_identity.key",
        "/mode/%2e%2e/main.rhai",
        "/mode/%2E%2E%2Fmain.rhai",
        "/mode/..%2fmain.rhai",
        "/mode/a%2fb.html",
        "/mode/a%2F..%2F..%2Fmain.rhai",
        "/mode/%252e%252e/main.rhai",
        "/mode/..%5cmain.rhai",
        "/mode/..\\main.rhai",
        "/mode/a/../page.html",
        "/mode/./page.html",
        "/mode//page.html",
        "//mode/page.html",
        "/mode/page.html/",
        "/mode/a",
        "/mode/a/",
        "/mode/",
        "/mode",
        "/",
        "/mode/.hidden",
        "/mode/%2ehidden",
        "/mode/later.html",
        "/mode/main.rhai",
        "/mode/page.html%00",
        "/mode/page.html%00.png",
        "/mode/%c0%ae%c0%ae/main.rhai",
        "/mode/PAGE.html",
        "/Mode/page.html",
        "/mode%2fpage.html",
        "/scripts/mode/client/page.html",
        "/mode/page.html;x",
        "http://x/mode/../main.rhai",
        "http://x/../server_identity.key",
        "file:///etc/passwd",
        "x",
        absolute,
        &format!("/mode/{absolute}"),
        &format!("/mode/{}", "a/".repeat(1000)),
        &format!("/mode/{}", "../".repeat(1000)),
    ] {
        let told = site.get(path);
        assert!(matches!(told.status, 400 | 404), "{path}: {}", told.status);
        assert_eq!(told.body, b"", "{path}");
    }
    assert_eq!(site.get("/mode/page.html").body, PAGE);
}

#[test]
fn a_link_that_takes_the_place_of_a_file_or_folder_is_not_followed() {
    let site = Site::start(&[("page.html", PAGE), ("a/b.html", PAGE)]);
    site.publish();
    site.write("../secret", PAGE);
    fs::create_dir(site.directory.path().join("elsewhere")).unwrap();
    fs::write(site.directory.path().join("elsewhere/b.html"), PAGE).unwrap();
    fs::remove_file(site.path("page.html")).unwrap();
    symlink("../secret", site.path("page.html")).unwrap();
    assert_eq!(site.get("/mode/page.html").status, 404);
    fs::rename(site.path("a"), site.directory.path().join("a")).unwrap();
    symlink(site.directory.path().join("a"), site.path("a")).unwrap();
    assert_eq!(
        site.get("/mode/a/b.html").status,
        404,
        "even the very file through a link"
    );
    fs::remove_file(site.path("a")).unwrap();
    fs::rename(site.directory.path().join("a"), site.path("a")).unwrap();
    assert_eq!(site.get("/mode/a/b.html").status, 200, "back in its place");
    let client = site.path("");
    fs::rename(&client, site.directory.path().join("client")).unwrap();
    symlink(
        site.directory.path().join("client"),
        client.parent().unwrap().join("client"),
    )
    .unwrap();
    assert_eq!(site.get("/mode/a/b.html").status, 404, "the folder itself");
}

#[test]
fn a_file_that_changed_is_not_sent_until_it_is_read_again() {
    let site = Site::start(&[("page.html", PAGE)]);
    let old = site.publish();
    site.write("page.html", b"HELLO CLIENT");
    assert_eq!(
        site.get("/mode/page.html").status,
        404,
        "the same size, another content"
    );
    let new = site.publish();
    assert_ne!(old.sha256, new.sha256);
    assert_eq!(site.get("/mode/page.html").body, b"HELLO CLIENT");
    fs::remove_file(site.path("page.html")).unwrap();
    assert_eq!(site.get("/mode/page.html").status, 404);
}

/// Begins to read a large file of one byte value, has it changed, and reads on. What came of the content.
fn read_while(change: impl FnOnce(&Site)) -> Vec<u8> {
    let size = 16 << 20;
    let site = Site::start(&[("big.bin", &vec![b'a'; size])]);
    site.publish();
    let mut connection = site.connect_narrow();
    connection.send(&request("GET", "/mode/big.bin", ""));
    let head = connection.head();
    assert_eq!(head.header("content-length"), size.to_string());
    change(&site);
    connection.widen();
    connection.rest()
}

#[test]
fn a_file_that_changes_while_it_is_sent_ends_the_connection_before_anything_of_the_change_is_sent() {
    let size = 16 << 20;
    let overwritten = read_while(|site| {
        let mut file = OpenOptions::new().write(true).open(site.path("big.bin")).unwrap();
        file.write_all(&vec![b'b'; size]).unwrap();
    });
    let cut = read_while(|site| {
        let file = OpenOptions::new().write(true).open(site.path("big.bin")).unwrap();
        file.set_len(1).unwrap();
    });
    let replaced = read_while(|site| {
        site.write("new.bin", &vec![b'b'; size]);
        fs::rename(site.path("new.bin"), site.path("big.bin")).unwrap();
    });
    for (what, came) in [("overwritten", overwritten), ("cut", cut), ("replaced", replaced)] {
        assert!(
            came.iter().all(|&byte| byte == b'a'),
            "{what}: something else was sent"
        );
        assert!(came.len() < size, "{what}: it was sent to its end");
    }
}

/// Asks again and again until somebody is served; the seat must become free in time.
fn until_served(site: &Site) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut connection = site.connect();
        connection.send(&request("GET", "/mode/page.html", ""));
        if connection.rest().starts_with(b"HTTP/1.1 200") {
            return;
        }
        assert!(Instant::now() < deadline, "no seat becomes free");
        thread::sleep(Duration::from_millis(5));
    }
}

fn is_turned_away(connection: Connection) -> bool {
    connection.rest().is_empty()
}

#[test]
fn more_connections_than_there_are_seats_are_closed_at_once() {
    let limits = ServeLimits {
        connections: 2,
        ..ServeLimits::default()
    };
    let site = Site::with_limits(&[("page.html", PAGE)], limits);
    site.publish();
    let (first, _second) = (site.connect(), site.connect());
    assert!(is_turned_away(site.connect()));
    assert!(is_turned_away(site.connect()));
    drop(first);
    until_served(&site);
}

#[test]
fn an_address_has_only_its_own_seats() {
    let limits = ServeLimits {
        connections_per_ip: 1,
        loopback_exempt: false,
        ..ServeLimits::default()
    };
    let site = Site::with_limits(&[("page.html", PAGE)], limits);
    site.publish();
    let first = site.connect();
    assert!(is_turned_away(site.connect()));
    drop(first);
    until_served(&site);
}

#[test]
fn who_does_not_finish_the_head_of_a_request_in_time_is_closed() {
    let limits = ServeLimits {
        head_time: Duration::from_millis(200),
        ..ServeLimits::default()
    };
    let site = Site::with_limits(&[("page.html", PAGE)], limits);
    site.publish();
    for begun in ["", "GET /mode/pa", "GET /mode/page.html HTTP/1.1\r\nHost: x\r\n"] {
        let mut connection = site.connect();
        connection.send(begun);
        assert!(!connection.rest().starts_with(b"HTTP/1.1 200"), "{begun:?}");
    }
    let mut idle = site.connect();
    idle.send("GET /mode/page.html HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(idle.response().status, 200);
    assert!(idle.rest().is_empty(), "idle after a request");
}

#[test]
fn a_head_that_is_too_large_or_no_http_is_refused() {
    let site = Site::start(&[("page.html", PAGE)]);
    site.publish();
    let fits = format!("X-Filler: {}\r\n", "x".repeat(7000));
    assert_eq!(site.get_with("/mode/page.html", &fits).status, 200);
    let large = format!("X-Filler: {}\r\n", "x".repeat(9000));
    let many = "X: y\r\n".repeat(200);
    for headers in [large, many] {
        let mut connection = site.connect();
        connection.send(&request("GET", "/mode/page.html", &headers));
        assert_eq!(connection.head().status, 431);
    }
    for nonsense in [
        "\u{16}\u{3}\u{1}\0\0",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET\r\n\r\n",
        "\r\n \r\n\r\n",
    ] {
        let mut connection = site.connect();
        connection.send(nonsense);
        assert!(!connection.rest().starts_with(b"HTTP/1.1 200"), "{nonsense:?}");
    }
    until_served(&site);
}

#[test]
fn a_reader_that_takes_nothing_loses_its_seat() {
    let limits = ServeLimits {
        connections: 1,
        stall_time: Duration::from_millis(300),
        pace_time: PATIENCE * 10,
        ..ServeLimits::default()
    };
    let size = 16 << 20;
    let site = Site::with_limits(&[("big.bin", &vec![1; size]), ("page.html", PAGE)], limits);
    site.publish();
    let mut stalled = site.connect_narrow();
    stalled.send(&request("GET", "/mode/big.bin", ""));
    until_served(&site);
    assert!(stalled.rest().len() < size);
}

#[test]
fn a_reader_that_takes_too_little_loses_its_seat() {
    let limits = ServeLimits {
        stall_time: PATIENCE,
        pace_time: Duration::from_millis(300),
        pace_bytes_per_second: 1 << 30,
        ..ServeLimits::default()
    };
    let size = 16 << 20;
    let site = Site::with_limits(&[("big.bin", &vec![1; size])], limits);
    site.publish();
    let mut slow = site.connect_narrow();
    slow.send(&request("GET", "/mode/big.bin", ""));
    let mut came = 0;
    loop {
        // The pace is the point here: it waits for nothing.
        thread::sleep(Duration::from_millis(5));
        match slow.read_some(4096) {
            0 => break,
            read => came += read,
        }
    }
    assert!(came < size, "it was served to the end");
}

#[test]
fn a_reader_that_is_slow_but_keeps_pace_gets_everything() {
    let limits = ServeLimits {
        stall_time: PATIENCE,
        pace_bytes_per_second: 1,
        ..ServeLimits::default()
    };
    let bytes: Vec<u8> = (0..3_000_000u32).map(|index| index.to_le_bytes()[1]).collect();
    let site = Site::with_limits(&[("big.bin", &bytes)], limits);
    site.publish();
    let mut slow = site.connect_narrow();
    slow.send(&request("GET", "/mode/big.bin", ""));
    let told = slow.response();
    assert!(told.body == bytes);
}
