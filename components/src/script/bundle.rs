//! A resource as it stands in its folder: the manifest and the scripts, as text.

use std::{borrow::Borrow, collections::BTreeMap, fmt, sync::Arc};

use serde::Deserialize;

/// The script of a resource that is run first.
pub const MAIN_FILE: &str = "main.rhai";

/// The name of a resource and of its folder: 1 to 64 lower-case letters, digits, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceName(Arc<str>);

impl ResourceName {
    /// Longest name in bytes.
    pub const LONGEST: usize = 64;

    /// Takes a name that obeys the rule; `None` for any other.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let fits = (1..=Self::LONGEST).contains(&name.len());
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        (fits && name.bytes().all(allowed)).then(|| Self(name.into()))
    }

    /// Under this name the console runs expressions. It is no resource name, so no resource has it.
    #[must_use]
    pub fn of_console() -> Self {
        Self("(console)".into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for ResourceName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// What `resource.ron` says; every key may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Manifest {
    /// What the resource is, for people.
    pub description: String,
    /// Whether it is an auth resource.
    pub auth: bool,
    /// Resources that must be started before this one.
    pub needs: Vec<String>,
    /// Console commands that `console::run` may use.
    pub console: Vec<String>,
}

impl Manifest {
    /// Console commands that no manifest may name: they reach beyond what a gamemode is trusted with.
    pub const NEVER: &'static [&'static str] = &[
        "eval",
        "shutdown",
        "set",
        "netsim",
        "trace",
        "inspect",
        "entities",
        "watch",
        "resources",
        "password",
        "resource",
        "complete",
    ];
}

/// The files of one resource, read at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptBundle {
    /// The resource.
    pub resource: ResourceName,
    /// Its manifest.
    pub manifest: Manifest,
    /// Its scripts by their path inside the folder, with `/` between parts: `main.rhai`, `lib/teams.rhai`.
    pub files: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_name_is_a_plain_folder_name() {
        assert_eq!(
            ResourceName::parse("free_roam-2").unwrap().as_str(),
            "free_roam-2"
        );
        let long = "a".repeat(65);
        for name in ["", "..", "a/b", "Upper", "sp ace", "\u{e9}", long.as_str()] {
            assert_eq!(ResourceName::parse(name), None, "{name:?}");
        }
    }
}
