//! Servers that mean harm to whoever downloads from them: silent, dripping, without an end; and folders with a trap in them.

use super::*;

#[test]
fn a_silent_server_is_given_up() {
    let (result, _) = with_page(|_, stream| http::wait_for_end(stream));
    assert!(
        matches!(result, Err(FilesError::Connection { .. })),
        "no response: {result:?}"
    );
    let (result, _) = with_page(|_, stream| {
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nhello").unwrap();
        http::wait_for_end(stream);
    });
    assert!(
        matches!(result, Err(FilesError::Connection { .. })),
        "half a body: {result:?}"
    );
}

#[test]
fn a_server_that_drips_is_given_up() {
    let (result, _) = with_page(|_, stream| {
        http::drip(stream, "HTTP/1.1 200 OK\r\n", "X-Header: on and on\r\n");
    });
    assert!(
        matches!(result, Err(FilesError::Connection { .. })),
        "headers: {result:?}"
    );
    let shop = Shop::new(&[("big.bin", &[0; 100_000])]);
    let served = shop.clone();
    let server = FakeHttp::start(move |head, stream| {
        if head.starts_with("GET /login/big.bin ") {
            http::drip(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", "\0");
        } else {
            served.serve(head, stream);
        }
    });
    let directory = TempDir::new().unwrap();
    let result = download(&server, &shop, directory.path());
    assert!(
        matches!(result, Err(FilesError::Slow { .. })),
        "a body: {result:?}"
    );
}

#[test]
fn a_head_without_end_is_given_up() {
    let (result, _) = with_page(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream
            .write_all(b"X-Header: on and on and on and on and on\r\n")
            .is_ok()
        {}
    });
    assert!(matches!(result, Err(FilesError::Connection { .. })), "{result:?}");
}

#[test]
fn a_partial_response_that_begins_elsewhere_is_refused() {
    let shop = Shop::new(&[("page.html", b"hello, client")]);
    let served = shop.clone();
    let server = FakeHttp::start(move |head, stream| {
        if head.to_lowercase().contains("range: bytes=") {
            respond(
                stream,
                "206 Partial Content",
                "Content-Range: bytes 0-12/13\r\n",
                b"hello, client",
            );
        } else {
            served.serve(head, stream);
        }
    });
    let directory = TempDir::new().unwrap();
    let hash: String = Sha256::digest(b"hello, client")
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    fs::create_dir_all(directory.path().join(".partial")).unwrap();
    let mut part = fs::File::create(directory.path().join(".partial").join(hash)).unwrap();
    part.write_all(b"hello").unwrap();
    let result = download(&server, &shop, directory.path());
    assert!(
        matches!(result, Err(FilesError::Status { status: 206, .. })),
        "{result:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_link_inside_the_folder_leads_nothing_out_of_it() {
    let shop = Shop::new(&[("images/logo.png", b"x"), ("page.html", b"y")]);
    let served = shop.clone();
    let server = FakeHttp::start(move |head, stream| served.serve(head, stream));
    let directory = TempDir::new().unwrap();
    let (inside, outside) = (directory.path().join("inside"), directory.path().join("outside"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::File::create(outside.join("target")).unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("images")).unwrap();
    std::os::unix::fs::symlink(outside.join("target"), inside.join("page.html")).unwrap();
    let result = download(&server, &shop, &inside);
    assert!(matches!(result, Err(FilesError::InTheWay(_))), "{result:?}");
    assert_eq!(tree(&outside), ["target"]);
    fs::remove_file(inside.join("images")).unwrap();
    download(&server, &shop, &inside).unwrap();
    assert_eq!(
        fs::metadata(outside.join("target")).unwrap().len(),
        0,
        "the link was replaced"
    );
}

#[test]
fn the_limits_of_the_caller_hold() {
    let shop = Shop::new(&[("page.html", b"hello, client")]);
    let served = shop.clone();
    let server = FakeHttp::start(move |head, stream| served.serve(head, stream));
    let directory = TempDir::new().unwrap();
    let tight = DownloadLimits {
        manifest: ManifestLimits {
            total_bytes: 12,
            ..ManifestLimits::default()
        },
        ..limits()
    };
    let result = download_files(server.address, RESOURCE, &shop.hash(), directory.path(), &tight);
    assert!(
        matches!(result, Err(FilesError::Manifest(ManifestError::TooMuch { .. }))),
        "{result:?}"
    );
}
