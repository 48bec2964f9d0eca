//! What goes into a package: completions and man pages are those of the command line, the unit is sound, and the
//! container starts what there is.
//!
//! `DECITICK_BLESS=1 cargo test -p decitick --test suite packaging` writes the generated files anew.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use clap::{CommandFactory, ValueEnum};
use decitick::cli::{Cli, completions};

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging")
}

/// Holds a generated file equal to what is made now, or writes it.
fn hold(path: &Path, made: &[u8]) {
    if std::env::var_os("DECITICK_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, made).unwrap();
    }
    let kept = fs::read(path).unwrap_or_default();
    assert!(
        kept == made,
        "{} is not what the command line says; write it anew with DECITICK_BLESS=1",
        path.display()
    );
}

#[test]
fn completions_are_those_of_the_command_line() {
    for (shell, name) in [
        ("bash", "decitick.bash"),
        ("zsh", "_decitick"),
        ("fish", "decitick.fish"),
    ] {
        let shell = clap_complete::Shell::from_str(shell, false).unwrap();
        hold(&packaging().join("completions").join(name), &completions(shell));
    }
}

#[test]
fn man_pages_are_those_of_the_command_line() {
    let mut pages = Vec::new();
    collect(Cli::command(), "decitick".to_owned(), &mut pages);
    let directory = packaging().join("man");
    for (name, page) in &pages {
        hold(&directory.join(name), page);
    }
    let kept = fs::read_dir(&directory).unwrap().count();
    assert_eq!(kept, pages.len(), "a page of a command that is no more");
}

fn collect(mut command: clap::Command, name: String, pages: &mut Vec<(String, Vec<u8>)>) {
    command.build();
    for inner in command
        .get_subcommands()
        .filter(|inner| inner.get_name() != "help")
    {
        collect(inner.clone(), format!("{name}-{}", inner.get_name()), pages);
    }
    let display: &'static str = Box::leak(name.clone().into_boxed_str());
    let mut page = Vec::new();
    clap_mangen::Man::new(command.name(display).disable_help_subcommand(true))
        .render(&mut page)
        .unwrap();
    pages.push((format!("{name}.1"), page));
}

#[test]
fn the_unit_stops_the_server_as_it_wants_to_be_stopped_and_gives_it_little_else() {
    let unit = fs::read_to_string(packaging().join("systemd/decitick.service")).unwrap();
    for line in [
        "Type=notify",
        "RestartPreventExitStatus=2",
        "NoNewPrivileges=yes",
        "CapabilityBoundingSet=",
        "ProtectSystem=strict",
        "MemoryDenyWriteExecute=yes",
        "SystemCallFilter=~@privileged @resources",
    ] {
        assert!(unit.lines().any(|found| found == line), "{line}");
    }
    let Ok(judged) = Command::new("systemd-analyze")
        .args(["security", "--offline=yes", "--no-pager", "--threshold=20"])
        .arg(packaging().join("systemd/decitick.service"))
        .output()
    else {
        return;
    };
    let told = String::from_utf8_lossy(&judged.stdout).into_owned();
    assert!(judged.status.success(), "exposed more than 2.0 of 10:\n{told}");
}

#[test]
fn the_container_copies_and_starts_what_there_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let recipe = fs::read_to_string(root.join("Dockerfile")).unwrap();
    let copied: Vec<&str> = recipe
        .lines()
        .filter_map(|line| line.strip_prefix("COPY packaging/"))
        .filter_map(|rest| rest.split(' ').next())
        .collect();
    assert_eq!(copied, ["docker/start"]);
    let start = packaging().join("docker/start");
    let checked = Command::new("sh").arg("-n").arg(&start).status().unwrap();
    assert!(checked.success());
    let toolchain = fs::read_to_string(root.join("rust-toolchain.toml")).unwrap();
    let version = toolchain
        .lines()
        .find_map(|line| line.strip_prefix("channel = "))
        .unwrap()
        .trim_matches('"');
    assert!(
        recipe.contains(&format!("FROM rust:{}-", version.trim_end_matches(".0"))),
        "the image builds with another Rust than {version}"
    );
}
