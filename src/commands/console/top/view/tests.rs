//! Pictures of the live view at the two sizes it must be readable at.

use super::*;
use crate::commands::console::top::figures::{Players, Status, Tick};

fn view() -> View {
    let player = |id: u64| Player {
        id,
        name: format!("Player {id}"),
        address: format!("[2001:db8::{id}]:5000"),
        phase: "spawned".to_owned(),
        rtt_ms: (id > 0).then_some(20 + id % 7),
        loss_percent: 0.5,
        queue_length: id,
        idle_ms: 100 - id,
    };
    let system = |name: &str, avg_ms: f64| System {
        system: format!("decitick_systems::{name}"),
        avg_ms,
        max_ms: avg_ms * 2.0,
        share_percent: avg_ms * 10.0,
    };
    let figures = Figures {
        status: Status {
            name: "Night City".to_owned(),
            uptime_s: 93_784,
            players: 40,
            max_players: 1000,
            players_spawned: 39,
            tick: Tick {
                p50_ms: 1.25,
                p99_ms: 3.5,
                max_ms: 120.0,
                overruns: 1,
                skipped: 0,
            },
            packets_in_per_s: 400.0,
            packets_out_per_s: 1300.0,
            bytes_in_per_s: 5_500.0,
            bytes_out_per_s: 2e6,
            drops_by_reason: [("malformed".to_owned(), 2), ("empty".to_owned(), 0)].into(),
        },
        players: Players {
            players: (0..40).map(player).collect(),
        },
        resources: vec![Resource {
            name: "freeroam".to_owned(),
            state: "running".to_owned(),
            errors: 1,
            ms_per_s: 0.25,
            longest_call_ms: 1.5,
        }],
        systems: Some(vec![system("motion::advance", 0.1), system("relay::frames", 0.9)]),
    };
    let mut view = View::default();
    for _ in 0..3 {
        view.take(figures.clone(), Path::new("/srv/game"));
    }
    view
}

fn picture(view: &View, columns: u16, rows: u16) -> Vec<String> {
    let drawn = view.drawn(Size { columns, rows });
    assert_eq!(drawn.len(), usize::from(rows));
    let lines: Vec<String> = drawn.iter().map(Row::text).collect();
    for line in &lines {
        assert!(display_width(line) <= usize::from(columns), "{line:?}");
    }
    lines
}

#[test]
fn at_80_by_24_everything_that_matters_is_there() {
    let lines = picture(&view(), 80, 24);
    let whole = lines.join("\n");
    for part in [
        " Night City",
        "up 1 d 02:03:04  40 of 1000 players, 39 spawned",
        "p50 1.25 ms  p99 3.50 ms  max 120.00 ms",
        "1 overruns, 0 skipped",
        "1300 packets/s  2.0 MB/s",
        "malformed 2",
        "relay::frames",
        "freeroam",
        "Player 0",
        "- ",
        "q quit",
        "players from 1 of 40",
    ] {
        assert!(whole.contains(part), "{part:?} in\n{whole}");
    }
    assert!(
        lines.iter().filter(|line| line.contains("Player ")).count() >= 8,
        "{whole}"
    );
    assert!(!whole.contains("2001:db8"), "no room for addresses");
    assert!(
        whole.find("relay::frames") < whole.find("motion::advance"),
        "the slowest first"
    );
}

#[test]
fn at_200_by_50_there_are_more_players_and_their_addresses() {
    let whole = picture(&view(), 200, 50).join("\n");
    assert!(whole.contains("[2001:db8::7]:5000"), "{whole}");
    assert!(whole.matches("Player ").count() >= 25, "{whole}");
}

#[test]
fn a_terminal_of_any_size_is_drawn_on() {
    for columns in [0, 1, 7, 20, 79, 119, 120, 500] {
        for rows in [0, 1, 2, 7, 13, 100] {
            picture(&view(), columns, rows);
            picture(&View::default(), columns, rows);
        }
    }
}

#[test]
fn players_are_sorted_worst_first_and_scrolled_to_the_last() {
    let mut view = view();
    for _ in 0..3 {
        view.sort_by_next();
    }
    let whole = picture(&view, 80, 24).join("\n");
    assert!(whole.contains("*queue"), "{whole}");
    let first = whole.lines().find(|line| line.contains("Player ")).unwrap();
    assert!(first.contains("Player 39"), "{whole}");
    view.scroll(isize::MAX);
    let whole = picture(&view, 80, 24).join("\n");
    assert_eq!(whole.matches("Player ").count(), 1, "{whole}");
    view.scroll(isize::MIN);
    assert!(picture(&view, 80, 24).join("\n").contains("Player 39"));
}

#[test]
fn names_drive_no_terminal_and_keep_their_column() {
    let mut view = view();
    view.figures.players.players[0].name = "\u{1b}[2J漢字漢字漢字漢字漢字漢字漢字".to_owned();
    let lines = picture(&view, 80, 24);
    assert!(lines.iter().all(|line| !line.contains('\u{1b}')));
    let starts: Vec<usize> = lines
        .iter()
        .filter(|line| line.contains("spawned  "))
        .map(|line| display_width(line.split_once("spawned  ").unwrap().0))
        .collect();
    assert!(
        starts.len() > 5 && starts.iter().all(|start| *start == starts[0]),
        "{starts:?}"
    );
}

#[test]
fn help_takes_the_place_of_the_players_and_a_server_may_tell_less() {
    let mut view = view();
    view.help = true;
    view.figures.systems = None;
    let whole = picture(&view, 80, 24).join("\n");
    assert!(
        whole.contains("sort players") && whole.contains("does not tell"),
        "{whole}"
    );
    assert!(
        !view
            .printed(Size {
                columns: 80,
                rows: 50
            })
            .contains("q quit")
    );
}

#[test]
fn the_picture_of_the_documentation_is_the_view() {
    const BEGIN: &str = "<!-- capture: --top, 80 columns -->\n```text\n";
    const END: &str = "```\n<!-- end of capture -->\n";
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/console.md");
    let documented = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = documented.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    let picture: String = picture(&view(), 80, 24)
        .iter()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect();
    if std::env::var_os("DECITICK_BLESS").is_some() {
        std::fs::write(&page, format!("{before}{BEGIN}{picture}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(shown, picture, "DECITICK_BLESS=1 writes docs/console.md anew");
}
