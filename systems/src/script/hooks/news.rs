//! Messages of the world become news for resources, in the order in which things happened.

use bevy_ecs::{
    entity::Entity,
    message::{Message, MessageCursor, Messages},
    world::World,
};
use decitick_components::{
    auth::{AssertionJudged, LoginBegan},
    messages::{
        ChatPassed, ChatReceived, ClientEventReceived, PlayerDied, PlayerJoined, PlayerSpawned, SessionEnded,
        ThingTriggered, ZoneEntered, ZoneLeft,
    },
    pages::ViewReported,
    reasons::CloseReason,
    script::ScriptAnswers,
};

use crate::script::{
    host::{Happened, Host, is_pickup},
    mirror::Mirror,
    sync::{newcomer_of, player_of},
    types::Player,
};

/// What has been read of the world's messages.
#[derive(Default)]
pub(crate) struct Cursors {
    pub(super) died: MessageCursor<PlayerDied>,
    pub(super) spawned: MessageCursor<PlayerSpawned>,
    pub(super) zone_entered: MessageCursor<ZoneEntered>,
    pub(super) zone_left: MessageCursor<ZoneLeft>,
    pub(super) triggered: MessageCursor<ThingTriggered>,
    pub(super) ended: MessageCursor<SessionEnded>,
    pub(super) joined: MessageCursor<PlayerJoined>,
    pub(super) said: MessageCursor<ChatReceived>,
    pub(super) client_events: MessageCursor<ClientEventReceived>,
    pub(super) views: MessageCursor<ViewReported>,
    pub(super) logins: MessageCursor<LoginBegan>,
    pub(super) judged: MessageCursor<AssertionJudged>,
}

/// Without resources chat goes on as it is, and nothing else concerns anybody.
pub(super) fn pass_everything(world: &mut World, cursors: &mut Cursors) {
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
pub(super) fn collect_departures(world: &World, host: &mut Host, cursors: &mut Cursors) {
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

pub(super) fn tell_of_ends(world: &World, host: &mut Host, cursors: &mut Cursors) {
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
pub(super) fn collect(world: &World, host: &mut Host, cursors: &mut Cursors) {
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
