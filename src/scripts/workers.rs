//! The tick's end of everything that gamemodes ask for and that takes longer than a tick may.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender, unbounded};
use decitick_components::{
    script::{ResourceName, ScriptWork},
    settings::Settings,
    worker::WorkerAnswer,
};
use decitick_systems::script::{LoadedResource, ScriptInbox};

use super::{
    client_folder::KnownHashes,
    passwords::Hashes,
    sql::Keepers,
    watch::{Loader, LoaderRequest},
};
use crate::client_files::ClientFiles;

/// Stack of the thread that compiles; a parser goes as deep as a text nests.
const LOADER_STACK: usize = 16 * 1024 * 1024;

/// Where wishes are handed to, and loaded resources come from.
#[derive(Debug)]
pub struct ScriptWorkers {
    loads: Sender<LoaderRequest>,
    loaded: Receiver<LoadedResource>,
    keepers: Keepers,
    hashes: Hashes,
    client_files: ClientFiles,
}

/// What must come to an end in order when the server stops.
#[derive(Debug)]
pub struct ScriptThreads(Keepers);

impl ScriptThreads {
    /// Waits until what gamemodes keep is on disk, at most about so long. The tick's end must be gone.
    pub fn finish(self, time: Duration) {
        self.0.finish(time);
    }
}

impl ScriptWorkers {
    /// Reads and compiles the resources of the settings, in order, and starts the threads that serve them; answers go to
    /// `answers`.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn start(
        directory: PathBuf,
        settings: &Settings,
        answers: Sender<WorkerAnswer>,
    ) -> io::Result<(Self, ScriptInbox, ScriptThreads)> {
        let keepers = Keepers::new(
            directory.clone(),
            answers.clone(),
            Arc::new(AtomicBool::new(false)),
        );
        let (loads, requests) = unbounded();
        let (send, loaded) = unbounded();
        let known = KnownHashes::default();
        let client_files = ClientFiles::new(directory.clone(), known.clone());
        let mut loader = Loader {
            directory,
            keepers: keepers.clone(),
            loaded: send,
            hot_reload: settings.scripts.hot_reload,
            watched: BTreeMap::new(),
            known,
        };
        let inbox: VecDeque<LoadedResource> = names(settings).iter().map(|name| loader.read(name)).collect();
        thread::Builder::new()
            .name("scripts".to_owned())
            .stack_size(LOADER_STACK)
            .spawn(move || loader.run(&requests))?;
        let workers = Self {
            loads,
            loaded,
            keepers: keepers.clone(),
            hashes: Hashes::start(answers)?,
            client_files,
        };
        Ok((workers, ScriptInbox(inbox), ScriptThreads(keepers)))
    }

    /// The client files that wishes put up, for who serves them.
    pub const fn client_files(&self) -> &ClientFiles {
        &self.client_files
    }

    /// Hands one wish to whoever does it.
    pub fn hand_out(&self, work: ScriptWork) {
        match work {
            ScriptWork::Load(name) => self.request(LoaderRequest::Load(name)),
            ScriptWork::Close(name) => {
                self.client_files.activate(&name, None);
                self.keepers.close(&name);
                self.request(LoaderRequest::Close(name));
            }
            ScriptWork::ServeFiles { resource, files } => self.client_files.activate(&resource, files),
            ScriptWork::SaveStore {
                request,
                resource,
                changes,
            } => self.keepers.save(request, &resource, changes),
            ScriptWork::Sql {
                request,
                resource,
                statement,
            } => self.keepers.run(request, &resource, statement),
            ScriptWork::HashPassword { request, password } => self.hashes.hash(request, password),
            ScriptWork::VerifyPassword {
                request,
                password,
                hash,
            } => self.hashes.verify(request, password, hash),
        }
    }

    /// Resources that were read since this was last called, oldest first.
    pub fn take_loaded(&self) -> impl Iterator<Item = LoadedResource> + '_ {
        self.loaded.try_iter()
    }

    fn request(&self, request: LoaderRequest) {
        if self.loads.send(request).is_err() {
            tracing::error!(
                "the thread that loads scripts is gone; no resource is loaded or reloaded any more"
            );
        }
    }
}

/// The resources of the settings in order, and the one that judges who joins.
#[must_use]
pub fn names(settings: &Settings) -> Vec<ResourceName> {
    let auth = settings.auth.as_ref().map(|auth| &auth.resource);
    let mut names: Vec<ResourceName> = Vec::new();
    for name in settings.resources.iter().chain(auth) {
        // The settings have been judged; what is no name was refused.
        if let Some(name) = ResourceName::parse(name)
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use decitick_components::{
        script::{ScriptAnswer, ScriptOutcome, SqlKind, SqlStatement, StoreChange},
        secret::Secret,
        settings::AuthSettings,
    };
    use decitick_systems::script::LoadCause;

    use super::*;

    fn write(directory: &Path, resource: &str, main: &str) {
        let folder = directory.join("scripts").join(resource);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("resource.ron"), "()").unwrap();
        std::fs::write(folder.join("main.rhai"), main).unwrap();
    }

    fn settings(resources: &[&str], auth: Option<&str>) -> Settings {
        Settings {
            resources: resources.iter().map(|&name| name.to_owned()).collect(),
            auth: auth.map(|name| AuthSettings {
                resource: name.to_owned(),
                timeout_seconds: 1,
                providers: Vec::new(),
            }),
            ..Settings::default()
        }
    }

    fn name(name: &str) -> ResourceName {
        ResourceName::parse(name).unwrap()
    }

    #[test]
    fn every_resource_of_the_settings_is_loaded_once_in_order() {
        let told = |resources: &[&str], auth| {
            names(&settings(resources, auth))
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(told(&["b", "a"], Some("login")), ["b", "a", "login"]);
        assert_eq!(told(&["login", "a"], Some("login")), ["login", "a"]);
    }

    #[test]
    fn what_is_missing_comes_in_as_faults_beside_what_is_sound() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), "a", "");
        let (answers, _) = unbounded();
        let (_workers, inbox, _) = ScriptWorkers::start(
            directory.path().to_owned(),
            &settings(&["none", "a"], None),
            answers,
        )
        .unwrap();
        let came: Vec<(String, bool)> = inbox
            .0
            .iter()
            .map(|loaded| (loaded.name.to_string(), loaded.result.is_ok()))
            .collect();
        assert_eq!(came, [("none".to_owned(), false), ("a".to_owned(), true)]);
    }

    #[test]
    fn every_wish_is_answered_and_a_load_sees_what_was_saved_before() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), "a", "");
        let (answers, answered) = unbounded();
        let (workers, _, threads) =
            ScriptWorkers::start(directory.path().to_owned(), &settings(&["a"], None), answers).unwrap();
        workers.hand_out(ScriptWork::SaveStore {
            request: 1,
            resource: name("a"),
            changes: vec![StoreChange {
                key: "k".to_owned(),
                value: Some(vec![7]),
            }],
        });
        workers.hand_out(ScriptWork::Load(name("a")));
        let loaded = workers.loaded.recv().unwrap();
        assert_eq!(loaded.cause, LoadCause::Asked);
        assert_eq!(
            loaded.result.unwrap().store,
            BTreeMap::from([("k".to_owned(), vec![7])])
        );
        workers.hand_out(ScriptWork::Sql {
            request: 2,
            resource: name("a"),
            statement: SqlStatement {
                kind: SqlKind::Query,
                sql: "SELECT 1".to_owned(),
                parameters: Vec::new(),
            },
        });
        workers.hand_out(ScriptWork::HashPassword {
            request: 3,
            password: Secret::new("tulip".to_owned()),
        });
        workers.hand_out(ScriptWork::VerifyPassword {
            request: 4,
            password: Secret::new("tulip".to_owned()),
            hash: Secret::new("none".to_owned()),
        });
        workers.hand_out(ScriptWork::Close(name("a")));
        let mut came: Vec<(u64, bool)> = answered
            .iter()
            .take(4)
            .map(|answer| match answer {
                WorkerAnswer::Script(ScriptAnswer { request, outcome }) => (
                    request,
                    match outcome {
                        ScriptOutcome::StoreSaved(result) => result.is_ok(),
                        ScriptOutcome::Sql(result) => result.is_ok(),
                        ScriptOutcome::PasswordHashed(result) => result.is_ok(),
                        ScriptOutcome::PasswordVerified(result) => result.is_ok(),
                    },
                ),
                other => panic!("{other:?}"),
            })
            .collect();
        came.sort_unstable();
        assert_eq!(came, [(1, true), (2, true), (3, true), (4, false)]);
        drop(workers);
        threads.finish(Duration::from_secs(10));
        let store = directory.path().join("store");
        assert!(store.join("a.sqlite").exists());
        assert!(!store.join("a.sqlite-wal").exists(), "the log went into the file");
    }
}
