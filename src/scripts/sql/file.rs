//! The file of a resource: made for this user only, never through a link, opened so that what is committed is on disk.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use decitick_components::script::ResourceName;
use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{FILE_BYTES_MOST, STORE_FOLDER, STORE_TABLE, words};

/// How long another program may hold the file.
const BUSY: Duration = Duration::from_secs(5);
/// The write-ahead log is cut to this after a large statement.
const LOG_BYTES_KEPT: u32 = 16 * 1024 * 1024;
/// What the store may take beyond what statements may fill, so that a full database never loses it.
const STORE_RESERVE: i64 = 64 * 1024 * 1024;

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The store.
    Store,
    /// Statements of scripts.
    Statements,
}

/// Opens the file of a resource, and makes it when there is none.
///
/// # Errors
/// In words for the author or the operator: what is there instead, or why it cannot be opened.
pub(super) fn open(
    directory: &Path,
    resource: &ResourceName,
    purpose: Purpose,
) -> Result<Connection, String> {
    let path = prepare(directory, resource)?;
    connect(&path, purpose).map_err(|error| format!("{} cannot be opened: {}", path.display(), words(&error)))
}

/// Makes the folder and the file, or makes sure of them.
fn prepare(directory: &Path, resource: &ResourceName) -> Result<PathBuf, String> {
    let told = |path: &Path, error: &io::Error| {
        format!(
            "{} cannot be made: {error}; let the server's user write there",
            path.display()
        )
    };
    // SQLite refuses a link anywhere in the path; those above the server directory are the operator's.
    let directory = fs::canonicalize(directory).map_err(|error| told(directory, &error))?;
    let folder = directory.join(STORE_FOLDER);
    make_folder(&directory, &folder)?;
    let path = folder.join(format!("{resource}.sqlite"));
    if !is_private_file(&path)? {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .and_then(|_| File::open(&folder)?.sync_all())
            .map_err(|error| told(&path, &error))?;
    }
    for beside in ["-wal", "-shm", "-journal"] {
        let mut name = path.clone().into_os_string();
        name.push(beside);
        is_private_file(Path::new(&name))?;
    }
    Ok(path)
}

fn make_folder(directory: &Path, folder: &Path) -> Result<(), String> {
    match fs::symlink_metadata(folder) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(format!(
            "{} is a symbolic link or no folder; put a folder there",
            folder.display()
        )),
        Err(_) => DirBuilder::new()
            .mode(0o700)
            .create(folder)
            .and_then(|()| File::open(directory)?.sync_all())
            .or_else(|error| match error.kind() {
                // Another resource was first.
                io::ErrorKind::AlreadyExists => Ok(()),
                _ => Err(format!(
                    "{} cannot be made: {error}; let the server's user write there",
                    folder.display()
                )),
            }),
    }
}

/// False when there is no such file; others than its user lose their rights to it.
fn is_private_file(path: &Path) -> Result<bool, String> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(format!("{} cannot be looked at: {error}", path.display())),
    };
    if !metadata.is_file() {
        return Err(format!(
            "{} is a symbolic link or no file; put the file itself there",
            path.display()
        ));
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(|error| {
            format!(
                "{} is open to other users (mode {mode:o}), and that cannot be changed: {error}",
                path.display()
            )
        })?;
        tracing::warn!(
            file = %path.display(),
            "what a gamemode keeps was open to other users; the file has mode 0600 now"
        );
    }
    Ok(true)
}

fn connect(path: &Path, purpose: Purpose) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_PRIVATE_CACHE;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    for (option, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        // "text" is a name and nothing else, so that a misspelt column is an error.
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        // Nothing that scripts make may have a say in the store.
        (
            DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY,
            purpose == Purpose::Statements,
        ),
        (
            DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
            purpose == Purpose::Statements,
        ),
        (
            DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW,
            purpose == Purpose::Statements,
        ),
    ] {
        connection.set_db_config(option, on)?;
    }
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES_KEPT, |_| Ok(()))?;
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let most = match purpose {
        Purpose::Statements => FILE_BYTES_MOST,
        Purpose::Store => FILE_BYTES_MOST + STORE_RESERVE,
    };
    let pages = most / page.max(512);
    connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    // Made by either connection, so that a script can never make a table of that name.
    connection.execute_batch(&format!(
        "CREATE TABLE IF NOT EXISTS {STORE_TABLE}(key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID"
    ))?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn name() -> ResourceName {
        ResourceName::parse("mode").unwrap()
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_file_is_its_users_alone_and_writes_through() {
        let directory = tempfile::tempdir().unwrap();
        let connection = open(directory.path(), &name(), Purpose::Store).unwrap();
        let store = directory.path().join("store");
        assert_eq!(mode(&store), 0o700);
        for file in ["mode.sqlite", "mode.sqlite-wal", "mode.sqlite-shm"] {
            assert_eq!(mode(&store.join(file)), 0o600, "{file}");
        }
        let pragma = |name: &str| {
            connection
                .pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0))
                .unwrap()
        };
        assert_eq!(pragma("journal_mode"), "wal".to_owned().into());
        assert_eq!(pragma("synchronous"), 2.into());
        assert_eq!(pragma("trusted_schema"), 0.into());
        assert_eq!(pragma("busy_timeout"), 5_000.into());
    }

    #[test]
    fn a_file_that_others_may_read_is_closed_to_them() {
        let directory = tempfile::tempdir().unwrap();
        drop(open(directory.path(), &name(), Purpose::Store).unwrap());
        let path = directory.path().join("store/mode.sqlite");
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        drop(open(directory.path(), &name(), Purpose::Statements).unwrap());
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn no_link_is_followed() {
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("theirs");
        fs::write(&target, "").unwrap();
        for file in [
            "mode.sqlite",
            "mode.sqlite-wal",
            "mode.sqlite-shm",
            "mode.sqlite-journal",
        ] {
            let directory = tempfile::tempdir().unwrap();
            fs::create_dir(directory.path().join("store")).unwrap();
            symlink(&target, directory.path().join("store").join(file)).unwrap();
            let error = open(directory.path(), &name(), Purpose::Store).unwrap_err();
            assert!(error.contains(file) && error.contains("symbolic link"), "{error}");
        }
        let directory = tempfile::tempdir().unwrap();
        symlink(outside.path(), directory.path().join("store")).unwrap();
        let error = open(directory.path(), &name(), Purpose::Store).unwrap_err();
        assert!(error.contains("symbolic link or no folder"), "{error}");
        assert_eq!(fs::read(&target).unwrap(), b"");
    }

    #[test]
    fn a_server_directory_may_itself_be_reached_through_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let link = outside.path().join("server");
        symlink(directory.path(), &link).unwrap();
        open(&link, &name(), Purpose::Store).unwrap();
    }

    #[test]
    fn a_file_that_is_no_database_is_told_and_left() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("store")).unwrap();
        let path = directory.path().join("store/mode.sqlite");
        fs::write(&path, "this is no database, however long it goes on").unwrap();
        let error = open(directory.path(), &name(), Purpose::Store).unwrap_err();
        assert!(error.contains("mode.sqlite cannot be opened"), "{error}");
        assert!(fs::read(&path).unwrap().starts_with(b"this is no database"));
    }
}
