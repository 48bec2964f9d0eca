//! The documentation of the API is the API: the reference, the definitions for editors, and every example in both.
//!
//! `DECITICK_BLESS=1 cargo test -p decitick --test suite script_reference` writes them anew.

use std::{fs, path::Path};

use decitick_components::settings::{AuthProvider, AuthSettings, ProviderKey, Settings};
use decitick_protocol::{ClientLaneEvent, EventData, ViewAction};
use decitick_systems::script::{compile, definitions, examples, reference};

use crate::sim::{Setup, Sim, scripts::bundle};

const BEGIN: &str = "<!-- reference: held equal to the API by tests/suite/script_reference.rs -->\n";
const END: &str = "<!-- end of reference -->";

fn held_equal(path: &str, now: &str, of: impl Fn(&str) -> (String, String)) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = fs::read_to_string(&path).unwrap();
    let (held, blessed) = of(&text);
    if std::env::var_os("DECITICK_BLESS").is_some() {
        fs::write(&path, blessed).unwrap();
        return;
    }
    let differs = held
        .trim()
        .lines()
        .zip(now.trim().lines())
        .find(|(held, now)| held != now);
    assert!(
        held.trim() == now.trim(),
        "{} is not what the code says; DECITICK_BLESS=1 writes it anew; the first difference: {differs:?}",
        path.display()
    );
}

#[test]
fn the_reference_in_the_guide_is_what_the_code_says() {
    let now = reference();
    held_equal("docs/scripting.md", &now, |text| {
        let (before, rest) = text.split_once(BEGIN).expect("the guide has the marker");
        let (held, after) = rest.split_once(END).expect("the guide has the second marker");
        (
            held.to_owned(),
            format!("{before}{BEGIN}\n{}\n\n{END}{after}", now.trim()),
        )
    });
}

#[test]
fn the_definitions_for_editors_are_what_the_code_says() {
    let now = definitions();
    held_equal("scripts/decitick.d.rhai", &now, |text| {
        (text.to_owned(), now.clone())
    });
}

/// A script with handlers as it stands, or statements as what the resource does when it starts.
fn as_script(text: &str) -> String {
    let has_functions = text.lines().any(|line| line.starts_with("fn "));
    if has_functions {
        text.to_owned()
    } else {
        format!("fn resource_start() {{\n{text}\n}}\n")
    }
}

/// Runs a script on a server with two players who walk, chat, shoot, leave.
#[track_caller]
fn runs(about: &str, text: &str) {
    let mut script = as_script(text);
    let judges = script.contains("pending") || script.contains("credential");
    if judges && !script.contains("fn pending_connected(") {
        script.push_str("\nfn pending_connected(pending) { pending.open_view(\"login.html\"); if pending.name == \"Ada\" { pending.accept(); } }\n");
    }
    if let Err(faults) = compile(&bundle("example", &script)) {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        panic!(
            "the example of {about} does not compile:\n{script}\n{}",
            faults.join("\n")
        );
    }
    let mut sim = Sim::with(Setup {
        weapons: decitick::asset_files::load_weapons(Path::new("/nowhere")).unwrap(),
        settings: Settings {
            auth: judges.then(|| AuthSettings {
                resource: "example".to_owned(),
                timeout_seconds: 60,
                providers: vec![AuthProvider {
                    id: "example".to_owned(),
                    key: ProviderKey([7; 32]),
                }],
            }),
            ..Settings::default()
        },
        ..Setup::default()
    });
    let mut bundle = bundle("example", &script);
    bundle.manifest.auth = judges;
    bundle.manifest.console = vec!["say".to_owned(), "status".to_owned()];
    sim.start_bundle(bundle);
    let ada = sim.join("Ada");
    let bob = sim.join("Bob");
    sim.ticks(20);
    for line in [
        "hello",
        "/help",
        "/up",
        "/heal",
        "/kills",
        "/ping",
        "/say a b",
        "/name Eve",
        "/night",
        "/respawn",
    ] {
        // An example may have sent it away.
        let _ = sim.players[ada].client.send_chat(line);
        sim.ticks(6);
    }
    let _ = sim.players[bob].client.send_event("buy", b"\xa3hat");
    for index in [ada, bob] {
        let action = ViewAction {
            view_id: 1,
            data: EventData::parse(b"\xa3web".to_vec()).unwrap(),
        };
        let _ = sim.players[index]
            .client
            .send_lane(&ClientLaneEvent::ViewAction(action));
    }
    sim.players[bob].client.bye();
    sim.ticks(70);
    let report = sim.report("example");
    assert_eq!(report.last_error, None, "the example of {about}:\n{script}");
}

#[test]
fn every_example_of_the_reference_runs() {
    for example in examples() {
        runs(&example.about, example.script);
    }
}

#[test]
fn every_script_in_the_guides_runs() {
    let guide = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scripting.md")).unwrap();
    let (guide, _) = guide.split_once(BEGIN).expect("the guide has the marker");
    let logins = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/login.md")).unwrap();
    let guide = [guide, &logins].concat();
    let blocks: Vec<&str> = guide
        .split("```rhai\n")
        .skip(1)
        .filter_map(|rest| rest.split("\n```").next())
        .collect();
    assert!(blocks.len() >= 10, "{} scripts", blocks.len());
    for block in blocks {
        runs("the guide", block);
    }
}
