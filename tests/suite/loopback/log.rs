//! The log of a real server as programs read it: one JSON object a line, with the events that docs/operations.md lists.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use nix::sys::signal::Signal;
use serde_json::Value;
use tempfile::TempDir;

use super::{decitick, end_of, join, query, server::Server};

const BEGIN: &str = "<!-- events: held equal to the program by tests/suite/loopback/log.rs -->\n";
const END: &str = "<!-- end of events -->";

/// What a table row says: fields that are always there, and those that may be.
struct Documented {
    always: BTreeSet<String>,
    sometimes: BTreeSet<String>,
}

/// The events of docs/operations.md by their message.
fn documented() -> BTreeMap<String, Documented> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operations.md");
    let text = fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once(BEGIN).expect("the table begins");
    let (table, _) = rest.split_once(END).expect("the table ends");
    table
        .lines()
        .skip(2)
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let message = cells[1].trim_matches('`').to_owned();
            let (bracketed, plain): (Vec<&str>, Vec<&str>) = cells[2]
                .split_whitespace()
                .partition(|word| word.starts_with('('));
            let names = |words: Vec<&str>| {
                words
                    .iter()
                    .map(|word| word.trim_matches(['`', '(', ')']).to_owned())
                    .collect()
            };
            let fields = Documented {
                always: names(plain),
                sometimes: names(bracketed),
            };
            (message, fields)
        })
        .collect()
}

#[test]
fn the_events_of_a_servers_life_are_logged_with_the_fields_that_are_documented() {
    let directory = TempDir::new().unwrap();
    assert!(
        decitick(&["init", directory.path().to_str().unwrap()])
            .status
            .success()
    );
    let server = Server::start(directory.path(), &[]);
    let address = server.addresses()[0];
    let key = query(address).unwrap().info.server_key;
    server.wait_for_line("resource started");
    let mut kicked = join(address, key, "Kicked");
    let id = kicked.client().welcome().unwrap().player_id;
    assert!(server.console(&format!("kick {id} enough")).status.success());
    end_of(&mut kicked);
    assert!(server.console("resource stop freeroam").status.success());
    server.signal(Signal::SIGTERM);
    let (code, log) = server.wait();
    assert_eq!(code, Some(0));

    let documented = documented();
    let mut seen = BTreeSet::new();
    for line in &log {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["fields", "level", "target", "timestamp"], "{line}");
        let fields = value["fields"].as_object().unwrap();
        let message = fields["message"].as_str().unwrap();
        let Some(wanted) = documented.get(message) else {
            continue;
        };
        let names: BTreeSet<String> = fields.keys().filter(|name| *name != "message").cloned().collect();
        assert!(wanted.always.is_subset(&names), "{line}");
        let mut allowed = wanted.always.clone();
        allowed.extend(wanted.sometimes.iter().cloned());
        assert!(names.is_subset(&allowed), "{line}");
        seen.insert(message.to_owned());
    }
    let missing: Vec<&String> = documented
        .keys()
        .filter(|message| !seen.contains(*message))
        .collect();
    assert!(
        missing.is_empty(),
        "documented and never logged: {missing:?}\n{log:#?}"
    );
}
