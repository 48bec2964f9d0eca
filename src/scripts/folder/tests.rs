use std::{os::unix::fs::symlink, path::PathBuf};

use super::*;
use crate::scripts::walk::{DEPTH_MOST, ENTRIES_MOST};

/// A server directory with one resource called `mode`.
struct Place(tempfile::TempDir);

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            place.write(name, text.as_bytes());
        }
        place
    }

    /// One that is sound.
    fn sound() -> Self {
        Self::new(&[("resource.ron", "()"), ("main.rhai", "")])
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join("scripts/mode").join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn read(&self) -> ReadFolder {
        read(self.0.path(), &ResourceName::parse("mode").unwrap())
    }

    fn told(&self) -> Vec<String> {
        self.read().faults.iter().map(ToString::to_string).collect()
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
fn scripts_are_found_in_every_folder_and_nothing_else_is() {
    let place = Place::new(&[
        ("resource.ron", "(description: \"d\", needs: [\"a\"])"),
        ("main.rhai", "main"),
        ("lib/teams.rhai", "teams"),
        ("lib/client/x.rhai", "deeper"),
        ("client/page.rhai", "for clients"),
        (".git/x.rhai", "hidden"),
        (".main.rhai.swp", "hidden"),
        ("api.d.rhai", "definitions"),
        ("README.md", "words"),
    ]);
    let read = place.read();
    assert_eq!(read.faults, []);
    assert!(read.scripts_whole);
    assert_eq!(read.bundle.manifest.description, "d");
    let files: Vec<(&str, &str)> = read
        .bundle
        .files
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    assert_eq!(
        files,
        [
            ("lib/client/x.rhai", "deeper"),
            ("lib/teams.rhai", "teams"),
            ("main.rhai", "main")
        ]
    );
}

#[test]
fn a_missing_resource_names_where_it_was_looked_for_and_what_there_is() {
    let place = Place::sound();
    let told = read(place.0.path(), &ResourceName::parse("mood").unwrap()).faults;
    assert_eq!(told.len(), 1);
    let told = told[0].to_string();
    let looked = place.0.path().join("scripts/mood").display().to_string();
    assert!(
        told.starts_with("scripts/mood: there is no such resource") && told.contains(&looked),
        "{told}"
    );
    assert!(told.contains("the nearest one there is \"mode\""), "{told}");
    let empty = tempfile::tempdir().unwrap();
    let told = read(empty.path(), &ResourceName::parse("mood").unwrap()).faults;
    assert!(
        told.len() == 1 && told[0].problem.contains("no other resource in scripts"),
        "{told:?}"
    );
}

#[test]
fn a_folder_without_main_script_or_manifest_says_so() {
    let place = Place::new(&[("lib/x.rhai", "")]);
    starts(
        &place.told(),
        &[
            "scripts/mode/resource.ron: is missing",
            "scripts/mode/main.rhai: is missing",
        ],
    );
    assert!(!place.read().scripts_whole);
}

#[test]
fn all_faults_are_told_at_once() {
    let place = Place::new(&[
        ("resource.ron", "(console: [\"eval\"], needs: [\"mode\"])"),
        ("main.rhai", ""),
        ("b.rhai", ""),
    ]);
    place.write("lib/broken.rhai", b"ok\n\xff");
    symlink("/etc/passwd", place.path("c.rhai")).unwrap();
    starts(
        &place.told(),
        &[
            "scripts/mode/c.rhai: is a symbolic link",
            "scripts/mode/resource.ron:1:29: needs.0: ",
            "scripts/mode/resource.ron:1:12: console.0: ",
            "scripts/mode/lib/broken.rhai:2:1: is not UTF-8",
        ],
    );
    assert!(!place.read().scripts_whole, "what was not read is not compiled");
}

#[test]
fn no_link_is_followed_wherever_it_is() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x.rhai"), "outside").unwrap();
    let place = Place::sound();
    symlink(outside.path(), place.path("lib")).unwrap();
    starts(&place.told(), &["scripts/mode/lib: is a symbolic link"]);
    assert!(place.read().bundle.files.keys().all(|name| name == "main.rhai"));

    let place = Place::new(&[("main.rhai", "")]);
    fs::write(outside.path().join("resource.ron"), "()").unwrap();
    symlink(outside.path().join("resource.ron"), place.path("resource.ron")).unwrap();
    starts(&place.told(), &["scripts/mode/resource.ron: is a symbolic link"]);

    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("scripts")).unwrap();
    symlink(outside.path(), directory.path().join("scripts/mode")).unwrap();
    let name = ResourceName::parse("mode").unwrap();
    let told = read(directory.path(), &name).faults;
    assert!(
        told.len() == 1
            && told[0]
                .to_string()
                .starts_with("scripts/mode: is a symbolic link")
    );

    let directory = tempfile::tempdir().unwrap();
    symlink(place.0.path().join("scripts"), directory.path().join("scripts")).unwrap();
    let told = read(directory.path(), &name).faults;
    assert!(told.len() == 1 && told[0].to_string().starts_with("scripts: is a symbolic link"));
}

#[test]
fn what_is_no_file_or_no_folder_is_told() {
    let place = Place::sound();
    nix::unistd::mkfifo(&place.path("pipe.rhai"), nix::sys::stat::Mode::S_IRUSR).unwrap();
    starts(
        &place.told(),
        &["scripts/mode/pipe.rhai: cannot be read: it is no regular file"],
    );
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("scripts")).unwrap();
    fs::write(directory.path().join("scripts/mode"), "").unwrap();
    let told = read(directory.path(), &ResourceName::parse("mode").unwrap()).faults;
    assert!(told.len() == 1 && told[0].to_string().starts_with("scripts/mode: is no folder"));
}

#[test]
fn each_bound_is_held_and_told() {
    let place = Place::sound();
    for number in 1..FILES_MOST {
        place.write(&format!("{number}.rhai"), b"");
    }
    assert_eq!(place.read().bundle.files.len(), FILES_MOST);
    assert_eq!(place.told(), Vec::<String>::new());
    place.write("one_more.rhai", b"");
    starts(&place.told(), &["scripts/mode: holds 257 scripts; 256 are taken"]);
    assert!(place.read().bundle.files.is_empty());

    let place = Place::sound();
    let megabyte = vec![b' '; usize::try_from(FILE_BYTES_MOST).unwrap()];
    place.write("large.rhai", &megabyte);
    assert_eq!(place.told(), Vec::<String>::new());
    place.write("large.rhai", &[megabyte.as_slice(), b" "].concat());
    starts(
        &place.told(),
        &["scripts/mode/large.rhai: is larger than 1024 KiB"],
    );

    let place = Place::sound();
    for number in 0..8 {
        place.write(&format!("{number}.rhai"), &megabyte);
    }
    assert_eq!(place.told(), Vec::<String>::new());
    place.write("main.rhai", b" ");
    starts(
        &place.told(),
        &["scripts/mode: holds 8193 KiB of scripts; 8192 KiB are taken"],
    );
    assert!(!place.read().scripts_whole);

    let place = Place::sound();
    let deepest = "d/".repeat(DEPTH_MOST);
    place.write(&format!("{deepest}x.rhai"), b"");
    assert_eq!(place.told(), Vec::<String>::new());
    place.write(&format!("{deepest}d/x.rhai"), b"");
    starts(
        &place.told(),
        &["scripts/mode/d/d/d/d/d/d/d/d/d: is a folder too deep; 8 inside each other are taken"],
    );

    let place = Place::sound();
    for number in 0..ENTRIES_MOST {
        place.write(&format!("{number}.txt"), b"");
    }
    assert!(
        place
            .told()
            .iter()
            .any(|told| told.contains("more than 10000 files and folders"))
    );
}

#[test]
fn a_name_that_could_forge_a_line_is_shown_escaped() {
    let place = Place::sound();
    place.write("a\nb\u{1b}[2J.rhai", b"");
    let told = place.told();
    starts(
        &told,
        &["scripts/mode/a\\nb\\u{1b}[2J.rhai: has a name that is no plain UTF-8 text"],
    );
}

#[test]
fn resources_are_folders_with_a_manifest_or_a_main_script() {
    let place = Place::sound();
    let scripts = place.0.path().join("scripts");
    for (folder, file) in [
        ("b", "main.rhai"),
        ("a", "resource.ron"),
        ("Bad", "main.rhai"),
        ("empty", "x"),
    ] {
        fs::create_dir(scripts.join(folder)).unwrap();
        fs::write(scripts.join(folder).join(file), "").unwrap();
    }
    let names: Vec<String> = existing(place.0.path()).iter().map(ToString::to_string).collect();
    assert_eq!(names, ["a", "b", "mode"]);
}
