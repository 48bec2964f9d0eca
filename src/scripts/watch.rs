//! The thread that reads and compiles resources, and looks whether their files changed.
//!
//! It looks twice a second instead of asking the system to be told: the files are few, looking works alike on local
//! disks, network mounts and mounts of containers, of which some tell nothing, and it takes no dependency. An editor writes
//! in steps, so a change counts once it stood still from one look to the next.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, RecvError, RecvTimeoutError, Sender};
use decitick_components::script::ResourceName;
use decitick_systems::script::{LoadCause, LoadedResource};

use super::{
    client_folder::{self, ClientListing, KnownHashes},
    load,
    sql::Keepers,
    walk::{self, Listing},
};

/// Time between two looks.
pub const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What the tick wants of the thread.
#[derive(Debug)]
pub(super) enum LoaderRequest {
    /// Read and compile a resource, and watch it from then on.
    Load(ResourceName),
    /// Watch it no more.
    Close(ResourceName),
}

/// What the folder of a resource holds at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    scripts: Listing,
    client: ClientListing,
}

impl State {
    fn of(directory: &Path, name: &ResourceName) -> Self {
        Self {
            scripts: walk::list(directory, name),
            client: client_folder::list(directory, name),
        }
    }
}

/// What is known of the files of a watched resource.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    /// The files as they were just before they were last read.
    read: State,
    /// The files as the last look found them.
    seen: State,
    /// The scripts as they were when the resource was last found sound: what the tick has.
    sound: Option<Listing>,
}

impl Watched {
    fn of(state: State) -> Self {
        Self {
            read: state.clone(),
            seen: state,
            sound: None,
        }
    }

    /// Takes a look; what changed when the files are others than were read and stood still since the look before.
    fn look(&mut self, now: State) -> Option<LoadCause> {
        let settled = now == self.seen;
        self.seen = now;
        if !settled || self.seen == self.read {
            return None;
        }
        self.read.clone_from(&self.seen);
        // Where the tick does not have these scripts it needs them, whatever changed last.
        let has_scripts = self.sound.as_ref() == Some(&self.read.scripts);
        Some(if has_scripts {
            LoadCause::FilesChanged
        } else {
            LoadCause::Changed
        })
    }
}

/// The state of the thread.
#[derive(Debug)]
pub(super) struct Loader {
    pub directory: PathBuf,
    pub keepers: Keepers,
    pub loaded: Sender<LoadedResource>,
    /// Whether changes are looked for.
    pub hot_reload: bool,
    pub watched: BTreeMap<ResourceName, Watched>,
    /// Hashes of client files, shared with who serves them.
    pub known: KnownHashes,
}

impl Loader {
    /// Serves requests and looks for changes until the other end is gone.
    pub(super) fn run(mut self, requests: &Receiver<LoaderRequest>) {
        let mut next_look = Instant::now() + LOOK_EVERY;
        loop {
            let request = if self.hot_reload && !self.watched.is_empty() {
                requests.recv_deadline(next_look)
            } else {
                requests
                    .recv()
                    .map_err(|RecvError| RecvTimeoutError::Disconnected)
            };
            match request {
                Ok(LoaderRequest::Load(name)) => {
                    if self.load(&name).is_err() {
                        return;
                    }
                }
                Ok(LoaderRequest::Close(name)) => {
                    self.watched.remove(&name);
                    self.known.forget(&name);
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.look().is_err() {
                        return;
                    }
                    next_look = Instant::now() + LOOK_EVERY;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Reads a resource that was asked for, and watches it from then on.
    pub(super) fn read(&mut self, name: &ResourceName) -> LoadedResource {
        let state = State::of(&self.directory, name);
        self.watched.insert(name.clone(), Watched::of(state));
        self.read_for(name, LoadCause::Asked)
    }

    fn load(&mut self, name: &ResourceName) -> Result<(), Gone> {
        let loaded = self.read(name);
        self.send(loaded)
    }

    /// Looks at every resource once and reads those that changed.
    fn look(&mut self) -> Result<(), Gone> {
        let mut changed = Vec::new();
        for (name, watched) in &mut self.watched {
            if let Some(cause) = watched.look(State::of(&self.directory, name)) {
                changed.push((name.clone(), cause));
            }
        }
        changed.iter().try_for_each(|(name, cause)| {
            let loaded = self.read_for(name, *cause);
            self.send(loaded)
        })
    }

    fn read_for(&mut self, name: &ResourceName, cause: LoadCause) -> LoadedResource {
        let keepers = &self.keepers;
        let loaded = load::load(&self.directory, name, cause, &self.known, |name| {
            keepers.read_store(name)
        });
        if loaded.result.is_ok()
            && let Some(watched) = self.watched.get_mut(name)
        {
            watched.sound = Some(watched.read.scripts.clone());
        }
        loaded
    }

    fn send(&self, loaded: LoadedResource) -> Result<(), Gone> {
        self.loaded.send(loaded).map_err(|_| Gone)
    }
}

/// The tick is gone.
#[derive(Debug)]
struct Gone;

#[cfg(test)]
mod tests {
    use std::sync::{Arc, atomic::AtomicBool};

    use crossbeam_channel::unbounded;

    use super::*;

    struct Place {
        directory: tempfile::TempDir,
        loader: Loader,
        loaded: Receiver<LoadedResource>,
    }

    fn mode() -> ResourceName {
        ResourceName::parse("mode").unwrap()
    }

    impl Place {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let (answers, _) = unbounded();
            let (send, loaded) = unbounded();
            let path = directory.path().to_owned();
            let loader = Loader {
                keepers: Keepers::new(path.clone(), answers, Arc::new(AtomicBool::new(false))),
                directory: path,
                loaded: send,
                hot_reload: true,
                watched: BTreeMap::new(),
                known: KnownHashes::default(),
            };
            Self {
                directory,
                loader,
                loaded,
            }
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.directory.path().join("scripts/mode").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        /// What a look sends: whether each resource was sound.
        fn look(&mut self) -> Vec<(LoadCause, bool)> {
            self.loader.look().unwrap();
            self.sent()
        }

        fn sent(&self) -> Vec<(LoadCause, bool)> {
            self.loaded
                .try_iter()
                .map(|loaded| (loaded.cause, loaded.result.is_ok()))
                .collect()
        }

        fn load(&mut self) -> Vec<(LoadCause, bool)> {
            self.loader.load(&mode()).unwrap();
            self.sent()
        }
    }

    #[test]
    fn a_change_is_read_once_and_only_after_it_stood_still() {
        let mut place = Place::new();
        place.write("resource.ron", "()");
        place.write("main.rhai", "");
        assert_eq!(place.load(), [(LoadCause::Asked, true)]);
        assert_eq!(place.look(), []);
        place.write("main.rhai", "fn");
        assert_eq!(place.look(), [], "it was just written");
        place.write("main.rhai", "fn tick(dt)");
        assert_eq!(place.look(), [], "it is written on");
        place.write("main.rhai", "fn tick(dt) {}");
        assert_eq!(place.look(), []);
        assert_eq!(place.look(), [(LoadCause::Changed, true)]);
        assert_eq!(place.look(), []);
    }

    #[test]
    fn every_kind_of_change_counts_and_other_files_do_not() {
        let mut place = Place::new();
        place.write("resource.ron", "()");
        place.write("main.rhai", "");
        place.load();
        let folder = place.directory.path().join("scripts/mode");
        let reads = |place: &mut Place| [place.look(), place.look(), place.look()].concat().len();
        place.write("lib/x.rhai", "");
        assert_eq!(reads(&mut place), 1, "a new file");
        std::fs::rename(folder.join("lib/x.rhai"), folder.join("lib/y.rhai")).unwrap();
        assert_eq!(reads(&mut place), 1, "another name");
        std::fs::remove_file(folder.join("lib/y.rhai")).unwrap();
        assert_eq!(reads(&mut place), 1, "a file less");
        place.write("resource.ron", "(description: \"x\")");
        assert_eq!(reads(&mut place), 1, "the manifest");
        std::os::unix::fs::symlink("main.rhai", folder.join("l.rhai")).unwrap();
        assert_eq!(reads(&mut place), 1, "a link");
        place.write("notes.txt", "x");
        place.write(".main.rhai.swp", "x");
        place.write("client/.page.html.swp", "x");
        assert_eq!(reads(&mut place), 0, "what is no script");
    }

    #[test]
    fn a_file_that_another_takes_the_place_of_counts_even_with_the_same_size() {
        let mut place = Place::new();
        place.write("resource.ron", "()");
        place.write("main.rhai", "// a");
        place.load();
        place.write("main.rhai~", "// b");
        let folder = place.directory.path().join("scripts/mode");
        std::fs::rename(folder.join("main.rhai~"), folder.join("main.rhai")).unwrap();
        assert_eq!(place.look(), []);
        assert_eq!(place.look(), [(LoadCause::Changed, true)]);
    }

    #[test]
    fn a_change_for_the_worse_is_told_and_so_is_its_mend() {
        let mut place = Place::new();
        assert_eq!(
            place.load(),
            [(LoadCause::Asked, false)],
            "there is no such folder yet"
        );
        place.write("main.rhai", "");
        assert_eq!(
            [place.look(), place.look()].concat(),
            [(LoadCause::Changed, false)]
        );
        place.write("resource.ron", "()");
        assert_eq!(
            [place.look(), place.look()].concat(),
            [(LoadCause::Changed, true)]
        );
        std::fs::remove_dir_all(place.directory.path().join("scripts")).unwrap();
        assert_eq!(
            [place.look(), place.look()].concat(),
            [(LoadCause::Changed, false)]
        );
    }

    #[test]
    fn what_changed_while_it_was_read_is_read_again() {
        let before = State::default();
        let mut after = State::default();
        after.scripts.found = true;
        let mut watched = Watched::of(before);
        assert_eq!(watched.look(after.clone()), None);
        assert_eq!(watched.look(after.clone()), Some(LoadCause::Changed));
        assert_eq!(watched.look(after), None);
    }

    #[test]
    fn client_files_that_change_alone_are_told_as_such() {
        let mut place = Place::new();
        place.write("resource.ron", "()");
        place.write("main.rhai", "");
        place.load();
        let settle = |place: &mut Place| [place.look(), place.look(), place.look()].concat();
        place.write("client/page.html", "x");
        assert_eq!(settle(&mut place), [(LoadCause::FilesChanged, true)]);
        place.write("client/page.html", "y");
        assert_eq!(settle(&mut place), [(LoadCause::FilesChanged, true)]);
        let folder = place.directory.path().join("scripts/mode");
        std::os::unix::fs::symlink("page.html", folder.join("client/link")).unwrap();
        assert_eq!(settle(&mut place), [(LoadCause::FilesChanged, false)]);
        std::fs::remove_file(folder.join("client/link")).unwrap();
        assert_eq!(
            settle(&mut place),
            [(LoadCause::FilesChanged, true)],
            "the scripts that run are still these"
        );
        place.write("client/page.html", "z");
        place.write("main.rhai", "fn tick(dt) {}");
        assert_eq!(settle(&mut place), [(LoadCause::Changed, true)], "both changed");
        std::fs::remove_dir_all(folder.join("client")).unwrap();
        assert_eq!(settle(&mut place), [(LoadCause::FilesChanged, true)]);
    }

    #[test]
    fn scripts_that_only_wait_for_sound_client_files_come_as_a_change_of_scripts() {
        let mut place = Place::new();
        place.write("resource.ron", "()");
        place.write("main.rhai", "");
        place.load();
        let settle = |place: &mut Place| [place.look(), place.look(), place.look()].concat();
        place.write("main.rhai", "fn tick(dt) {}");
        place.write("client/manifest.json", "{}");
        assert_eq!(settle(&mut place), [(LoadCause::Changed, false)]);
        let folder = place.directory.path().join("scripts/mode");
        std::fs::remove_dir_all(folder.join("client")).unwrap();
        assert_eq!(settle(&mut place), [(LoadCause::Changed, true)]);
    }

    #[test]
    fn requests_are_served_in_order_and_a_closed_resource_is_watched_no_more() {
        let place = Place::new();
        place.write("resource.ron", "()");
        place.write("main.rhai", "");
        let Place {
            loader,
            loaded,
            directory,
        } = place;
        let (send, requests) = unbounded();
        for request in [
            LoaderRequest::Load(mode()),
            LoaderRequest::Close(mode()),
            LoaderRequest::Load(ResourceName::parse("none").unwrap()),
        ] {
            send.send(request).unwrap();
        }
        drop(send);
        loader.run(&requests);
        let names: Vec<(String, bool)> = loaded
            .iter()
            .map(|loaded| (loaded.name.to_string(), loaded.result.is_ok()))
            .collect();
        assert_eq!(names, [("mode".to_owned(), true), ("none".to_owned(), false)]);
        drop(directory);
    }
}
