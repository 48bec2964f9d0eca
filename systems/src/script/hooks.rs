//! The systems that give scripts their turn: messages of the world become calls, and what scripts leave becomes
//! requests.

mod news;

use bevy_ecs::{
    entity::Entity,
    message::{MessageCursor, Messages},
    system::{Local, Res, ResMut},
    world::World,
};
use decitick_components::{
    auth::AuthResource,
    ban_changes::BanChanges,
    client_files::FilesRequest,
    clock::Clock,
    console::{ConsoleInbox, ConsoleOutbox},
    entropy::Entropy,
    lane::OutboundLane,
    messages::{ChatPassed, SessionEnded},
    phase::Phase,
    requests::ThingRequest,
    script::{ScriptAnswers, ScriptWork},
    server::{Lifecycle, PublicFace},
    session::SlotTable,
    thing::ThingBook,
    worker::{WorkerOutbox, WorkerRequest},
    zone::ZoneBook,
};

use self::news::{Cursors, collect, collect_departures, pass_everything, tell_of_ends};
use super::{
    api::OF_SCRIPTS,
    desk::{ServerWish, Told, Wishes},
    host::Host,
    judge::ScriptHost,
    loading::ScriptInbox,
    sync::{ChangedThings, NewZones, Players, sync},
};
use crate::handshake::request_password;

/// Requests of scripts for bans are answered to nobody.
pub(crate) const SCRIPT_ASKER: u64 = u64::MAX;

/// Console commands of all scripts that are executed in a tick; the others wait.
const LINES_PER_TICK: usize = 16;

/// A new tick: a new budget of time, new keys for chance.
pub(crate) fn begin_tick(host: Res<'_, ScriptHost>, clock: Res<'_, Clock>, mut entropy: ResMut<'_, Entropy>) {
    let mut host = host.lock();
    let key = if host.is_idle() { None } else { entropy.array() };
    let tickets = if host.issues_tickets() {
        entropy.array()
    } else {
        None
    };
    host.begin_tick(&clock, key, tickets);
}

/// Notes who judges logins now: a level, copied, so that no order of starts and stops within a tick is missed.
pub(crate) fn note_judge(host: Res<'_, ScriptHost>, mut auth: ResMut<'_, AuthResource>) {
    let running = host.lock().judge();
    if auth.running != running {
        auth.running = running;
    }
}

/// The scripts' turn.
pub(crate) fn run_scripts(
    world: &mut World,
    players: &mut Players,
    things: &mut ChangedThings,
    zones: &mut NewZones,
    mut cursors: Local<'_, Cursors>,
) {
    let shared = world.resource::<ScriptHost>().clone();
    let mut host = shared.lock();
    let loaded: Vec<_> = world.resource_mut::<ScriptInbox>().0.drain(..).collect();
    if host.is_idle() && loaded.is_empty() && host.desk().wishes.is_empty() {
        host.desk().in_step = false;
        world.resource_mut::<AuthResource>().known = true;
        pass_everything(world, &mut cursors);
        return;
    }
    collect_departures(world, &mut host, &mut cursors);
    sync(world, &mut host.desk(), players, things, zones);
    for resource in loaded {
        host.take(resource);
    }
    let answers: Vec<_> = world.resource_mut::<ScriptAnswers>().0.drain(..).collect();
    for answer in answers {
        host.answer(answer);
    }
    collect(world, &mut host, &mut cursors);
    host.collect_timers();
    let passed = world.resource::<Clock>().step;
    host.run(passed);
    host.hand_in_stores();
    hand_over(world, &mut host);
    world.resource_mut::<AuthResource>().known = true;
}

/// What scripts left becomes requests of this tick.
fn hand_over(world: &mut World, host: &mut Host) {
    for spoken in host.take_spoken() {
        world.write_message(ChatPassed {
            entity: spoken.connection,
            text: spoken.text,
        });
    }
    let wishes = std::mem::take(&mut host.desk().wishes);
    let Wishes {
        players,
        world: shared,
        things,
        zones,
        ends,
        logins,
        views,
        files,
        told,
        server,
        mut console,
        work,
    } = wishes;
    for request in players {
        world.write_message(request);
    }
    for request in shared {
        world.write_message(request);
    }
    for request in things {
        if matches!(request, ThingRequest::Create(..)) && !world.resource_mut::<ThingBook>().claim() {
            tracing::warn!(
                reason = "too_many_things",
                "an entity was not made: there are too many"
            );
            continue;
        }
        world.write_message(request);
    }
    for request in zones {
        if matches!(request, decitick_components::requests::ZoneRequest::Create(..))
            && !world.resource_mut::<ZoneBook>().claim()
        {
            tracing::warn!(
                reason = "too_many_zones",
                "a zone was not made: there are too many"
            );
            continue;
        }
        world.write_message(request);
    }
    for request in ends {
        world.write_message(request);
    }
    for request in views {
        world.write_message(request);
    }
    for request in logins {
        world.write_message(request);
    }
    for (resource, files) in files {
        world.write_message(FilesRequest {
            resource: resource.clone(),
            sha256: files.as_ref().map(|files| files.sha256),
        });
        hand_out_work(world, vec![ScriptWork::ServeFiles { resource, files }]);
    }
    tell(world, told);
    for wish in server {
        match wish {
            ServerWish::ModeText(text) => world.resource_mut::<PublicFace>().mode = text,
            ServerWish::Password(password) => request_password(world, password),
            ServerWish::Bans(change) => world.resource_mut::<BanChanges>().request(SCRIPT_ASKER, change),
        }
    }
    // The operator's lines have their turn in every tick, however many scripts have.
    let rest = console.split_off(console.len().min(LINES_PER_TICK));
    host.desk().wishes.console = rest;
    world.resource_mut::<ConsoleInbox>().0.extend(console);
    hand_out_work(world, work);
}

fn hand_out_work(world: &mut World, work: Vec<ScriptWork>) {
    world
        .resource_mut::<WorkerOutbox>()
        .0
        .extend(work.into_iter().map(WorkerRequest::Script));
}

/// Events and lines go onto the lanes; a full lane remembers that it overflowed.
fn tell(world: &mut World, told: Vec<Told>) {
    let everybody: Vec<Entity> = if told.iter().any(|told| matches!(told, Told::Everybody(_))) {
        world
            .resource::<SlotTable>()
            .iter()
            .map(|(_, entity)| entity)
            .collect()
    } else {
        Vec::new()
    };
    for told in told {
        let (receivers, event) = match &told {
            Told::One(entity, event) => (std::slice::from_ref(entity), event),
            Told::Everybody(event) => (everybody.as_slice(), event),
        };
        for &entity in receivers {
            let joined = world.get::<Phase>(entity).is_some_and(|phase| phase.joined());
            if let Some(mut lane) = world.get_mut::<OutboundLane>(entity).filter(|_| joined) {
                let _ = lane.push(event.clone());
            }
        }
    }
}

/// What scripts said when the simulation asked them is told in the same tick; kicks count too.
pub(crate) fn tell_what_was_asked(world: &mut World) {
    let shared = world.resource::<ScriptHost>().clone();
    let host = shared.lock();
    let (told, ends) = {
        let mut desk = host.desk();
        (
            std::mem::take(&mut desk.wishes.told),
            std::mem::take(&mut desk.wishes.ends),
        )
    };
    drop(host);
    tell(world, told);
    for request in ends {
        world.write_message(request);
    }
}

/// Answers of the console to scripts are not the consoles'.
pub(crate) fn take_console_answers(host: Res<'_, ScriptHost>, mut answers: ResMut<'_, ConsoleOutbox>) {
    if answers.0.iter().any(|answer| answer.id & OF_SCRIPTS != 0) {
        host.lock().take_console_answers(&mut answers.0);
    }
}

/// The server stops: resources are told who left and that they stop, and what they keep is handed in.
pub(crate) fn finish_scripts(world: &mut World, mut ended: Local<'_, MessageCursor<SessionEnded>>) {
    if !world.resource::<Lifecycle>().stopping {
        ended.clear(world.resource::<Messages<SessionEnded>>());
        return;
    }
    let shared = world.resource::<ScriptHost>().clone();
    let mut host = shared.lock();
    let mut cursors = Cursors {
        ended: std::mem::take(&mut ended),
        ..Cursors::default()
    };
    tell_of_ends(world, &mut host, &mut cursors);
    host.run_to_the_end();
    host.stop_all();
    let work = std::mem::take(&mut host.desk().wishes.work);
    hand_out_work(world, work);
}
