//! `decitick check [DIR]`: judges everything a start would read, without listening and without making
//! or changing a file.

use std::{io::Write, path::Path};

use decitick_components::settings::Settings;

use crate::{
    asset_files, ban_file, identity_file,
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
            "{}: configuration, assets, key and ban list are fine",
            directory.display()
        );
    }
    faults.len()
}

fn faults_of(directory: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    let settings = match settings_file::load(directory, &Overrides::default()) {
        Ok(settings) => settings,
        Err(error) => {
            faults.extend(error.faults().iter().map(ToString::to_string));
            if !directory.is_dir() {
                // There is nothing else to look into.
                return faults;
            }
            Settings::default()
        }
    };
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
    if let Err(error) = identity_file::load(directory) {
        faults.push(error.to_string());
    }
    if let Err(error) = ban_file::load(directory) {
        faults.extend(error.faults().iter().map(ToString::to_string));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(directory: &Path) -> (usize, String) {
        let mut out = Vec::new();
        let faults = run(directory, &mut out);
        (faults, String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_sound_directory_gets_one_line_and_stays_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let (faults, told) = check(directory.path());
        assert_eq!((faults, told.lines().count()), (0, 1), "{told}");
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            0,
            "no key is made"
        );
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
        let directory = tempfile::tempdir().unwrap();
        let assets = directory.path().join("assets");
        std::fs::create_dir(&assets).unwrap();
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
