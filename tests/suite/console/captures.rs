//! The pictures of docs/console.md: what the program shows at 80 and at 200 columns.

use std::{fs, path::PathBuf};

use super::{full_sim, shown};

const END: &str = "```\n<!-- end of capture -->\n";
const LINES: [&str; 14] = [
    "help",
    "status",
    "players",
    "limits",
    "drops",
    "resource list",
    "bans",
    "limits 203.0.113.77",
    "entities limit 3",
    "inspect 0 Motion",
    "resources Clock",
    "slow",
    "why 0 1",
    "netsim",
];

#[test]
fn the_pictures_of_the_documentation_are_what_the_program_shows() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/console.md");
    let documented = fs::read_to_string(&page).unwrap();
    let mut written = documented.clone();
    for columns in [80, 200] {
        let mut sim = full_sim();
        for line in LINES {
            let begin = format!("<!-- capture: {line}, {columns} columns -->\n```text\n");
            let (before, rest) = written
                .split_once(&begin)
                .unwrap_or_else(|| panic!("no {begin:?}"));
            let (_, after) = rest.split_once(END).expect("a capture has an end");
            let picture = shown(&mut sim, line, columns);
            written = format!("{before}{begin}decitick> {line}\n{picture}\n{END}{after}");
        }
    }
    if std::env::var_os("DECITICK_BLESS").is_some() {
        fs::write(page, written).unwrap();
        return;
    }
    let differs = documented
        .lines()
        .zip(written.lines())
        .find(|(one, other)| one != other);
    assert!(
        documented == written,
        "docs/console.md is not what the program shows; DECITICK_BLESS=1 writes it anew; the first difference: \
         {differs:?}"
    );
}
