//! From a folder to a resource that can run: reads it, compiles it, and adds what its store held.

use std::{collections::BTreeMap, path::Path};

use decitick_components::script::{ResourceName, ScriptFault};
use decitick_systems::script::{LoadCause, LoadedResource, PreparedResource, Program, compile};

use super::{
    client_folder::{self, KnownHashes},
    folder::{self, ReadFolder},
    sql,
    walk::fault_of_file,
};

/// Reads and compiles a resource, its client files and its store; `store` is asked only when the rest is sound. Client
/// files whose hash is in `known` are not read again.
pub fn load(
    directory: &Path,
    name: &ResourceName,
    cause: LoadCause,
    known: &KnownHashes,
    store: impl FnOnce(&ResourceName) -> Result<BTreeMap<String, Vec<u8>>, String>,
) -> LoadedResource {
    let program = compile_folder(&folder::read(directory, name));
    let client_files = client_folder::read(directory, name, known);
    let result = both(program, client_files).and_then(|(program, client_files)| {
        let store = store(name).map_err(|problem| vec![fault_of_file(sql::shown_path(name), problem)])?;
        Ok(Box::new(PreparedResource {
            program,
            store,
            client_files,
        }))
    });
    LoadedResource {
        name: name.clone(),
        cause,
        result,
    }
}

/// Both, or everything that is wrong with either.
fn both<A, B>(
    a: Result<A, Vec<ScriptFault>>,
    b: Result<B, Vec<ScriptFault>>,
) -> Result<(A, B), Vec<ScriptFault>> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (a, b) => {
            let mut faults: Vec<_> = a.err().into_iter().chain(b.err()).flatten().collect();
            faults.sort();
            Err(faults)
        }
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

    fn load_it(
        directory: &Path,
        name: &ResourceName,
        cause: LoadCause,
        store: impl FnOnce(&ResourceName) -> Result<BTreeMap<String, Vec<u8>>, String>,
    ) -> LoadedResource {
        load(directory, name, cause, &KnownHashes::default(), store)
    }

    #[test]
    fn client_files_come_with_the_resource_and_their_faults_beside_those_of_scripts() {
        let (directory, name) = resource(&[
            ("resource.ron", "()"),
            ("main.rhai", ""),
            ("client/page.html", "x"),
        ]);
        let loaded = load_it(directory.path(), &name, LoadCause::Asked, |_| Ok(BTreeMap::new()));
        let files = loaded.result.unwrap().client_files.unwrap();
        assert!(files.files.contains_key("page.html"));
        let folder = directory.path().join("scripts/mode");
        std::os::unix::fs::symlink("page.html", folder.join("client/link.html")).unwrap();
        std::fs::remove_file(folder.join("main.rhai")).unwrap();
        let loaded = load_it(directory.path(), &name, LoadCause::Asked, |_| panic!("asked"));
        let told = loaded.result.unwrap_err();
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[0].file, "scripts/mode/client/link.html");
        assert_eq!(told[1].file, "scripts/mode/main.rhai");
    }

    #[test]
    fn a_sound_resource_arrives_with_its_manifest_and_its_store() {
        let (directory, name) = resource(&[
            ("resource.ron", "(description: \"d\")"),
            ("main.rhai", "fn tick(dt) {}"),
        ]);
        let store = BTreeMap::from([("key".to_owned(), vec![1])]);
        let loaded = load_it(directory.path(), &name, LoadCause::Asked, |_| Ok(store.clone()));
        assert_eq!((&loaded.name, loaded.cause), (&name, LoadCause::Asked));
        let prepared = loaded.result.unwrap();
        assert_eq!(prepared.store, store);
        assert_eq!(prepared.program.manifest.description, "d");
        assert_eq!(prepared.program.resource, name);
    }

    #[test]
    fn a_store_that_cannot_be_read_keeps_the_resource_from_starting() {
        let (directory, name) = resource(&[("resource.ron", "()"), ("main.rhai", "")]);
        let loaded = load_it(directory.path(), &name, LoadCause::Asked, |_| {
            Err("is broken".to_owned())
        });
        let faults = loaded.result.unwrap_err();
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].to_string(), "store/mode.sqlite: is broken");
    }

    #[test]
    fn a_faulty_folder_is_told_whole_and_its_store_is_left_alone() {
        let (directory, name) = resource(&[("resource.ron", "(needs: [\"mode\", \"X\"])")]);
        let loaded = load_it(directory.path(), &name, LoadCause::Changed, |_| panic!("asked"));
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
