//! Making the key, keeping it, refusing one that is not safe, and racing for it.

use std::{
    io::Write,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    process::{Command, Stdio},
    sync::Barrier,
};

use super::*;

/// Set for a copy of this test program that is to be a server that starts.
const CHILD_DIRECTORY: &str = "DECITICK_TEST_IDENTITY_DIRECTORY";

fn with_key(bytes: &[u8], mode: u32) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(IDENTITY_FILE);
    std::fs::write(&path, bytes).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    directory
}

fn names_in(directory: &Path) -> Vec<String> {
    std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// The fault of a start, which must name the file, hold the mend and leave the file as it was.
fn fault(directory: &Path, mend: &str) -> IdentityFault {
    let before = std::fs::symlink_metadata(directory.join(IDENTITY_FILE)).unwrap();
    let error = load_or_create(directory).err().unwrap();
    let text = error.to_string();
    assert!(
        text.contains(IDENTITY_FILE) && text.contains(mend) && text.lines().count() == 1,
        "{text}"
    );
    let after = std::fs::symlink_metadata(directory.join(IDENTITY_FILE)).unwrap();
    assert_eq!(
        (before.ino(), before.len(), before.mode()),
        (after.ino(), after.len(), after.mode())
    );
    error.fault
}

#[test]
fn the_first_start_makes_a_private_key_and_later_ones_keep_it() {
    let directory = tempfile::tempdir().unwrap();
    assert!(load(directory.path()).unwrap().is_none(), "reading makes none");
    let first = load_or_create(directory.path()).unwrap().public_key();
    let metadata = std::fs::metadata(directory.path().join(IDENTITY_FILE)).unwrap();
    assert_eq!((metadata.mode() & 0o7777, metadata.len()), (0o600, 32));
    assert_eq!(
        names_in(directory.path()),
        [IDENTITY_FILE],
        "nothing else is left behind"
    );
    assert_eq!(load_or_create(directory.path()).unwrap().public_key(), first);
    let other = tempfile::tempdir().unwrap();
    assert_ne!(
        load_or_create(other.path()).unwrap().public_key(),
        first,
        "no two servers share a key"
    );
}

#[test]
fn what_a_killed_start_left_behind_is_harmless_and_goes() {
    let directory = with_key(&[7; 32], 0o600);
    std::fs::write(
        directory.path().join(".server_identity.key.0011223344556677"),
        [1; 5],
    )
    .unwrap();
    load_or_create(directory.path()).unwrap();
    assert_eq!(names_in(directory.path()), [IDENTITY_FILE]);
}

#[test]
fn a_wrong_length_stops_the_start() {
    for length in [0, 31, 33] {
        let directory = with_key(&vec![7; length], 0o600);
        assert!(
            matches!(fault(directory.path(), "backup"), IdentityFault::Length { bytes } if bytes == length as u64)
        );
    }
}

#[test]
fn any_permission_of_others_stops_the_start() {
    for mode in [0o640, 0o620, 0o610, 0o604, 0o602, 0o601] {
        let directory = with_key(&[7; 32], mode);
        assert!(
            matches!(fault(directory.path(), "chmod 600"), IdentityFault::Permissions { mode: told } if told == mode)
        );
    }
}

#[test]
fn an_unreadable_file_stops_the_start_for_every_user() {
    let directory = with_key(&[7; 32], 0o000);
    assert!(matches!(
        fault(directory.path(), "chmod 600"),
        IdentityFault::Unreadable(_)
    ));
}

#[test]
fn links_directories_and_pipes_stop_the_start() {
    let directory = with_key(&[7; 32], 0o600);
    let key = directory.path().join(IDENTITY_FILE);
    std::fs::rename(&key, directory.path().join("elsewhere")).unwrap();
    symlink("elsewhere", &key).unwrap();
    assert!(matches!(
        fault(directory.path(), "symbolic link"),
        IdentityFault::SymbolicLink
    ));
    std::fs::remove_file(directory.path().join("elsewhere")).unwrap();
    assert!(
        matches!(
            fault(directory.path(), "symbolic link"),
            IdentityFault::SymbolicLink
        ),
        "a dangling one too"
    );
    std::fs::remove_file(&key).unwrap();
    std::fs::create_dir(&key).unwrap();
    assert!(matches!(
        fault(directory.path(), "move it away"),
        IdentityFault::NotAFile
    ));
    std::fs::remove_dir(&key).unwrap();
    nix::unistd::mkfifo(&key, nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
    assert!(matches!(
        fault(directory.path(), "move it away"),
        IdentityFault::NotAFile
    ));
}

#[test]
fn a_file_of_another_user_stops_the_start() {
    if !nix::unistd::geteuid().is_root() {
        // Only the superuser can give a file away.
        return;
    }
    let directory = with_key(&[7; 32], 0o600);
    std::os::unix::fs::chown(directory.path().join(IDENTITY_FILE), Some(12345), None).unwrap();
    assert!(matches!(
        fault(directory.path(), "chown 0"),
        IdentityFault::OtherOwner {
            owner: 12345,
            user: 0
        }
    ));
}

#[test]
fn threads_that_start_at_once_end_with_one_key() {
    for _ in 0..20 {
        let directory = tempfile::tempdir().unwrap();
        let barrier = Barrier::new(8);
        let keys: Vec<[u8; 32]> = std::thread::scope(|scope| {
            let start = || {
                barrier.wait();
                load_or_create(directory.path()).unwrap().public_key()
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
        assert_eq!(names_in(directory.path()), [IDENTITY_FILE]);
    }
}

#[test]
fn processes_that_start_at_once_end_with_one_key() {
    if let Some(directory) = std::env::var_os(CHILD_DIRECTORY) {
        let mut go = [0];
        io::stdin().read_exact(&mut go).unwrap();
        let key = load_or_create(Path::new(&directory)).unwrap().public_key();
        println!("key {}", u64::from_le_bytes(key[..8].try_into().unwrap()));
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut children: Vec<_> = (0..4)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "identity_file::tests::processes_that_start_at_once_end_with_one_key",
                    "--nocapture",
                ])
                .env(CHILD_DIRECTORY, directory.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in &mut children {
        child.stdin.take().unwrap().write_all(b"!").unwrap();
    }
    let keys: Vec<String> = children
        .into_iter()
        .map(|child| {
            let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
            let key = output
                .lines()
                .find_map(|line| line.split_once("key ").map(|(_, key)| key.to_owned()));
            key.unwrap_or_else(|| panic!("no key in {output:?}"))
        })
        .collect();
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    assert_eq!(names_in(directory.path()), [IDENTITY_FILE]);
}
