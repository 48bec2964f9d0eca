//! `resource.ron`: what it says, and everything that is wrong with it.

use std::collections::BTreeSet;

use decitick_components::{
    console,
    script::{Manifest, ResourceName, ScriptFault},
};
use decitick_protocol::text::is_control_or_format;

use crate::{fault::Position, ron_file, ron_outline::Node};

/// Names in one list of a manifest.
const NAMES_MOST: usize = 32;
/// Bytes of a description.
const DESCRIPTION_MOST: usize = 256;

/// A manifest that could be read, and where its values stand.
#[derive(Clone, Debug)]
pub struct ManifestFile {
    /// What it says.
    pub manifest: Manifest,
    file: String,
    text: String,
}

impl ManifestFile {
    /// Reads a text; `file` is what faults name.
    pub(super) fn parse(file: String, text: String) -> Result<Self, ScriptFault> {
        match ron_file::parse(&text) {
            Ok(manifest) => Ok(Self { manifest, file, text }),
            Err(fault) => Err(fault_at(file, fault.position, fault.problem)),
        }
    }

    /// A fault of the value under a dotted key, as in `needs.0`.
    pub(super) fn fault(&self, key: &str, problem: impl Into<String>) -> ScriptFault {
        let offset = Node::of_text(&self.text).map_or(0, |outline| outline.reach(key).start);
        let position = Position::of_offset(&self.text, offset);
        fault_at(self.file.clone(), position, problem.into())
    }

    /// Everything that is wrong with the values, whatever other resources there are.
    pub(super) fn faults(&self, resource: &ResourceName) -> Vec<ScriptFault> {
        let mut faults = Vec::new();
        let manifest = &self.manifest;
        if manifest.description.len() > DESCRIPTION_MOST
            || manifest.description.chars().any(is_control_or_format)
        {
            let problem = format!(
                "description: a text of at most {DESCRIPTION_MOST} bytes without control or format characters is taken"
            );
            faults.push(self.fault("description", problem));
        }
        self.check_names("needs", &manifest.needs, &mut faults, |name| {
            needs_problem(name, resource)
        });
        self.check_names("console", &manifest.console, &mut faults, console_problem);
        faults
    }

    fn check_names(
        &self,
        key: &str,
        names: &[String],
        faults: &mut Vec<ScriptFault>,
        problem_of: impl Fn(&str) -> Option<String>,
    ) {
        if names.len() > NAMES_MOST {
            let problem = format!(
                "{key}: {} names are too many; {NAMES_MOST} are taken",
                names.len()
            );
            faults.push(self.fault(key, problem));
            return;
        }
        let mut seen = BTreeSet::new();
        for (index, name) in names.iter().enumerate() {
            let place = format!("{key}.{index}");
            let twice = (!seen.insert(name)).then(|| format!("{name:?} is named twice; take one out"));
            if let Some(problem) = problem_of(name).or(twice) {
                faults.push(self.fault(&place, format!("{place}: {problem}")));
            }
        }
    }
}

fn needs_problem(name: &str, resource: &ResourceName) -> Option<String> {
    if ResourceName::parse(name).is_none() {
        Some(format!(
            "{name:?} is no resource name; it is 1 to {} lower-case letters, digits, '_' and '-'",
            ResourceName::LONGEST
        ))
    } else if name == resource.as_str() {
        Some(format!("{name:?} is this resource itself; take it out"))
    } else {
        None
    }
}

fn console_problem(name: &str) -> Option<String> {
    if Manifest::NEVER.contains(&name) {
        Some(format!(
            "{name:?} reaches beyond what a gamemode may do and can never be named; take it out"
        ))
    } else if console::find(name).is_none() {
        let nearest = console::nearest(name).name;
        Some(format!(
            "{name:?} is no console command; the nearest one is {nearest:?}"
        ))
    } else {
        None
    }
}

/// A fault at a place in a file.
pub(super) fn fault_at(file: String, position: Position, problem: String) -> ScriptFault {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    ScriptFault {
        file,
        line: number(position.line),
        column: number(position.column),
        problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let resource = ResourceName::parse("race").unwrap();
        let faults = match ManifestFile::parse("m".to_owned(), text.to_owned()) {
            Ok(file) => file.faults(&resource),
            Err(fault) => vec![fault],
        };
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_manifest_may_say_everything_or_nothing() {
        assert_eq!(faults("()"), Vec::<String>::new());
        let full = "(description: \"x\", auth: true, needs: [\"lobby\"], console: [\"kick\", \"say\"])";
        assert_eq!(faults(full), Vec::<String>::new());
    }

    #[test]
    fn every_fault_of_the_values_is_told_with_its_place() {
        let told = faults(
            "(\n  description: \"a\\u{1b}\",\n  needs: [\"UP\", \"race\", \"a\", \"a\"],\n  \
             console: [\"kick\", \"kik\", \"eval\", \"kick\"],\n)",
        );
        let wanted = [
            "m:2:3: description: ",
            "m:3:11: needs.0: \"UP\" is no resource name",
            "m:3:17: needs.1: \"race\" is this resource itself",
            "m:3:30: needs.3: \"a\" is named twice",
            "m:4:21: console.1: \"kik\" is no console command; the nearest one is \"kick\"",
            "m:4:28: console.2: \"eval\" reaches beyond",
            "m:4:36: console.3: \"kick\" is named twice",
        ];
        assert_eq!(told.len(), wanted.len(), "{told:#?}");
        for (told, wanted) in told.iter().zip(wanted) {
            assert!(told.starts_with(wanted), "{told} does not start with {wanted}");
        }
    }

    #[test]
    fn a_key_that_is_not_known_names_the_nearest() {
        let told = faults("(\n  need: [],\n)");
        assert_eq!(told.len(), 1);
        assert!(
            told[0].starts_with("m:2:3: unknown key \"need\"") && told[0].contains("\"needs\""),
            "{told:?}"
        );
    }

    #[test]
    fn no_command_beyond_a_gamemodes_trust_can_be_named() {
        for name in Manifest::NEVER {
            let told = faults(&format!("(console: [{name:?}])"));
            assert!(told.len() == 1 && told[0].contains("never be named"), "{told:?}");
        }
    }

    #[test]
    fn a_list_without_end_is_one_fault() {
        let names = "\"no\",".repeat(10_000);
        assert_eq!(
            faults(&format!("(console: [{names}], needs: [{names}])")).len(),
            2
        );
    }
}
