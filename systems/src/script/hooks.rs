//! The systems that give scripts their turn: messages of the world become calls, and what scripts leave becomes
//! requests.

use bevy_ecs::{
    entity::Entity,
    message::{Message, MessageCursor, Messages},
    system::{Local, Res, ResMut},
    world::World,
};
use decitick_components::{
    auth::{AssertionJudged, AuthResource, LoginBegan},
    ban_changes::BanChanges,
    client_files::FilesRequest,
    clock::Clock,
    console::{ConsoleInbox, ConsoleOutbox},
    entropy::Entropy,
    lane::OutboundLane,
    messages::{
        ChatPassed, ChatReceived, ClientEventReceived, PlayerDied, PlayerJoined, PlayerSpawned, SessionEnded,
        ThingTriggered, ZoneEntered, ZoneLeft,
    },
    pages::ViewReported,
    phase::Phase,
    reasons::CloseReason,
    requests::ThingRequest,
    script::{ScriptAnswers, ScriptWork},
    server::{Lifecycle, PublicFace},
    session::SlotTable,
    thing::ThingBook,
    worker::{WorkerOutbox, WorkerRequest},
    zone::ZoneBook,
};

use super::{
    api::OF_SCRIPTS,
    desk::{ServerWish, Told, Wishes},
    host::{Happened, Host, is_pickup},
    judge::ScriptHost,
    loading::ScriptInbox,
    mirror::Mirror,
    sync::{ChangedThings, NewZones, Players, newcomer_of, player_of, sync},
    types::Player,
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
    let tickets = (0..host.wanted_tickets())
        .map_while(|_| entropy.array())
        .collect();
    host.begin_tick(&clock, key, tickets);
}

/// Notes who judges logins now: a level, copied, so that no order of starts and stops within a tick is missed.
pub(crate) fn note_judge(host: Res<'_, ScriptHost>, mut auth: ResMut<'_, AuthResource>) {
    let running = host.lock().judge();
    if auth.running != running {
        auth.running = running;
    }
}

/// What has been read of the world's messages.
#[derive(Default)]
pub(crate) struct Cursors {
    died: MessageCursor<PlayerDied>,
    spawned: MessageCursor<PlayerSpawned>,
    zone_entered: MessageCursor<ZoneEntered>,
    zone_left: MessageCursor<ZoneLeft>,
    triggered: MessageCursor<ThingTriggered>,
    ended: MessageCursor<SessionEnded>,
    joined: MessageCursor<PlayerJoined>,
    said: MessageCursor<ChatReceived>,
    client_events: MessageCursor<ClientEventReceived>,
    views: MessageCursor<ViewReported>,
    logins: MessageCursor<LoginBegan>,
    judged: MessageCursor<AssertionJudged>,
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

/// Without resources chat goes on as it is, and nothing else concerns anybody.
fn pass_everything(world: &mut World, cursors: &mut Cursors) {
    let said: Vec<ChatReceived> = news(world, &mut cursors.said);
    for ChatReceived { entity, text } in said {
        world.write_message(ChatPassed { entity, text });
    }
    skip(world, &mut cursors.died);
    skip(world, &mut cursors.spawned);
    skip(world, &mut cursors.zone_entered);
    skip(world, &mut cursors.zone_left);
    skip(world, &mut cursors.triggered);
    skip(world, &mut cursors.ended);
    skip(world, &mut cursors.joined);
    skip(world, &mut cursors.client_events);
    skip(world, &mut cursors.views);
    skip(world, &mut cursors.logins);
    skip(world, &mut cursors.judged);
    world.resource_mut::<ScriptAnswers>().0.clear();
}

fn news<M: Message + Clone>(world: &World, cursor: &mut MessageCursor<M>) -> Vec<M> {
    cursor.read(world.resource::<Messages<M>>()).cloned().collect()
}

fn skip<M: Message>(world: &World, cursor: &mut MessageCursor<M>) {
    cursor.clear(world.resource::<Messages<M>>());
}

/// Who left goes from the copy before others come into its slot, and whoever died or came into the world before is told
/// of first.
fn collect_departures(world: &World, host: &mut Host, cursors: &mut Cursors) {
    let player = |mirror: &Mirror, entity: Entity| player_of(mirror, entity);
    for death in news(world, &mut cursors.died) {
        let (who, killer) = {
            let desk = host.desk();
            let killer = death.killer.and_then(|killer| player(&desk.mirror, killer));
            (player(&desk.mirror, death.entity), killer)
        };
        if let Some(who) = who {
            host.tell(Happened::Died {
                player: who,
                killer,
                weapon: death.weapon,
            });
        }
    }
    let mut told = Vec::new();
    {
        let desk = host.desk();
        let find = |entity| player(&desk.mirror, entity);
        told.extend(
            news(world, &mut cursors.spawned)
                .into_iter()
                .filter_map(|news| find(news.entity).map(Happened::Spawned)),
        );
        told.extend(
            news(world, &mut cursors.zone_left)
                .into_iter()
                .filter_map(|news| find(news.player).map(|who| Happened::ZoneLeft(who, news.zone))),
        );
        told.extend(
            news(world, &mut cursors.zone_entered)
                .into_iter()
                .filter_map(|news| find(news.player).map(|who| Happened::ZoneEntered(who, news.zone))),
        );
        let pickup = |thing: u32| {
            desk.mirror
                .things
                .get(&thing)
                .is_some_and(|copy| is_pickup(copy.kind))
        };
        told.extend(
            news(world, &mut cursors.triggered)
                .into_iter()
                .filter(|news| pickup(news.thing.0))
                .filter_map(|news| find(news.player).map(|who| Happened::Triggered(who, news.thing))),
        );
    }
    for happened in told {
        host.tell(happened);
    }
    tell_of_ends(world, host, cursors);
}

fn tell_of_ends(world: &World, host: &mut Host, cursors: &mut Cursors) {
    for end in news(world, &mut cursors.ended) {
        let player = Player {
            id: end.player.0,
            token: end.generation.0,
        };
        host.desk().mirror.depart(player.id, player.token);
        let known = host.desk().mirror.departed.contains_key(&player.token);
        let waited = host.desk().mirror.newcomers.remove(&player.token).is_some();
        if waited {
            host.forget_newcomer(player);
        }
        if known {
            host.tell(Happened::Disconnected(player, reason_word(end.reason)));
        }
    }
}

const fn reason_word(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::Bye => "bye",
        CloseReason::Timeout => "timeout",
        CloseReason::Kick => "kick",
        CloseReason::Overflow => "overflow",
        CloseReason::Shutdown => "shutdown",
    }
}

/// What happened since, of those who are on.
fn collect(world: &World, host: &mut Host, cursors: &mut Cursors) {
    let find = |host: &Host, entity: Entity| player_of(&host.desk().mirror, entity);
    for joined in news(world, &mut cursors.joined) {
        if let Some(player) = find(host, joined.entity) {
            host.tell(Happened::Connected(player));
        }
    }
    for ChatReceived { entity, text } in news(world, &mut cursors.said) {
        if let Some(player) = find(host, entity) {
            host.tell(Happened::Said {
                player,
                connection: entity,
                text,
            });
        }
    }
    for event in news(world, &mut cursors.client_events) {
        if let Some(player) = find(host, event.entity) {
            host.tell(Happened::ClientEvent {
                player,
                name: event.name,
                data: event.data.into_bytes(),
            });
        }
    }
    collect_logins(world, host, cursors);
}

/// What pages said, and what concerns those who wait for a login.
fn collect_logins(world: &World, host: &mut Host, cursors: &mut Cursors) {
    let newcomer = |host: &Host, entity: Entity| newcomer_of(&host.desk().mirror, entity);
    for began in news(world, &mut cursors.logins) {
        if let Some(newcomer) = newcomer(host, began.entity) {
            host.tell(Happened::LoginBegan(newcomer));
        }
    }
    for ViewReported {
        entity,
        view,
        resource,
        report,
    } in news(world, &mut cursors.views)
    {
        let player = player_of(&host.desk().mirror, entity);
        if let Some(player) = player {
            host.tell(Happened::ViewReported {
                player,
                of: resource,
                view,
                report,
            });
        } else if let Some(newcomer) = newcomer(host, entity) {
            host.tell(Happened::LoginViewReported {
                newcomer,
                view,
                report,
            });
        }
    }
    for judged in news(world, &mut cursors.judged) {
        if let Some(newcomer) = newcomer(host, judged.entity) {
            host.tell(Happened::AssertionJudged(newcomer, judged.outcome));
        }
    }
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
