//! `decitick check [DIR]`: judges everything a start would read, without listening and without making
//! or changing a file.

use std::{collections::BTreeMap, io::Write, path::Path};

use decitick_components::{
    script::{ResourceName, ScriptFault},
    settings::Settings,
};

use crate::{
    asset_files, ban_file, identity_file,
    scripts::{self, client_folder, folder, load, needs},
    settings_file::{self, Overrides},
};

/// Checks a server directory: every fault is a line `FILE:LINE:COLUMN: problem` on `out`, a sound one gets
/// one line that says so.
///
/// Returns the number of those lines; the exit code is 0 without and 1 with any. A file with very many faults has its
/// last line for how many more there are.
pub fn run(directory: &Path, out: &mut impl Write) -> usize {
    let faults = faults_of(directory);
    for fault in &faults {
        // Whoever closed standard output still gets the exit code.
        let _ = writeln!(out, "{fault}");
    }
    if faults.is_empty() {
        let _ = writeln!(
            out,
            "{}: configuration, assets, scripts, key and ban list are fine",
            directory.display()
        );
    }
    faults.len()
}

fn faults_of(directory: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    let mut named = Vec::new();
    let settings = match settings_file::load(directory, &Overrides::default()) {
        Ok(settings) => {
            named = scripts::names(&settings);
            settings
        }
        Err(error) => {
            faults.extend(error.faults().iter().map(ToString::to_string));
            if !directory.is_dir() {
                // There is nothing else to look into.
                return faults;
            }
            Settings::default()
        }
    };
    let auth = settings.auth.as_ref().map(|auth| auth.resource.as_str());
    let weapons = asset_files::load_weapons(directory);
    // Against a table that is faulty itself nothing is judged: its own faults come first.
    let table = weapons.as_ref().ok();
    let spawns = asset_files::load_spawns(directory, settings.world.bounds, table).map(drop);
    let things = asset_files::load_things(directory, settings.world.bounds).map(drop);
    for error in [weapons.map(drop), spawns, things]
        .into_iter()
        .filter_map(Result::err)
    {
        faults.extend(error.faults().iter().map(ToString::to_string));
    }
    faults.extend(
        script_faults(directory, named, auth)
            .iter()
            .map(|fault| format!("{}{fault}", directory.join("").display())),
    );
    if let Err(error) = identity_file::load(directory) {
        faults.push(error.to_string());
    }
    if let Err(error) = ban_file::load(directory) {
        faults.extend(error.faults().iter().map(ToString::to_string));
    }
    faults
}

/// Everything that is wrong with the resources there are, those that are named and not there, and what they need of each
/// other.
fn script_faults(directory: &Path, named: Vec<ResourceName>, auth: Option<&str>) -> Vec<ScriptFault> {
    let mut names = folder::existing(directory);
    let mut faults = Vec::new();
    let mut manifests = BTreeMap::new();
    names.extend(named);
    names.sort();
    names.dedup();
    for name in names {
        let read = folder::read(directory, &name);
        let exists = read.exists;
        faults.extend(load::compile_folder(&read).err().into_iter().flatten());
        faults.extend(client_folder::faults(directory, &name));
        if exists {
            manifests.insert(name, read.manifest);
        }
    }
    faults.extend(needs::faults(&manifests));
    faults.extend(needs::unfit_judge(auth, &manifests));
    faults.sort();
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that names no gamemode; without settings, `freeroam` is to be there.
    fn without_gamemodes() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("assets")).unwrap();
        std::fs::write(directory.path().join("assets/server.ron"), "(resources: [])").unwrap();
        directory
    }

    fn check(directory: &Path) -> (usize, String) {
        let mut out = Vec::new();
        let faults = run(directory, &mut out);
        (faults, String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_sound_directory_gets_one_line_and_stays_as_it_is() {
        let directory = without_gamemodes();
        let (faults, told) = check(directory.path());
        assert_eq!((faults, told.lines().count()), (0, 1), "{told}");
        let names: Vec<_> = std::fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["assets"], "no key and no store is made");
    }

    #[test]
    fn every_fault_of_every_script_is_told_at_once() {
        let directory = without_gamemodes();
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("assets/server.ron", "(resources: [\"none\", \"a\"])");
        write("scripts/a/resource.ron", "(needs: [\"b\", \"lost\"])");
        write("scripts/a/main.rhai", "");
        write("scripts/a/client/manifest.json", "");
        std::os::unix::fs::symlink("x", directory.path().join("scripts/a/client/page.html")).unwrap();
        write("scripts/b/resource.ron", "(needs: [\"a\"], console: [\"eval\"])");
        write("scripts/b/main.rhai", "");
        write("scripts/c/main.rhai", "");
        write("scripts/d/resource.ron", "(descripton: \"x\")");
        write("scripts/notes/readme.md", "no resource");
        let (faults, told) = check(directory.path());
        let lines: Vec<&str> = told.lines().collect();
        let wanted = [
            "scripts/a/client/manifest.json: stands in the place of the manifest",
            "scripts/a/client/page.html: is a symbolic link",
            "scripts/a/resource.ron:1:15: needs.1: there is no resource \"lost\"",
            "scripts/b/resource.ron:1:10: needs.0: needs go in a circle: a needs b needs a",
            "scripts/b/resource.ron:1:26: console.0: \"eval\"",
            "scripts/c/resource.ron: is missing",
            "scripts/d/main.rhai: is missing",
            "scripts/d/resource.ron:1:2: unknown key \"descripton\"",
            "scripts/none: there is no such resource",
        ];
        assert_eq!((faults, lines.len()), (wanted.len(), wanted.len()), "{told}");
        for (line, wanted) in lines.iter().zip(wanted) {
            let wanted = directory.path().join(wanted).display().to_string();
            assert!(line.starts_with(&wanted), "{line} does not start with {wanted}");
        }
        assert!(!directory.path().join("store").exists());
    }

    #[test]
    fn the_resource_that_judges_who_joins_must_be_there_too() {
        let directory = without_gamemodes();
        let settings = "(resources: [], auth: Some((resource: \"login\")))";
        std::fs::write(directory.path().join("assets/server.ron"), settings).unwrap();
        let (faults, told) = check(directory.path());
        assert!(
            faults == 1 && told.contains("scripts/login: there is no such resource"),
            "{told}"
        );
        let folder = directory.path().join("scripts/login");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("main.rhai"), "fn pending_connected(pending) {}").unwrap();
        std::fs::write(folder.join("resource.ron"), "(description: \"d\")").unwrap();
        let (faults, told) = check(directory.path());
        assert!(faults == 1 && told.contains("must say auth: true"), "{told}");
        std::fs::write(folder.join("resource.ron"), "(auth: true)").unwrap();
        std::fs::write(folder.join("main.rhai"), "fn pending_conected(pending) {}").unwrap();
        let (_, told) = check(directory.path());
        assert!(
            told.contains("there must be a fn pending_connected(pending)"),
            "{told}"
        );
        std::fs::write(folder.join("main.rhai"), "fn pending_connected(pending) {}").unwrap();
        assert_eq!(check(directory.path()).0, 0);
    }

    #[test]
    fn the_faults_of_all_files_are_told_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("assets/server.ron", "(\n  max_players: 0,\n  name: \"\",\n)");
        write("assets/weapons.ron", "[\n  (id: 0),\n]");
        write("assets/spawns.ron", "[]");
        write(
            "assets/things.ron",
            "[\n  (kind: Npc, model: 1, position: (0, 0, 20001)),\n]",
        );
        write("server_identity.key", "short");
        write("bans.toml", "[[bans]]\naddress = \"x\"\n");
        let (faults, told) = check(directory.path());
        assert_eq!((faults, told.lines().count()), (7, 7), "{told}");
        for wanted in [
            "server.ron:3:3: ",
            "server.ron:2:3: ",
            "weapons.ron:2:",
            "spawns.ron: ",
            "things.ron:2:25: position: ",
            "server_identity.key: ",
            "bans.toml:2:11: ",
        ] {
            assert!(told.contains(wanted), "{wanted} in {told}");
        }
    }

    #[test]
    fn spawn_points_are_judged_by_the_weapon_table_of_their_directory() {
        let directory = without_gamemodes();
        let assets = directory.path().join("assets");
        std::fs::write(
            assets.join("spawns.ron"),
            "[\n(position: (0, 0, 0), weapons: [(24, 7)])]",
        )
        .unwrap();
        assert_eq!(check(directory.path()).0, 0);
        let weapons = |id: u8| {
            let row = format!("[(id: {id}, name: \"A\", damage: 1, range: 1, interval_ms: 1, clip: 1)]");
            std::fs::write(assets.join("weapons.ron"), row).unwrap();
        };
        weapons(22);
        let (faults, told) = check(directory.path());
        assert!(
            faults == 1 && told.contains("spawns.ron:2:33: weapons.0: weapon 24 "),
            "{told}"
        );
        weapons(47);
        let (faults, told) = check(directory.path());
        assert!(faults == 1 && told.contains("weapons.ron:1:3: id: "), "{told}");
    }

    #[test]
    fn a_missing_directory_is_one_fault() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(check(&directory.path().join("nowhere")).0, 1);
    }
}
