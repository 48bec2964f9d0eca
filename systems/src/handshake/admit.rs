//! Hellos become sessions, one by one: the first of two that want the same name or the last slot gets it.

use std::time::Duration;

use bevy_ecs::{entity::Entity, world::World};
use decitick_components::{
    admission::{HandshakeLimits, UsedProofs},
    auth::{AuthResource, Login, LoginBegan},
    body::FrameGate,
    client_files::AnnouncedFiles,
    clock::Clock,
    connection::{Connection, Peer, PeerIndex},
    entropy::Entropy,
    lane::OutboundLane,
    limits::{Allowance, KEEPALIVE_PERIOD, SESSIONS_PER_ADDRESS_WARNING},
    liveness::{Keepalive, LastSeen, Traffic},
    mailbox::{Batch, CredentialVerdict, DoorNotice, DoorNotices, Inbox, Outbox, Route, Seal},
    messages::PlayerJoined,
    phase::Phase,
    profile::DisplayName,
    reasons::DropReason,
    secret::Secret,
    server::{PublicFace, ServerKey},
    session::{CredentialId, PlayerId, PlayerToken, SessionToken, SlotTable},
    settings::Settings,
    tally::Tally,
    world::WorldState,
};
use decitick_protocol::{ClientHello, PROTOCOL_VERSION, PlayerName, ServerHello, credential};

use super::{
    Newcomers,
    checks::{Arrival, Refused, judge},
    refuse::refuse,
};
use crate::{lane::broadcast::tell, pages::files_manifest};

/// Judges every hello of this tick, and keeps the limit tables small.
pub(super) fn admit_hellos(world: &mut World) {
    let mut hellos = std::mem::replace(&mut world.resource_mut::<Inbox>().hellos, Batch::bounded(0, 0));
    world.resource_mut::<Tally>().taken += hellos.len() as u64;
    for (datagram, bytes) in hellos.iter() {
        let outcome = match (ClientHello::decode(bytes), datagram.ticket) {
            (Ok(hello), Some(ticket)) => take_hello(
                world,
                &Arrival {
                    hello,
                    route: datagram.route,
                    ticket,
                },
            ),
            _ => Err(DropReason::Malformed),
        };
        let mut tally = world.resource_mut::<Tally>();
        match outcome {
            Ok(()) => tally.handled += 1,
            Err(reason) => tally.dropped.add(reason),
        }
    }
    hellos.clear();
    world.resource_mut::<Inbox>().hellos = hellos;
    let now = world.resource::<Clock>().since_start;
    world.resource_mut::<HandshakeLimits>().tidy(now);
}

fn take_hello(world: &mut World, arrival: &Arrival) -> Result<(), DropReason> {
    if let Some(holder) = world.resource::<PeerIndex>().find(&arrival.route.peer) {
        return repeat(world, arrival, holder);
    }
    match judge(world, arrival) {
        Ok(name) => open_session(world, arrival, name),
        Err(Refused::Answer(refusal)) => refuse(world, arrival, refusal),
        Err(Refused::Silence(reason)) => Err(reason),
    }
}

/// Step 2: the address holds a slot. Nothing of the hello is read but its nonce.
fn repeat(world: &mut World, arrival: &Arrival, holder: Entity) -> Result<(), DropReason> {
    let now = world.resource::<Clock>().since_start;
    if let Some(ip) = arrival.limit_key(world)
        && world
            .resource_mut::<HandshakeLimits>()
            .repeated_hellos
            .take(ip, now)
            != Allowance::Allowed
    {
        return Err(DropReason::RepeatedHelloLimited);
    }
    let route = world.get::<Peer>(holder).map_or(arrival.route, |peer| peer.0);
    send_hello(world, holder, route, arrival.hello.nonce);
    Ok(())
}

/// Step 12.
fn open_session(world: &mut World, arrival: &Arrival, name: PlayerName) -> Result<(), DropReason> {
    let session_token = world
        .resource_mut::<Entropy>()
        .nonzero_u64()
        .ok_or(DropReason::NoEntropy)?;
    let login = login_of(world)?;
    let mut slots = world.resource_mut::<SlotTable>();
    // The check found a free slot; were it gone, silence lets the client ask again.
    let player = slots.lowest_free().ok_or(DropReason::SessionGone)?;
    let generation = slots.next_token();
    tracing::info!(
        player = player.0,
        name = decitick_protocol::escape_for_display(name.as_str(), 64),
        peer = %arrival.route.peer,
        "{}",
        if login.is_some() { "login began" } else { "player joined" }
    );
    let phase = if login.is_some() {
        Phase::PreAuth
    } else {
        Phase::PreSpawn
    };
    let numbers = (player, generation, session_token);
    let entity = spawn_session(world, arrival.route, name, phase, numbers);
    if arrival.ticket.credential == CredentialVerdict::Valid {
        world
            .resource_mut::<UsedProofs>()
            .remember(arrival.hello.nonce, arrival.ticket.cookie_dies);
        world
            .entity_mut(entity)
            .insert(CredentialId(credential::credential_id(
                &arrival.hello.credential_key,
            )));
    }
    world.resource_mut::<SlotTable>().occupy(player, entity);
    world.resource_mut::<DoorNotices>().0.push(DoorNotice::Opened {
        peer: arrival.route.peer,
        session_token,
    });
    if let Some(login) = login {
        world.entity_mut(entity).insert(login);
        show_login_files(world, entity);
        world.write_message(LoginBegan { entity });
    } else {
        world.resource_mut::<Newcomers>().0.push(entity);
        world.write_message(PlayerJoined { entity });
    }
    send_hello(world, entity, arrival.route, arrival.hello.nonce);
    warn_of_shared_address(world, arrival);
    Ok(())
}

/// The login that a newcomer has to pass; `None` on a server without an auth resource.
fn login_of(world: &World) -> Result<Option<Login>, DropReason> {
    let Some(auth) = &world.resource::<Settings>().auth else {
        return Ok(None);
    };
    // The check found it running.
    let judge = world
        .resource::<AuthResource>()
        .running
        .ok_or(DropReason::SessionGone)?;
    let now = world.resource::<Clock>().since_start;
    let wait = Duration::from_secs(u64::from(auth.timeout_seconds));
    Ok(Some(Login::beginning(judge, now + wait)))
}

/// The pages of the login are announced; of all other files who waits hears nothing.
fn show_login_files(world: &mut World, entity: Entity) {
    let auth = world.resource::<Settings>().auth.as_ref();
    let event = auth.and_then(|auth| {
        let sha256 = world.resource::<AnnouncedFiles>().find(&auth.resource)?;
        files_manifest(&auth.resource, sha256)
    });
    if let (Some(event), Some(mut lane)) = (event, world.get_mut::<OutboundLane>(entity)) {
        tell(&mut lane, &event);
    }
}

fn spawn_session(
    world: &mut World,
    route: Route,
    name: PlayerName,
    phase: Phase,
    (player, generation, session_token): (PlayerId, PlayerToken, u64),
) -> Entity {
    let now = world.resource::<Clock>().since_start;
    // Keepalives are spread over the ten ticks of a second by the id.
    let due = now + KEEPALIVE_PERIOD / 10 * (u32::from(player.0) % 10 + 1);
    world
        .spawn((
            Connection,
            Peer(route),
            player,
            generation,
            SessionToken(Secret::new(session_token)),
            DisplayName(name),
            phase,
            LastSeen(now),
            Keepalive::starting(due),
            Traffic {
                joined_at: now,
                ..Default::default()
            },
            FrameGate::default(),
        ))
        .id()
}

/// Behind a proxy every player shares one address, and the loopback exemption may let too much through.
fn warn_of_shared_address(world: &World, arrival: &Arrival) {
    let held = world.resource::<PeerIndex>().connections_of(arrival.ip());
    let exempt = arrival.limit_key(world).is_none();
    if held == SESSIONS_PER_ADDRESS_WARNING + 1 && exempt {
        tracing::warn!(
            address = %arrival.ip(),
            sessions = held,
            reason = "shared_address",
            "many sessions share one address that is exempt from per-IP limits; behind a proxy or tunnel, set limits.loopback_exempt to false"
        );
    } else if held == SESSIONS_PER_ADDRESS_WARNING + 1 {
        tracing::warn!(
            address = %arrival.ip(),
            sessions = held,
            reason = "shared_address",
            "many sessions share one address; if it is a proxy, per-IP limits count all its players as one (limits.connections_per_ip)"
        );
    }
}

fn send_hello(world: &mut World, entity: Entity, route: Route, nonce: [u8; 32]) {
    let Some(packet) = server_hello(world, entity) else {
        return;
    };
    world
        .resource_mut::<Outbox>()
        .push_with(route, Some(Seal::Hello(nonce)), None, |out| packet.encode(out));
}

/// A ServerHello of now, to be signed on the way out.
fn server_hello(world: &World, entity: Entity) -> Option<ServerHello> {
    let connection = world.get_entity(entity).ok()?;
    let shared = world.resource::<WorldState>();
    Some(ServerHello {
        protocol_version: PROTOCOL_VERSION,
        player_id: u32::from(connection.get::<PlayerId>()?.0),
        session_token: *connection.get::<SessionToken>()?.0.expose(),
        player_token: connection.get::<PlayerToken>()?.0,
        hours: shared.hours,
        minutes: shared.minutes,
        weather: shared.weather,
        driveby_interval: shared.driveby_intervals,
        garage_doors: shared.garage_doors,
        client_files_port: world.resource::<PublicFace>().client_files_port,
        auth_pending: !connection.get::<Phase>()?.joined(),
        server_key: world.resource::<ServerKey>().0,
        signature: [0; 64],
    })
}
