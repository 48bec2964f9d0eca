//! The store of a resource on disk: read whole, changed in transactions.

use std::collections::BTreeMap;

use decitick_components::script::StoreChange;
use rusqlite::Connection;

use super::{STORE_BYTES_MOST, STORE_TABLE, words};

/// Everything the store holds.
///
/// # Errors
/// It cannot be read, or holds more than any store may.
pub(super) fn read(connection: &Connection) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let told = |error: rusqlite::Error| format!("the store cannot be read: {}", words(&error));
    let mut statement = connection
        .prepare(&format!("SELECT key, value FROM {STORE_TABLE}"))
        .map_err(told)?;
    let mut rows = statement.query([]).map_err(told)?;
    let mut store = BTreeMap::new();
    let mut room = STORE_BYTES_MOST;
    while let Some(row) = rows.next().map_err(told)? {
        let key: String = row.get(0).map_err(told)?;
        let value: Vec<u8> = row.get(1).map_err(told)?;
        room = room
            .checked_sub(key.len().saturating_add(value.len()))
            .ok_or_else(|| {
                format!(
                    "the store holds more than {} MiB; move the file away or delete keys from it",
                    STORE_BYTES_MOST / 1024 / 1024
                )
            })?;
        store.insert(key, value);
    }
    Ok(store)
}

/// Makes sets of changes durable, each all or none, and says what became of each. One trip to the disk is enough as long
/// as nothing fails.
pub(super) fn save(connection: &mut Connection, sets: &[Vec<StoreChange>]) -> Vec<Result<(), String>> {
    if commit(connection, sets).is_ok() {
        return sets.iter().map(|_| Ok(())).collect();
    }
    sets.iter()
        .map(|set| {
            commit(connection, std::slice::from_ref(set))
                .map_err(|error| format!("the store cannot be written: {}", words(&error)))
        })
        .collect()
}

fn commit(connection: &mut Connection, sets: &[Vec<StoreChange>]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    {
        let mut put = transaction.prepare(&format!(
            "INSERT INTO {STORE_TABLE}(key, value) VALUES (?1, ?2) \
             ON CONFLICT(key) DO UPDATE SET value = excluded.value"
        ))?;
        let mut delete = transaction.prepare(&format!("DELETE FROM {STORE_TABLE} WHERE key = ?1"))?;
        for change in sets.iter().flatten() {
            match &change.value {
                Some(value) => put.execute((&change.key, value))?,
                None => delete.execute([&change.key])?,
            };
        }
    }
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use decitick_components::script::ResourceName;

    use super::{
        super::file::{Purpose, open},
        *,
    };

    fn change(key: &str, value: Option<&[u8]>) -> StoreChange {
        StoreChange {
            key: key.to_owned(),
            value: value.map(<[u8]>::to_vec),
        }
    }

    fn open_in(directory: &tempfile::TempDir) -> Connection {
        open(
            directory.path(),
            &ResourceName::parse("mode").unwrap(),
            Purpose::Store,
        )
        .unwrap()
    }

    #[test]
    fn what_was_saved_is_there_when_the_process_never_closed_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let mut connection = open_in(&directory);
        let sets = [
            vec![change("a", Some(b"1")), change("b", Some(b"2"))],
            vec![change("a", Some(b"3")), change("b", None), change("c", Some(b""))],
        ];
        assert_eq!(save(&mut connection, &sets), [Ok(()), Ok(())]);
        // As after kill -9: the files as they are on disk, elsewhere.
        let copy = tempfile::tempdir().unwrap();
        std::fs::create_dir(copy.path().join("store")).unwrap();
        for file in ["store/mode.sqlite", "store/mode.sqlite-wal"] {
            std::fs::copy(directory.path().join(file), copy.path().join(file)).unwrap();
        }
        let wanted = BTreeMap::from([("a".to_owned(), b"3".to_vec()), ("c".to_owned(), Vec::new())]);
        assert_eq!(read(&open_in(&copy)), Ok(wanted));
    }

    #[test]
    fn a_set_that_fails_takes_nothing_with_it_and_none_of_it_stays() {
        let directory = tempfile::tempdir().unwrap();
        let mut connection = open_in(&directory);
        connection
            .execute_batch(
                "DROP TABLE decitick_store; CREATE TABLE decitick_store(key TEXT PRIMARY KEY CHECK(key <> 'bad'), value BLOB)",
            )
            .unwrap();
        let sets = [
            vec![change("a", Some(b"1"))],
            vec![change("b", Some(b"1")), change("bad", Some(b"1"))],
            vec![change("c", Some(b"1"))],
        ];
        let outcome = save(&mut connection, &sets);
        assert!(
            outcome[0].is_ok() && outcome[1].is_err() && outcome[2].is_ok(),
            "{outcome:?}"
        );
        let keys: Vec<String> = read(&connection).unwrap().into_keys().collect();
        assert_eq!(keys, ["a", "c"]);
    }

    #[test]
    fn a_store_of_any_size_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let connection = open_in(&directory);
        connection
            .execute(
                "INSERT INTO decitick_store VALUES ('large', zeroblob(?1))",
                [i64::try_from(STORE_BYTES_MOST).unwrap()],
            )
            .unwrap();
        assert!(read(&connection).unwrap_err().contains("more than 64 MiB"));
    }
}
