//! Reading, writing, and being killed while writing.

use std::{
    io::{BufRead, BufReader},
    os::unix::fs::{PermissionsExt, symlink},
    process::{Command, Stdio},
};

use super::*;

/// Set for a copy of this test program that is to ban in a loop until it is killed.
const CHILD_DIRECTORY: &str = "DECITICK_TEST_BAN_DIRECTORY";

fn ban(range: &str, reason: &str, expiry: Option<u64>) -> Ban {
    Ban {
        range: BanRange::parse(range).unwrap(),
        reason: BanReason::parse(reason).unwrap(),
        expiry,
    }
}

fn with_file(text: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(BAN_FILE), text).unwrap();
    directory
}

fn names_in(directory: &Path) -> Vec<String> {
    std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_list_is_read_back_as_it_was_saved_and_no_other_file_is_left() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(load(directory.path()), Ok(BanList::default()), "no file, no bans");
    let mut list = BanList::default();
    list.insert(ban("192.0.2.0/24", "say \"no\" \\ ü", Some(1_790_000_000)));
    list.insert(ban("2001:db8::1", "", None));
    save(directory.path(), &list).unwrap();
    assert_eq!(load(directory.path()), Ok(list));
    save(directory.path(), &BanList::default()).unwrap();
    assert_eq!(load(directory.path()), Ok(BanList::default()));
    assert_eq!(names_in(directory.path()), [BAN_FILE]);
}

#[test]
fn the_forms_of_the_protocol_are_read() {
    let directory = with_file(
        "[[bans]]\naddress = \"::ffff:192.0.2.7\"\nexpiry = 0\n\n\
         [[bans]]\naddress = \"2001:db8::5\"\nreason = \"spam\"\nexpiry = 50\n\n\
         [[bans]]\naddress = \"2001:db8::6\"\nreason = \"more lasting\"\nexpiry = 60\n\n\
         [[bans]]\naddress = \"2001:db8::7\"\nexpiry = 55\n",
    );
    let mut wanted = BanList::default();
    wanted.insert(ban("192.0.2.7", "", None));
    wanted.insert(ban("2001:db8::/64", "more lasting", Some(60)));
    assert_eq!(load(directory.path()), Ok(wanted));
}

#[test]
fn every_fault_is_told_with_file_line_and_mend() {
    for (text, wanted) in [
        (
            "[[bans]]\naddress = \"nowhere\"\n",
            [":2:11: ", "\"nowhere\" is no IP address", "write one like"],
        ),
        (
            "[[bans]]\naddress = \"192.0.2.7/33\"\n",
            [":2:11: ", "prefix length", "0 to 32"],
        ),
        (
            "[[bans]]\naddress = \"192.0.2.7\"\nreason = \"123456789012345678901\"\n",
            [":3:10: ", "21 bytes", "shorten"],
        ),
        (
            "[[bans]]\naddress = \"192.0.2.7\"\nreason = \"a\\u001Bb\"\n",
            [":3:10: ", "U+001B", "take it out"],
        ),
        (
            "[[bans]]\naddress = \"192.0.2.7\"\nexpiry = -1\n",
            [":3:10: ", "negative", "Unix seconds"],
        ),
        (
            "[[bans]]\naddress = \"192.0.2.7\"\nexpiry = 1.5\n",
            [":3:10: ", "expected i64", "expiry = SECONDS"],
        ),
        (
            "[[bans]]\naddress = \"192.0.2.7\"\nuntil = 5\n",
            [":3:1: ", "unknown field `until`", "take it out"],
        ),
        (
            "[[ban]]\naddress = \"192.0.2.7\"\n",
            [":1:3: ", "unknown field `ban`", "take it out"],
        ),
        (
            "[[bans]]\nreason = \"x\"\n",
            [":1:1: ", "missing field `address`", "address ="],
        ),
        ("[[bans]\n", [":1:", "", "[[bans]]"]),
        ("bans = 5\n", [":1:8: ", "", "[[bans]]"]),
    ] {
        let error = load(with_file(text).path()).unwrap_err().to_string();
        assert!(error.contains(BAN_FILE) && error.lines().count() == 1, "{error}");
        assert!(
            wanted.iter().all(|wanted| error.contains(wanted)),
            "{text:?} -> {error}"
        );
    }
    let both = "[[bans]]\naddress = \"x\"\nexpiry = -1\n";
    assert_eq!(
        load(with_file(both).path()).unwrap_err().faults().len(),
        2,
        "all at once"
    );
}

#[test]
fn links_and_unreadable_files_stop_the_start() {
    let directory = with_file("");
    let path = directory.path().join(BAN_FILE);
    std::fs::rename(&path, directory.path().join("elsewhere")).unwrap();
    symlink("elsewhere", &path).unwrap();
    assert!(
        load(directory.path())
            .unwrap_err()
            .to_string()
            .contains("symbolic link")
    );
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(
        load(directory.path())
            .unwrap_err()
            .to_string()
            .contains("no regular file")
    );
    std::fs::remove_dir(&path).unwrap();
    std::fs::write(&path, b"[[bans]]\nreason = \"\xff\"\n").unwrap();
    assert!(
        load(directory.path())
            .unwrap_err()
            .to_string()
            .contains("bans.toml:2:11: the ban list is not UTF-8")
    );
}

#[test]
fn a_list_that_cannot_be_written_leaves_the_old_one() {
    let directory = tempfile::tempdir().unwrap();
    // A directory in the file's place refuses the rename.
    std::fs::create_dir(directory.path().join(BAN_FILE)).unwrap();
    let error = save(directory.path(), &BanList::default()).unwrap_err();
    assert!(error.to_string().contains("cannot be written"), "{error}");
    assert_eq!(
        names_in(directory.path()),
        [BAN_FILE],
        "no half-written file stays"
    );
}

#[test]
fn a_save_keeps_the_mode_that_the_operator_gave_the_file() {
    let directory = with_file("");
    let path = directory.path().join(BAN_FILE);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    save(directory.path(), &BanList::default()).unwrap();
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o600
    );
}

/// docs/protocol.md 1.6: a kill at any moment loses neither the old list nor an acknowledged change.
#[test]
fn killed_at_any_moment_no_acknowledged_ban_is_lost() {
    if let Some(directory) = std::env::var_os(CHILD_DIRECTORY) {
        ban_until_killed(Path::new(&directory));
    }
    let directory = tempfile::tempdir().unwrap();
    let mut known = BanList::default();
    known.insert(ban("203.0.113.9", "from the start", None));
    save(directory.path(), &known).unwrap();
    let mut interrupted = 0;
    for round in 0..60u32 {
        let acknowledged = kill_after(directory.path(), round);
        interrupted += usize::from(names_in(directory.path()).len() > 1);
        let found = load(directory.path()).unwrap();
        for ban in known.iter() {
            assert!(
                found.iter().any(|other| other == ban),
                "round {round} lost {ban:?}, which was there before"
            );
        }
        for address in &acknowledged {
            let range = BanRange::parse(address).unwrap();
            assert!(
                found.iter().any(|ban| ban.range == range),
                "round {round} lost {address}, which was acknowledged"
            );
        }
        let unacknowledged = found.len() - known.len() - acknowledged.len();
        assert!(
            unacknowledged <= 1,
            "round {round}: only the change under way may be there too"
        );
        remove_leftovers(directory.path());
        assert_eq!(names_in(directory.path()), [BAN_FILE]);
        known = found;
    }
    println!("{interrupted} of 60 kills left a half-written file behind");
}

/// Starts a copy that bans in a loop, kills it, and returns the bans that it acknowledged.
fn kill_after(directory: &Path, round: u32) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "ban_file::tests::killed_at_any_moment_no_acknowledged_ban_is_lost",
            "--nocapture",
        ])
        .env(CHILD_DIRECTORY, directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = Vec::new();
    let take = |line: String, acknowledged: &mut Vec<String>| {
        if let Some((_, address)) = line.split_once("banned ") {
            acknowledged.push(address.to_owned());
        }
    };
    while acknowledged.len() < 1 + (round as usize % 5) {
        take(
            lines.next().expect("the child runs until it is killed").unwrap(),
            &mut acknowledged,
        );
    }
    // Another moment of the save under way each round: some microseconds of work, not a wait for anything.
    for spin in 0..round.wrapping_mul(7_919) % 20_000 {
        std::hint::black_box(spin);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What it had still acknowledged counts too; a line cut by the kill does not.
    for line in lines.map_while(Result::ok) {
        if line.ends_with('.') {
            take(line, &mut acknowledged);
        }
    }
    acknowledged
        .iter()
        .map(|address| address.trim_end_matches('.').to_owned())
        .collect()
}

fn ban_until_killed(directory: &Path) -> ! {
    let mut list = load(directory).unwrap();
    loop {
        let address = format!("10.{}.{}.1", list.len() / 256, list.len() % 256);
        list.insert(ban(&address, "loop", Some(u64::MAX >> 1)));
        save(directory, &list).unwrap();
        let mut out = io::stdout().lock();
        writeln!(out, "banned {address}.").unwrap();
        out.flush().unwrap();
    }
}
