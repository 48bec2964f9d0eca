//! From a folder to a resource that can run: reads it, compiles it, and adds what its store held.

use std::{collections::BTreeMap, path::Path};

use decitick_components::script::{ResourceName, ScriptFault};
use decitick_systems::script::{LoadCause, LoadedResource, PreparedResource, Program, compile};

use super::{
    folder::{self, ReadFolder},
    sql,
    walk::fault_of_file,
};

/// Reads and compiles a resource and its store; `store` is asked only when the scripts are sound.
pub fn load(
    directory: &Path,
    name: &ResourceName,
    cause: LoadCause,
    store: impl FnOnce(&ResourceName) -> Result<BTreeMap<String, Vec<u8>>, String>,
) -> LoadedResource {
    let result = compile_folder(&folder::read(directory, name)).and_then(|program| {
        let store = store(name).map_err(|problem| vec![fault_of_file(sql::shown_path(name), problem)])?;
        Ok(Box::new(PreparedResource {
            program,
            store,
            client_files: None,
        }))
    });
    LoadedResource {
        name: name.clone(),
        cause,
        result,
    }
}

/// Compiles what was read of a folder.
///
/// # Errors
/// Everything that is wrong with the folder, and with the scripts when all of them could be read: by file and line, each
/// once.
pub fn compile_folder(folder: &ReadFolder) -> Result<Program, Vec<ScriptFault>> {
    let mut faults = folder.faults.clone();
    if folder.scripts_whole {
        match compile(&folder.bundle) {
            Ok(program) if faults.is_empty() => return Ok(program),
            Ok(_) => {}
            Err(found) => faults.extend(found),
        }
    }
    if faults.is_empty() {
        // Files that change while they are read leave a bundle that is not whole, and nothing to blame.
        let file = format!("scripts/{}", folder.bundle.resource);
        faults.push(fault_of_file(
            file,
            "changed while it was read; save a file of it again",
        ));
    }
    faults.sort();
    faults.dedup();
    Err(faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(files: &[(&str, &str)]) -> (tempfile::TempDir, ResourceName) {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join("scripts/mode").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        (directory, ResourceName::parse("mode").unwrap())
    }

    #[test]
    fn a_sound_resource_arrives_with_its_manifest_and_its_store() {
        let (directory, name) = resource(&[
            ("resource.ron", "(description: \"d\")"),
            ("main.rhai", "fn tick(dt) {}"),
        ]);
        let store = BTreeMap::from([("key".to_owned(), vec![1])]);
        let loaded = load(directory.path(), &name, LoadCause::Asked, |_| Ok(store.clone()));
        assert_eq!((&loaded.name, loaded.cause), (&name, LoadCause::Asked));
        let prepared = loaded.result.unwrap();
        assert_eq!(prepared.store, store);
        assert_eq!(prepared.program.manifest.description, "d");
        assert_eq!(prepared.program.resource, name);
    }

    #[test]
    fn a_store_that_cannot_be_read_keeps_the_resource_from_starting() {
        let (directory, name) = resource(&[("resource.ron", "()"), ("main.rhai", "")]);
        let loaded = load(directory.path(), &name, LoadCause::Asked, |_| {
            Err("is broken".to_owned())
        });
        let faults = loaded.result.unwrap_err();
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].to_string(), "store/mode.sqlite: is broken");
    }

    #[test]
    fn a_faulty_folder_is_told_whole_and_its_store_is_left_alone() {
        let (directory, name) = resource(&[("resource.ron", "(needs: [\"mode\", \"X\"])")]);
        let loaded = load(directory.path(), &name, LoadCause::Changed, |_| panic!("asked"));
        let told: Vec<String> = loaded
            .result
            .unwrap_err()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(
            told[0].starts_with("scripts/mode/main.rhai: is missing"),
            "{told:?}"
        );
        assert!(
            told[1].starts_with("scripts/mode/resource.ron:1:10: "),
            "{told:?}"
        );
    }
}
