//! What an operator reads: answers that fit a terminal of any width, completion that knows the world, and the pictures
//! of docs/console.md, which are the program's.
//!
//! `DECITICK_BLESS=1 cargo test -p decitick --test suite console` writes the pictures anew.

mod captures;
mod completion;

use decitick::console::Look;
use decitick_components::{
    console::{COMMANDS, display_width},
    settings::Settings,
};

use crate::sim::{Setup, Sim, scripts::bundle, spawn_point, spawns};

/// A server with people of all kinds of names, bans, gamemodes and drops.
fn full_sim() -> Sim {
    let mut sim = Sim::with(Setup {
        settings: Settings {
            name: "Night City".to_owned(),
            ..Settings::default()
        },
        spawns: spawns(vec![spawn_point(0.0, 0.0, &[])]),
        ..Setup::default()
    });
    let mut freeroam = bundle("freeroam", "fn tick(dt) { 1 }");
    freeroam.manifest.description =
        "walk, drive and fight wherever you like, with every weapon that there is".to_owned();
    sim.start_bundle(freeroam);
    sim.start_script(
        "race",
        "fn player_spawned(player) { throw \"no track is laid out in this part of the city\" }",
    );
    sim.join_now("Ann");
    sim.join_from(
        "[2001:db8:aaaa:bbbb:cccc:dddd:eeee:1]:50001".parse().unwrap(),
        "漢字の名前は二倍の幅があります",
    );
    sim.join_from(
        "203.0.113.77:50002".parse().unwrap(),
        "A name of many words, 32 in long",
    );
    sim.expect_within(30, "all are in", |sim| {
        sim.players.iter().all(|player| player.client.is_spawned())
    });
    sim.knock("198.51.100.9:1234".parse().unwrap(), b"");
    for length in 1..20 {
        sim.knock("198.51.100.9:1234".parse().unwrap(), &vec![0xff; length]);
    }
    for line in [
        "ban 192.0.2.7 3600 spam",
        "ban 2001:db8:1:2::/64 0 advertising",
        "ban 198.51.100.0/24 86400 a proxy",
        "grant 0 admin",
        "grant 0 builder",
    ] {
        assert!(sim.console(line).ok, "{line}");
    }
    sim.ticks(10);
    sim
}

/// What a terminal of so many columns shows for a line.
fn shown(sim: &mut Sim, line: &str, columns: u16) -> String {
    let look = Look {
        terminal: true,
        colours: false,
        columns: Some(columns),
    };
    let answer = sim.console(&look.asked(line));
    look.shown(line, answer.ok, &answer.text).into_owned()
}

#[test]
fn no_answer_is_wider_than_its_terminal() {
    let mut sim = full_sim();
    let mut lines: Vec<String> = COMMANDS
        .iter()
        .filter(|info| !matches!(info.name, "shutdown" | "watch" | "trace" | "kick" | "ban"))
        .flat_map(|info| {
            [
                info.example.to_owned(),
                info.name.to_owned(),
                format!("help {}", info.name),
            ]
        })
        .filter(|line| !matches!(line.as_str(), "shutdown" | "watch" | "trace"))
        // JSON is for programs: one line, however long.
        .filter(|line| !line.ends_with("--json"))
        .collect();
    lines.extend(
        [
            "inspect 0",
            "resources Settings",
            "entities",
            "why 0 1",
            "resource list",
            "limits 2001:db8::1",
            "kick Bob",
            "ban nowhere",
            "nonsense",
            "complete kick ",
            "eval players::all().map(|player| player.name)",
        ]
        .map(str::to_owned),
    );
    for columns in [80, 200, 40] {
        for line in &lines {
            let text = shown(&mut sim, line, columns);
            for row in text.lines() {
                assert!(
                    display_width(row) <= usize::from(columns),
                    "{line:?} at {columns}: {row:?} has {}",
                    display_width(row)
                );
            }
        }
    }
}

#[test]
fn a_pipe_gets_rows_of_one_line_each_whatever_their_length() {
    let mut sim = full_sim();
    let players = sim.console("players").text;
    assert_eq!(players.lines().count(), 1 + 3 + 1, "{players}");
    assert!(
        players.contains("[2001:db8:aaaa:bbbb:cccc:dddd:eeee:1]:50001"),
        "{players}"
    );
    assert!(
        shown(&mut sim, "players", 80).contains("漢字の名前"),
        "nothing is lost on a terminal"
    );
}
