//! `complete`: what may stand next on a line, from the world of a running server.

use serde_json::Value;

use super::full_sim;
use crate::sim::Sim;

/// Where the word begins, and each candidate as `text|shown`.
fn complete(sim: &mut Sim, line: &str) -> (usize, Vec<String>) {
    let answer = sim.console(&format!("complete \"{line}\" --json"));
    assert!(answer.ok, "{}", answer.text);
    let value: Value = serde_json::from_str(&answer.text).unwrap();
    let text = |candidate: &Value, key: &str| candidate[key].as_str().unwrap().to_owned();
    let candidates = value["candidates"].as_array().unwrap().iter();
    (
        usize::try_from(value["start"].as_u64().unwrap()).unwrap(),
        candidates
            .map(|candidate| format!("{}|{}", text(candidate, "text"), text(candidate, "shown")))
            .collect(),
    )
}

fn offered(sim: &mut Sim, line: &str) -> Vec<String> {
    complete(sim, line).1
}

#[test]
fn a_player_is_found_by_its_id_or_by_the_beginning_of_its_name() {
    let mut sim = full_sim();
    assert_eq!(complete(&mut sim, "kick an"), (5, vec!["0 |0 Ann".to_owned()]));
    assert_eq!(
        complete(&mut sim, "why 0 漢"),
        (6, vec!["1 |1 漢字の名前は二倍の幅があります".to_owned()])
    );
    assert_eq!(offered(&mut sim, "spawn ").len(), 3);
    assert_eq!(
        offered(&mut sim, "trace 2"),
        ["2 |2 A name of many words, 32 in long"]
    );
    assert_eq!(offered(&mut sim, "kick zz"), [""; 0]);
    assert_eq!(offered(&mut sim, "inspect An"), ["0 |0 Ann"]);
    assert_eq!(offered(&mut sim, "say An"), [""; 0]);
}

#[test]
fn commands_their_words_and_what_they_are_about_are_offered() {
    let mut sim = full_sim();
    for (line, wanted) in [
        ("sta", &["status |status"][..]),
        ("help unb", &["unban |unban"]),
        ("clock ", &["run |run", "freeze |freeze"]),
        ("password ", &["set |set", "clear |clear"]),
        ("resource re", &["restart |restart"]),
        ("resource restart f", &["freeroam |freeroam"]),
        ("resource stop ", &["freeroam |freeroam", "race |race"]),
        ("resource start ", &[]),
        ("revoke ", &["0 |0 Ann"]),
        ("revoke 0 ", &["admin |admin", "builder |builder"]),
        ("unban 198", &["198.51.100.0/24 |198.51.100.0/24"]),
        ("entities wi", &["without |without"]),
        (
            "entities where Vitals.health ",
            &["= |=", "!= |!=", "< |<", "<= |<=", "> |>", ">= |>="],
        ),
        ("netsim loss 5 ", &["delay |delay", "jitter |jitter", "dup |dup"]),
        ("netsim loss ", &[]),
        ("status --j", &["--json |--json"]),
    ] {
        assert_eq!(offered(&mut sim, line), wanted, "{line}");
    }
}

#[test]
fn nothing_is_offered_inside_a_secret() {
    let mut sim = full_sim();
    for line in ["password set ", "password set --", "eval pl", "eval --"] {
        assert_eq!(offered(&mut sim, line), [""; 0], "{line}");
    }
}

#[test]
fn things_and_zones_are_offered_by_their_numbers_up_to_a_bound() {
    let mut sim = full_sim();
    sim.start_script(
        "builder",
        "fn resource_start() { for n in 0..100 { entities::create(#{kind: \"object\", model: 5, x: n, y: 0, z: 0}); } }",
    );
    sim.ticks(2);
    let things = offered(&mut sim, "watch thing:");
    assert!(things.len() <= 64, "{}", things.len());
    assert!(things.iter().all(|thing| thing.starts_with("thing:")));
}

#[test]
fn people_read_one_candidate_a_line() {
    let mut sim = full_sim();
    assert_eq!(
        sim.console("complete kick a").text,
        "0 Ann\n2 A name of many words, 32 in long"
    );
}
