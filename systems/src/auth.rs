//! Logins: who waits in PreAuth is judged, let in or sent away (docs/protocol.md 1.5).
//!
//! Who is let in is decided by the auth resource; it knows connections in PreAuth only by messages, as this module knows
//! the resource only by its wishes.

use bevy_app::{App, Plugin};
use bevy_ecs::{
    entity::Entity,
    message::{MessageCursor, MessageWriter, Messages},
    schedule::IntoScheduleConfigs,
    system::{Local, Query, Res, ResMut},
    world::World,
};
use decitick_components::{
    auth::{
        AssertionJudged, AssertionOutcome, AssertionQueue, AssertionReceived, AuthResource, Login,
        LoginRequest, LoginWish,
    },
    clock::Clock,
    lane::OutboundLane,
    limits::ASSERTIONS_PER_TICK,
    messages::{EndSessionRequest, KickReason, PlayerJoined},
    phase::Phase,
    profile::{Account, DisplayName},
    reasons::CloseReason,
    server::ServerKey,
    session::{PlayerId, SlotTable},
    settings::Settings,
};
use decitick_protocol::{
    AssertionFault, AuthAccepted, Expectations, ExpectedTicket, Issuer, ServerLaneEvent, judge_assertion,
};

use crate::{
    handshake::{Newcomers, tell_newcomers, tell_of_newcomers},
    lane::broadcast::tell,
    tick::{Tick, TickSystems},
};

/// Adds the systems that decide about connections in PreAuth.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuthPlugin;

impl Plugin for AuthPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Tick, judge_assertions.in_set(TickSystems::Authenticate))
            .add_systems(
                Tick,
                (apply_login_requests, tell_newcomers, tell_of_newcomers)
                    .chain()
                    .in_set(TickSystems::Apply)
                    .after(crate::pages::apply_view_requests)
                    .before(crate::ban_changes::bring_into_force),
            )
            .add_systems(
                Tick,
                end_waiting
                    .in_set(TickSystems::Expire)
                    .before(crate::liveness::grant_patience),
            );
    }
}

/// Judges what has come, oldest first, as many as a tick may cost.
fn judge_assertions(
    mut queue: ResMut<'_, AssertionQueue>,
    settings: Res<'_, Settings>,
    key: Res<'_, ServerKey>,
    clock: Res<'_, Clock>,
    connections: Query<'_, '_, &Phase>,
    players: Query<'_, '_, &PlayerId>,
    mut judged: MessageWriter<'_, AssertionJudged>,
) {
    let mut left = ASSERTIONS_PER_TICK;
    while left > 0
        && let Some(received) = queue.0.pop_front()
    {
        // Whoever left or was let in meanwhile needs no verdict.
        if connections.get(received.entity) != Ok(&Phase::PreAuth) {
            continue;
        }
        left -= 1;
        let outcome = outcome(&received, &settings, &key, clock.unix_seconds());
        tracing::info!(
            player = players.get(received.entity).ok().map(|player| player.0),
            result = outcome.name(),
            "the token of an identity site was judged"
        );
        judged.write(AssertionJudged {
            entity: received.entity,
            outcome,
        });
    }
    if queue.0.is_empty() {
        // A rush leaves no storage behind.
        queue.0.shrink_to(ASSERTIONS_PER_TICK);
    }
}

fn outcome(
    received: &AssertionReceived,
    settings: &Settings,
    key: &ServerKey,
    unix_seconds: u64,
) -> AssertionOutcome {
    let providers = settings.auth.iter().flat_map(|auth| &auth.providers);
    let issuers = providers.map(|provider| Issuer {
        id: &provider.id,
        key: &provider.key.0,
    });
    let expected = Expectations {
        server_key: &key.0,
        unix_seconds,
        ticket: received.ticket.as_ref().map(|ticket| ExpectedTicket {
            provider: &ticket.provider,
            ticket: ticket.text.expose(),
        }),
    };
    match judge_assertion(&received.jwt, issuers, &expected) {
        Ok(identity) => AssertionOutcome::Accepted {
            provider: identity.provider,
            subject: identity.subject,
        },
        Err(AssertionFault::Invalid) => AssertionOutcome::Invalid,
        Err(AssertionFault::Audience) => AssertionOutcome::Audience,
        Err(AssertionFault::Ticket) => AssertionOutcome::Ticket,
        Err(AssertionFault::Expired) => AssertionOutcome::Expired,
    }
}

/// Tickets are noted, and who is accepted joins: AuthAccepted is the next event of its lane, and then comes what every
/// newcomer is told.
fn apply_login_requests(world: &mut World, mut requested: Local<'_, MessageCursor<LoginRequest>>) {
    let requests: Vec<LoginRequest> = requested
        .read(world.resource::<Messages<LoginRequest>>())
        .cloned()
        .collect();
    for LoginRequest { entity, wish } in requests {
        if world.get::<Phase>(entity) != Some(&Phase::PreAuth) {
            continue;
        }
        match wish {
            LoginWish::Issue(ticket) => {
                if let Some(mut login) = world.get_mut::<Login>(entity) {
                    login.ticket = Some(ticket);
                }
            }
            LoginWish::Accept(account) => accept(world, entity, account),
        }
    }
}

fn accept(world: &mut World, entity: Entity, account: Option<Account>) {
    let Ok(mut connection) = world.get_entity_mut(entity) else {
        return;
    };
    if let Some(account) = account {
        connection.insert(account);
    }
    connection.insert(Phase::PreSpawn);
    if let Some(mut login) = connection.get_mut::<Login>() {
        // What it held of the login is of no use any more, and a secret.
        *login = Login::default();
    }
    if let Some(mut lane) = connection.get_mut::<OutboundLane>() {
        tell(&mut lane, &ServerLaneEvent::AuthAccepted(AuthAccepted));
    }
    if let (Some(&player), Some(name)) = (connection.get::<PlayerId>(), connection.get::<DisplayName>()) {
        tracing::info!(
            player = player.0,
            name = decitick_protocol::escape_for_display(name.0.as_str(), 64),
            "player joined: the login was accepted"
        );
    }
    world.resource_mut::<Newcomers>().0.push(entity);
    world.write_message(PlayerJoined { entity });
}

/// Who waited too long goes, and so does everybody whose judge is not there any more: it stopped, was reloaded or paused.
pub(crate) fn end_waiting(
    clock: Res<'_, Clock>,
    judge: Res<'_, AuthResource>,
    slots: Res<'_, SlotTable>,
    connections: Query<'_, '_, (&Phase, &Login)>,
    mut ends: MessageWriter<'_, EndSessionRequest>,
) {
    for (_, entity) in slots.iter() {
        let Ok((Phase::PreAuth, login)) = connections.get(entity) else {
            continue;
        };
        if login.judge.is_none() {
            continue;
        }
        let reason = if judge.running != login.judge {
            "login unavailable"
        } else if clock.since_start >= login.deadline {
            "login timed out"
        } else {
            continue;
        };
        ends.write(EndSessionRequest {
            entity,
            reason: CloseReason::Kick,
            notice: KickReason::parse(reason).ok(),
        });
    }
}
