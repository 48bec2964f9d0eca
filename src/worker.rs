//! Work that must not run on the tick thread: key derivation, the ban list on disk, and what gamemodes ask for.
//!
//! Each kind has a thread and a queue of its own, so that a slow derivation never holds up a ban. Answers come back
//! to the tick as messages.

use std::{
    io,
    path::PathBuf,
    thread::{self, JoinHandle},
    time::Duration,
};

use bevy_app::{App, Plugin};
use bevy_ecs::{
    resource::Resource,
    schedule::IntoScheduleConfigs,
    system::{Res, ResMut},
};
use crossbeam_channel::{Receiver, Sender, unbounded};
use decitick_components::{
    bans::BanList,
    settings::Settings,
    worker::{WorkerAnswer, WorkerInbox, WorkerOutbox, WorkerRequest},
};
use decitick_protocol::{Password, PasswordKey};
use decitick_systems::{
    receive::note_sent,
    script::ScriptInbox,
    tick::{Tick, TickSystems},
};

use crate::{
    ban_file,
    client_files::ClientFiles,
    scripts::{ScriptThreads, ScriptWorkers},
    socket,
};

/// How long what gamemodes keep may take to reach the disk when the server stops.
const SCRIPTS_FINISH: Duration = Duration::from_millis(1_500);

/// The tick's ends of the workers. The queues hold little: one write of the ban list at a time, and a password per
/// console line.
#[derive(Resource, Debug)]
pub struct Workers {
    passwords: Sender<(u64, Password)>,
    bans: Sender<(u64, BanList)>,
    scripts: ScriptWorkers,
    answers: Receiver<WorkerAnswer>,
}

impl Workers {
    /// The client files that wishes put up, for who serves them.
    #[must_use]
    pub const fn client_files(&self) -> &ClientFiles {
        self.scripts.client_files()
    }
}

/// The running workers.
#[derive(Debug)]
pub struct WorkerThreads {
    bans: JoinHandle<()>,
    scripts: ScriptThreads,
}

impl WorkerThreads {
    /// Waits until the ban list is on disk, and, within bounds, until what gamemodes keep is. A derivation or a hash that
    /// is under way is not waited for: nobody needs it.
    pub fn finish(self) {
        if self.bans.join().is_err() {
            tracing::error!("the thread that writes the ban list had panicked");
        }
        self.scripts.finish(SCRIPTS_FINISH);
    }
}

/// Starts the workers of a server directory, and reads the gamemodes of the settings: they are in the inbox for the first
/// tick.
///
/// # Errors
/// When a thread cannot be started.
pub fn start(
    directory: PathBuf,
    server_key: [u8; 32],
    settings: &Settings,
) -> io::Result<(Workers, ScriptInbox, WorkerThreads)> {
    let (passwords, wanted_passwords) = unbounded::<(u64, Password)>();
    let (bans, wanted_bans) = unbounded::<(u64, BanList)>();
    let (answer, answers) = unbounded();
    let (scripts, inbox, script_threads) = ScriptWorkers::start(directory.clone(), settings, answer.clone())?;
    let derived = answer.clone();
    thread::Builder::new()
        .name("passwords".to_owned())
        .spawn(move || {
            while let Ok(mut newest) = wanted_passwords.recv() {
                // The newest request wins: what it overtook is not derived at all.
                newest = wanted_passwords.try_iter().last().unwrap_or(newest);
                let (request, password) = newest;
                let key = PasswordKey::derive(&password, &server_key);
                if derived
                    .send(WorkerAnswer::PasswordDerived { request, key })
                    .is_err()
                {
                    return;
                }
            }
        })?;
    let bans_thread = thread::Builder::new().name("bans".to_owned()).spawn(move || {
        for (request, list) in wanted_bans {
            let result = ban_file::save(&directory, &list).map_err(|error| error.to_string());
            if let Err(error) = &result {
                tracing::error!(error, "the ban list could not be written");
            }
            // A tick that is gone needs no answer; the write was what mattered.
            let _ = answer.send(WorkerAnswer::BansSaved { request, result });
        }
    })?;
    Ok((
        Workers {
            passwords,
            bans,
            scripts,
            answers,
        },
        inbox,
        WorkerThreads {
            bans: bans_thread,
            scripts: script_threads,
        },
    ))
}

/// Adds the systems that hand wishes to the workers and take their answers; the [`Workers`] resource must be there.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkerPlugin;

impl Plugin for WorkerPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ScriptInbox>()
            .add_systems(Tick, take_answers.in_set(TickSystems::Receive).before(note_sent))
            // Client files are up before anybody is told of them.
            .add_systems(
                Tick,
                hand_out_work.in_set(TickSystems::Transmit).before(socket::hand_out),
            );
    }
}

fn take_answers(
    workers: Res<'_, Workers>,
    mut inbox: ResMut<'_, WorkerInbox>,
    mut scripts: ResMut<'_, ScriptInbox>,
) {
    inbox.0.extend(workers.answers.try_iter());
    scripts.0.extend(workers.scripts.take_loaded());
}

fn hand_out_work(workers: Res<'_, Workers>, mut outbox: ResMut<'_, WorkerOutbox>) {
    for request in outbox.0.drain(..) {
        // The workers outlive the tick.
        match request {
            WorkerRequest::DerivePassword { request, password } => {
                let _ = workers.passwords.send((request, password));
            }
            WorkerRequest::SaveBans { request, bans } => {
                let _ = workers.bans.send((request, bans));
            }
            WorkerRequest::Script(work) => workers.scripts.hand_out(work),
        }
    }
}
