//! Downloads of client files from a server that may be anything.

mod hostile;
mod http;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use decitick_client::driver::{DownloadLimits, DownloadedFiles, FilesError, download_files};
use decitick_client::files::{ManifestError, ManifestLimits};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use self::http::{FakeHttp, Stream, respond};

const RESOURCE: &str = "login";

/// What a sound server has.
#[derive(Clone)]
struct Shop {
    manifest: Vec<u8>,
    files: Vec<(String, Vec<u8>)>,
}

impl Shop {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let listed: Vec<_> = files
            .iter()
            .map(|(name, bytes)| {
                let sha256: String = Sha256::digest(bytes)
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                serde_json::json!({"name": name, "size": bytes.len(), "sha256": sha256})
            })
            .collect();
        let manifest = serde_json::json!({"resource": RESOURCE, "files": listed});
        Self {
            manifest: manifest.to_string().into_bytes(),
            files: files
                .iter()
                .map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()))
                .collect(),
        }
    }

    fn hash(&self) -> [u8; 32] {
        Sha256::digest(&self.manifest).into()
    }

    fn content(&self, path: &str) -> Option<&[u8]> {
        let name = path.strip_prefix("/login/")?;
        if name == "manifest.json" {
            return Some(&self.manifest);
        }
        self.files
            .iter()
            .find(|(listed, _)| listed == name)
            .map(|(_, bytes)| bytes.as_slice())
    }

    /// Answers as it should be.
    fn serve(&self, head: &str, stream: &mut Stream) {
        let path = head.split(' ').nth(1).unwrap();
        let Some(content) = self.content(path) else {
            return respond(stream, "404 Not Found", "", b"");
        };
        let begins = head
            .lines()
            .find_map(|line| {
                line.strip_prefix("range: bytes=")
                    .or_else(|| line.strip_prefix("Range: bytes="))
            })
            .map(|range| range.trim_end_matches('-').parse::<usize>().unwrap());
        match begins {
            None => respond(stream, "200 OK", "", content),
            Some(begins) => {
                let range = format!(
                    "Content-Range: bytes {begins}-{}/{}\r\n",
                    content.len() - 1,
                    content.len()
                );
                respond(stream, "206 Partial Content", &range, &content[begins..]);
            }
        }
    }
}

/// Short times, so that what is slow is seen soon.
fn limits() -> DownloadLimits {
    DownloadLimits {
        silent_time: Duration::from_millis(500),
        pace_time: Duration::from_millis(500),
        ..DownloadLimits::default()
    }
}

fn download(server: &FakeHttp, shop: &Shop, directory: &Path) -> Result<DownloadedFiles, FilesError> {
    download_files(server.address, RESOURCE, &shop.hash(), directory, &limits())
}

/// Every file below a folder, by its path inside.
fn tree(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// A server that is sound but for what it does with `page.html`, and what came of the download.
fn with_page(
    answer: impl Fn(&Shop, &mut Stream) + Send + Sync + 'static,
) -> (Result<DownloadedFiles, FilesError>, Vec<String>) {
    let shop = Shop::new(&[("page.html", b"hello, client")]);
    let served = shop.clone();
    let server = FakeHttp::start(move |head, stream| {
        if head.starts_with("GET /login/page.html ") {
            answer(&served, stream);
        } else {
            served.serve(head, stream);
        }
    });
    let directory = TempDir::new().unwrap();
    let result = download(&server, &shop, directory.path());
    (result, tree(directory.path()))
}

#[test]
fn files_arrive_under_their_names_and_are_not_fetched_twice() {
    let big = vec![7; 300_000];
    let shop = Shop::new(&[
        ("page.html", b"hello"),
        ("images/a/logo.png", &big),
        ("empty.txt", b""),
    ]);
    let served = shop.clone();
    let server = FakeHttp::start(move |head, stream| served.serve(head, stream));
    let directory = TempDir::new().unwrap();
    let place = directory.path().join("files/login");
    let downloaded = download(&server, &shop, &place).unwrap();
    assert_eq!((downloaded.fetched, downloaded.fetched_bytes), (3, 300_005));
    assert_eq!(tree(&place), ["empty.txt", "images/a/logo.png", "page.html"]);
    assert!(fs::read_to_string(place.join("page.html")).unwrap() == "hello");
    assert!(!place.join(".partial").exists());
    let again = download(&server, &shop, &place).unwrap();
    assert_eq!((again.fetched, again.fetched_bytes), (0, 0));
    fs::remove_file(place.join("page.html")).unwrap();
    let mut file = fs::File::create(place.join("empty.txt")).unwrap();
    file.write_all(b"not empty").unwrap();
    assert_eq!(
        download(&server, &shop, &place).unwrap().fetched,
        2,
        "gone, and another one"
    );
}

#[test]
fn what_broke_off_goes_on_where_it_stopped() {
    let big: Vec<u8> = (0..200_000u32).map(|index| index.to_le_bytes()[0]).collect();
    let shop = Shop::new(&[("big.bin", &big)]);
    let served = shop.clone();
    let breaks = Arc::new(AtomicBool::new(true));
    let (broken, ranged) = (Arc::clone(&breaks), Arc::new(AtomicBool::new(false)));
    let saw_range = Arc::clone(&ranged);
    let server = FakeHttp::start(move |head, stream| {
        if !head.starts_with("GET /login/big.bin ") {
            return served.serve(head, stream);
        }
        if broken.swap(false, Ordering::Relaxed) {
            let content = &served.files[0].1;
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
                content.len()
            )
            .unwrap();
            stream.write_all(&content[..150_000]).unwrap();
            return;
        }
        saw_range.store(
            head.to_lowercase().contains("range: bytes=150000-"),
            Ordering::Relaxed,
        );
        served.serve(head, stream);
    });
    let directory = TempDir::new().unwrap();
    download(&server, &shop, directory.path()).unwrap_err();
    assert!(!directory.path().join("big.bin").exists());
    let downloaded = download(&server, &shop, directory.path()).unwrap();
    assert!(ranged.load(Ordering::Relaxed));
    assert_eq!(downloaded.fetched_bytes, 50_000);
    assert_eq!(
        fs::metadata(directory.path().join("big.bin")).unwrap().len(),
        200_000
    );
    assert_eq!(tree(directory.path()), ["big.bin"]);
}

#[test]
fn a_broken_rest_is_thrown_away_and_the_file_fetched_whole() {
    let shop = Shop::new(&[("page.html", b"hello, client")]);
    let served = shop.clone();
    let server = FakeHttp::start(move |head, stream| served.serve(head, stream));
    let directory = TempDir::new().unwrap();
    let hash: String = Sha256::digest(b"hello, client")
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    for rest in ["jello", "jello, client", "much more than there should be"] {
        fs::create_dir_all(directory.path().join(".partial")).unwrap();
        let mut file = fs::File::create(directory.path().join(".partial").join(&hash)).unwrap();
        file.write_all(rest.as_bytes()).unwrap();
        download(&server, &shop, directory.path()).unwrap();
        let page = directory.path().join("page.html");
        assert_eq!(fs::read_to_string(&page).unwrap(), "hello, client", "{rest}");
        fs::remove_file(page).unwrap();
    }
}

#[test]
fn another_manifest_than_the_announced_one_is_not_used() {
    let shop = Shop::new(&[("page.html", b"hello")]);
    let other = Shop::new(&[("page.html", b"jello")]);
    let server = FakeHttp::start(move |head, stream| other.serve(head, stream));
    let directory = TempDir::new().unwrap();
    let error = download(&server, &shop, directory.path()).unwrap_err();
    assert!(
        matches!(error, FilesError::Manifest(ManifestError::OtherHash)),
        "{error}"
    );
    assert_eq!(tree(directory.path()), [""; 0]);
}

#[test]
fn a_name_that_leads_out_of_the_folder_is_refused_before_anything_is_fetched() {
    for name in [
        "../escaped.txt",
        "/tmp/escaped.txt",
        "a/../../escaped.txt",
        "a\\..\\escaped.txt",
    ] {
        let shop = Shop::new(&[("page.html", b"hello"), (name, b"x")]);
        let served = shop.clone();
        let server = FakeHttp::start(move |head, stream| served.serve(head, stream));
        let directory = TempDir::new().unwrap();
        let inside = directory.path().join("inside");
        let error = download(&server, &shop, &inside).unwrap_err();
        assert!(
            matches!(error, FilesError::Manifest(ManifestError::Name { .. })),
            "{error}"
        );
        assert_eq!(tree(directory.path()), [""; 0], "{name}");
    }
}

#[test]
fn a_content_with_another_hash_never_gets_the_name() {
    let (result, tree) = with_page(|_, stream| respond(stream, "200 OK", "", b"jello, client"));
    assert!(
        matches!(result, Err(FilesError::OtherContent { .. })),
        "{result:?}"
    );
    assert_eq!(tree, [""; 0]);
}

#[test]
fn a_content_that_is_longer_than_told_is_cut_off() {
    let (result, tree) = with_page(|_, stream| respond(stream, "200 OK", "", b"hello, client and more"));
    assert!(matches!(result, Err(FilesError::Long { .. })), "{result:?}");
    assert!(!tree.contains(&"page.html".to_owned()), "{tree:?}");
}

#[test]
fn a_content_without_end_is_given_up_after_a_byte_too_many() {
    for head in ["", "Transfer-Encoding: chunked\r\n"] {
        let (result, tree) = with_page(move |_, stream| {
            write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\n").unwrap();
            let piece = if head.is_empty() {
                "x".repeat(0x1000)
            } else {
                format!("1000\r\n{}\r\n", "x".repeat(0x1000))
            };
            // Until the other side has enough.
            while stream.write_all(piece.as_bytes()).is_ok() {}
        });
        assert!(matches!(result, Err(FilesError::Long { .. })), "{result:?}");
        assert!(!tree.contains(&"page.html".to_owned()), "{tree:?}");
    }
}

#[test]
fn a_content_that_is_shorter_than_told_never_gets_the_name() {
    let (result, tree) = with_page(|_, stream| respond(stream, "200 OK", "", b"hello"));
    assert!(matches!(result, Err(FilesError::Short { .. })), "{result:?}");
    assert!(!tree.contains(&"page.html".to_owned()), "{tree:?}");
}

#[test]
fn a_redirect_is_not_followed() {
    let strayed = Arc::new(AtomicBool::new(false));
    let visited = Arc::clone(&strayed);
    let elsewhere = FakeHttp::start(move |_, stream| {
        visited.store(true, Ordering::Relaxed);
        respond(stream, "200 OK", "", b"hello, client");
    });
    let location = format!("Location: http://{}/page.html\r\n", elsewhere.address);
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect"] {
        let location = location.clone();
        let (result, _) = with_page(move |_, stream| respond(stream, status, &location, b""));
        assert!(matches!(result, Err(FilesError::Status { .. })), "{result:?}");
    }
    assert!(!strayed.load(Ordering::Relaxed));
}
