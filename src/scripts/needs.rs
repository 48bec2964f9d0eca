//! What the resources of a directory need of each other: that it is there, and that it does not go in a circle.
//!
//! This is for `decitick check`; a running server judges what it starts.

use std::collections::BTreeMap;

use decitick_components::script::{ResourceName, ScriptFault};

use super::{folder::nearest_of, manifest::ManifestFile};

/// Everything that is wrong between the manifests of the resources that exist; `None` for one that could not be read.
#[must_use]
pub fn faults(manifests: &BTreeMap<ResourceName, Option<ManifestFile>>) -> Vec<ScriptFault> {
    let mut faults = missing(manifests);
    let mut search = Search {
        manifests,
        path: Vec::new(),
        done: Vec::new(),
        faults: Vec::new(),
    };
    for name in manifests.keys() {
        search.visit(name);
    }
    faults.append(&mut search.faults);
    faults
}

/// The resource that the configuration names under `auth` must be one that judges logins; else nobody could ever join.
#[must_use]
pub fn unfit_judge(
    auth: Option<&str>,
    manifests: &BTreeMap<ResourceName, Option<ManifestFile>>,
) -> Option<ScriptFault> {
    let file = manifests.get(auth?)?.as_ref()?;
    (!file.manifest.auth).then(|| {
        let problem = "auth: the configuration names this resource under auth, so this must say auth: true, or nobody can join";
        file.fault("auth", problem)
    })
}

fn missing(manifests: &BTreeMap<ResourceName, Option<ManifestFile>>) -> Vec<ScriptFault> {
    let mut faults = Vec::new();
    for (name, file) in manifests {
        let Some(file) = file else {
            continue;
        };
        let others: Vec<ResourceName> = manifests.keys().filter(|other| *other != name).cloned().collect();
        for (index, needed) in file.manifest.needs.iter().enumerate() {
            // What is no name at all has its own fault.
            if ResourceName::parse(needed).is_some() && !manifests.contains_key(needed.as_str()) {
                let place = format!("needs.{index}");
                let nearest = nearest_of(needed, &others);
                let problem = format!("{place}: there is no resource {needed:?}; {nearest}");
                faults.push(file.fault(&place, problem));
            }
        }
    }
    faults
}

/// Goes from each resource to what it needs. Each resource is gone into once, so each circle is met once.
struct Search<'all> {
    manifests: &'all BTreeMap<ResourceName, Option<ManifestFile>>,
    /// From the first resource to the one that is looked at.
    path: Vec<&'all ResourceName>,
    done: Vec<&'all ResourceName>,
    faults: Vec<ScriptFault>,
}

impl<'all> Search<'all> {
    /// Recursion goes as deep as there are resources in a row, and each takes a folder.
    fn visit(&mut self, name: &'all ResourceName) {
        if self.done.contains(&name) {
            return;
        }
        self.path.push(name);
        if let Some(Some(file)) = self.manifests.get(name) {
            for (index, needed) in file.manifest.needs.iter().enumerate() {
                // The resource itself has its own fault.
                let Some((needed, _)) = self.manifests.get_key_value(needed.as_str()) else {
                    continue;
                };
                if let Some(from) = self.path.iter().position(|on_path| *on_path == needed) {
                    if needed != name {
                        self.circle(from, file, index);
                    }
                } else {
                    self.visit(needed);
                }
            }
        }
        self.path.pop();
        self.done.push(name);
    }

    fn circle(&mut self, from: usize, closing: &ManifestFile, index: usize) {
        let round: Vec<&str> = self
            .path
            .iter()
            .skip(from)
            .chain(self.path.get(from))
            .map(|name| name.as_str())
            .collect();
        let place = format!("needs.{index}");
        let problem = format!(
            "{place}: needs go in a circle: {}; take one of them out",
            round.join(" needs ")
        );
        self.faults.push(closing.fault(&place, problem));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(resources: &[(&str, &str)]) -> Vec<String> {
        let manifests = resources
            .iter()
            .map(|(name, needs)| {
                let file = ManifestFile::parse((*name).to_owned(), format!("(needs: [{needs}])"));
                (ResourceName::parse(name).unwrap(), file.ok())
            })
            .collect();
        faults(&manifests).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn needs_that_can_be_met_are_fine() {
        let diamond = [("a", "\"b\", \"c\""), ("b", "\"d\""), ("c", "\"d\""), ("d", "")];
        assert_eq!(told(&diamond), Vec::<String>::new());
        assert_eq!(
            told(&[("a", "\"broken\""), ("broken", "(((")]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_need_of_nothing_names_the_nearest() {
        let told = told(&[("a", "\"lobbi\""), ("lobby", "")]);
        assert_eq!(told.len(), 1);
        assert!(
            told[0].starts_with("a:1:10: needs.0: there is no resource \"lobbi\"")
                && told[0].contains("\"lobby\""),
            "{told:?}"
        );
    }

    #[test]
    fn a_circle_is_told_once_and_whole() {
        assert_eq!(
            told(&[("a", "\"b\""), ("b", "\"x\", \"c\""), ("c", "\"b\""), ("x", "")]),
            ["c:1:10: needs.0: needs go in a circle: b needs c needs b; take one of them out"]
        );
        assert_eq!(told(&[("a", "\"b\""), ("b", "\"a\""), ("c", "\"a\"")]).len(), 1);
    }
}
