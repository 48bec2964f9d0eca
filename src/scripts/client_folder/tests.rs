use std::{
    fs::{self, OpenOptions},
    io::{Seek, SeekFrom, Write},
    os::unix::fs::{PermissionsExt, symlink},
    path::PathBuf,
};

use super::*;

/// A server directory with a resource called `mode`, and what is known of its files.
struct Place {
    directory: tempfile::TempDir,
    known: KnownHashes,
}

fn mode() -> ResourceName {
    ResourceName::parse("mode").unwrap()
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let place = Self {
            directory: tempfile::tempdir().unwrap(),
            known: KnownHashes::default(),
        };
        fs::create_dir_all(place.path("")).unwrap();
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join("scripts/mode/client").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self) -> Result<Option<Arc<ClientManifest>>, Vec<ScriptFault>> {
        read(self.directory.path(), &mode(), &self.known)
    }

    /// What is told, and that reading and checking tell the same.
    fn told(&self) -> Vec<String> {
        let told = |faults: Vec<ScriptFault>| faults.iter().map(ToString::to_string).collect::<Vec<_>>();
        let read = told(self.read().unwrap_err());
        assert_eq!(read, told(faults(self.directory.path(), &mode())));
        read
    }
}

#[track_caller]
fn starts(told: &[String], wanted: &[&str]) {
    assert_eq!(told.len(), wanted.len(), "{told:#?}");
    for (told, wanted) in told.iter().zip(wanted) {
        assert!(told.starts_with(wanted), "{told} does not start with {wanted}");
    }
}

#[test]
fn the_manifest_lists_every_file_in_order_of_its_name_and_has_the_hash_of_its_bytes() {
    let place = Place::new(&[
        ("z.html", "abc"),
        ("images/logo.png", ""),
        (".git/config", "hidden"),
        (".page.swp", "hidden"),
    ]);
    let manifest = place.read().unwrap().unwrap();
    let json = std::str::from_utf8(&manifest.json).unwrap();
    assert_eq!(
        json,
        concat!(
            r#"{"resource":"mode","files":["#,
            r#"{"name":"images/logo.png","size":0,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},"#,
            r#"{"name":"z.html","size":3,"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}]}"#
        )
    );
    assert_eq!(manifest.sha256, <[u8; 32]>::from(Sha256::digest(json)));
    assert_eq!(manifest.files.len(), 2);
    assert_eq!(
        place.read().unwrap().unwrap(),
        manifest,
        "it is the same every time"
    );
    let taken = decitick_client::files::ClientFilesManifest::parse(
        json.as_bytes(),
        "mode",
        &manifest.sha256,
        &decitick_client::files::ManifestLimits::default(),
    );
    assert_eq!(taken.unwrap().files().len(), 2, "a client takes it");
}

#[test]
fn a_resource_without_the_folder_or_without_a_file_in_it_has_none() {
    let place = Place::new(&[(".hidden", "x")]);
    fs::create_dir(place.path("empty")).unwrap();
    assert_eq!(place.read(), Ok(None));
    fs::remove_dir_all(place.path("")).unwrap();
    assert_eq!(place.read(), Ok(None));
    fs::remove_dir_all(place.directory.path().join("scripts")).unwrap();
    assert_eq!(place.read(), Ok(None));
}

#[test]
fn everything_that_must_not_be_there_is_told_with_its_name() {
    let place = Place::new(&[
        ("manifest.json", "{}"),
        ("deeper/manifest.json", "{}"),
        ("a\\b", ""),
        ("a\nb", ""),
        ("con.txt", ""),
        ("Page.html", ""),
        ("page.html", ""),
        ("1/2/3/4/5/6/7/8/fits", ""),
        ("1/2/3/4/5/6/7/8/9/no", ""),
    ]);
    symlink("page.html", place.path("link.html")).unwrap();
    symlink("/etc", place.path("outside")).unwrap();
    nix::unistd::mkfifo(&place.path("pipe"), nix::sys::stat::Mode::S_IRUSR).unwrap();
    use std::os::unix::ffi::OsStrExt;
    fs::write(place.path("").join(std::ffi::OsStr::from_bytes(b"\xff")), "").unwrap();
    starts(
        &place.told(),
        &[
            "scripts/mode/client/1/2/3/4/5/6/7/8/9: is a folder too deep",
            "scripts/mode/client/a\\\\b: has a name that not every client can take: it holds",
            "scripts/mode/client/a\\nb: has a name that not every client can take: it holds",
            "scripts/mode/client/con.txt: has a name that not every client can take",
            "scripts/mode/client/link.html: is a symbolic link; put the file itself here",
            "scripts/mode/client/manifest.json: stands in the place of the manifest",
            "scripts/mode/client/outside: is a symbolic link",
            "scripts/mode/client/page.html: has a name that not every client can take: it is there twice",
            "scripts/mode/client/pipe: is no regular file; remove it",
            "scripts/mode/client/\u{fffd}: has a name that is no UTF-8 text",
        ],
    );
}

#[test]
fn the_folder_itself_must_be_a_folder_and_no_link() {
    let place = Place::new(&[("page.html", "x")]);
    fs::rename(place.path(""), place.directory.path().join("scripts/mode/real")).unwrap();
    symlink("real", place.directory.path().join("scripts/mode/client")).unwrap();
    starts(&place.told(), &["scripts/mode/client: is a symbolic link"]);
    fs::remove_file(place.directory.path().join("scripts/mode/client")).unwrap();
    fs::write(place.directory.path().join("scripts/mode/client"), "").unwrap();
    starts(&place.told(), &["scripts/mode/client: is no folder"]);
}

#[test]
fn sizes_and_numbers_hold_at_their_bounds_and_not_beyond() {
    let place = Place::new(&[]);
    let sparse = |name: &str, bytes: u64| {
        let file = File::create(place.path(name)).unwrap();
        file.set_len(bytes).unwrap();
    };
    let listed = || list(place.directory.path(), &mode()).faults;
    for index in 0..8 {
        sparse(&format!("{index}"), list::FILE_BYTES_MOST);
    }
    assert_eq!(listed(), [], "eight of 512 MiB are 4 GiB");
    sparse("8", 1);
    assert_eq!(listed().len(), 1);
    assert!(
        listed()[0]
            .to_string()
            .starts_with("scripts/mode/client: holds 4097 MiB")
    );
    sparse("7", list::FILE_BYTES_MOST + 1);
    fs::remove_file(place.path("0")).unwrap();
    assert!(
        listed()[0]
            .to_string()
            .starts_with("scripts/mode/client/7: has 513 MiB")
    );
    fs::remove_dir_all(place.path("")).unwrap();
    for index in 0..list::FILES_MOST {
        place.write(&format!("{}/{index}", index / 1000), "");
    }
    assert_eq!(listed(), []);
    place.write("one-more", "");
    assert!(
        listed()[0]
            .to_string()
            .starts_with("scripts/mode/client: holds 4097 files")
    );
    fs::remove_dir_all(place.path("")).unwrap();
    let long = format!("{}/{}", "d".repeat(200), "x".repeat(54));
    place.write(&long, "");
    assert_eq!(listed(), []);
    place.write(&format!("{long}x"), "");
    assert!(listed()[0].to_string().contains("a path of more than 255 bytes"));
}

#[test]
fn a_file_that_may_not_be_read_is_told() {
    let place = Place::new(&[("page.html", "x"), ("other.html", "y")]);
    fs::set_permissions(place.path("page.html"), fs::Permissions::from_mode(0o000)).unwrap();
    if File::open(place.path("page.html")).is_ok() {
        // The superuser may read everything.
        return;
    }
    starts(&place.told(), &["scripts/mode/client/page.html: cannot be read"]);
}

#[test]
fn what_stands_as_it_was_is_not_hashed_again_and_what_changed_is() {
    let place = Place::new(&[("page.html", "abc"), ("gone.html", "x")]);
    place.read().unwrap();
    let stamp = |name: &str| open(place.directory.path(), &mode(), name).unwrap().stamp;
    // A hash that the content does not have shows whether the content was looked at.
    place
        .known
        .insert(&mode(), "page.html", stamp("page.html"), [7; 32]);
    let hash_of = |name: &str| place.read().unwrap().unwrap().files[name].sha256;
    assert_eq!(hash_of("page.html"), [7; 32], "nothing changed");
    let old = stamp("gone.html");
    fs::remove_file(place.path("gone.html")).unwrap();
    // The same size, written into the same file.
    let mut file = OpenOptions::new()
        .write(true)
        .open(place.path("page.html"))
        .unwrap();
    file.seek(SeekFrom::Start(2)).unwrap();
    file.write_all(b"d").unwrap();
    assert_eq!(hash_of("page.html"), <[u8; 32]>::from(Sha256::digest("abd")));
    assert_eq!(
        place.known.find(&mode(), "gone.html", &old),
        None,
        "what is gone is forgotten"
    );
}
