//! The copy of the world that scripts read is brought up to date before they run.

use std::sync::Arc;

use bevy_ecs::{
    entity::Entity,
    query::{Changed, Or, QueryState, With},
    world::World,
};
use decitick_components::{
    bans::BanList,
    body::{Appearance, Dimension, Money, Motion, Skills, Vitals},
    combat::{WeaponTable, Weapons},
    connection::{Connection, Peer},
    liveness::SmoothedRtt,
    pages::OpenViews,
    phase::Phase,
    profile::{Account, DisplayName, Granted},
    server::ServerKey,
    session::{CredentialId, PlayerId, PlayerToken, SlotTable},
    thing::{Placement, ThingBook, ThingData, ThingId, ThingKind},
    world::WorldState,
    zone::{Zone, ZoneBook, ZoneId},
};

use super::{
    desk::Desk,
    mirror::{Mirror, NewcomerCopy, PlayerCopy, ThingCopy},
};

/// Numbers for new things and zones that lie ready.
const NUMBERS_READY: usize = 2_048;

type PlayerParts = (
    (
        Entity,
        &'static PlayerId,
        &'static PlayerToken,
        &'static DisplayName,
        &'static Peer,
    ),
    (
        &'static Phase,
        &'static SmoothedRtt,
        &'static Motion,
        &'static Dimension,
        &'static Vitals,
    ),
    (
        &'static Money,
        &'static Appearance,
        &'static Weapons,
        &'static Skills,
        Option<&'static Granted>,
        Option<&'static CredentialId>,
        Option<&'static Account>,
        &'static OpenViews,
    ),
);
type ThingParts = (
    &'static ThingId,
    &'static ThingKind,
    &'static Placement,
    &'static Dimension,
    &'static ThingData,
);
type ThingChanged = Or<(
    Changed<Placement>,
    Changed<Dimension>,
    Changed<ThingData>,
    Changed<ThingId>,
)>;

/// Whoever is connected.
pub(crate) type Players = QueryState<PlayerParts, With<Connection>>;
/// Things that changed since scripts last had their turn.
pub(crate) type ChangedThings = QueryState<ThingParts, ThingChanged>;
/// Zones that are new since then.
pub(crate) type NewZones = QueryState<(&'static ZoneId, &'static Zone), Changed<ZoneId>>;

/// Copies what is now; wishes that are not done yet are played on the copy again.
pub(crate) fn sync(
    world: &mut World,
    desk: &mut Desk,
    players: &mut Players,
    things: &mut ChangedThings,
    zones: &mut NewZones,
) {
    for parts in players.iter(world) {
        copy_player(&mut desk.mirror, parts);
    }
    let slots = world.resource::<SlotTable>();
    desk.mirror
        .retain_players(|copy| slots.holder(copy.id) == Some(copy.entity));
    desk.mirror.newcomers.retain(|_, copy| {
        slots.holder(copy.id) == Some(copy.entity)
            && world
                .get::<Phase>(copy.entity)
                .is_some_and(|phase| !phase.joined())
    });
    if let Some(key) = world.get_resource::<ServerKey>() {
        desk.server_key = key.0;
    }
    if desk.in_step {
        for (id, kind, placement, dimension, data) in things.iter(world) {
            copy_thing(&mut desk.mirror, id, kind, placement, *dimension, data);
        }
        for (id, zone) in zones.iter(world) {
            desk.mirror.zones.insert(id.0, *zone);
        }
    } else {
        copy_all_things(world, &mut desk.mirror);
    }
    let book = world.resource::<ThingBook>();
    if desk.mirror.things.len() != book.len() {
        desk.mirror
            .things
            .retain(|&id, _| book.find(ThingId(id)).is_some());
        let things = &desk.mirror.things;
        for office in desk.offices.values_mut() {
            office.things.retain(|id| things.contains_key(&id.0));
        }
    }
    let book = world.resource::<ZoneBook>();
    if desk.mirror.zones.len() != book.len() {
        desk.mirror.zones.retain(|&id, _| book.find(ZoneId(id)).is_some());
        let zones = &desk.mirror.zones;
        for office in desk.offices.values_mut() {
            office.zones.retain(|id| zones.contains_key(&id.0));
        }
    }
    desk.mirror.world.clone_from(world.resource::<WorldState>());
    if world.is_resource_changed::<WeaponTable>() || !desk.in_step {
        let table = world.resource::<WeaponTable>();
        // Bare hands are nobody's to give, and no fault either.
        desk.mirror.weapons = table.iter().fold(1, |bits, weapon| bits | 1 << weapon.id.min(63));
    }
    if world.is_resource_changed::<BanList>() || !desk.in_step {
        desk.bans = world.resource::<BanList>().iter().cloned().collect();
    }
    desk.in_step = true;
    play_again(desk);
    refill_numbers(world, desk);
}

/// Nobody kept up with what changed: everything is copied.
fn copy_all_things(world: &World, mirror: &mut Mirror) {
    mirror.things.clear();
    for (id, entity) in world.resource::<ThingBook>().iter() {
        let thing = world.entity(entity);
        if let (Some(kind), Some(placement), Some(&dimension), Some(data)) = (
            thing.get::<ThingKind>(),
            thing.get::<Placement>(),
            thing.get::<Dimension>(),
            thing.get::<ThingData>(),
        ) {
            copy_thing(mirror, &id, kind, placement, dimension, data);
        }
    }
    mirror.zones.clear();
    for (id, entity) in world.resource::<ZoneBook>().iter() {
        if let Some(&zone) = world.get::<Zone>(entity) {
            mirror.zones.insert(id.0, zone);
        }
    }
}

/// Copies what is now for the console, which may ask while no script runs.
pub(crate) fn sync_now(world: &mut World, desk: &mut Desk) {
    let (mut players, mut things, mut zones) = (
        QueryState::new(world),
        QueryState::new(world),
        QueryState::new(world),
    );
    desk.in_step = false;
    sync(world, desk, &mut players, &mut things, &mut zones);
}

fn copy_player(
    mirror: &mut Mirror,
    (
        (entity, id, token, name, peer),
        (phase, rtt, motion, dimension, vitals),
        (money, look, weapons, skills, granted, credential, account, views),
    ): bevy_ecs::query::ROQueryItem<'_, '_, PlayerParts>,
) {
    let credential = credential.map(|credential| credential.0);
    if !phase.joined() {
        let newcomer = mirror.newcomers.entry(token.0).or_insert_with(|| NewcomerCopy {
            entity,
            id: *id,
            token: *token,
            name: name.0.as_str().into(),
            ip: peer.address().ip(),
            credential,
            views: OpenViews::default(),
            settled: false,
        });
        newcomer.views.clone_from(views);
        return;
    }
    let ping = rtt
        .measured()
        .map_or(-1, |rtt| i64::try_from(rtt.as_millis()).unwrap_or(i64::MAX));
    let mut fresh = false;
    let known = mirror.players.entry(id.0).or_insert_with(|| {
        fresh = true;
        PlayerCopy {
            entity,
            id: *id,
            token: *token,
            name: "".into(),
            ip: peer.address().ip(),
            ping,
            phase: *phase,
            motion: *motion,
            dimension: dimension.0,
            vitals: *vitals,
            money: money.0,
            look: *look,
            weapons: Vec::new(),
            skills: skills.0,
            account: None,
            credential,
            views: OpenViews::default(),
            granted: Arc::default(),
            leaving: false,
        }
    });
    fresh |= known.entity != entity;
    if known.token != *token {
        known.leaving = false;
    }
    known.entity = entity;
    known.token = *token;
    if *known.name != *name.0.as_str() {
        known.name = name.0.as_str().into();
    }
    known.ip = peer.address().ip();
    known.ping = ping;
    known.phase = *phase;
    known.motion = *motion;
    known.dimension = dimension.0;
    known.vitals = *vitals;
    known.money = money.0;
    known.look = *look;
    known.weapons.clear();
    known.weapons.extend_from_slice(weapons.held());
    known.skills = skills.0;
    if known.account.is_some() || account.is_some() {
        known.account = account.map(|account| Arc::clone(&account.0));
    }
    known.credential = credential;
    if known.views != *views {
        known.views.clone_from(views);
    }
    match granted {
        Some(Granted(names)) => {
            if !Arc::ptr_eq(&known.granted, names) {
                known.granted = Arc::clone(names);
            }
        }
        None if known.granted.is_empty() => {}
        None => known.granted = Arc::default(),
    }
    if fresh {
        mirror.connect(entity, *id);
    }
}

fn copy_thing(
    mirror: &mut Mirror,
    id: &ThingId,
    kind: &ThingKind,
    placement: &Placement,
    dimension: Dimension,
    data: &ThingData,
) {
    let bytes = data.0.as_bytes();
    let held = mirror
        .things
        .get(&id.0)
        .map(|copy| Arc::clone(&copy.data))
        .filter(|held| **held == *bytes);
    let copy = ThingCopy {
        kind: kind.kind,
        model: kind.model,
        position: placement.position,
        velocity: placement.velocity,
        heading: placement.heading,
        area: placement.area,
        dimension: dimension.0,
        data: held.unwrap_or_else(|| bytes.into()),
    };
    mirror.things.insert(id.0, copy);
}

/// What was wished for since scripts last had their turn is not done yet, and counts as if it were.
fn play_again(desk: &mut Desk) {
    for request in &desk.wishes.players {
        desk.mirror.play_player(request);
    }
    for request in &desk.wishes.views {
        desk.mirror.play_view(request);
    }
    for request in &desk.wishes.world {
        desk.mirror.play_world(request);
    }
    for request in &desk.wishes.things {
        desk.mirror.play_thing(request);
    }
    for request in &desk.wishes.zones {
        desk.mirror.play_zone(request);
    }
}

/// New things and zones get their numbers at once, before they are made.
fn refill_numbers(world: &mut World, desk: &mut Desk) {
    let missing = NUMBERS_READY.saturating_sub(desk.free_things.len());
    if missing > NUMBERS_READY / 2 {
        let mut book = world.resource_mut::<ThingBook>();
        let fresh: Vec<ThingId> = (0..missing).map_while(|_| book.next_number()).collect();
        // The lowest is taken first.
        desk.free_things.splice(0..0, fresh.into_iter().rev());
    }
    let missing = NUMBERS_READY.saturating_sub(desk.free_zones.len());
    if missing > NUMBERS_READY / 2 {
        let mut book = world.resource_mut::<ZoneBook>();
        let fresh: Vec<ZoneId> = (0..missing).map_while(|_| book.next_number()).collect();
        desk.free_zones.splice(0..0, fresh.into_iter().rev());
    }
}

/// The copy of whoever waits on a connection.
pub(crate) fn newcomer_of(mirror: &Mirror, connection: Entity) -> Option<super::types::Newcomer> {
    let newcomer = mirror
        .newcomers
        .values()
        .find(|newcomer| newcomer.entity == connection)?;
    Some(super::types::Newcomer {
        id: newcomer.id.0,
        token: newcomer.token.0,
    })
}

/// The copy of a connection's player.
pub(crate) fn player_of(mirror: &Mirror, connection: Entity) -> Option<super::types::Player> {
    mirror.by_entity(connection).map(|copy| super::types::Player {
        id: copy.id.0,
        token: copy.token.0,
    })
}
