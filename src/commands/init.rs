//! `decitick init DIR`: makes a server directory and never overwrites anything in it.

use std::{
    fmt,
    fs::{DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use crate::{
    asset_files::{DEFAULT_SPAWNS, DEFAULT_THINGS, DEFAULT_WEAPONS},
    scripts::sql::STORE_FOLDER,
};

/// The commented configuration, as it stands in the repository.
const DEFAULT_SETTINGS: &str = include_str!("../../assets/server.ron");

const FOLDERS: [&str; 7] = [
    "assets",
    "scripts",
    "scripts/freeroam/lib",
    "scripts/deathmatch/lib",
    "scripts/race/lib",
    "scripts/login/lib",
    "scripts/login/client",
];

/// A file of the repository under the name that it has in a server directory too.
macro_rules! sample {
    ($name:literal) => {
        ($name, include_str!(concat!("../../", $name)))
    };
}

const FILES: [(&str, &str); 24] = [
    ("assets/server.ron", DEFAULT_SETTINGS),
    ("assets/weapons.ron", DEFAULT_WEAPONS),
    ("assets/spawns.ron", DEFAULT_SPAWNS),
    ("assets/things.ron", DEFAULT_THINGS),
    sample!("scripts/decitick.d.rhai"),
    sample!("scripts/freeroam/resource.ron"),
    sample!("scripts/freeroam/main.rhai"),
    sample!("scripts/freeroam/lib/places.rhai"),
    sample!("scripts/freeroam/lib/words.rhai"),
    sample!("scripts/deathmatch/resource.ron"),
    sample!("scripts/deathmatch/main.rhai"),
    sample!("scripts/deathmatch/lib/scores.rhai"),
    sample!("scripts/deathmatch/lib/teams.rhai"),
    sample!("scripts/race/resource.ron"),
    sample!("scripts/race/main.rhai"),
    sample!("scripts/race/lib/clock.rhai"),
    sample!("scripts/race/lib/track.rhai"),
    sample!("scripts/login/resource.ron"),
    sample!("scripts/login/main.rhai"),
    sample!("scripts/login/lib/attempts.rhai"),
    sample!("scripts/login/lib/words.rhai"),
    sample!("scripts/login/client/login.html"),
    sample!("scripts/login/client/login.css"),
    sample!("scripts/login/client/login.js"),
];

/// Makes the directory, its folders and its files; what is there already is left and told of on `out`.
///
/// # Errors
///
/// The path that could not be made, and why. Exit code 1.
pub fn run(directory: &Path, out: &mut impl Write) -> Result<(), InitError> {
    make_folder(directory)?;
    for folder in FOLDERS {
        make_folder(&directory.join(folder))?;
    }
    make_private_folder(&directory.join(STORE_FOLDER))?;
    for (name, text) in FILES {
        let path = directory.join(name);
        let line = if write_new(&path, text)? {
            "wrote"
        } else {
            "left as it is:"
        };
        // A closed standard output must not undo the work.
        let _ = writeln!(out, "{line} {}", path.display());
    }
    let _ = writeln!(
        out,
        "start the server with: decitick serve {}",
        directory.display()
    );
    Ok(())
}

fn make_folder(path: &Path) -> Result<(), InitError> {
    std::fs::create_dir_all(path).map_err(|error| InitError {
        path: path.to_owned(),
        error,
    })
}

/// What gamemodes keep is nobody else's to read.
fn make_private_folder(path: &Path) -> Result<(), InitError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| InitError {
        path: path.to_owned(),
        error,
    })
}

/// False when something of that name is there already.
fn write_new(path: &Path, text: &str) -> Result<bool, InitError> {
    let fault = |error| InitError {
        path: path.to_owned(),
        error,
    };
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true).map_err(fault),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(fault(error)),
    }
}

/// A part of the server directory that could not be made.
#[derive(Debug)]
pub struct InitError {
    /// The folder or file.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

impl fmt::Display for InitError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}: cannot be made: {}; name a directory that this user may write to",
            self.path.display(),
            self.error
        )
    }
}

impl std::error::Error for InitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::{commands::check, scripts, settings_file};

    fn init(directory: &Path) -> String {
        let mut out = Vec::new();
        run(directory, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_new_directory_passes_the_check_and_has_no_key_yet() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("a/b");
        init(&directory);
        let mut out = Vec::new();
        assert_eq!(
            check::run(&directory, &mut out),
            0,
            "{}",
            String::from_utf8_lossy(&out)
        );
        assert!(!directory.join("server_identity.key").exists());
    }

    #[test]
    fn the_sample_gamemodes_are_there_and_the_first_of_them_is_set_to_run() {
        let directory = tempfile::tempdir().unwrap();
        init(directory.path());
        let names: Vec<String> = scripts::folder::existing(directory.path())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(names, ["deathmatch", "freeroam", "login", "race"]);
        let settings = settings_file::load(directory.path(), &settings_file::Overrides::default()).unwrap();
        assert_eq!(settings.resources, ["freeroam"]);
        let store = std::fs::metadata(directory.path().join("store")).unwrap();
        assert_eq!(store.permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn an_existing_file_is_left_and_told_of() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("assets")).unwrap();
        let settings = settings_file::settings_path(directory.path());
        std::fs::write(&settings, "(name: \"mine\")").unwrap();
        let told = init(directory.path());
        assert!(
            told.contains(&format!("left as it is: {}", settings.display())),
            "{told}"
        );
        assert_eq!(std::fs::read_to_string(&settings).unwrap(), "(name: \"mine\")");
        assert_eq!(
            init(directory.path()).matches("left as it is").count(),
            FILES.len()
        );
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("taken");
        std::fs::write(&path, "").unwrap();
        let error = run(&path, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("taken: cannot be made"), "{error}");
    }
}
