//! What a gamemode asks for that takes longer than a tick may: its files, its store, its database, password hashes.
//!
//! Requests are numbered over all resources and never twice, so an answer that comes after its resource was reloaded
//! finds nobody who waits, and is dropped.

use crate::inspection::summary;
use std::{collections::VecDeque, sync::Arc};

use bevy_ecs::resource::Resource;

use crate::{client_files::ClientManifest, script::ResourceName, secret::Secret};

/// One wish.
#[derive(Debug)]
pub enum ScriptWork {
    /// Read the resource's folder, its store too, and compile it. The answer comes as a loaded resource.
    Load(ResourceName),
    /// Watch the resource's folder no more, write what waits, close its database, and serve its client files no more.
    Close(ResourceName),
    /// Serve these client files of the resource from now on, in place of those it had; `None`: it has none any more.
    ServeFiles {
        /// Whose.
        resource: ResourceName,
        /// As they came with the loaded resource.
        files: Option<Arc<ClientManifest>>,
    },
    /// Make changes of a store durable, all or none.
    SaveStore {
        /// What the answer names.
        request: u64,
        /// Whose store.
        resource: ResourceName,
        /// The changes, in order.
        changes: Vec<StoreChange>,
    },
    /// Run one statement in the resource's database. Statements of one resource run in the order in which they came.
    Sql {
        /// What the answer names.
        request: u64,
        /// Whose database.
        resource: ResourceName,
        /// The statement.
        statement: SqlStatement,
    },
    /// Hash a password with Argon2id.
    HashPassword {
        /// What the answer names.
        request: u64,
        /// The password.
        password: Secret<String>,
    },
    /// Compare a password with a hash.
    VerifyPassword {
        /// What the answer names.
        request: u64,
        /// The password.
        password: Secret<String>,
        /// The hash in PHC form, as `HashPassword` made it.
        hash: Secret<String>,
    },
}

/// One change of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreChange {
    /// The key.
    pub key: String,
    /// Its value, one MessagePack value; `None`: the key goes.
    pub value: Option<Vec<u8>>,
}

/// Whether a statement answers with rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlKind {
    /// It answers with rows and changes nothing.
    Query,
    /// It changes something and answers with how many rows it changed.
    Execute,
}

/// One SQL statement with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlStatement {
    /// What is asked.
    pub kind: SqlKind,
    /// The statement; exactly one.
    pub sql: String,
    /// Values for `?1`, `?2`, ... in order.
    pub parameters: Vec<SqlValue>,
}

/// A value of SQLite.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    /// NULL.
    Null,
    /// INTEGER.
    Integer(i64),
    /// REAL.
    Real(f64),
    /// TEXT.
    Text(String),
    /// BLOB.
    Blob(Vec<u8>),
}

/// What a statement answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SqlAnswer {
    /// Names of the columns; none for [`SqlKind::Execute`].
    pub columns: Vec<String>,
    /// Rows in order, each as long as `columns`.
    pub rows: Vec<Vec<SqlValue>>,
    /// Rows that were inserted, changed or deleted.
    pub changes: i64,
    /// The rowid of the last row inserted through this connection.
    pub last_id: i64,
}

/// An answer.
#[derive(Debug)]
pub struct ScriptAnswer {
    /// The request it answers.
    pub request: u64,
    /// What came of it.
    pub outcome: ScriptOutcome,
}

/// What came of a wish; errors are in words for the author of the script.
#[derive(Debug)]
pub enum ScriptOutcome {
    /// The changes are on disk, or not.
    StoreSaved(Result<(), String>),
    /// The statement ran, or not.
    Sql(Result<SqlAnswer, String>),
    /// The hash in PHC form.
    PasswordHashed(Result<Secret<String>, String>),
    /// Whether the password is the one that was hashed.
    PasswordVerified(Result<bool, String>),
}

/// Answers that came in since gamemodes last ran, oldest first.
#[derive(Resource, Debug, Default)]
pub struct ScriptAnswers(pub VecDeque<ScriptAnswer>);

summary!(|answers: ScriptAnswers| { waiting: usize = answers.0.len() });
