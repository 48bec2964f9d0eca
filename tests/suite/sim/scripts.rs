//! Gamemodes inside a Sim: resources written in a test, and what the shell does for them in the simplest way.

use std::collections::BTreeMap;

use decitick_components::{
    script::{Manifest, ResourceName, ScriptAnswer, ScriptBundle, ScriptFault, ScriptOutcome, ScriptWork},
    thing::ThingBook,
    worker::WorkerAnswer,
    zone::ZoneBook,
};
use decitick_protocol::ServerLaneEvent;
use decitick_systems::script::{
    LoadCause, LoadedResource, PreparedResource, ResourceReport, ScriptHost, ScriptInbox, compile,
};

use super::{Setup, Sim};

/// What the shell holds of gamemodes: their files and their stores.
#[derive(Default)]
pub(crate) struct Folder {
    /// Bundles by the name of their resource, as they are read when a resource is asked for.
    pub(crate) bundles: BTreeMap<String, ScriptBundle>,
    /// What is on disk of each store.
    pub(crate) stores: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
    /// Answers to SQL statements, made by a test.
    pub(crate) statements: Vec<ScriptWork>,
    /// What every write of a store fails with.
    pub(crate) store_writes_fail: Option<String>,
}

/// A bundle with one script.
pub(crate) fn bundle(name: &str, main: &str) -> ScriptBundle {
    ScriptBundle {
        resource: ResourceName::parse(name).unwrap(),
        manifest: Manifest::default(),
        files: BTreeMap::from([("main.rhai".to_owned(), main.to_owned())]),
    }
}

/// How many things and zones there are.
pub(crate) fn counted(sim: &Sim) -> (usize, usize) {
    let world = sim.app.world();
    (
        world.resource::<ThingBook>().len(),
        world.resource::<ZoneBook>().len(),
    )
}

impl Sim {
    /// A server with the built-in weapons.
    pub(crate) fn with_weapons() -> Self {
        Self::with(Setup {
            weapons: decitick::asset_files::load_weapons(std::path::Path::new("/nowhere")).unwrap(),
            ..Setup::default()
        })
    }

    /// Starts a resource of one script, which must compile.
    pub(crate) fn start_script(&mut self, name: &str, main: &str) {
        self.start_bundle(bundle(name, main));
    }

    /// Starts a resource, which must compile, or reloads it.
    pub(crate) fn start_bundle(&mut self, bundle: ScriptBundle) {
        let name = bundle.resource.to_string();
        self.load_bundle(bundle).unwrap_or_else(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            panic!("{name} does not compile:\n{}", faults.join("\n"))
        });
        self.tick();
    }

    /// Hands a resource in as the watcher of the shell does, with its faults if it has any.
    pub(crate) fn load_bundle(&mut self, bundle: ScriptBundle) -> Result<(), Vec<ScriptFault>> {
        self.folder
            .bundles
            .insert(bundle.resource.to_string(), bundle.clone());
        let result = self.prepare(&bundle);
        let faults = result.as_ref().err().cloned();
        let loaded = LoadedResource {
            name: bundle.resource.clone(),
            cause: LoadCause::Changed,
            result,
        };
        self.app
            .world_mut()
            .resource_mut::<ScriptInbox>()
            .0
            .push_back(loaded);
        faults.map_or(Ok(()), Err)
    }

    fn prepare(&self, bundle: &ScriptBundle) -> Result<Box<PreparedResource>, Vec<ScriptFault>> {
        let program = compile(bundle)?;
        let store = self
            .folder
            .stores
            .get(bundle.resource.as_str())
            .cloned()
            .unwrap_or_default();
        Ok(Box::new(PreparedResource {
            program,
            store,
            client_files: None,
        }))
    }

    /// How a resource stands.
    pub(crate) fn report(&self, name: &str) -> ResourceReport {
        self.app
            .world()
            .resource::<ScriptHost>()
            .reports()
            .into_iter()
            .find(|report| report.name == name)
            .unwrap_or_else(|| panic!("there is no resource {name}"))
    }

    /// The last error of a resource; empty when it had none.
    pub(crate) fn script_error(&self, name: &str) -> String {
        self.report(name).last_error.unwrap_or_default()
    }

    /// Fails the test when a resource had an error.
    #[track_caller]
    pub(crate) fn expect_no_script_error(&self) {
        for report in self.app.world().resource::<ScriptHost>().reports() {
            assert_eq!(report.last_error, None, "{}", report.name);
        }
    }

    /// The events that a player's client got from scripts, in order: name and packed data.
    pub(crate) fn script_events(&self, index: usize) -> Vec<(String, Vec<u8>)> {
        self.players[index]
            .events
            .iter()
            .filter_map(|(_, event)| match event {
                ServerLaneEvent::ServerEvent(event) => {
                    Some((event.name.as_str().to_owned(), event.data.as_bytes().to_vec()))
                }
                _ => None,
            })
            .collect()
    }

    /// What the threads of the program do for scripts.
    pub(super) fn do_script_work(&mut self, work: ScriptWork) {
        let (request, outcome) = match work {
            ScriptWork::Load(name) => {
                let result = self.folder.bundles.get(name.as_str()).cloned().map_or_else(
                    || {
                        Err(vec![ScriptFault {
                            file: format!("scripts/{name}"),
                            line: 0,
                            column: 0,
                            problem: "there is no such folder".to_owned(),
                        }])
                    },
                    |bundle| self.prepare(&bundle),
                );
                let loaded = LoadedResource {
                    name,
                    cause: LoadCause::Asked,
                    result,
                };
                let world = self.app.world_mut();
                world.resource_mut::<ScriptInbox>().0.push_back(loaded);
                return;
            }
            ScriptWork::Close(_) | ScriptWork::ServeFiles { .. } => return,
            ScriptWork::SaveStore {
                request,
                resource,
                changes,
            } => {
                let result = self.folder.store_writes_fail.clone().map_or(Ok(()), Err);
                if result.is_ok() {
                    let store = self.folder.stores.entry(resource.to_string()).or_default();
                    for change in changes {
                        match change.value {
                            Some(value) => store.insert(change.key, value),
                            None => store.remove(&change.key),
                        };
                    }
                }
                (request, ScriptOutcome::StoreSaved(result))
            }
            sql @ ScriptWork::Sql { .. } => {
                self.folder.statements.push(sql);
                return;
            }
            ScriptWork::HashPassword { request, password } => {
                let hash = format!("hash of {}", password.expose());
                (
                    request,
                    ScriptOutcome::PasswordHashed(Ok(decitick_components::secret::Secret::new(hash))),
                )
            }
            ScriptWork::VerifyPassword {
                request,
                password,
                hash,
            } => {
                let matches = *hash.expose() == format!("hash of {}", password.expose());
                (request, ScriptOutcome::PasswordVerified(Ok(matches)))
            }
        };
        self.answer_script(request, outcome);
    }

    /// Answers what a script asked for.
    pub(crate) fn answer_script(&mut self, request: u64, outcome: ScriptOutcome) {
        let answer = WorkerAnswer::Script(ScriptAnswer { request, outcome });
        self.worker_answers.push((self.now + self.worker_delay, answer));
    }
}
