//! `assets/server.ron` and what the command line puts over it (docs/operations.md).
//!
//! This module finds the text, the places of faults in it and the overrides; what a key means and
//! what it may be is said by `decitick_components::settings`.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use decitick_components::settings::{SettingFault, Settings};

use crate::{
    fault::{ConfigurationError, Fault, Place},
    ron_file,
    ron_outline::Node,
    telemetry,
};

/// Where the configuration stands in a server directory.
const SETTINGS_FILE: &str = "assets/server.ron";

/// What the command line puts over the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Replaces the whole `listen` list when it is not empty (`--listen`).
    pub listen: Vec<SocketAddr>,
    /// Single keys in the order given (`--set`); a later one wins.
    pub set: Vec<SetOption>,
}

/// One `--set KEY=VALUE`.
#[derive(Clone, PartialEq, Eq)]
pub struct SetOption {
    /// The dotted key, as `limits.packet_burst`.
    pub key: String,
    /// Its value as RON text.
    pub value: String,
}

/// Shows the key only: the value may be a password.
impl std::fmt::Debug for SetOption {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("SetOption")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// Where the configuration of a server directory stands.
pub fn settings_path(directory: &Path) -> PathBuf {
    directory.join(SETTINGS_FILE)
}

/// Reads the settings of a server directory, puts the overrides over them and checks all of it.
///
/// A directory without `assets/server.ron` has the default settings.
///
/// # Errors
///
/// Every fault found: the directory is missing, the file cannot be read, its text is no settings, or
/// a value is out of its bounds. `serve` ends with exit code 2 then, `check` with 1.
pub fn load(directory: &Path, overrides: &Overrides) -> Result<Settings, ConfigurationError> {
    check_directory(directory)?;
    let path = settings_path(directory);
    let text = ron_file::read_optional(&path)?.unwrap_or_else(|| "()".to_owned());
    // The file alone first, so that the places of its faults are those of the file.
    let from_file = ron_file::parse(&text).map_err(|fault| fault.in_file(&path))?;
    let mut settings = apply_set_options(from_file, &text, &overrides.set)?;
    if !overrides.listen.is_empty() {
        settings.listen.clone_from(&overrides.listen);
    }
    let origin = Origin {
        path: &path,
        outline: Node::of_text(&text),
        text: &text,
        overrides,
    };
    let faults = all_faults(&settings)
        .into_iter()
        .map(|fault| origin.place(fault))
        .collect();
    ConfigurationError::unless_empty(faults)?;
    Ok(settings)
}

fn check_directory(directory: &Path) -> Result<(), Fault> {
    match std::fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(Fault::of_file(
            directory,
            "is no directory; name a server directory, or make one with `decitick init DIR`",
        )),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Fault::of_file(
            directory,
            "there is no such directory; make one with `decitick init DIR`",
        )),
        Err(error) => Err(Fault::of_file(
            directory,
            format!("cannot be entered: {error}; let this user read it"),
        )),
    }
}

fn all_faults(settings: &Settings) -> Vec<SettingFault> {
    let mut faults = settings.faults();
    if let Err(problem) = telemetry::check_filter(&settings.log.filter) {
        faults.push(SettingFault {
            key: "log.filter".to_owned(),
            problem,
        });
    }
    faults
}

/// Writes each override into the text and reads the whole again, so that a value of `--set` is judged
/// exactly like one in the file.
fn apply_set_options(from_file: Settings, text: &str, options: &[SetOption]) -> Result<Settings, Fault> {
    let mut settings = from_file;
    let mut text = text.to_owned();
    for option in options {
        let fault = |problem| Fault {
            place: option_place(&option.key),
            problem,
        };
        ron::from_str::<serde::de::IgnoredAny>(&option.value).map_err(|error| {
            fault(format!(
                "the value is no RON: {}; a text needs quotes, as in --set 'name=\"My server\"'",
                error.code
            ))
        })?;
        text = with_value(&text, option).map_err(fault)?;
        settings = ron_file::parse(&text).map_err(|error| fault(error.problem))?;
    }
    Ok(settings)
}

/// The text with one key set: its value is replaced, or the key is added where it belongs.
fn with_value(text: &str, option: &SetOption) -> Result<String, String> {
    let parts: Vec<&str> = option.key.split('.').collect();
    if !parts.iter().all(|part| is_key_part(part)) {
        return Err(
            "this is no key; write names with dots between them, as in limits.packet_burst".to_owned(),
        );
    }
    let outline = Node::of_text(text).ok_or_else(|| {
        "the configuration file is written in a way that --set cannot follow; write the key into the file"
            .to_owned()
    })?;
    let reached = outline.reach(&option.key);
    let missing = parts.get(reached.parts..).unwrap_or(&[]);
    let (from, to, insert) = if missing.is_empty() {
        (reached.node.start, reached.node.end, option.value.clone())
    } else {
        let opening = reached.node.unwrapped().opening.ok_or_else(|| {
            let whole = parts.get(..reached.parts).unwrap_or(&[]).join(".");
            format!("{whole} is a single value here, without keys; set all of it, as in --set '{whole}=...'")
        })?;
        (opening, opening, nested(missing, &option.value))
    };
    let (before, after) = (text.get(..from).unwrap_or(""), text.get(to..).unwrap_or(""));
    Ok(format!("{before}{insert}{after}"))
}

/// `a: (b: value),` for the parts a and b.
fn nested(parts: &[&str], value: &str) -> String {
    let inner = parts.iter().rev().fold(None, |inner: Option<String>, part| {
        Some(match inner {
            None => format!("{part}: {value}"),
            Some(inner) => format!("{part}: ({inner})"),
        })
    });
    inner.unwrap_or_default() + ","
}

fn is_key_part(part: &str) -> bool {
    !part.is_empty()
        && part
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn option_place(key: &str) -> Place {
    Place::Option(format!("--set {key}"))
}

/// What the settings were made of, to find where a fault comes from.
struct Origin<'a> {
    path: &'a Path,
    text: &'a str,
    outline: Option<Node>,
    overrides: &'a Overrides,
}

impl Origin<'_> {
    fn place(&self, fault: SettingFault) -> Fault {
        let SettingFault { key, problem } = fault;
        let first = key.split('.').next().unwrap_or_default();
        if first == "listen" && !self.overrides.listen.is_empty() {
            return Fault {
                place: Place::Option("--listen".to_owned()),
                problem,
            };
        }
        if let Some(option) = self
            .overrides
            .set
            .iter()
            .rev()
            .find(|option| concerns(&option.key, &key))
        {
            return Fault {
                place: option_place(&option.key),
                problem,
            };
        }
        let problem = format!("{key}: {problem}");
        match &self.outline {
            Some(outline) => {
                let position = crate::fault::Position::of_offset(self.text, outline.reach(&key).start);
                Fault::at(self.path, position, problem)
            }
            None => Fault::of_file(self.path, problem),
        }
    }
}

/// Whether one dotted key is the other or a part of it.
fn concerns(set: &str, faulty: &str) -> bool {
    let within = |outer: &str, inner: &str| {
        inner
            .strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    within(set, faulty) || within(faulty, set)
}

#[cfg(test)]
mod tests;
