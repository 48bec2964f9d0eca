//! Names that exist, for messages that suggest one.

use std::collections::{BTreeMap, BTreeSet};

/// What a script of one resource can name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Functions and methods by name, functions of a module as `chat::broadcast`, each with its signatures as an
    /// author reads them: `teleport(player: Player, place: map)`.
    pub(crate) functions: BTreeMap<String, BTreeSet<String>>,
    /// Properties by the name of the type that has them.
    pub(crate) properties: BTreeMap<String, BTreeSet<String>>,
    /// Variables that every function sees.
    pub(crate) variables: BTreeSet<String>,
    /// Constants at the top of the resource's files; inside functions they are written `global::NAME`.
    pub(crate) constants: BTreeSet<String>,
    /// Modules of the server and imported ones.
    pub(crate) modules: BTreeSet<String>,
}

impl Names {
    /// The properties of a type, or of all when it is not one of those known.
    pub(super) fn properties_of(&self, type_word: &str) -> impl Iterator<Item = &str> {
        let own = self.properties.get(type_word);
        let all = self.properties.values().filter(move |_| own.is_none());
        own.into_iter().chain(all).flatten().map(String::as_str)
    }

    /// The signatures of a function, at most four of them, in words; `None` for an unknown one.
    pub(super) fn signatures(&self, function: &str) -> Option<String> {
        const SHOWN: usize = 4;
        let signatures = self.functions.get(function)?;
        let shown: Vec<String> = signatures
            .iter()
            .take(SHOWN)
            .map(|signature| format!("`{signature}`"))
            .collect();
        (!shown.is_empty()).then(|| shown.join(" or "))
    }
}
